import { expect, it } from 'vitest'
import { signalMark, signalOf } from '../../../src/stream/signal.ts'

it.each(['go', 'go on', 'ä|ö:ü', 'signal:go', '%', ''])(
  'the name %j of a signal is read back from its journal entry',
  name => {
    expect(signalMark(name)).not.toContain(' ')
    expect(signalOf({ op: 'signal', changes: [{}, { attr: 'owner' }, { attr: signalMark(name) }] })).toBe(name)
  },
)

it('the name of a signal is taken as it is if it cannot be decoded', () => {
  expect(signalOf({ op: 'signal', changes: [{ attr: 'signal:%E0%A4' }] })).toBe('%E0%A4')
})

it('only a signal has the name of one', () => {
  expect(signalOf({ op: 'append', changes: [{ attr: signalMark('go') }] })).toBeUndefined()
  expect(signalOf({ op: 'signal', changes: [{}, { attr: 'suspended' }] })).toBeUndefined()
  expect(signalOf({ op: 'signal', changes: [] })).toBeUndefined()
})

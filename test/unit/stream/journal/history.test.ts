import { describe, expect, it } from 'vitest'
import {
  declaredGates,
  eventsThatRan,
  isOwnStatus,
  restoreDroppedAttributes,
} from '../../../../src/stream/journal/history.ts'
import type { JournalChange, Transaction } from '../../../../src/stream/journal/journal.ts'
import { Play, spec } from '../../../support/stream-builder.ts'

let version = 0
const tx = (op: string, ...changes: readonly Partial<JournalChange>[]): Transaction => ({
  version: ++version,
  at: '2024-05-01T12:00:00.000Z',
  by: 'w1',
  op,
  on: '',
  commandId: '',
  hash: '',
  why: '',
  other: false,
  changes: changes.map(change => ({ event: '01.00', from: 'init', to: 'inprocess', how: 'target', ...change })),
})

describe('a status is ours', () => {
  it('if the last transaction that changed it is ours', () => {
    expect(isOwnStatus([tx('start', {})], '01.00')).toBe(true)
    expect(isOwnStatus([tx('foreign', {}), tx('start', { from: 'inprocess' })], '01.00')).toBe(true)
    expect(isOwnStatus([tx('start', {}), tx('foreign', { from: 'inprocess', to: 'init' })], '01.00')).toBe(false)
    expect(isOwnStatus([tx('adopt', {})], '01.00')).toBe(false)
  })

  it('even if attributes and other events have changed since', () => {
    const since = [tx('set', { attr: 'tag' }), tx('foreign', { event: '02.00' }), tx('foreign', { attr: 'tag' })]
    expect(isOwnStatus([tx('start', { event: '00' }, {}), ...since], '01.00')).toBe(true)
    expect(isOwnStatus([tx('foreign', {}), tx('set', { attr: 'tag' })], '01.00')).toBe(false)
  })

  it('unless the journal has no record of it', () => {
    expect(isOwnStatus([], '01.00')).toBe(false)
    expect(isOwnStatus([tx('start', { event: '02.00' })], '01.00')).toBe(false)
    expect(isOwnStatus([tx('set', { attr: 'tag' })], '01.00')).toBe(false)
  })
})

describe('an event has run', () => {
  it.each<[string, Transaction, boolean]>([
    ['a claim', tx('start', { owner: 'w2', how: 'cascade', from: 'inprocess' }), true],
    ['a foreign worker', tx('foreign', {}), true],
    ['its completion', tx('complete', { to: 'completed' }), true],
    ['its failure', tx('fail', { to: 'aborted' }), true],
    ['its cancelation', tx('cancel', { to: 'canceled' }), false],
    ['being reopened with the events below it', tx('retry', { from: 'canceled', how: 'cascade' }), false],
    ['a retry that keeps it waiting', tx('retry', {}), false],
    ['its release as a join', tx('complete', { from: 'inprocess', to: 'init', how: 'join' }), false],
    ['waiting as a join', tx('advance', { from: '', how: 'add' }), false],
    ['a release of its claim', tx('release', { from: 'inprocess', to: 'init' }), false],
    ['continuing after an advance', tx('advance', { from: 'inprocess' }), false],
  ])('if it was changed by %s: %#', (_, transaction, ran) => {
    expect([...eventsThatRan([tx('set', { event: '02.00', to: 'init' }), transaction])]).toEqual(ran ? ['01.00'] : [])
  })
})

it('the gates that events were added with are found, whatever has become of them', () => {
  const added = { from: '', how: 'add' } as const
  const transactions = [
    tx('init', { ...added, event: '00' }, { ...added, event: '01', lc: { wait: 'yes', join: 'wait' } }),
    tx(
      'advance',
      { ...added, event: '01.01', lc: { wait: 'yes', after: '01.00' } },
      { ...added, event: '02.00', lc: { auto: 'yes' } },
    ),
    tx('complete', { event: '01.01', from: 'inprocess', to: 'init', how: 'gate' }),
  ]
  expect([...declaredGates(transactions)]).toEqual([
    ['01', { wait: 'yes', join: 'wait' }],
    ['01.01', { wait: 'yes', after: '01.00' }],
  ])
})

describe('the journal adds nothing to', () => {
  it.each<[string, Play]>([
    [
      'an event that was completed without a worker',
      new Play().after({
        op: 'init',
        root: spec('Start'),
        forks: [],
        steps: [{ name: 'A', auto: true, thread: 0, needs: [] }],
      }),
    ],
    [
      'a stream that ended because it was suspended',
      new Play().after(
        { op: 'init', root: spec('Start'), forks: [spec('A')], hold: true },
        { op: 'complete', event: '01.00' },
        { op: 'start', event: '00' },
        { op: 'suspend', stop: true },
      ),
    ],
    [
      'a stream that failed with nothing to undo',
      new Play().after(
        { op: 'init', root: spec('Start'), forks: [], onFailure: 'compensate' },
        { op: 'start', event: '00' },
        { op: 'fail', event: '00', owner: 'w1' },
      ),
    ],
  ])('%s', (_, play) => {
    expect(play.status('00')).toMatch(/completed|aborted/)
    expect(restoreDroppedAttributes(play.document.events, play.journal)).toBe(play.document.events)
  })
})

import { describe, expect, it } from 'vitest'
import { type EventAttributes, newEvent, type StreamEvent } from '../../../src/stream/event.ts'
import { EventStream } from '../../../src/stream/event-stream.ts'
import {
  delayMs,
  dependentsOf,
  gatedAfter,
  gateIds,
  isCanceledByGate,
  progressOf,
  waitsFor,
  waitsForSignalOnly,
  wakeMs,
} from '../../../src/stream/gate.ts'

type Lc = StreamEvent['lc']

function event(id: string, lc: Lc = {}, more: Partial<EventAttributes> = {}): StreamEvent {
  return newEvent({ id, status: 'inprocess', ...more }, lc)
}

const gated = (lc: Lc, status = 'inprocess') => event('02.00', { wait: 'yes', ...lc }, { status })
const WAKE = '2026-07-01T12:00:00.000Z'

describe('what a gated event waits for', () => {
  it.each([
    ['the branches before all else', { join: 'yes', after: '01.00', signal: 'go', wake: WAKE }, { kind: 'branches' }],
    [
      'events before a signal',
      { after: '01.00|03.00', signal: 'go', wake: WAKE },
      { kind: 'after', ids: ['01.00', '03.00'] },
    ],
    ['a step that has not come', { step: '6', after: '01.06.00' }, { kind: 'step', step: 6 }],
    ['events, with an unreadable step', { step: 'x', after: '01.06.00' }, { kind: 'after', ids: ['01.06.00'] }],
    ['a signal before a time', { signal: 'go', wake: WAKE }, { kind: 'signal', name: 'go' }],
    ['a time', { wake: WAKE }, { kind: 'timer', wakeMs: Date.parse(WAKE) }],
    ['a time that never comes, with an unreadable text', { wake: 'soon' }, { kind: 'timer', wakeMs: undefined }],
    ['a time that never comes, without one', {}, { kind: 'timer', wakeMs: undefined }],
  ] as const)('is %s', (_, lc, expected) => {
    expect(waitsFor(gated(lc))).toEqual(expected)
  })

  it('is nothing without a closed gate', () => {
    expect(waitsFor(event('02.00', { after: '01.00' }))).toBeUndefined()
    expect(waitsFor(gated({ signal: 'go' }, 'canceled'))).toBeUndefined()
  })

  it('is a signal alone only if nothing else is left', () => {
    expect(waitsForSignalOnly(gated({ signal: 'go' }))).toBe(true)
    expect(waitsForSignalOnly(gated({ signal: 'go' }, 'completed'))).toBe(false)
    expect(waitsForSignalOnly(event('02.00', { signal: 'go' }))).toBe(false)
    expect(waitsForSignalOnly(gated({}))).toBe(false)
    for (const other of [{ join: 'yes' }, { after: '01.00' }, { wake: WAKE }]) {
      expect(waitsForSignalOnly(gated({ signal: 'go', ...other }))).toBe(false)
    }
  })

  it('wakes at a time only if nothing else keeps the gate closed', () => {
    expect(wakeMs(gated({ wake: WAKE }))).toBe(Date.parse(WAKE))
    expect(wakeMs(gated({ wake: WAKE, signal: 'go' }))).toBeUndefined()
    expect(wakeMs(event('02.00'))).toBeUndefined()
  })

  it('ignores empty ids, and has none without an attribute', () => {
    expect(gateIds({ lc: { after: '|01.00||02.00|' } })).toEqual(['01.00', '02.00'])
    expect(gateIds({ lc: {} })).toEqual([])
  })

  it('has a delay of nothing if the text is missing, unreadable or negative', () => {
    expect(delayMs(gated({ delay: '00:00:05' }))).toBe(5_000)
    for (const delay of ['-00:00:05', 'soon', '']) expect(delayMs(gated({ delay }))).toBe(0)
    expect(delayMs(gated({}))).toBe(0)
  })
})

describe('the progress of a gate', () => {
  const stream = (...events: readonly StreamEvent[]) =>
    new EventStream([event('00', {}, { next: events.map(({ id }) => id).join('|') }), ...events])
  const below = (id: string, status: string, lc: Lc = {}) => event(id, lc, { status, prev: '00' })

  it.each([
    ['passed', [below('01.00', 'completed')]],
    ['open', [below('01.00', 'inprocess')]],
    ['open', []],
    ['failed', [below('01.00', 'aborted')]],
    ['failed', [below('01.00', 'canceled')]],
    ['passed', [below('01.00', 'aborted', { skipped: 'yes' })]],
    ['passed', [below('01.00', 'aborted', { undoes: '03.00' })]],
  ] as const)('is %s', (progress, events) => {
    expect(progressOf(stream(...events), gated({ after: '01.00' }))).toBe(progress)
  })

  it('is open if any of its events is, failed if any has failed, whichever comes first', () => {
    const both = stream(below('01.00', 'inprocess'), below('03.00', 'aborted'), below('04.00', 'completed'))
    expect(progressOf(both, gated({ after: '04.00|01.00' }))).toBe('open')
    expect(progressOf(both, gated({ after: '01.00|03.00' }))).toBe('failed')
    expect(progressOf(both, gated({ after: '03.00|01.00' }))).toBe('failed')
    expect(progressOf(both, gated({}))).toBe('passed')
  })

  it('is that of the retried event above, for one that a retry superseded', () => {
    const retried = new EventStream([
      event('00', {}, { next: '01.00' }),
      event('01.00', {}, { prev: '00', next: '01.01.00', status: 'completed' }),
      event('01.01.00', { superseded: '7' }, { prev: '01.00', next: '01.01.01.00', status: 'aborted' }),
      event('01.01.01.00', { superseded: '7' }, { prev: '01.01.00', status: 'aborted' }),
    ])
    expect(progressOf(retried, gated({ after: '01.01.01.00' }))).toBe('passed')
    expect(progressOf(retried, gated({ after: '01.01.00' }))).toBe('passed')
  })

  it('canceled the event only if it is canceled, was gated after others, and one of these failed', () => {
    const failed = stream(below('01.00', 'aborted'))
    const passed = stream(below('01.00', 'completed'))
    expect(isCanceledByGate(failed, gated({ after: '01.00' }, 'canceled'))).toBe(true)
    expect(isCanceledByGate(failed, gated({ after: '01.00' }, 'aborted'))).toBe(false)
    expect(isCanceledByGate(failed, gated({}, 'canceled'))).toBe(false)
    expect(isCanceledByGate(passed, gated({ after: '01.00' }, 'canceled'))).toBe(false)
  })
})

describe('the events gated after another', () => {
  it('are found by the id that they name, ended ones included, superseded and never gated ones left out', () => {
    const stream = new EventStream([
      event('00'),
      event('01.00', { wait: 'yes', after: '00' }),
      event('02.00', { wait: 'yes', after: '00|01.00' }, { status: 'completed' }),
      event('03.00', { after: '00' }),
      event('04.00', { wait: 'yes' }),
      event('05.00', { wait: 'yes', after: '00', superseded: '4' }),
    ])
    expect([...gatedAfter(stream)]).toEqual([
      ['00', [1, 2]],
      ['01.00', [2]],
    ])
  })

  it('cannot end before it, nor can those above it or its join', () => {
    const stream = new EventStream([
      event('00', {}, { next: '01.00|02.00|03.00' }),
      event('01.00', {}, { prev: '00' }),
      event('02.00', { wait: 'yes', join: 'yes' }, { prev: '00' }),
      event('03.00', { wait: 'yes', after: '01.00' }, { prev: '00' }),
      event('04.00', {}, { prev: '' }),
      event('', {}, { prev: '' }),
    ])
    expect([...dependentsOf(stream, 1)].sort()).toEqual([0, 1, 2, 3])
    expect([...dependentsOf(stream, 4)]).toEqual([4])
  })
})

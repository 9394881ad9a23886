import { describe, expect, it } from 'vitest'
import { EMPTY_DOCUMENT } from '../../../../src/stream/document.ts'
import { InvalidValue } from '../../../../src/stream/errors.ts'
import { type EventAttributes, newEvent, type StreamEvent } from '../../../../src/stream/event.ts'
import { EventStream } from '../../../../src/stream/event-stream.ts'
import {
  claimEndMs,
  claimRuns,
  dueMs,
  isDue,
  parseTimeout,
  timeoutFromInput,
  timeReaderFor,
} from '../../../../src/stream/time/deadlines.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const at = (clock: string) => Date.parse(`2026-07-01T${clock}:00.000Z`)
const time = (clock: string) => new Date(at(clock)).toISOString()
const NOW = at('12:00')

describe('parseTimeout', () => {
  it.each([
    ['', { kind: 'none' }],
    ['  ', { kind: 'none' }],
    ['00:05:00', { kind: 'after', ms: 5 * MINUTE }],
    ['1.00:00:00', { kind: 'after', ms: DAY }],
    ['1:30', { kind: 'after', ms: 90 * MINUTE }],
    ['5', { kind: 'after', ms: 5 * DAY, asDays: true }],
    ['24:00:00', { kind: 'after', ms: 24 * DAY, asDays: true }],
    ['30:00', { kind: 'after', ms: 30 * DAY, asDays: true }],
    ['-00:00:01', { kind: 'none' }],
    ['-1', { kind: 'none' }],
    ['-PT1S', { kind: 'none' }],
    ['0', { kind: 'after', ms: 0 }],
    ['00:00:00', { kind: 'after', ms: 0 }],
    ['PT5M', { kind: 'after', ms: 5 * MINUTE }],
    ['2026-07-01T12:00:00Z', { kind: 'at', ms: NOW }],
    ['2026-07-01T14:00:00+02:00', { kind: 'at', ms: NOW }],
    ['2026-07-01 12:00:00', { kind: 'at', ms: NOW }],
    ['2026-07-01', { kind: 'unreadable' }],
    ['2026-02-30T12:00:00Z', { kind: 'unreadable' }],
    ['7/1/2026 12:00:00 PM', { kind: 'unreadable' }],
    ['P1M', { kind: 'unreadable' }],
    ['30s', { kind: 'unreadable' }],
    ['25:61:00', { kind: 'unreadable' }],
    ['99999999', { kind: 'unreadable' }],
    ['soon', { kind: 'unreadable' }],
  ])('reads %j', (text, timeout) => {
    expect(parseTimeout(text)).toEqual(timeout)
  })
})

describe('timeoutFromInput', () => {
  it.each([
    ['30s', '00:00:30'],
    ['1h30m', '01:30:00'],
    ['24h', '1.00:00:00'],
    ['PT5M', '00:05:00'],
    ['00:05:00', '00:05:00'],
    ['0s', '00:00:00'],
    ['2026-07-01T12:00:00Z', '2026-07-01T12:00:00.000Z'],
    ['2026-07-01 14:00+02:00', '2026-07-01T12:00:00.000Z'],
  ])('writes %j as %s', (text, wire) => {
    expect(timeoutFromInput(text)).toBe(wire)
  })

  it.each([
    ['30', '30 has no unit: 30s, 30m, 30h or 30d'],
    ['0', 'a timeout of 0 expires at once: write 0s if you mean that'],
    ['2026-07-01T12:00:00', '2026-07-01T12:00:00 has no time zone: write 2026-07-01T12:00:00Z for UTC'],
    ['2026-02-30T12:00:00Z', '2026-02-30T12:00:00Z is not a date and time that exists'],
  ])('refuses %j', (text, message) => {
    expect(() => timeoutFromInput(text)).toThrow(new InvalidValue(message))
  })
})

const read = timeReaderFor(EMPTY_DOCUMENT, { nowMs: NOW }).read
const root = (attributes: Partial<EventAttributes> = {}, lc: StreamEvent['lc'] = {}) =>
  newEvent({ id: '00', status: 'inprocess', created: time('08:00'), timestamp: time('08:00'), ...attributes }, lc)
const step = (attributes: Partial<EventAttributes> = {}, lc: StreamEvent['lc'] = {}) =>
  newEvent(
    {
      id: '01.00',
      status: 'inprocess',
      prev: '00',
      created: time('09:00'),
      timestamp: time('10:00'),
      timeout: '00:30:00',
      ...attributes,
    },
    lc,
  )
const child = (attributes: Partial<EventAttributes> = {}, lc: StreamEvent['lc'] = {}) =>
  newEvent({ id: '01.01', status: 'completed', prev: '01.00', timestamp: time('11:00'), ...attributes }, lc)

/** The deadline of the last event but `below`. */
function due(event: StreamEvent, below: readonly StreamEvent[] = [], above = root()): number | undefined {
  return dueMs(new EventStream([above, event, ...below]), event, read)
}

describe('dueMs', () => {
  it('limits the whole stream from the creation of its root, whatever happens below it', () => {
    const limited = root({ timeout: '04:00:00', timestamp: time('11:00') })
    const stream = new EventStream([limited, step()])
    expect(dueMs(stream, limited, read)).toBe(at('12:00'))
  })

  it('counts an event that was never started from its creation', () => {
    expect(due(step({ status: 'init', timestamp: time('10:00') }))).toBe(at('09:30'))
  })

  it('counts a running event from its last sign of life', () => {
    expect(due(step())).toBe(at('10:30'))
  })

  it('counts from the successors if their last sign of life is later', () => {
    expect(due(step(), [child()])).toBe(at('11:30'))
    expect(due(step(), [child({ timestamp: time('09:30') })])).toBe(at('10:30'))
    expect(due(step(), [child(), child({ id: '01.02', timestamp: time('10:15') })])).toBe(at('11:30'))
    expect(due(step(), [child({ timestamp: '' })])).toBe(at('10:30'))
  })

  it('is undefined for an event that waits for a successor, present or missing', () => {
    expect(due(step(), [child({ status: 'init' })])).toBeUndefined()
    expect(due(step(), [child({ status: 'thinking' })])).toBeUndefined()
    expect(due(step({ next: '09.00' }))).toBeUndefined()
  })

  it('ignores superseded successors and their signs of life', () => {
    expect(due(step(), [child({ status: 'aborted' }, { superseded: '3' })])).toBe(at('10:30'))
  })

  it('treats an init event with successors as running', () => {
    expect(due(step({ status: 'init' }), [child({ status: 'inprocess' })])).toBeUndefined()
    expect(due(step({ status: 'init', next: '09.00' }))).toBeUndefined()
    expect(due(step({ status: 'init' }), [child()])).toBe(at('11:30'))
  })

  it('treats an unknown status as running', () => {
    expect(due(step({ status: 'thinking' }))).toBe(at('10:30'))
    expect(due(step({ status: '' }), [child({ status: 'init' })])).toBeUndefined()
  })

  it('counts from the latest opening', () => {
    expect(due(step({ status: 'init' }, { opened: time('11:00') }))).toBe(at('11:30'))
    const reopened = root({ timeout: '04:00:00' }, { opened: time('11:00') })
    expect(dueMs(new EventStream([reopened]), reopened, read)).toBe(at('15:00'))
  })

  it('uses the opening as last sign of life if there is no readable timestamp', () => {
    expect(due(step({ timestamp: '' }))).toBe(at('09:30'))
    expect(due(step({ timestamp: 'yesterday' }))).toBe(at('09:30'))
  })

  it('is undefined for an event without a readable beginning', () => {
    expect(due(step({ status: 'init', created: 'yesterday' }))).toBeUndefined()
    expect(due(step({ timestamp: '', created: '' }))).toBeUndefined()
    expect(due(step({ status: 'init' }, { opened: 'now' }))).toBeUndefined()
  })

  it('applies an absolute time until the event is final, waiting or not', () => {
    const limit = { timeout: time('11:45') }
    expect(due(step({ ...limit, status: 'init' }))).toBe(at('11:45'))
    expect(due(step(limit), [child({ status: 'init' })])).toBe(at('11:45'))
    expect(due(step({ ...limit, status: 'completed' }))).toBeUndefined()
  })

  it.each(['', '-00:01:00', 'soon'])('is undefined for an event with timeout %j', timeout => {
    expect(due(step({ timeout }))).toBeUndefined()
  })

  it.each(['completed', 'aborted', 'canceled'])('is undefined for an event that is %s', status => {
    expect(due(step({ status }))).toBeUndefined()
  })

  it('is undefined for waiting joins, superseded events and events of a held stream', () => {
    expect(due(step({ timeout: time('11:45') }, { wait: 'yes', join: 'wait' }))).toBeUndefined()
    expect(due(step({}, { superseded: '3' }))).toBeUndefined()
    expect(due(step({ status: 'init', timeout: time('11:45') }), [], root({ status: 'init' }))).toBeUndefined()
    const held = root({ status: 'init', timeout: '00:01:00' })
    expect(dueMs(new EventStream([held]), held, read)).toBeUndefined()
  })
})

describe('isDue', () => {
  const event = step()
  const stream = new EventStream([root(), event])

  it('is true from the due time on', () => {
    expect(isDue(stream, event, read, at('10:30') - 1)).toBe(false)
    expect(isDue(stream, event, read, at('10:30'))).toBe(true)
  })

  it('is true at once with a timeout of zero and never without a timeout', () => {
    const zero = step({ timeout: '00:00:00' })
    expect(isDue(new EventStream([root(), zero]), zero, read, at('10:00'))).toBe(true)
    const none = step({ timeout: '' })
    expect(isDue(new EventStream([root(), none]), none, read, NOW + 1000 * DAY)).toBe(false)
  })
})

describe('claims', () => {
  const claimed = step({}, { owner: 'w1', fence: '3', until: time('12:00') })

  it('run until their end', () => {
    expect(claimEndMs(claimed)).toBe(NOW)
    expect(claimRuns(claimed, NOW - 1)).toBe(true)
    expect(claimRuns(claimed, NOW)).toBe(false)
  })

  it.each([
    ['no owner', step({}, { until: time('13:00') })],
    ['an empty owner', step({}, { owner: '', until: time('13:00') })],
    ['no end', step({}, { owner: 'w1' })],
    ['an unreadable end', step({}, { owner: 'w1', until: 'later' })],
  ])('do not run if the claim has %s', (_, event) => {
    expect(claimEndMs(event)).toBeUndefined()
    expect(claimRuns(event, NOW)).toBe(false)
  })

  it('do not run on a final event, even if a foreign writer left their until', () => {
    expect(claimRuns(step({ status: 'completed' }, { owner: 'w1', until: time('13:00') }), NOW)).toBe(false)
  })
})

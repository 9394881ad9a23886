import { describe, expect, it } from 'vitest'
import { EMPTY_DOCUMENT } from '../../../src/stream/document.ts'
import { type EventAttributes, newEvent, type StreamEvent } from '../../../src/stream/event.ts'
import { EventStream } from '../../../src/stream/event-stream.ts'
import {
  type Deadline,
  deadlineOf,
  dueMs,
  gateTimeoutMs,
  silenceLimitMs,
  timeReaderFor,
} from '../../../src/stream/time/deadlines.ts'

const HOUR = 3_600_000
const at = (clock: string) => Date.parse(`2026-07-01T${clock}:00.000Z`)
const time = (clock: string) => new Date(at(clock)).toISOString()
const { read } = timeReaderFor(EMPTY_DOCUMENT, { nowMs: at('12:00') })

type Attributes = Partial<EventAttributes>
type Lc = StreamEvent['lc']

const root = (attributes: Attributes = {}, lc: Lc = {}) =>
  newEvent({ id: '00', status: 'inprocess', created: time('06:00'), timestamp: time('07:00'), ...attributes }, lc)
const step = (attributes: Attributes = {}, lc: Lc = {}) =>
  newEvent(
    {
      id: '01.00',
      status: 'inprocess',
      prev: '00',
      created: time('08:00'),
      timestamp: time('09:00'),
      timeout: '01:00:00',
      ...attributes,
    },
    lc,
  )
const below = (attributes: Attributes = {}, lc: Lc = {}) =>
  newEvent({ id: '01.01', status: 'completed', prev: '01.00', timestamp: time('10:00'), ...attributes }, lc)

/** The deadline of the last event but `below`. */
function limit(event: StreamEvent, after: readonly StreamEvent[] = [], above = root()): Deadline | undefined {
  return deadlineOf(new EventStream([above, event, ...after]), event, read)
}

function limitOfRoot(event: StreamEvent, ...others: readonly StreamEvent[]): Deadline | undefined {
  return deadlineOf(new EventStream([event, ...others]), event, read)
}

const after = (kind: Deadline['kind'], from: string, timeoutMs = HOUR): Deadline => ({
  kind,
  dueMs: at(from) + timeoutMs,
  from: { ms: at(from), timeoutMs },
})

describe('the deadline of the root', () => {
  const limited = { timeout: '01:00:00' }

  it('covers the whole stream from its creation, whatever it waits for and whatever heartbeats arrive', () => {
    const limit = after('stream', '06:00')
    expect(limitOfRoot(root(limited))).toEqual(limit)
    expect(limitOfRoot(root(limited), step())).toEqual(limit)
    expect(limitOfRoot(root(limited), step({ status: 'completed', timestamp: time('11:00') }))).toEqual(limit)
    expect(limitOfRoot(root({ ...limited, status: 'thinking' }))).toEqual(limit)
  })

  it('counts from its latest opening', () => {
    expect(limitOfRoot(root(limited, { opened: time('10:00') }))).toEqual(after('stream', '10:00'))
  })

  it('is absolute if the timeout is a date and time', () => {
    expect(limitOfRoot(root({ timeout: time('09:00') }))).toEqual({ kind: 'absolute', dueMs: at('09:00') })
  })
})

describe('the deadline of another event', () => {
  it('is never-started while the event is init, from its creation or latest opening', () => {
    expect(limit(step({ status: 'init' }))).toEqual(after('never-started', '08:00'))
    expect(limit(step({ status: 'init' }, { opened: time('10:00') }))).toEqual(after('never-started', '10:00'))
  })

  it.each(['inprocess', 'thinking', ''])('is no-sign-of-life while the event is %j, from its own timestamp', status => {
    expect(limit(step({ status }))).toEqual(after('no-sign-of-life', '09:00'))
  })

  it('is no-sign-of-life from the latest timestamp of its successors, once they have ended', () => {
    expect(limit(step(), [below()])).toEqual(after('no-sign-of-life', '10:00'))
    expect(limit(step({ timestamp: time('11:00') }), [below()])).toEqual(after('no-sign-of-life', '11:00'))
    expect(limit(step({ status: 'init' }), [below()])).toEqual(after('no-sign-of-life', '10:00'))
  })

  it('is no-sign-of-life from its opening if the timestamp is unreadable', () => {
    expect(limit(step({ timestamp: '' }))).toEqual(after('no-sign-of-life', '08:00'))
  })

  it('does not run while the event waits for a successor', () => {
    expect(limit(step(), [below({ status: 'init' })])).toBeUndefined()
    expect(limit(step({ next: '09.00' }))).toBeUndefined()
    expect(limit(step({ status: 'init', next: '09.00' }))).toBeUndefined()
  })

  it.each(['init', 'inprocess', 'thinking'])('is absolute if the timeout is a date and time, %s or waiting', status => {
    const absolute = { kind: 'absolute', dueMs: at('10:30') }
    const event = step({ status, timeout: time('10:30') })
    expect(limit(event)).toEqual(absolute)
    expect(limit(event, [below({ status: 'init' })])).toEqual(absolute)
  })

  it('has passed at once with a timeout of zero', () => {
    expect(limit(step({ timeout: '00:00:00' }))).toEqual(after('no-sign-of-life', '09:00', 0))
  })
})

describe('no deadline', () => {
  it.each(['01:00:00', time('10:30')])('applies with a timeout of %s if the event cannot be due', timeout => {
    for (const status of ['completed', 'aborted', 'canceled']) {
      expect(limit(step({ status, timeout }))).toBeUndefined()
      expect(limitOfRoot(root({ status, timeout }))).toBeUndefined()
    }
    expect(limit(step({ timeout }, { wait: 'yes', join: 'wait' }))).toBeUndefined()
    expect(limit(step({ timeout }, { superseded: '4' }))).toBeUndefined()
    expect(limit(step({ timeout }), [], root({ status: 'init' }))).toBeUndefined()
    expect(limitOfRoot(root({ status: 'init', timeout }))).toBeUndefined()
  })

  it.each(['', '-01:00:00', 'soon', '2026-02-30T12:00:00Z'])('follows from a timeout of %j', timeout => {
    expect(limit(step({ timeout }))).toBeUndefined()
    expect(limitOfRoot(root({ timeout }))).toBeUndefined()
  })

  it('is known if the beginning is unreadable', () => {
    expect(limit(step({ status: 'init', created: 'once' }))).toBeUndefined()
    expect(limitOfRoot(root({ timeout: '01:00:00', created: '' }))).toBeUndefined()
  })
})

it('the deadline ends at dueMs', () => {
  for (const event of [step(), step({ status: 'init' }), step({ timeout: time('10:30') }), step({ timeout: '' })]) {
    expect(dueMs(new EventStream([root(), event]), event, read)).toBe(limit(event)?.dueMs)
  }
})

describe('the longest silence', () => {
  const silence = (event: StreamEvent) => silenceLimitMs(new EventStream([root(), event]), event)

  it('is the timeout of a step', () => {
    expect(silence(step())).toBe(HOUR)
  })

  it('has no end without a timeout, with one that is a time, and for the root, whose timeout is for the stream', () => {
    expect(silence(step({ timeout: '' }))).toBeUndefined()
    expect(silence(step({ timeout: time('13:00') }))).toBeUndefined()
    const above = root({ timeout: '01:00:00' })
    expect(silenceLimitMs(new EventStream([above, step()]), above)).toBeUndefined()
  })
})

describe('a gate that goes on without its signal', () => {
  const waiting = { lc: { wait: 'yes', signal: 'go', onDue: 'open' } as Lc, status: 'inprocess' }
  const goesOn = (attributes: Attributes = {}, lc: Lc = {}, above = root()) => {
    const event = step({ status: waiting.status, ...attributes }, { ...waiting.lc, ...lc })
    return gateTimeoutMs(new EventStream([above, event]), event, read)
  }

  it('does so its timeout after it was opened', () => {
    expect(goesOn()).toBe(at('09:00'))
    expect(goesOn({}, { opened: time('10:00') })).toBe(at('11:00'))
    expect(goesOn({ timeout: time('13:00') })).toBe(at('13:00'))
  })

  it('never does without a readable timeout or start', () => {
    expect(goesOn({ timeout: '' })).toBeUndefined()
    expect(goesOn({ timeout: 'soon' })).toBeUndefined()
    expect(goesOn({ created: 'once' })).toBeUndefined()
  })

  it('never does if it says otherwise, or waits for something else too', () => {
    expect(goesOn({}, { onDue: 'notify' })).toBeUndefined()
    expect(goesOn({}, { after: '01.00' })).toBeUndefined()
  })

  it('does not while its stream is held or suspended', () => {
    expect(goesOn({}, {}, root({ status: 'init' }))).toBeUndefined()
    expect(goesOn({}, {}, root({}, { suspended: 'yes' }))).toBeUndefined()
  })
})

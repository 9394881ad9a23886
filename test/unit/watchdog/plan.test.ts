import { describe, expect, it, vi } from 'vitest'
import { EventStream } from '../../../src/stream/event-stream.ts'
import { timeReaderFor } from '../../../src/stream/time/deadlines.ts'
import { readDocument } from '../../../src/stream/xml/read.ts'
import type { Gap } from '../../../src/watchdog/observation-gaps.ts'
import { type InspectionRules, type Observations, planStream, type StreamPlan } from '../../../src/watchdog/plan.ts'
import { documentText, type EventText } from '../../support/stream-builder.ts'
import { HOUR, INTERVAL, MINUTE, START_MS } from './watch-world.ts'

const ago = (ms: number) => new Date(START_MS - ms).toISOString()

const ROOT: EventText = {
  id: '00',
  name: 'Start',
  status: 'inprocess',
  created: ago(6 * HOUR),
  timestamp: ago(6 * HOUR),
}
/** In progress, without a heartbeat for ten minutes; its timeout is five. */
const SILENT: EventText = {
  id: '01.00',
  name: 'Search',
  status: 'inprocess',
  prev: '00',
  created: ago(HOUR),
  timestamp: ago(10 * MINUTE),
  timeout: '00:05:00',
  'lc:attempt': '2',
  'lc:fence': '7',
}
const WAITING: EventText = {
  id: '02.00',
  name: 'Pay',
  status: 'init',
  prev: '00',
  created: ago(HOUR),
  timestamp: ago(HOUR),
}

/** One stream and its state from observation to observation. `START_MS` is 0 of the monotonic clock. */
class Case {
  sightings: Observations = new Map()
  #events: readonly EventText[]
  #knownSinceMs = 0

  constructor(...events: readonly EventText[]) {
    this.#events = events
  }

  /** It is a new document from that time on. */
  becomes(atMs: number, ...events: readonly EventText[]): this {
    this.#events = events
    this.#knownSinceMs = atMs
    return this
  }

  look(atMs: number, more: Partial<InspectionRules> & { readonly offsetMs?: number } = {}): StreamPlan {
    const { offsetMs = 0, ...rest } = more
    const nowMs = START_MS + atMs + offsetMs
    const document = readDocument(documentText(...this.#events))
    const plan = planStream(
      {
        name: 's',
        stream: new EventStream(document.events),
        read: timeReaderFor(document, { nowMs }).read,
        observations: this.sightings,
        knownSinceMs: this.#knownSinceMs,
        version: 1,
        isUsed: () => false,
      },
      {
        nowMs,
        atMs,
        onDue: 'abort-event',
        apartMs: INTERVAL,
        epochMs: Number.NEGATIVE_INFINITY,
        gaps: [],
        ...rest,
      },
    )
    this.sightings = plan.observations
    return plan
  }

  ends(atMs: number, more: Partial<InspectionRules> = {}): string[] {
    return told(this.look(atMs, more))
  }

  /** The record of the watchdog after a notification of an event. */
  told(event: string): void {
    const sighting = this.sightings.get(event)
    if (sighting === undefined) throw new Error(`${event} was not seen`)
    this.sightings = new Map(this.sightings).set(event, { ...sighting, isNotified: true })
  }
}

const told = ({ expiries }: StreamPlan) => expiries.map(({ kind, event }) => `${kind} ${event}`)
const one = ({ expiries: [expiry] }: StreamPlan) => expiry

describe('an event without a heartbeat', () => {
  it('is left alone at the first observation, and inspected again an interval later', () => {
    const plan = new Case(ROOT, SILENT).look(0)
    expect(plan.expiries).toEqual([])
    expect(plan.nextInspectionMs).toBe(START_MS + INTERVAL)
    expect(plan.dueMs).toBe(START_MS - 5 * MINUTE)
  })

  it('is ended by the second observation, if that is an interval later', () => {
    const stream = new Case(ROOT, SILENT)
    expect(stream.ends(0)).toEqual([])
    expect(stream.ends(INTERVAL - 1)).toEqual([])
    expect(stream.ends(INTERVAL)).toEqual(['abort-event 01.00'])
  })

  it('is ended by the first observation after its deadline, if the document is unchanged for an interval', () => {
    const young = { ...SILENT, timestamp: ago(4 * MINUTE) }
    const stream = new Case(ROOT, young)
    expect(stream.look(0).nextInspectionMs).toBe(START_MS + MINUTE)
    expect(stream.ends(MINUTE - 1)).toEqual([])
    expect(stream.ends(MINUTE)).toEqual(['abort-event 01.00'])
  })

  it('is ended in a constantly changing stream if the event itself is unchanged', () => {
    const stream = new Case(ROOT, SILENT, WAITING)
    for (let at = 0; at < INTERVAL; at += 1_000) {
      stream.becomes(at, ROOT, SILENT, { ...WAITING, tag: String(at) })
      expect(stream.ends(at)).toEqual([])
    }
    stream.becomes(INTERVAL, ROOT, SILENT, WAITING)
    expect(stream.ends(INTERVAL)).toEqual(['abort-event 01.00'])
  })

  it.each<[string, EventText]>([
    ['timestamp', { timestamp: ago(9 * MINUTE) }],
    ['attempt', { 'lc:attempt': '3' }],
    ['fence', { 'lc:fence': '8' }],
    ['status', { status: 'paused' }],
    ['limit', { timeout: '00:06:00' }],
  ])('is observed from the beginning if its %s changes', (_, change) => {
    const stream = new Case(ROOT, SILENT)
    stream.look(0)
    stream.becomes(INTERVAL - 1, ROOT, { ...SILENT, ...change })
    expect(stream.ends(INTERVAL)).toEqual([])
    expect(stream.ends(2 * INTERVAL - 1)).toEqual(['abort-event 01.00'])
  })

  it('is not ended by observations before an observation gap', () => {
    const stream = new Case(ROOT, SILENT)
    stream.look(0)
    expect(stream.ends(INTERVAL, { epochMs: INTERVAL })).toEqual([])
    expect(stream.ends(2 * INTERVAL, { epochMs: INTERVAL })).toEqual(['abort-event 01.00'])
  })

  it('gets time for a heartbeat after a gap in which heartbeats were impossible', () => {
    const gaps: readonly Gap[] = [{ fromMs: START_MS - 8 * MINUTE, toMs: START_MS - 5_000 }]
    const stream = new Case(ROOT, SILENT)
    const plan = stream.look(INTERVAL, { gaps })
    expect(plan.expiries).toEqual([])
    expect(plan.nextInspectionMs).toBe(START_MS - 5_000 + (5 * MINUTE) / 3)
    expect(stream.ends(2 * MINUTE, { gaps })).toEqual(['abort-event 01.00'])
  })

  it('is ended at once if the clock alone decides', () => {
    expect(new Case(ROOT, SILENT).ends(0, { apartMs: 0 })).toEqual(['abort-event 01.00'])
  })

  it('is ended with its observed state, and the message says which deadline passed and when', () => {
    const stream = new Case(ROOT, SILENT)
    stream.look(0)
    expect(one(stream.look(INTERVAL))).toEqual({
      kind: 'abort-event',
      stream: 's',
      event: '01.00',
      name: 'Search',
      limit: 'no-sign-of-life',
      dueMs: START_MS - 5 * MINUTE,
      message: `timed out: no sign of life since ${ago(10 * MINUTE)} (timeout 00:05:00)`,
      commandId: `watchdog:01.00:2:${ago(5 * MINUTE)}`,
      ends: 1,
      operation: {
        op: 'abort',
        event: '01.00',
        msg: `timed out: no sign of life since ${ago(10 * MINUTE)} (timeout 00:05:00)`,
        expired: {
          event: '01.00',
          status: 'inprocess',
          attempt: '2',
          fence: '7',
          timestamp: ago(10 * MINUTE),
          dueMs: START_MS - 5 * MINUTE,
        },
      },
    })
  })
})

describe('a deadline that heartbeats do not extend', () => {
  const never = { ...WAITING, timeout: '00:30:00' }
  const absolute = { ...SILENT, timeout: ago(MINUTE) }
  const root = { ...ROOT, timeout: '05:00:00' }

  it.each<[string, readonly EventText[], string]>([
    ['never started', [ROOT, never], 'abort-event 02.00'],
    ['an absolute time', [ROOT, absolute], 'abort-event 01.00'],
    ['the deadline of the stream', [root, WAITING], 'abort-stream 00'],
  ])('only has to have passed in both observations: %s', (_, events, end) => {
    const stream = new Case(...events)
    expect(stream.ends(5 * INTERVAL)).toEqual([])
    // despite any other change of the document, including a heartbeat
    stream.becomes(6 * INTERVAL - 1, ...events.map(event => ({ ...event, timestamp: ago(0) })))
    expect(stream.ends(6 * INTERVAL - 1)).toEqual([])
    expect(stream.ends(6 * INTERVAL)).toEqual([end])
  })

  it('has to be the same in both', () => {
    const stream = new Case(ROOT, never)
    stream.look(0)
    stream.becomes(INTERVAL, ROOT, { ...never, timeout: '00:31:00' })
    expect(stream.ends(INTERVAL)).toEqual([])
    expect(stream.ends(2 * INTERVAL)).toEqual(['abort-event 02.00'])
  })

  it('has to have passed in two new observations after an observation gap', () => {
    const stream = new Case(ROOT, never)
    stream.look(0)
    expect(stream.ends(INTERVAL, { epochMs: 5_000 })).toEqual([])
    expect(stream.ends(INTERVAL + 5_000, { epochMs: 5_000 })).toEqual(['abort-event 02.00'])
  })

  it('is not extended by observation gaps', () => {
    const stream = new Case(ROOT, never)
    const gaps = [{ fromMs: START_MS - HOUR, toMs: START_MS }]
    stream.look(0, { gaps })
    expect(stream.ends(INTERVAL, { gaps })).toEqual(['abort-event 02.00'])
  })
})

describe('the action at a deadline', () => {
  const twice = (onDue: InspectionRules['onDue'], ...events: readonly EventText[]) => {
    const stream = new Case(...events)
    stream.look(0, { onDue })
    return stream.ends(INTERVAL, { onDue })
  }
  const wants = (onDue: string): EventText => ({ ...SILENT, 'lc:onDue': onDue })

  it.each([
    ['notify', 'abort-event', 'abort-event 01.00'],
    ['notify', 'abort-stream', 'abort-stream 01.00'],
    ['abort-event', 'abort-stream', 'abort-stream 01.00'],
    ['abort-event', 'notify', 'notify 01.00'],
    ['abort-stream', 'abort-event', 'abort-event 01.00'],
    ['abort-stream', 'notify', 'notify 01.00'],
  ] as const)("is the event's own: not %s but %s", (usual, own, end) => {
    expect(twice(usual, ROOT, wants(own))).toEqual([end])
  })

  it.each(['abort-event', 'abort-stream', 'notify'] as const)(
    "is the default, %s, if the event's own is unknown",
    usual => {
      expect(twice(usual, ROOT, wants('explode'))).toEqual([`${usual} 01.00`])
      expect(twice(usual, ROOT, SILENT)).toEqual([`${usual} 01.00`])
    },
  )

  it('ends the whole stream with the root, if it ends events', () => {
    const root = { ...ROOT, timeout: '01:00:00' }
    expect(twice('abort-event', root, WAITING)).toEqual(['abort-stream 00'])
    expect(twice('notify', root, WAITING)).toEqual(['notify 00'])
    expect(twice('notify', { ...root, 'lc:onDue': 'abort-event' }, WAITING)).toEqual(['abort-stream 00'])
    expect(twice('abort-event', { ...root, 'lc:onDue': 'notify' }, WAITING)).toEqual(['notify 00'])
  })

  it('ends the stream at the root, and names the due event', () => {
    const stream = new Case(ROOT, wants('abort-stream'), WAITING)
    stream.look(0)
    const expiry = one(stream.look(INTERVAL))
    expect(expiry?.operation).toMatchObject({ op: 'abort', expired: { event: '01.00' } })
    expect(expiry?.operation).not.toHaveProperty('event')
    expect(expiry?.message).toBe(`01.00 Search timed out: no sign of life since ${ago(10 * MINUTE)} (timeout 00:05:00)`)
    expect(expiry?.ends).toBe(3)
  })

  it('is one for all due events, if one of them ends the stream', () => {
    const due = { ...SILENT, id: '03.00' }
    expect(twice('abort-event', ROOT, SILENT, { ...due, 'lc:onDue': 'abort-stream' }, WAITING)).toEqual([
      'abort-stream 03.00',
    ])
  })

  it('is one for each of several due events', () => {
    const also = { ...SILENT, id: '03.00' }
    expect(twice('abort-event', ROOT, SILENT, also)).toEqual(['abort-event 01.00', 'abort-event 03.00'])
  })

  it('may be to notify, and change nothing', () => {
    const stream = new Case(ROOT, SILENT)
    stream.look(0, { onDue: 'notify' })
    const expiry = one(stream.look(INTERVAL, { onDue: 'notify' }))
    expect(expiry).toMatchObject({ kind: 'notify', ends: 0 })
    expect(expiry).not.toHaveProperty('operation')
  })

  it('notifies once for an event', () => {
    const stream = new Case(ROOT, SILENT)
    stream.look(0, { onDue: 'notify' })
    expect(stream.ends(INTERVAL, { onDue: 'notify' })).toEqual(['notify 01.00'])
    stream.told('01.00')
    const plan = stream.look(2 * INTERVAL, { onDue: 'notify' })
    expect(plan.expiries).toEqual([])
    expect(plan.nextInspectionMs).toBe(Number.POSITIVE_INFINITY)
    expect(plan.dueMs).toBe(Number.POSITIVE_INFINITY)
    expect(stream.ends(3 * INTERVAL, { onDue: 'notify', epochMs: 3 * INTERVAL })).toEqual([])
  })

  it('notifies again for a new attempt, even with the same absolute deadline', () => {
    const absolute = { ...SILENT, timeout: ago(MINUTE) }
    const stream = new Case(ROOT, absolute)
    stream.look(0, { onDue: 'notify' })
    stream.look(INTERVAL, { onDue: 'notify' })
    stream.told('01.00')
    stream.becomes(INTERVAL, ROOT, { ...absolute, 'lc:attempt': '3' })
    stream.look(2 * INTERVAL, { onDue: 'notify' })
    expect(stream.ends(3 * INTERVAL, { onDue: 'notify' })).toEqual(['notify 01.00'])
  })
})

describe('due events above and below each other', () => {
  const parent: EventText = { ...SILENT, timeout: ago(2 * MINUTE), next: '01.01' }
  const child: EventText = { ...SILENT, id: '01.01', prev: '01.00' }
  const twice = (...events: readonly EventText[]) => {
    const stream = new Case(...events)
    stream.look(0)
    return stream.look(INTERVAL)
  }

  it('are ended by the upper one, in any order', () => {
    expect(told(twice(ROOT, parent, child))).toEqual(['abort-event 01.00'])
    expect(told(twice(ROOT, child, parent))).toEqual(['abort-event 01.00'])
    expect(one(twice(ROOT, parent, child))?.ends).toBe(2)
  })

  it('are both handled, if the upper one is only notified', () => {
    const plan = twice(ROOT, { ...parent, 'lc:onDue': 'notify' }, child)
    expect(told(plan)).toEqual(['notify 01.00', 'abort-event 01.01'])
  })

  it('are ended by the topmost, however long the chain and in any order', () => {
    const chain = Array.from({ length: 20_000 }, (_, n) => ({
      id: `01.${n}`,
      status: 'inprocess',
      prev: n === 0 ? '00' : `01.${n - 1}`,
      timeout: ago(MINUTE),
    }))
    const stream = new Case(ROOT, ...chain.reverse())
    expect(stream.ends(0, { apartMs: 0 })).toEqual(['abort-event 01.0'])
  })

  /** Each of the upper ones is due and followed by all of one chain. */
  const overOneChain = (count: number): EventText[] => {
    const numbers = Array.from({ length: count }, (_, n) => n)
    return [
      ROOT,
      ...numbers.map(n => ({ id: `p${n}`, status: 'inprocess', timeout: ago(MINUTE), next: 'c0' })),
      ...numbers.map(n => ({ id: `c${n}`, status: 'init', ...(n + 1 < count ? { next: `c${n + 1}` } : {}) })),
    ]
  }
  const endsIn = ({ expiries }: StreamPlan) => expiries.reduce((sum, { ends }) => sum + ends, 0)

  it('count once, however many due events they are below', () => {
    const { expiries } = twice(...overOneChain(60))
    expect(expiries.map(({ ends }) => ends)).toEqual([61, ...Array(59).fill(1)])
    const between = { ...WAITING, id: '01.01', prev: '01.00', next: '01.02', 'lc:superseded': '1' }
    const below = { ...SILENT, id: '01.02', prev: '01.01', timeout: ago(MINUTE) }
    expect(endsIn(twice(ROOT, parent, between, below))).toBe(2)
  })

  it.each([1, 60])('are visited a fixed number of times each, however many they are: %i', count => {
    const visits = [
      vi.spyOn(EventStream.prototype, 'followingPositions'),
      vi.spyOn(EventStream.prototype, 'successorPositions'),
    ]
    const events = overOneChain(count)
    expect(new Case(...events).ends(0, { apartMs: 0 })).toHaveLength(count)
    const visited = visits.reduce((sum, { mock }) => sum + mock.calls.length, 0)
    expect(visited).toBeLessThanOrEqual(3 * events.length)
    vi.restoreAllMocks()
  })

  it('are ended once, if each is below the other', () => {
    const one = { ...SILENT, timeout: ago(2 * MINUTE), next: '01.01', prev: '01.01' }
    const other = { ...one, id: '01.01', next: '01.00', prev: '01.00' }
    expect(told(twice(ROOT, one, other))).toHaveLength(1)
  })

  it('are ended below a final one: foreign writers leave them open', () => {
    const done = { ...ROOT, status: 'completed' }
    expect(told(twice(done, SILENT))).toEqual(['abort-event 01.00'])
    const plan = twice(done, { ...SILENT, 'lc:onDue': 'abort-stream' })
    expect(told(plan)).toEqual(['abort-stream 01.00'])
    expect(one(plan)?.ends).toBe(1)
  })
})

describe('an event without a running deadline', () => {
  const never = (...events: readonly EventText[]) => {
    const stream = new Case(...events)
    stream.look(0)
    const plan = stream.look(DAY_LATER)
    expect(plan).toMatchObject({
      expiries: [],
      dueMs: Number.POSITIVE_INFINITY,
      nextInspectionMs: Number.POSITIVE_INFINITY,
    })
  }
  const DAY_LATER = 24 * HOUR

  it('that waits for its successors', () =>
    never(ROOT, { ...SILENT, next: '01.01' }, { ...WAITING, id: '01.01', prev: '01.00' }))
  it('that is a waiting join', () => never(ROOT, { ...SILENT, 'lc:wait': 'yes', 'lc:join': 'wait' }))
  it('of a held stream', () => never({ ...ROOT, status: 'init', timeout: '00:00:01' }, SILENT))
  it('that is final', () => never(ROOT, { ...SILENT, status: 'aborted' }))
  it('that is superseded', () => never(ROOT, { ...SILENT, 'lc:superseded': '3' }))
  it('with an unreadable timeout', () => never(ROOT, { ...SILENT, timeout: 'soon' }))
  it('that is the second one with its id', () => never(ROOT, { ...WAITING, id: '01.00' }, SILENT))
})

describe('a plan', () => {
  it('names the earliest deadline of the events it leaves alone', () => {
    const later = { ...SILENT, id: '03.00', timestamp: ago(MINUTE) }
    const stream = new Case(ROOT, SILENT, later)
    stream.look(0)
    const plan = stream.look(INTERVAL)
    expect(told(plan)).toEqual(['abort-event 01.00'])
    expect(plan).toMatchObject({ dueMs: START_MS + 4 * MINUTE, nextInspectionMs: START_MS + 4 * MINUTE })
  })

  it('forgets the observations of an event that is no longer due', () => {
    const stream = new Case(ROOT, SILENT)
    stream.look(0)
    expect(stream.sightings.size).toBe(1)
    stream.becomes(5_000, ROOT, { ...SILENT, timestamp: ago(0) }).look(5_000)
    expect(stream.sightings.size).toBe(0)
  })
})

describe('an attempt that runs longer than its event allows', () => {
  const attempt: EventText = {
    ...SILENT,
    timeout: '',
    timestamp: ago(MINUTE),
    'lc:owner': 'w1',
    'lc:until': ago(-MINUTE),
    'lc:claimed': ago(20 * MINUTE),
    'lc:attemptTimeout': '00:10:00',
  }

  it('is ended although its worker sends heartbeats, and the event is tried again', () => {
    const seen = new Case(ROOT, attempt)
    seen.look(0)
    const beaten = { ...attempt, timestamp: ago(-MINUTE) }
    const { expiries } = seen.becomes(MINUTE, ROOT, beaten).look(2 * MINUTE)
    expect(expiries).toMatchObject([
      {
        kind: 'end-attempt',
        event: '01.00',
        limit: 'attempt',
        ends: 0,
        operation: { op: 'fail', event: '01.00', transient: true, expired: { event: '01.00' } },
      },
    ])
    expect(expiries[0]?.message).toContain('the attempt has run since')
  })
})

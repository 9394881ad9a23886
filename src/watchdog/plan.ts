import { hash } from 'node:crypto'
import { attemptOf, isFinal, isSuperseded, type StreamEvent } from '../stream/event.ts'
import type { EventStream } from '../stream/event-stream.ts'
import { observedDeadline } from '../stream/operations/cancel-abort.ts'
import { isOnDue, type ObservedDeadline, type OnDue } from '../stream/operations/operation.ts'
import { cleanProgramText, cutBytes, encodeCommandId } from '../stream/text.ts'
import { isoTime } from '../stream/time/dates.ts'
import { type Deadline, deadlineOf, type TimeReader } from '../stream/time/deadlines.ts'
import type { Expiry } from './decision.ts'
import { type Gap, judgedDueMs } from './observation-gaps.ts'

/** What is kept of an event past its limit from look to look. Times of a clock that only goes forward, ms. */
export interface Observation {
  readonly seen: ObservedDeadline
  /** Since when it is known to stand as it does. */
  readonly sinceMs: number
  /** The first look that found it due. */
  readonly dueSinceMs: number
  /** It was told of (`notify`): that is all there is to do. */
  readonly isTold: boolean
}

export type Observations = ReadonlyMap<string, Observation>

/** A stream as a look found it, settled. */
export interface InspectedStream {
  readonly name: string
  readonly stream: EventStream
  readonly read: TimeReader
  /** What earlier looks kept. */
  readonly sightings: Observations
  /** Since when the document is known to be what it is, by the clock that only goes forward. */
  readonly knownSinceMs: number
  /** Of the stream as the next transaction finds it. */
  readonly version: number
  /** Whether the journal has a command id. */
  isUsed(commandId: string): boolean
}

export interface LookRules {
  /** The store's clock and the one that only goes forward, at this look. */
  readonly nowMs: number
  readonly atMs: number
  readonly onDue: OnDue
  /** How far two looks have to be apart, ms; 0 trusts the clock alone. */
  readonly apartMs: number
  /** What was seen before this counts no more, by the clock that only goes forward. */
  readonly epochMs: number
  readonly blindSpots: readonly Gap[]
}

export interface StreamPlan {
  readonly expiries: readonly Expiry[]
  readonly sightings: Observations
  /** The earliest limit of what is left alone by this plan, epoch ms, and when the stream has to be looked at again for it. */
  readonly dueMs: number
  readonly nextLookMs: number
}

/** An open event past its limit, or before it. */
interface Judged {
  readonly event: StreamEvent
  readonly position: number
  readonly limit: Deadline
  /** When it has to be looked at again; now or earlier: its time has come. */
  readonly ripeMs: number
}

/**
 * What is to be done with a stream whose limits have ended. An event is ended by what the watchdog itself has seen: two
 * looks, at least an interval apart, found it due; and one that is ended for giving no sign of life, to the letter the
 * same in both of them.
 */
export function planStream(subject: InspectedStream, rules: LookRules): StreamPlan {
  const sightings = new Map<string, Observation>()
  const judged: Judged[] = []
  for (const [position, event] of subject.stream.events.entries()) {
    if (isFinal(event) || isSuperseded(event) || !subject.stream.counts(position)) continue
    const limit = deadlineOf(subject.stream, event, subject.read)
    if (limit === undefined) continue
    const dueMs = judgedDueMs(limit, rules.blindSpots)
    const sighting = dueMs <= rules.nowMs ? sight(subject, event, limit, rules) : undefined
    if (sighting !== undefined) sightings.set(event.id, sighting)
    judged.push({ event, position, limit, ripeMs: ripeMs(sighting, limit, dueMs, rules) })
  }
  const ripe = judged.filter(({ ripeMs }) => ripeMs <= rules.nowMs)
  const expiries = expiriesOf(subject, ripe, rules)
  const left = judged.filter(({ ripeMs }) => ripeMs > rules.nowMs)
  return {
    expiries,
    sightings,
    dueMs: Math.min(...left.map(({ limit }) => limit.dueMs), Number.POSITIVE_INFINITY),
    nextLookMs: Math.min(...left.map(({ ripeMs }) => ripeMs), Number.POSITIVE_INFINITY),
  }
}

function sight(
  { sightings, knownSinceMs }: InspectedStream,
  event: StreamEvent,
  limit: Deadline,
  rules: LookRules,
): Observation {
  const seen = observedDeadline(event, limit.dueMs)
  const before = sightings.get(event.id)
  const isSame = before !== undefined && isEqual(before.seen, seen)
  const isSameLimit = before !== undefined && before.seen.dueMs === seen.dueMs && before.seen.attempt === seen.attempt
  return {
    seen,
    sinceMs: Math.max(isSame ? Math.min(before.sinceMs, knownSinceMs) : knownSinceMs, rules.epochMs),
    dueSinceMs: isSameLimit ? Math.max(before.dueSinceMs, rules.epochMs) : rules.atMs,
    isTold: isSameLimit && before.isTold,
  }
}

function isEqual(a: ObservedDeadline, b: ObservedDeadline): boolean {
  return (
    a.event === b.event &&
    a.status === b.status &&
    a.attempt === b.attempt &&
    a.fence === b.fence &&
    a.timestamp === b.timestamp &&
    a.dueMs === b.dueMs
  )
}

function ripeMs(sighting: Observation | undefined, { kind }: Deadline, dueMs: number, rules: LookRules): number {
  if (sighting === undefined) return dueMs
  if (sighting.isTold) return Number.POSITIVE_INFINITY
  const sinceMs = kind === 'no-sign-of-life' ? sighting.sinceMs : sighting.dueSinceMs
  return rules.nowMs + sinceMs + rules.apartMs - rules.atMs
}

/** What ends the stream ends it alone; what ends an event ends what is below it too. */
function expiriesOf(subject: InspectedStream, ripe: readonly Judged[], rules: LookRules): Expiry[] {
  const actions = ripe.map(judged => ({ judged, kind: actionOf(subject.stream, judged.event, rules.onDue) }))
  const ending = actions.find(({ kind }) => kind === 'abort-stream')
  const count = new OpenCount(subject.stream)
  if (ending !== undefined) return [expiryOf(subject, ending.judged, ending.kind, count)]
  const enders = actions.flatMap(({ judged, kind }) => (kind === 'notify' ? [] : [judged.position]))
  const ended = descendants(subject.stream, enders)
  return actions
    .filter(({ judged }) => !ended.has(judged.position))
    .map(({ judged, kind }) => expiryOf(subject, judged, kind, count))
}

/** The root's limit is one for the whole stream. What an event says of its own and nobody understands does not count. */
function actionOf(stream: EventStream, event: StreamEvent, usual: OnDue): OnDue {
  const { onDue } = event.lc
  const action = isOnDue(onDue) ? onDue : usual
  return action === 'abort-event' && stream.isRoot(event) ? 'abort-stream' : action
}

function expiryOf(subject: InspectedStream, { event, position, limit }: Judged, kind: OnDue, count: OpenCount): Expiry {
  const target = kind === 'abort-stream' ? 0 : position
  const message = expiryText(event, limit, target === position)
  const what = {
    kind,
    stream: subject.name,
    event: event.id,
    name: event.name,
    limit: limit.kind,
    dueMs: limit.dueMs,
    message,
    commandId: commandIdOf(subject, event, limit.dueMs),
  }
  if (kind === 'notify') return { ...what, ends: 0 }
  const expired = observedDeadline(event, limit.dueMs)
  const on = target === position ? { event: event.id } : {}
  return { ...what, ends: count.from(target), operation: { op: 'abort', ...on, msg: message, expired } }
}

/** An event that was ended under this id and is open has been opened again by a foreign writer: it is ended again. */
function commandIdOf({ version, isUsed }: InspectedStream, event: StreamEvent, dueMs: number): string {
  const short = (text: string) => hash('sha256', text, 'hex').slice(0, 32)
  const id = expiryCommandId(event, dueMs, short)
  return isUsed(id) ? expiryCommandId(event, dueMs, short, `:v${version}`) : id
}

/** Positions below any of these; of those in a cycle the first is not. Each is passed once: a stranger's chain may be long. */
function descendants(stream: EventStream, positions: readonly number[]): ReadonlySet<number> {
  const below = new Set<number>()
  for (const first of positions) {
    if (below.has(first)) continue
    const left = [first]
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      for (const next of stream.successorPositions(at)) {
        if (next === first || below.has(next)) continue
        below.add(next)
        left.push(next)
      }
    }
  }
  return below
}

/**
 * Counts the open events that are ended with one after another: each counts with the first that it is at or below. So they
 * add up to what is ended in truth, and each is passed once, however strangers link them.
 */
class OpenCount {
  readonly #stream: EventStream
  readonly #passed = new Set<number>()

  constructor(stream: EventStream) {
    this.#stream = stream
  }

  /** Open events at and below a position that have not been counted yet. */
  from(position: number): number {
    // below the root is everything, linked or not
    const left = position === 0 ? [0, ...this.#stream.childrenFirst()] : [position]
    let open = 0
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (this.#passed.has(at)) continue
      this.#passed.add(at)
      if (this.#isOpen(at)) open += 1
      for (const next of this.#stream.followingPositions(at)) if (!this.#passed.has(next)) left.push(next)
    }
    return open
  }

  #isOpen(position: number): boolean {
    const event = this.#stream.at(position)
    return event !== undefined && !isFinal(event) && !isSuperseded(event)
  }
}

/** Names, ids and timeouts come from strangers and are cut to so many bytes each: the whole is far below a reason's limit. */
const PART_BYTES = 200
/** A longer one makes no command id. */
const MAX_ID_LENGTH = 150

/** Which limit ended, and since when. The same to the letter whoever finds it: it is part of what a command id stands for. */
export function expiryText(event: StreamEvent, limit: Deadline, isTarget: boolean): string {
  const { id, name, timeout } = event
  const who = isTarget ? '' : `${part(id)}${name === '' ? '' : ` ${part(name)}`} `
  return `${who}timed out: ${reasonOf(limit, part(timeout))}`
}

function reasonOf({ kind, dueMs, from }: Deadline, timeout: string): string {
  const since = isoTime(from?.ms ?? dueMs)
  switch (kind) {
    case 'stream':
      return `the stream has run since ${since} (timeout ${timeout})`
    case 'never-started':
      return `not started since ${since} (timeout ${timeout})`
    case 'no-sign-of-life':
      return `no sign of life since ${since} (timeout ${timeout})`
    case 'absolute':
      return `it was to end by ${isoTime(dueMs)}`
    default:
      return kind satisfies never
  }
}

/**
 * One id for one end of a limit: `watchdog:{event}:{attempt}:{due}`. Two events never share one: `%` stands for nothing
 * but what is encoded, and an id too long for it gives way to its hash.
 *
 * @param again tells it from an earlier end of the same limit, after a foreign writer opened the event again; mostly `''`
 */
export function expiryCommandId(event: StreamEvent, dueMs: number, hash: (text: string) => string, again = ''): string {
  const rest = `:${attemptOf(event)}:${isoTime(dueMs)}${again}`
  const short = event.id.length <= MAX_ID_LENGTH ? event.id.replaceAll('%', '%25') : hash(event.id)
  try {
    return encodeCommandId(`watchdog:${short}${rest}`)
  } catch {
    return encodeCommandId(`watchdog:${hash(event.id)}${rest}`)
  }
}

/** Cut first: to clean a text takes the square of its length where a stranger means it to. */
function part(text: string): string {
  return cleanProgramText(cutBytes(text, 4 * PART_BYTES), PART_BYTES)
}

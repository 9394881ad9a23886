import { hash } from 'node:crypto'
import { actionOf } from '../ops/event-limits.ts'
import { attemptOf, isFinal, isSuperseded, type StreamEvent } from '../stream/event.ts'
import type { EventStream } from '../stream/event-stream.ts'
import { observedDeadline } from '../stream/operations/cancel-abort.ts'
import type { DueAction, ObservedDeadline } from '../stream/operations/operation.ts'
import { cleanProgramText, cutBytes, encodeCommandId } from '../stream/text.ts'
import { isoTime } from '../stream/time/dates.ts'
import { type Deadline, deadlineOf, type TimeReader } from '../stream/time/deadlines.ts'
import type { Expiry } from './decision.ts'
import { type Gap, judgedDueMs } from './observation-gaps.ts'

/** Observation of an event past its deadline, kept between inspections. Monotonic times, ms. */
export interface Observation {
  readonly seen: ObservedDeadline
  /** Since when its state is known to be unchanged. */
  readonly sinceMs: number
  /** The first inspection that found it due. */
  readonly dueSinceMs: number
  /** Observers were notified (`notify`): nothing more to do. */
  readonly isNotified: boolean
}

export type Observations = ReadonlyMap<string, Observation>

/** A stream at an inspection, settled. */
export interface InspectedStream {
  readonly name: string
  readonly stream: EventStream
  readonly read: TimeReader
  /** Results of earlier inspections. */
  readonly observations: Observations
  /** Since when the document is known to be unchanged, by the monotonic clock. */
  readonly knownSinceMs: number
  /** Version that the next transaction starts from. */
  readonly version: number
  /** True if the journal contains the command id. */
  isUsed(commandId: string): boolean
}

export interface InspectionRules {
  /** The store's clock and the monotonic clock, at this inspection. */
  readonly nowMs: number
  readonly atMs: number
  readonly onDue: DueAction
  /** Minimum time between two observations, ms; 0 trusts the clock alone. */
  readonly apartMs: number
  /** Earlier observations are invalid, by the monotonic clock. */
  readonly epochMs: number
  readonly gaps: readonly Gap[]
}

export interface StreamPlan {
  readonly expiries: readonly Expiry[]
  readonly observations: Observations
  /** The earliest deadline of events that this plan leaves alone, epoch ms, and when to inspect the stream for it. */
  readonly dueMs: number
  readonly nextInspectionMs: number
}

const NEVER = Number.POSITIVE_INFINITY

/** An open event with a deadline, expired or not. */
interface DatedEvent {
  readonly event: StreamEvent
  readonly position: number
  readonly limit: Deadline
  /** When to inspect it again; a time not in the future: its deadline is confirmed as expired. */
  readonly inspectAtMs: number
}

/**
 * Plans the decisions for a stream with expired deadlines. An event is ended only on the watchdog's own observations:
 * two inspections, at least an interval apart, found it due; and if it is ended for a missing heartbeat, found it
 * completely unchanged.
 */
export function planStream(subject: InspectedStream, rules: InspectionRules): StreamPlan {
  const observations = new Map<string, Observation>()
  const judged: DatedEvent[] = []
  for (const [position, event] of subject.stream.events.entries()) {
    if (isFinal(event) || isSuperseded(event) || !subject.stream.counts(position)) continue
    const limit = deadlineOf(subject.stream, event, subject.read)
    if (limit === undefined) continue
    const dueMs = judgedDueMs(limit, rules.gaps)
    const observation = dueMs <= rules.nowMs ? observe(subject, event, limit, rules) : undefined
    if (observation !== undefined) observations.set(event.id, observation)
    judged.push({ event, position, limit, inspectAtMs: inspectAtMs(observation, limit, dueMs, rules) })
  }
  const ripe = judged.filter(({ inspectAtMs }) => inspectAtMs <= rules.nowMs)
  const expiries = expiriesOf(subject, ripe, rules)
  const left = judged.filter(({ inspectAtMs }) => inspectAtMs > rules.nowMs)
  return {
    expiries,
    observations,
    // A limit that was notified is past, and nothing more happens to it.
    dueMs: Math.min(...left.map(next => (next.inspectAtMs === NEVER ? NEVER : next.limit.dueMs)), NEVER),
    nextInspectionMs: Math.min(...left.map(({ inspectAtMs }) => inspectAtMs), NEVER),
  }
}

function observe(
  { observations, knownSinceMs }: InspectedStream,
  event: StreamEvent,
  limit: Deadline,
  rules: InspectionRules,
): Observation {
  const seen = observedDeadline(event, limit.dueMs)
  const before = observations.get(event.id)
  const isSame = before !== undefined && isEqual(before.seen, seen)
  const isSameLimit = before !== undefined && before.seen.dueMs === seen.dueMs && before.seen.attempt === seen.attempt
  return {
    seen,
    sinceMs: Math.max(isSame ? Math.min(before.sinceMs, knownSinceMs) : knownSinceMs, rules.epochMs),
    dueSinceMs: isSameLimit ? Math.max(before.dueSinceMs, rules.epochMs) : rules.atMs,
    isNotified: isSameLimit && before.isNotified,
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

function inspectAtMs(
  observation: Observation | undefined,
  { kind }: Deadline,
  dueMs: number,
  rules: InspectionRules,
): number {
  if (observation === undefined) return dueMs
  if (observation.isNotified) return NEVER
  const sinceMs = kind === 'no-sign-of-life' ? observation.sinceMs : observation.dueSinceMs
  return rules.nowMs + sinceMs + rules.apartMs - rules.atMs
}

/** Ending the stream makes all other decisions needless; ending an event ends its descendants too. */
function expiriesOf(subject: InspectedStream, ripe: readonly DatedEvent[], rules: InspectionRules): Expiry[] {
  const actions = ripe.map(judged => ({
    judged,
    kind: actionOf(subject.stream, judged.event, judged.limit, rules.onDue),
  }))
  const ending = actions.find(({ kind }) => kind === 'abort-stream')
  const count = new OpenCount(subject.stream)
  if (ending !== undefined) return [expiryOf(subject, ending.judged, ending.kind, count)]
  const enders = actions.flatMap(({ judged, kind }) => (kind === 'abort-event' ? [judged.position] : []))
  const ended = descendants(subject.stream, enders)
  return actions
    .filter(({ judged }) => !ended.has(judged.position))
    .map(({ judged, kind }) => expiryOf(subject, judged, kind, count))
}

function expiryOf(
  subject: InspectedStream,
  { event, position, limit }: DatedEvent,
  kind: Expiry['kind'],
  count: OpenCount,
): Expiry {
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
  if (kind === 'end-attempt') {
    return { ...what, ends: 0, operation: { op: 'fail', event: event.id, msg: message, transient: true, expired } }
  }
  const on = target === position ? { event: event.id } : {}
  return { ...what, ends: count.from(target), operation: { op: 'abort', ...on, msg: message, expired } }
}

/** An open event whose id was used before has been reopened by a foreign writer: it is ended again under another id. */
function commandIdOf({ version, isUsed }: InspectedStream, event: StreamEvent, dueMs: number): string {
  const short = (text: string) => hash('sha256', text, 'hex').slice(0, 32)
  const id = expiryCommandId(event, dueMs, short)
  return isUsed(id) ? expiryCommandId(event, dueMs, short, `:v${version}`) : id
}

/**
 * Positions of all descendants; in a cycle the start is not one. Each is visited once, since untrusted chains may be
 * long.
 */
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
 * Counts the open events that a series of decisions ends; each counts for the first decision that covers it. The counts
 * thus add up to the true total, and each event is visited once, however untrusted writers link them.
 */
class OpenCount {
  readonly #stream: EventStream
  readonly #passed = new Set<number>()

  constructor(stream: EventStream) {
    this.#stream = stream
  }

  /** Number of open events at and below a position that are not counted yet. */
  from(position: number): number {
    // Everything is below the root, linked or not.
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

/** Limit for names, ids and timeouts, which are untrusted: the text stays far below the limit of a reason. */
const PART_BYTES = 200
/** Longer ids are replaced by their hash in command ids. */
const MAX_ID_LENGTH = 150

/**
 * The expired deadline and its start. Must be identical for all watchdogs, since it belongs to the arguments of a
 * command id.
 */
export function expiryText(event: StreamEvent, limit: Deadline, isTarget: boolean): string {
  const { id, name } = event
  const timeout = limit.kind === 'attempt' ? (event.lc.attemptTimeout ?? '') : event.timeout
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
    case 'no-signal':
      return `no signal since ${since} (timeout ${timeout})`
    case 'no-sign-of-life':
      return `no sign of life since ${since} (timeout ${timeout})`
    case 'attempt':
      return `the attempt has run since ${since} (attempt timeout ${timeout})`
    case 'absolute':
      return `it was to end by ${isoTime(dueMs)}`
    default:
      return kind satisfies never
  }
}

/**
 * The command id of an expired deadline: `watchdog:{event}:{attempt}:{due}`. It is unique for each event: `%` only
 * occurs in encoded characters, and overlong ids are replaced by their hash.
 *
 * @param again distinguishes another end of the same deadline, after a foreign writer reopened the event; usually `''`
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

/** Cut before cleaning, since hostile input makes cleaning quadratic in its length. */
function part(text: string): string {
  return cleanProgramText(cutBytes(text, 4 * PART_BYTES), PART_BYTES)
}

import { isFinal, isGated, isSuperseded, type StreamEvent } from '../event.ts'
import type { EventStream } from '../event-stream.ts'
import { waitsForSignalOnly, wakeMs } from '../gate.ts'
import { isAhead, readTime, type TimeReader } from './dates.ts'
import { parseTimeout } from './durations.ts'
import { pauseMs } from './pauses.ts'

export type { TimeReader } from './dates.ts'
export { timeReaderFor } from './dates.ts'
export { parseTimeout, timeoutFromInput } from './durations.ts'

/**
 * The start of a timeout (stream-format 6). `stream`: the root's opening, for the whole stream. `never-started`: the
 * opening of an event that is still `init`. `no-signal`: since when an event waits for nothing but a signal.
 * `no-sign-of-life`: the last heartbeat of a running event. `absolute`: no start, the timeout is a date and time.
 * `attempt`: the claim of a running event, for `lc:attemptTimeout`; heartbeats do not renew it.
 */
export type LimitKind = 'stream' | 'never-started' | 'no-signal' | 'no-sign-of-life' | 'absolute' | 'attempt'

/** The deadline of an open event. */
export interface Deadline {
  readonly kind: LimitKind
  /** Epoch ms. */
  readonly dueMs: number
  /** The start and length of the timeout, without pauses; absent for an absolute one. */
  readonly from?: { readonly ms: number; readonly timeoutMs: number }
  /** The start is ahead of the store's clock, so the timeout counts from the last write of the document. */
  readonly isAhead?: true
}

/**
 * The deadline of an event; `undefined` if it has no timeout or the timeout is not running.
 *
 * An event of unknown status is open and treated like `inprocess`. So is an `init` event with successors: a foreign
 * worker has started it. Without a readable timestamp, the opening counts as the last heartbeat.
 */
export function deadlineOf(stream: EventStream, event: StreamEvent, read: TimeReader): Deadline | undefined {
  if (isFinal(event) || isSuperseded(event) || stream.held || stream.suspended) return undefined
  const attempt = event.lc.attemptTimeout === undefined ? undefined : attemptDeadline(stream, event, read)
  const own = event.timeout === '' ? undefined : timeoutDeadline(stream, event, read)
  return attempt !== undefined && (own === undefined || attempt.dueMs < own.dueMs) ? attempt : own
}

/** How long one attempt of the event may run, ms; `undefined` without a limit. */
export function attemptTimeoutMs({ lc }: StreamEvent): number | undefined {
  const span = lc.attemptTimeout === undefined ? undefined : parseTimeout(lc.attemptTimeout)
  return span?.kind === 'after' ? span.ms : undefined
}

/** The end of the present attempt; `undefined` without a limit. While the stream is suspended it stands still. */
export function attemptDeadline(stream: EventStream, event: StreamEvent, read: TimeReader): Deadline | undefined {
  const timeoutMs = attemptTimeoutMs(event)
  const ms = event.lc.owner === undefined ? undefined : read(event.lc.claimed ?? '')
  if (timeoutMs === undefined || ms === undefined) return undefined
  return { kind: 'attempt', dueMs: ms + timeoutMs + pauseMs(stream, event, ms, read), from: { ms, timeoutMs } }
}

function timeoutDeadline(stream: EventStream, event: StreamEvent, read: TimeReader): Deadline | undefined {
  // A stream that is undoing what it did is over: it is not ended again.
  if (stream.isRoot(event) && stream.compensating) return undefined
  // A gated event is never due, unless it waits for a signal alone and does not go on without.
  if (isGated(event) && (event.lc.onDue === 'open' || !waitsForSignalOnly(event))) return undefined
  return timeoutOf(stream, event, read)
}

/** The end of the event's timeout, whatever it means for the event. */
function timeoutOf(stream: EventStream, event: StreamEvent, read: TimeReader): Deadline | undefined {
  const timeout = parseTimeout(event.timeout)
  if (timeout.kind === 'at') return { kind: 'absolute', dueMs: timeout.ms }
  if (timeout.kind !== 'after') return undefined
  const start = startOfLimit(stream, event, read)
  if (start?.ms === undefined) return undefined
  const { clock } = read
  const ahead = clock !== undefined && isAhead(start.ms, clock.nowMs) ? clock : undefined
  const ms = ahead?.writtenMs ?? start.ms
  const from = { ms, timeoutMs: timeout.ms }
  if (ahead !== undefined) return { kind: start.kind, dueMs: ms + timeout.ms, from, isAhead: true }
  const paused = pauseMs(stream, event, start.kind === 'no-sign-of-life' ? ms : undefined, read)
  return { kind: start.kind, dueMs: ms + timeout.ms + paused, from }
}

/** The time of the event's deadline, epoch ms; `undefined` for never. */
export function dueMs(stream: EventStream, event: StreamEvent, read: TimeReader): number | undefined {
  return deadlineOf(stream, event, read)?.dueMs
}

/**
 * Maximum time between heartbeats before the event's timeout expires, ms; `undefined` without such a timeout. The
 * root's timeout is for the whole stream, and an absolute one expires in spite of heartbeats.
 */
export function silenceLimitMs(stream: EventStream, event: StreamEvent): number | undefined {
  const timeout = parseTimeout(event.timeout)
  return timeout.kind === 'after' && !stream.isRoot(event) ? timeout.ms : undefined
}

/**
 * When an event that waits for nothing but a signal goes on without it (`lc:onDue="open"`), epoch ms; `undefined` if it
 * does not.
 */
export function gateTimeoutMs(stream: EventStream, event: StreamEvent, read: TimeReader): number | undefined {
  if (event.lc.onDue !== 'open' || event.timeout === '' || !waitsForSignalOnly(event)) return undefined
  return stream.held || stream.suspended ? undefined : timeoutOf(stream, event, read)?.dueMs
}

/** When the event's gate opens if nothing else happens, epoch ms; `undefined` if it waits for something else. */
export function opensAtMs(stream: EventStream, event: StreamEvent, read: TimeReader): number | undefined {
  return wakeMs(event) ?? gateTimeoutMs(stream, event, read)
}

/** Whether the event's timeout has expired. */
export function isDue(stream: EventStream, event: StreamEvent, read: TimeReader, nowMs: number): boolean {
  const due = dueMs(stream, event, read)
  return due !== undefined && due <= nowMs
}

/** The end of the event's claim, epoch ms; `undefined` without owner or readable end. */
export function claimEndMs(event: StreamEvent): number | undefined {
  const { owner, until } = event.lc
  return owner && until ? readTime(until) : undefined
}

/** Whether a claim on the event is running. A claim without a readable end is not. */
export function claimRuns(event: StreamEvent, nowMs: number): boolean {
  const end = claimEndMs(event)
  return end !== undefined && end > nowMs && !isFinal(event)
}

interface LimitStart {
  readonly kind: LimitKind
  readonly ms: number | undefined
}

function startOfLimit(stream: EventStream, event: StreamEvent, read: TimeReader): LimitStart | undefined {
  if (stream.isRoot(event)) return { kind: 'stream', ms: openedMs(event, read) }
  if (isGated(event)) return { kind: 'no-signal', ms: openedMs(event, read) }
  const position = stream.positionOf(event.id)
  const successors = stream.successorPositions(position)
  if (event.status === 'init' && successors.length === 0 && stream.missingIds(position).length === 0) {
    return { kind: 'never-started', ms: openedMs(event, read) }
  }
  if (stream.openSuccessors(event)) return undefined
  return { kind: 'no-sign-of-life', ms: lastSignOfLife(stream, event, successors, read) }
}

/** The latest opening of an event, epoch ms: the time of a retry, or of a join's release, replaces `created`. */
export function openedMs(event: StreamEvent, read: TimeReader): number | undefined {
  return read(event.lc.opened || event.created)
}

function lastSignOfLife(
  stream: EventStream,
  event: StreamEvent,
  successors: readonly number[],
  read: TimeReader,
): number | undefined {
  let latest = read(event.timestamp)
  for (const position of successors) {
    const ms = read(stream.at(position)?.timestamp ?? '')
    if (ms !== undefined && (latest === undefined || ms > latest)) latest = ms
  }
  return latest ?? openedMs(event, read)
}

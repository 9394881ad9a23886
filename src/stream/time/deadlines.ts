import { isFinal, isSuperseded, isWaitingJoin, type StreamEvent } from '../event.ts'
import type { EventStream } from '../event-stream.ts'
import { isAhead } from './clock-ahead.ts'
import { readTime, type TimeReader } from './dates.ts'
import { parseTimeout } from './durations.ts'

export type { TimeReader } from './dates.ts'
export { timeReaderFor } from './dates.ts'
export { parseTimeout, timeoutFromInput } from './durations.ts'

/**
 * What a limit counts from (stream-format 6). `stream`: the root's opening, for the whole stream. `never-started`: the
 * opening of an event that is still `init`. `no-sign-of-life`: the last sign of life of an event that is worked.
 * `absolute`: an end given as a date and time.
 */
export type LimitKind = 'stream' | 'never-started' | 'no-sign-of-life' | 'absolute'

/** The limit an open event stands under. */
export interface Deadline {
  readonly kind: LimitKind
  /** When it ends, epoch ms. */
  readonly dueMs: number
  /** What it counts from and how long it is; absent for an absolute one. */
  readonly from?: { readonly ms: number; readonly timeoutMs: number }
  /** It should count from a time that lies ahead of the store's clock, and counts from when the document was last written. */
  readonly isAhead?: true
}

/**
 * The limit of an event; `undefined` if it has none, or none that runs now.
 *
 * An event of unknown status is open and treated like `inprocess`. So is an `init` event that has successors: a foreign
 * worker has begun it. Without any readable timestamp, the opening is the last sign of life.
 */
export function deadlineOf(stream: EventStream, event: StreamEvent, read: TimeReader): Deadline | undefined {
  if (event.timeout === '' || isFinal(event) || isSuperseded(event) || isWaitingJoin(event) || stream.held) {
    return undefined
  }
  const timeout = parseTimeout(event.timeout)
  if (timeout.kind === 'at') return { kind: 'absolute', dueMs: timeout.ms }
  if (timeout.kind !== 'after') return undefined
  const start = startOfLimit(stream, event, read)
  if (start?.ms === undefined) return undefined
  const { clock } = read
  const ahead = clock !== undefined && isAhead(start.ms, clock.nowMs) ? clock : undefined
  const ms = ahead?.writtenMs ?? start.ms
  const from = { ms, timeoutMs: timeout.ms }
  return { kind: start.kind, dueMs: ms + timeout.ms, from, ...(ahead === undefined ? {} : { isAhead: true }) }
}

/** When the event's limit ends, epoch ms; `undefined` for never. */
export function dueMs(stream: EventStream, event: StreamEvent, read: TimeReader): number | undefined {
  return deadlineOf(stream, event, read)?.dueMs
}

/**
 * How long a worker of the event may give no sign of life before its limit ends, ms; `undefined` if no such limit does. That
 * of the root is for the whole stream, and an absolute one ends whatever is heard.
 */
export function silenceLimitMs(stream: EventStream, event: StreamEvent): number | undefined {
  const timeout = parseTimeout(event.timeout)
  return timeout.kind === 'after' && !stream.isRoot(event) ? timeout.ms : undefined
}

/** True once the event's timeout has ended. */
export function isDue(stream: EventStream, event: StreamEvent, read: TimeReader, nowMs: number): boolean {
  const due = dueMs(stream, event, read)
  return due !== undefined && due <= nowMs
}

/** When the event's claim ends or ended, epoch ms; `undefined` without owner or readable end. */
export function claimEndMs(event: StreamEvent): number | undefined {
  const { owner, until } = event.lc
  return owner && until ? readTime(until) : undefined
}

/** True while a worker's claim on the event holds. An unreadable end is no claim. */
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
  const { events: successors, missing } = stream.successors(event)
  if (event.status === 'init' && successors.length === 0 && missing.length === 0) {
    return { kind: 'never-started', ms: openedMs(event, read) }
  }
  if (stream.openSuccessors(event)) return undefined
  return { kind: 'no-sign-of-life', ms: lastSignOfLife(event, successors, read) }
}

/** The latest opening: a retry's time replaces `created`. */
function openedMs(event: StreamEvent, read: TimeReader): number | undefined {
  return read(event.lc.opened || event.created)
}

function lastSignOfLife(event: StreamEvent, successors: readonly StreamEvent[], read: TimeReader): number | undefined {
  let latest = read(event.timestamp)
  for (const successor of successors) {
    const ms = read(successor.timestamp)
    if (ms !== undefined && (latest === undefined || ms > latest)) latest = ms
  }
  return latest ?? openedMs(event, read)
}

import { readTime, type TimeReader } from './dates.ts'
import { isFinal, isSuperseded, isWaitingJoin, type StreamEvent } from './event.ts'
import type { EventStream } from './event-stream.ts'
import { parseTimeout } from './timeouts.ts'

export type { TimeReader } from './dates.ts'
export { timeReaderFor } from './time-reader.ts'
export { parseTimeout, timeoutFromInput } from './timeouts.ts'

/**
 * When the event's timeout ends, epoch ms (stream-format 6); `undefined` for never.
 *
 * An event of unknown status is open and treated like `inprocess`. So is an `init` event that has successors: a foreign
 * worker has begun it. Without any readable timestamp, the opening is the last sign of life.
 */
export function dueMs(stream: EventStream, event: StreamEvent, read: TimeReader): number | undefined {
  if (event.timeout === '' || isFinal(event) || isSuperseded(event) || isWaitingJoin(event) || stream.held) {
    return undefined
  }
  const timeout = parseTimeout(event.timeout)
  if (timeout.kind === 'at') return timeout.ms
  if (timeout.kind !== 'after') return undefined
  const from = startOfLimit(stream, event, read)
  return from === undefined ? undefined : from + timeout.ms
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

function startOfLimit(stream: EventStream, event: StreamEvent, read: TimeReader): number | undefined {
  if (stream.isRoot(event)) return openedMs(event, read)
  const { events: successors, missing } = stream.successors(event)
  if (event.status === 'init' && successors.length === 0 && missing.length === 0) return openedMs(event, read)
  return stream.openSuccessors(event) ? undefined : lastSignOfLife(event, successors, read)
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

import { isFinal, isSuperseded, type StreamEvent } from '../event.ts'
import type { EventStream } from '../event-stream.ts'
import { isAhead, type TimeReader } from './dates.ts'

/**
 * Timeouts stand still while a stream is suspended or held. What passed meanwhile is added to `lc:paused` of each open
 * event when the stream goes on; absolute times stay as they are.
 */

/** The time by which the timeouts of an event are later because its stream was suspended or held, ms. */
export function pausedMs({ lc: { paused } }: StreamEvent): number {
  return paused !== undefined && /^\d{1,15}$/.test(paused) ? Number(paused) : 0
}

/**
 * The pause that counts for a timeout, ms. After a sign of life only pauses since then count; they ended with the last
 * resumption, so the event gets at most its whole timeout from there.
 *
 * @param signMs the last sign of life, if the timeout counts from that, epoch ms
 */
export function pauseMs(stream: EventStream, event: StreamEvent, signMs: number | undefined, read: TimeReader): number {
  const paused = pausedMs(event)
  if (paused === 0 || signMs === undefined) return paused
  const resumedMs = read(stream.root?.lc.resumed ?? '')
  return resumedMs === undefined ? paused : Math.max(0, Math.min(paused, resumedMs - signMs))
}

/** Since when the stream is suspended, epoch ms. A time that a clock far ahead wrote is not later than the document. */
export function suspendedSinceMs(stream: EventStream, read: TimeReader): number | undefined {
  const ms = read(stream.root?.lc.suspended ?? '')
  const { clock } = read
  return clock !== undefined && isAhead(ms, clock.nowMs) ? clock.writtenMs : ms
}

/** Since when the stream is held, epoch ms: since its creation, or since its root was handed back. */
export function heldSinceMs({ root }: EventStream, read: TimeReader): number | undefined {
  if (root === undefined) return undefined
  return read(root.lc.attempt === undefined ? root.lc.opened || root.created : root.timestamp)
}

/** The new `lc:paused` of each open event after a pause, with its position. An event opened meanwhile paused from then. */
export function* pausesAfter(
  stream: EventStream,
  sinceMs: number,
  untilMs: number,
  read: TimeReader,
): Generator<readonly [position: number, paused: string]> {
  for (const [position, event] of stream.events.entries()) {
    if (isFinal(event) || isSuperseded(event) || !stream.counts(position)) continue
    const openedMs = read(event.lc.opened || event.created) ?? sinceMs
    const lengthMs = untilMs - Math.max(sinceMs, openedMs)
    if (lengthMs > 0) yield [position, String(Math.round(pausedMs(event) + lengthMs))]
  }
}

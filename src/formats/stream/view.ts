import type { LeaseView } from '../../store/store.ts'
import { isFailed, isFinal, isSuperseded, isWaitingJoin, type StreamEvent } from '../../stream/event.ts'
import type { EventStream } from '../../stream/event-stream.ts'
import { openEvents, openWork } from '../../stream/ready-events.ts'
import { dueMs, type TimeReader } from '../../stream/time/deadlines.ts'
import type { State } from './status.ts'

/** What a picture of a stream is made from. Times in epoch ms. */
export interface ShownStream {
  readonly name: string
  readonly version: number
  readonly lease: LeaseView
  readonly stream: EventStream
  /** Reads the time texts of this document. */
  readonly time: TimeReader
  /** By the store's clock; of an earlier version the time it is looked at from. */
  readonly nowMs: number
  /** Set for an earlier version. Limits, leases and the ends of claims of then are not known. */
  readonly past?: PastVersion
}

/** Which version a picture shows where it is not the present one. Times in epoch ms. */
export interface PastVersion {
  /** When its transaction was written; `undefined` if that cannot be read. */
  readonly atMs: number | undefined
  /** The present, for dates. */
  readonly presentMs: number
  /** When leasectl first wrote a document that others had made: its history begins there. */
  readonly adoptedMs?: number
}

/** When an event is due, `undefined` for never and where it is not known. */
export function eventDueMs(shown: ShownStream, event: StreamEvent): number | undefined {
  return shown.past === undefined ? dueMs(shown.stream, event, shown.time) : undefined
}

/** The time an attribute names, `undefined` when it is absent or unreadable. */
export function timeOf(shown: ShownStream, text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : shown.time(text)
}

/** The word for an event in pictures: its status; but a join that waits says so, and so does what has outlived its timeout. */
export function shownStatus(shown: ShownStream, event: StreamEvent): State | string {
  if (isFinal(event)) return event.status
  if (isWaitingJoin(event)) return 'waiting'
  const due = eventDueMs(shown, event)
  return due !== undefined && due <= shown.nowMs ? 'overdue' : event.status
}

/**
 * The status refined: *waiting* is a join that waits for its branches or an event whose successors are open, *ready*
 * can be started, *overdue* has outlived its timeout, *running* has work of its own. Unknown statuses are kept.
 */
export function stateOf(shown: ShownStream, event: StreamEvent): State | string {
  const seen = shownStatus(shown, event)
  if (isFinal(event) || seen !== event.status) return seen
  if (event.status === 'init') return shown.stream.held && !shown.stream.isRoot(event) ? 'init' : 'ready'
  if (shown.stream.openSuccessors(event)) return 'waiting'
  return event.status === 'inprocess' ? 'running' : event.status
}

/** What the stream waits on, as listings say it too. */
export function waitingOn({ stream }: ShownStream): readonly StreamEvent[] {
  return stream.done ? [] : openWork(stream, openEvents(stream)).leaves
}

/** Events that were aborted or canceled and that no retry has replaced. */
export function failures(shown: ShownStream): StreamEvent[] {
  return shown.stream.events.filter(event => isFailed(event) && !isSuperseded(event))
}

/** The soonest time at which something of the stream is due. A claim that ends is no limit: another worker takes over. */
export function soonestDueMs(shown: ShownStream): number | undefined {
  let soonest: number | undefined
  for (const event of shown.stream.events) {
    const ms = eventDueMs(shown, event)
    if (ms !== undefined && (soonest === undefined || ms < soonest)) soonest = ms
  }
  return soonest
}

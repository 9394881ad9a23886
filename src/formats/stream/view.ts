import type { StreamView } from '../../ops/read-stream.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import type { LeaseView } from '../../store/store.ts'
import {
  isFailed,
  isFinal,
  isGated,
  isSkipped,
  isSuperseded,
  isWaitingJoin,
  STATUSES,
  type StreamEvent,
} from '../../stream/event.ts'
import { type EventStream, openEvents, openWork } from '../../stream/event-stream.ts'
import type { Transaction } from '../../stream/journal/journal.ts'
import type { KeptSignal } from '../../stream/signal.ts'
import type { StreamState } from '../../stream/state.ts'
import { claimEndMs, dueMs, type TimeReader } from '../../stream/time/deadlines.ts'
import { visibleText } from '../../util/visible-text.ts'
import { type StatusStyle, styleOf } from '../terminal/style.ts'

/** A stream prepared for display. Times in epoch ms. */
export interface ShownStream {
  readonly name: string
  readonly version: number
  readonly lease: LeaseView
  readonly stream: EventStream
  /** The state of the whole, as listings show it; where it is known it is shown as that of the root. */
  readonly state?: StreamState | undefined
  /** Signals kept for events to come, oldest first; none of an earlier version. */
  readonly signals?: readonly KeptSignal[]
  /** Parses the time texts of this document. */
  readonly time: TimeReader
  /** The store's clock; for an earlier version the time it is displayed as of. */
  readonly nowMs: number
  /** The history up to the shown version, oldest first. */
  readonly transactions: () => readonly Transaction[]
  /** Set for an earlier version, whose limits, leases and claim ends are not known. */
  readonly past?: PastVersion
}

/** The displayed earlier version. Times in epoch ms. */
export interface PastVersion {
  /** When its transaction was written; `undefined` if unreadable. */
  readonly atMs: number | undefined
  /** The current time, for dates. */
  readonly presentMs: number
  /** When leasectl first wrote a document made by other programs: its history begins there. */
  readonly adoptedMs?: number
}

/** When an event is due; `undefined` for never or unknown. */
export function eventDueMs(shown: ShownStream, event: StreamEvent): number | undefined {
  return shown.past === undefined ? dueMs(shown.stream, event, shown.time) : undefined
}

/** The time in an attribute; `undefined` if absent or unreadable. */
export function timeOf(shown: ShownStream, text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : shown.time(text)
}

/**
 * The displayed status of an event: `waiting` for a waiting join, `overdue` past its timeout, `abandoned` past the end of its
 * claim, otherwise its status.
 */
export function shownStatus(shown: ShownStream, event: StreamEvent): State | string {
  if (isFinal(event)) return event.status
  if (isGated(event)) return 'waiting'
  const due = eventDueMs(shown, event)
  if (due !== undefined && due <= shown.nowMs) return 'overdue'
  return isAbandonedNow(shown, event) ? 'abandoned' : event.status
}

/**
 * Whether the claim of an event has ended, so that another worker takes over. Not known of an earlier version; in a
 * suspended stream nobody takes over.
 */
export function isAbandonedNow(shown: ShownStream, event: StreamEvent): boolean {
  return !shown.stream.suspended && hasSilentClaim(shown, event)
}

function hasSilentClaim(shown: ShownStream, event: StreamEvent): boolean {
  const endMs = shown.past === undefined && !isFinal(event) ? claimEndMs(event) : undefined
  return endMs !== undefined && endMs <= shown.nowMs
}

/**
 * The refined status: *waiting* is a waiting join or an event with open successors, *ready* can be started, *overdue*
 * is past its timeout, *abandoned* is past the end of its claim, *suspended* cannot be started because its stream is
 * suspended, *running* does work itself. Unknown statuses are kept.
 */
export function stateOf(shown: ShownStream, event: StreamEvent): State | string {
  const status = shownStatus(shown, event)
  if (isFinal(event) || status !== event.status) return status
  if (shown.stream.suspended && (event.status === 'init' || hasSilentClaim(shown, event))) return 'suspended'
  if (event.status === 'init') return shown.stream.held && !shown.stream.isRoot(event) ? 'init' : 'ready'
  if (shown.stream.openSuccessors(event)) return 'waiting'
  return event.status === 'inprocess' ? 'running' : event.status
}

/** The events that the stream waits on, as in listings. */
export function waitingOn({ stream }: ShownStream): readonly StreamEvent[] {
  return stream.done ? [] : openWork(stream, openEvents(stream)).leaves
}

/** Aborted and canceled events that no retry has replaced. */
export function failures(shown: ShownStream): StreamEvent[] {
  return shown.stream.events.filter(event => isFailed(event) && !isSuperseded(event))
}

/** The last acknowledgement of the failures. */
export interface Acknowledgement {
  /** As written. */
  readonly at: string
  /** Empty if the journal does not have it. */
  readonly by: string
  readonly why: string
}

/** Who last acknowledged the failures, when and why. */
export function acknowledgementOf({ stream, transactions }: ShownStream): Acknowledgement | undefined {
  const at = stream.root?.lc.ack
  if (at === undefined) return undefined
  return transactions().findLast(({ op }) => op === 'ack') ?? { at, by: '', why: '' }
}

/** The soonest due time in the stream. The end of a claim is not a limit: another worker takes over. */
export function soonestDueMs(shown: ShownStream): number | undefined {
  let soonest: number | undefined
  for (const event of shown.stream.events) {
    const ms = eventDueMs(shown, event)
    if (ms !== undefined && (soonest === undefined || ms < soonest)) soonest = ms
  }
  return soonest
}

/** The first ids and the number of the others; a final `+N` in `ids` counts as N. Not safe to print. */
export function idsText(ids: readonly string[], most: number): string {
  const named = ids.filter(id => !id.startsWith('+'))
  const cutOff = ids.reduce((sum, id) => sum + (id.startsWith('+') ? Number(id.slice(1)) || 0 : 0), 0)
  const more = Math.max(0, named.length - most) + cutOff
  return `${named.slice(0, most).join(' ')}${more > 0 ? ` +${more}` : ''}`
}

/** Why the document cannot be read, without the stream's name; `undefined` if it can. Not safe to print. */
export function faultText({ listed, fault }: SummarizedStream): string | undefined {
  if (fault === undefined) return undefined
  const named = `${listed.name}: `
  return fault.message.startsWith(named) ? fault.message.slice(named.length) : fault.message
}

/** State of an event, one step finer than its status. */
type State =
  | 'init'
  | 'ready'
  | 'running'
  | 'waiting'
  | 'suspended'
  | 'overdue'
  | 'abandoned'
  | 'completed'
  | 'aborted'
  | 'canceled'

/** Completed over an event that was aborted or canceled: the same sign and words wherever a status is shown. */
const WITH_ERRORS = { glyph: '±', style: 'warn', word: 'with errors' } as const

/** Glyph, colour and word of a status with its outcome, `errors` or none. Safe to print. */
export function statusLook(status: string, outcome = ''): StatusStyle & { readonly word: string } {
  if (status === 'completed' && outcome === 'errors') return WITH_ERRORS
  return LOOKS.get(status) ?? lookOf(status)
}

function lookOf(status: string): StatusStyle & { readonly word: string } {
  return { ...styleOf(status), word: statusWord(status) }
}

const LOOKS: ReadonlyMap<string, StatusStyle & { readonly word: string }> = new Map(
  STATUSES.map(status => [status, lookOf(status)]),
)

/**
 * Whether the event is only planned: other events have to end before its time comes. A join is not, as its branches stand
 * beside it.
 */
export function isPlanned(event: StreamEvent): boolean {
  return isGated(event) && event.lc.after !== undefined && !isWaitingJoin(event)
}

const PLANNED = { glyph: '◇', style: 'dim', word: 'planned' } as const

/** Glyph, colour and word of an event now: of its displayed status, *planned* or *skipped*. Safe to print. */
export function eventLook(shown: ShownStream, event: StreamEvent): StatusStyle & { readonly word: string } {
  if (isPlanned(event)) return PLANNED
  const look = statusLook(shownStatus(shown, event), event.lc.outcome)
  return isFailed(event) && isSkipped(event) ? { ...look, style: 'warn', word: `${look.word}, skipped` } : look
}

/** The word for a status; an event of a foreign document may have none. */
export function statusWord(status: string): string {
  return status === '' ? 'no status' : visibleText(status)
}

/** The stream of a view, prepared for display. */
export function shownStream(view: StreamView): ShownStream {
  const { name, document, stored, stream, time, nowMs } = view
  const transactions = () => view.transactions()
  return {
    name,
    version: document.version,
    lease: stored.lease,
    stream,
    signals: document.signals,
    time,
    nowMs,
    transactions,
  }
}

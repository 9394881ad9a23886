import type { StreamView } from '../../ops/read-stream.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import type { LeaseView } from '../../store/store.ts'
import { isFailed, isFinal, isSuperseded, isWaitingJoin, type StreamEvent } from '../../stream/event.ts'
import { type EventStream, openEvents, openWork } from '../../stream/event-stream.ts'
import { dueMs, type TimeReader } from '../../stream/time/deadlines.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { Style } from '../terminal/style.ts'

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

/** The first ids, and how many more there are; a last `+N` among them counts. Not made safe to print. */
export function idsText(ids: readonly string[], most: number): string {
  const named = ids.filter(id => !id.startsWith('+'))
  const cutOff = ids.reduce((sum, id) => sum + (id.startsWith('+') ? Number(id.slice(1)) || 0 : 0), 0)
  const more = Math.max(0, named.length - most) + cutOff
  return `${named.slice(0, most).join(' ')}${more > 0 ? ` +${more}` : ''}`
}

/** Why the document cannot be read, without the stream's name in front; `undefined` where it can. Not made safe to print. */
export function faultText({ listed, fault }: SummarizedStream): string | undefined {
  if (fault === undefined) return undefined
  const named = `${listed.name}: `
  return fault.message.startsWith(named) ? fault.message.slice(named.length) : fault.message
}

/** How an event stands, one step finer than its status. */
type State = 'init' | 'ready' | 'running' | 'waiting' | 'overdue' | 'completed' | 'aborted' | 'canceled'

/** A glyph, a word and a colour: each tells the status without the others. */
export interface StatusLook {
  readonly glyph: string
  readonly style: Style
}

const LOOKS: { readonly [status: string]: StatusLook } = {
  init: { glyph: '○', style: 'plain' },
  ready: { glyph: '○', style: 'plain' },
  inprocess: { glyph: '▶', style: 'active' },
  running: { glyph: '▶', style: 'active' },
  waiting: { glyph: '◷', style: 'dim' },
  overdue: { glyph: '!', style: 'warn' },
  completed: { glyph: '✓', style: 'good' },
  aborted: { glyph: '✗', style: 'bad' },
  canceled: { glyph: '⊘', style: 'warn' },
}

const UNKNOWN: StatusLook = { glyph: '?', style: 'warn' }

/** The look of a status or state; a status that only its writer knows gets a question mark. */
export function styleOf(status: string): StatusLook {
  return Object.hasOwn(LOOKS, status) ? (LOOKS[status] ?? UNKNOWN) : UNKNOWN
}

/** The word for a status; documents of others may hold an event without one. */
export function statusWord(status: string): string {
  return status === '' ? 'no status' : visibleText(status)
}

/** What the pictures of a stream are made from. */
export function shownStream({ name, document, stored, stream, time, nowMs }: StreamView): ShownStream {
  return { name, version: document.version, lease: stored.lease, stream, time, nowMs }
}

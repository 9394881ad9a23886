import type { StreamRow } from '../store/store.ts'
import { isHeld } from '../stream/lease.ts'
import { isAbandoned, isAcknowledged, isOverdue, isSuspended, stateOfStream } from '../stream/state.ts'
import { cutCount, type Summary } from '../stream/summary.ts'
import { containsFailure, normalizeFailure } from './failure-text.ts'
import type { Glob } from './glob.ts'
import { filtersEvents, isCut, type OpenEventFilter, openEvents, passesEvent } from './open-events.ts'

export { hasUnacknowledgedFailure, isAcknowledged, isOverdue } from '../stream/state.ts'

/** Which streams are selected. All conditions must hold; of several values of one condition any one. */
export interface StreamFilter extends OpenEventFilter {
  readonly names?: Glob
  readonly notNames?: Glob
  /** Statuses of the root; `success` and `errors` are `completed` without and with errors. */
  readonly status?: readonly string[]
  /** States, see `stateOfStream`. */
  readonly state?: readonly string[]
  /** What failures have meant for the stream, see `Summary.outcome`. */
  readonly outcome?: readonly string[]
  /** An operator has suspended it. */
  readonly suspended?: boolean
  /** An event has failed, and nobody has acknowledged that since. */
  readonly failed?: boolean
  /** With `failed`: also failures that were acknowledged. */
  readonly acknowledged?: boolean
  /** An event was canceled on request. */
  readonly canceled?: boolean
  /** With `failure`: also messages of streams whose events were only canceled. */
  readonly withCanceled?: boolean
  /** An open event is past its deadline. */
  readonly overdue?: boolean
  /** The claim of a running event has ended: its worker is silent. */
  readonly abandoned?: boolean
  /** The lease is held. */
  readonly locked?: boolean
  /** Texts of the root event, compared whole. */
  readonly root?: readonly string[]
  readonly key?: readonly string[]
  readonly topic?: readonly string[]
  readonly tag?: readonly string[]
  readonly trackingId?: readonly string[]
  /** Message of the first failure, as it is or without its numbers; without `canceled` that of an aborted event. */
  readonly failure?: readonly TextPattern[]
  /** Names of ready, running or failed events. */
  readonly eventName?: readonly string[]
  /** Changed at or after this time, epoch ms; with `failed` or `canceled`: failed or canceled since. */
  readonly sinceMs?: number
  /** The same, at or before this time. */
  readonly untilMs?: number
}

/** What a text has to match. */
export interface TextPattern {
  /** The text, if it is no regular expression. */
  readonly text?: string
  matches(text: string): boolean
}

/** `unsure`: the summary was cut, so the document decides. */
export type FilterVerdict = 'yes' | 'no' | 'unsure'

/** What a filter is applied to. */
export interface Filtered {
  readonly listed: StreamRow
  /** Absent for a document that is unreadable or holds no event: it passes only a filter that needs no summary. */
  readonly summary: Summary | undefined
}

/** False for a row that its name, lease or last change rules out: its summary is not needed. */
export function mayPass({ name, lease, modifiedMs }: StreamRow, filter: StreamFilter): boolean {
  const { names, notNames, locked, sinceMs, untilMs } = filter
  if (names?.matches(name) === false || notNames?.matches(name) === true) return false
  if (locked && !isHeld(lease)) return false
  return asksForFailures(filter) || isWithin(modifiedMs, sinceMs, untilMs)
}

/** Whether a stream passes the filter. Names are left out: they were compared before anything was read. */
export function verdictOf({ listed, summary }: Filtered, filter: StreamFilter, nowMs: number): FilterVerdict {
  const { names: _, notNames: __, ...byState } = filter
  if (!mayPass(listed, byState)) return 'no'
  if (summary === undefined) return asksForSummary(filter) ? 'no' : 'yes'
  if (filter.status !== undefined && !statusWords(summary).some(word => filter.status?.includes(word))) return 'no'
  if (filter.outcome?.includes(summary.outcome) === false) return 'no'
  if (filter.state?.includes(stateOfStream(summary, nowMs)) === false) return 'no'
  if (filter.suspended && !isSuspended(summary)) return 'no'
  if (!passesFailures(listed, summary, filter)) return 'no'
  if (filter.overdue && !isOverdue(summary, nowMs)) return 'no'
  if (filter.abandoned && !isAbandoned(summary, nowMs)) return 'no'
  return both(rootVerdict(summary, filter), eventsVerdict(summary, filter, nowMs))
}

function passesFailures(listed: StreamRow, summary: Summary, filter: StreamFilter): boolean {
  const { failed, acknowledged, canceled, failure, sinceMs, untilMs } = filter
  if (failed && summary.failed === 0) return false
  if (failed && !acknowledged && isAcknowledged(summary)) return false
  if (canceled && summary.canceled === 0) return false
  if (failure !== undefined && !(hasFailure(summary, filter) && matchesFailure(summary.failure, failure))) return false
  return !asksForFailures(filter) || isWithin(summary.failedAtMs ?? listed.modifiedMs, sinceMs, untilMs)
}

/** Whether the stream has a failure to be matched or grouped: an aborted event, or also a canceled one. */
export function hasFailure({ failed, failedId }: Summary, { canceled, withCanceled }: StreamFilter): boolean {
  return canceled || withCanceled ? failedId !== '' : failed > 0
}

/** Whether one of the patterns matches the message as it is, or without its numbers and ids. */
export function matchesFailure(text: string, patterns: readonly TextPattern[]): boolean {
  const inGroup = normalizeFailure(text)
  return patterns.some(each => each.matches(text) || each.matches(inGroup) || containsFailure(text, each.text ?? ''))
}

function statusWords({ status, outcome }: Summary): readonly string[] {
  return status === 'completed' ? [status, outcome === '' ? 'success' : 'errors'] : [status]
}

function asksForFailures({ failed, canceled, failure }: StreamFilter): boolean {
  return failed === true || canceled === true || failure !== undefined
}

function isWithin(ms: number, sinceMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY): boolean {
  return ms >= sinceMs && ms <= untilMs
}

const ROOT_TEXTS = ['root', 'key', 'topic', 'tag', 'trackingId'] as const

function asksForSummary(filter: StreamFilter): boolean {
  const { status, state, outcome, suspended, failed, canceled, overdue, abandoned, failure } = filter
  if (failed || canceled || overdue || abandoned || suspended) return true
  if (status !== undefined || state !== undefined || outcome !== undefined || failure !== undefined) return true
  return filtersEvents(filter) || [...ROOT_TEXTS, 'eventName' as const].some(name => filter[name] !== undefined)
}

function rootVerdict(summary: Summary, filter: StreamFilter): FilterVerdict {
  let verdict: FilterVerdict = 'yes'
  for (const name of ROOT_TEXTS) verdict = both(verdict, anyText(summary[name], filter[name]))
  return verdict
}

function anyText(text: string, wanted: readonly string[] | undefined): FilterVerdict {
  if (wanted === undefined || wanted.includes(text)) return 'yes'
  // A long summary has its texts shortened; the mark may also be the text's own.
  const beginning = text.endsWith('…') ? text.slice(0, -1) : undefined
  return beginning !== undefined && wanted.some(each => each.startsWith(beginning)) ? 'unsure' : 'no'
}

function eventsVerdict(summary: Summary, filter: StreamFilter, nowMs: number): FilterVerdict {
  const { eventName, owner } = filter
  const wantsEvent = filtersEvents(filter)
  if (!wantsEvent && eventName === undefined) return 'yes'
  const events = openEvents(summary, nowMs)
  const cut = isCut(summary)
  const passes = !wantsEvent || events.some(event => passesEvent(event, filter))
  const names = [...events.filter(({ state }) => state !== 'held').map(({ name }) => name), summary.failedName]
  const isNamed = eventName === undefined || names.some(name => eventName.includes(name))
  // Only running events have an owner.
  return both(verdict(passes, owner === undefined ? cut : cutCount(summary.running.at(-1)) > 0), verdict(isNamed, cut))
}

function verdict(passes: boolean, isCut: boolean): FilterVerdict {
  return passes ? 'yes' : isCut ? 'unsure' : 'no'
}

function both(a: FilterVerdict, b: FilterVerdict): FilterVerdict {
  if (a === 'no' || b === 'no') return 'no'
  return a === 'unsure' || b === 'unsure' ? 'unsure' : 'yes'
}

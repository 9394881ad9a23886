import type { StreamRow } from '../store/store.ts'
import { isHeld } from '../stream/lease.ts'
import type { Summary } from '../stream/summary.ts'
import type { Glob } from './glob.ts'

/** Which streams are meant; all that is given must hold. Texts are compared whole, with those of the root event. */
export interface StreamFilter {
  readonly names?: Glob
  /** The root's status is one of these. */
  readonly status?: readonly string[]
  /** An event was aborted or canceled. */
  readonly failed?: boolean
  /** An open event has outlived its limit. */
  readonly overdue?: boolean
  /** Its lease is held. */
  readonly locked?: boolean
  readonly key?: string
  readonly topic?: string
  readonly tag?: string
  readonly trackingId?: string
  /** Changed at or after this time, epoch ms; with `failed`: failed since. */
  readonly sinceMs?: number
}

/** `unsure`: the summary has a text cut short; the document decides. */
export type FilterVerdict = 'yes' | 'no' | 'unsure'

/** What a filter looks at. */
export interface Filtered {
  readonly listed: StreamRow
  /** Absent for what cannot be read or holds no event: it passes only a filter that asks for nothing of a summary. */
  readonly summary: Summary | undefined
}

/** False for what a filter leaves out by name, lease or last change: nothing of it need be read. */
export function mayPass(
  { name, lease, modifiedMs }: StreamRow,
  { names, locked, sinceMs, failed }: StreamFilter,
): boolean {
  if (names !== undefined && !names.matches(name)) return false
  if (locked && !isHeld(lease)) return false
  return sinceMs === undefined || failed === true || modifiedMs >= sinceMs
}

/** Whether a stream passes the filter, its name left out: that was compared before anything was read. */
export function verdictOf({ listed, summary }: Filtered, filter: StreamFilter, nowMs: number): FilterVerdict {
  const { names: _, ...byState } = filter
  if (!mayPass(listed, byState)) return 'no'
  const { sinceMs } = filter
  if (summary === undefined) return asksForSummary(filter) ? 'no' : 'yes'
  if (filter.status !== undefined && !filter.status.includes(summary.status)) return 'no'
  if (filter.failed && summary.failed === 0) return 'no'
  if (filter.failed && sinceMs !== undefined && (summary.failedAtMs ?? listed.modifiedMs) < sinceMs) return 'no'
  if (filter.overdue && (summary.dueMs === undefined || summary.dueMs > nowMs)) return 'no'
  return textsVerdict(summary, filter)
}

const TEXTS = ['key', 'topic', 'tag', 'trackingId'] as const

function asksForSummary(filter: StreamFilter): boolean {
  const texts = TEXTS.some(name => filter[name] !== undefined)
  return texts || filter.status !== undefined || filter.failed === true || filter.overdue === true
}

function textsVerdict(summary: Summary, filter: StreamFilter): FilterVerdict {
  let verdict: FilterVerdict = 'yes'
  for (const name of TEXTS) {
    const wanted = filter[name]
    const text = summary[name]
    if (wanted === undefined || wanted === text) continue
    // A summary that grew too long has its texts shortened; the mark may also be the text's own.
    if (!text.endsWith('…') || !wanted.startsWith(text.slice(0, -1))) return 'no'
    verdict = 'unsure'
  }
  return verdict
}

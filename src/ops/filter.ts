import type { StreamRow } from '../store/store.ts'
import { isHeld } from '../stream/lease.ts'
import type { Summary } from '../stream/summary.ts'
import type { Glob } from './glob.ts'

/** A filter of streams; all given conditions must hold. Texts are compared whole, with those of the root event. */
export interface StreamFilter {
  readonly names?: Glob
  /** The root's status is one of these. */
  readonly status?: readonly string[]
  /** An event was aborted or canceled. */
  readonly failed?: boolean
  /** An open event is overdue. */
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

/** `unsure`: the summary has a shortened text; the document decides. */
export type FilterVerdict = 'yes' | 'no' | 'unsure'

/** The input of a filter. */
export interface Filtered {
  readonly listed: StreamRow
  /** Absent for an unreadable or empty stream, which passes only a filter that needs no summary. */
  readonly summary: Summary | undefined
}

/** False if the filter excludes the stream by name, lease or last change: it need not be read. */
export function mayPass(
  { name, lease, modifiedMs }: StreamRow,
  { names, locked, sinceMs, failed }: StreamFilter,
): boolean {
  if (names !== undefined && !names.matches(name)) return false
  if (locked && !isHeld(lease)) return false
  return sinceMs === undefined || failed === true || modifiedMs >= sinceMs
}

/** Whether a stream passes the filter, except for its name, which was compared before reading. */
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
    // Texts of a summary may be shortened; but the mark may also belong to the text.
    if (!text.endsWith('…') || !wanted.startsWith(text.slice(0, -1))) return 'no'
    verdict = 'unsure'
  }
  return verdict
}

import type { SummarizedStream } from './summaries.ts'

/** What streams are put together by: their status, the text of their last failure, or the events they wait on. */
export type GroupBy = 'status' | 'failure' | 'waiting-on'

/** The time of a stream by which it is the oldest or newest of its group. */
export const TIME_OF = { status: 'created', failure: 'failedAt', 'waiting-on': 'modified' } as const

/** What streams add up to. */
export interface Totals {
  readonly count: number
  /** Of these, streams with an open event past its limit. */
  readonly overdue: number
  /** Of these, streams with an event that was aborted or canceled. */
  readonly failed: number
  /** Epoch ms, of the time in `TIME_OF`; `undefined` where none of them is known. */
  readonly oldestMs: number | undefined
  readonly newestMs: number | undefined
  /** Name of one of them: with `failure` the one that failed last, else the oldest. */
  readonly example: string
}

/** One stream alone. */
export function totalsOf(item: SummarizedStream, by: GroupBy, nowMs: number): Totals {
  const { listed, summary } = item
  const ms = timeOf(item, by)
  return {
    count: 1,
    overdue: summary?.dueMs !== undefined && summary.dueMs <= nowMs ? 1 : 0,
    failed: summary !== undefined && summary.failed > 0 ? 1 : 0,
    oldestMs: ms,
    newestMs: ms,
    example: listed.name,
  }
}

/** Both together. */
export function together(a: Totals | undefined, b: Totals, by: GroupBy): Totals {
  if (a === undefined) return b
  const oldestMs = outermost(Math.min, a.oldestMs, b.oldestMs)
  const newestMs = outermost(Math.max, a.newestMs, b.newestMs)
  const isOlder = by === 'failure' ? newestMs === a.newestMs : oldestMs === a.oldestMs
  return {
    count: a.count + b.count,
    overdue: a.overdue + b.overdue,
    failed: a.failed + b.failed,
    oldestMs,
    newestMs,
    example: isOlder ? a.example : b.example,
  }
}

/** The earlier or later of two times, either of which may be unknown. */
function outermost(
  of: (a: number, b: number) => number,
  aMs: number | undefined,
  bMs: number | undefined,
): number | undefined {
  return aMs === undefined || bMs === undefined ? (aMs ?? bMs) : of(aMs, bMs)
}

function timeOf({ listed, summary }: SummarizedStream, by: GroupBy): number | undefined {
  if (by === 'waiting-on') return listed.modifiedMs
  return by === 'failure' ? summary?.failedAtMs : summary?.createdMs
}

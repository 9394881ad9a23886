import { hasUnacknowledgedFailure } from '../../ops/filter.ts'
import type { Summary } from '../../stream/summary.ts'

/** What a stream waits for people or workers with, for metrics. */
export interface PendingWork {
  /** It has a failure that nobody has acknowledged. */
  readonly hasFailed: boolean
  /** The first end of a claim, epoch ms; `Infinity` without claims. */
  readonly claimEndMs: number
  /** Items of its ready events, as in its summary. */
  readonly ready: readonly string[]
  /** Since when the first of them is ready, epoch ms; `Infinity` without one. */
  readonly readySinceMs: number
}

const NEVER = Number.POSITIVE_INFINITY

/** `undefined` for a stream without any, as most streams in a store have ended well. */
export function pendingWorkOf(summary: Summary): PendingWork | undefined {
  const { claimEndMs = NEVER, ready, readySinceMs = NEVER } = summary
  const hasFailed = hasUnacknowledgedFailure(summary)
  if (!hasFailed && claimEndMs === NEVER && ready.length === 0) return undefined
  return { hasFailed, claimEndMs, ready, readySinceMs }
}

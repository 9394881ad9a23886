import { hasUnacknowledgedFailure } from '../../ops/filter.ts'
import { isSuspended } from '../../stream/state.ts'
import type { Summary } from '../../stream/summary.ts'

/** The part of the pending work that streams of one kind have in common, so that they can share it. */
export interface PendingKind {
  /** There is a failure that nobody has acknowledged. */
  readonly hasFailed: boolean
  /** An operator has suspended the stream. */
  readonly isSuspended: boolean
  /** Items of the ready events, as in a summary. */
  readonly ready: readonly string[]
}

/** What a stream waits for people or workers with, for metrics. */
export interface PendingWork {
  readonly kind: PendingKind
  /** The first end of a claim, epoch ms; `Infinity` without claims. */
  readonly claimEndMs: number
  /** Since when the first of its ready events is ready, epoch ms; `Infinity` without one. */
  readonly readySinceMs: number
}

const NEVER = Number.POSITIVE_INFINITY

/** `undefined` for a stream without any, as most streams in a store have ended well. */
export function pendingWorkOf(summary: Summary): PendingWork | undefined {
  const { claimEndMs = NEVER, readySinceMs = NEVER } = summary
  // Nothing of a suspended stream waits for a worker.
  const suspended = isSuspended(summary)
  const ready = suspended ? [] : summary.ready
  const hasFailed = hasUnacknowledgedFailure(summary)
  if (!hasFailed && !suspended && claimEndMs === NEVER && ready.length === 0) return undefined
  return { kind: { hasFailed, isSuspended: suspended, ready }, claimEndMs, readySinceMs }
}

import { isFinal } from './event.ts'
import type { Summary } from './summary.ts'
import { awaitsStep } from './summary-items.ts'

/**
 * The state of a stream, one step finer than its status. Of an open stream it is what keeps it from going on, or what is
 * wrong with it, or else whether it waits for a worker (`ready`), has one (`running`), or waits for a signal or a time
 * (`waiting`). A session whose next step has not come is `blocked` too. `errors`: it completed although an event failed.
 */
export const STREAM_STATES = [
  'suspended',
  'held',
  'compensating',
  'blocked',
  'failing',
  'abandoned',
  'overdue',
  'ready',
  'running',
  'waiting',
  'completed',
  'errors',
  'aborted',
  'canceled',
] as const
/** The state of a stream; a status that leasectl does not know stays as it is. */
export type StreamState = (typeof STREAM_STATES)[number] | (string & {})

/** The state of a stream by its summary. @param nowMs the store's clock, epoch ms */
export function stateOfStream(summary: Summary, nowMs: number): StreamState {
  const { status, outcome } = summary
  if (isFinal(summary)) return status === 'completed' && outcome === 'errors' ? 'errors' : status
  if (isSuspended(summary)) return 'suspended'
  if (isHeldStream(summary)) return 'held'
  if (outcome === 'compensating' || outcome === 'blocked') return outcome
  if (hasUnacknowledgedFailure(summary)) return 'failing'
  if (isAbandoned(summary, nowMs)) return 'abandoned'
  if (isOverdue(summary, nowMs)) return 'overdue'
  if (status !== 'inprocess' && status !== 'init') return status
  if (summary.running.length > 0) return 'running'
  if (summary.ready.length > 0) return 'ready'
  if (summary.gated.some(awaitsStep)) return 'blocked'
  return summary.gated.length > 0 ? 'waiting' : 'running'
}

/** Whether an operator has suspended the stream: it begins nothing, and nothing of it is due. */
export function isSuspended({ suspendedMs }: Pick<Summary, 'suspendedMs'>): boolean {
  return suspendedMs !== undefined
}

/** Whether the stream has not begun: its root is `init`. */
export function isHeldStream({ status, ready, waitingOn }: Pick<Summary, 'status' | 'ready' | 'waitingOn'>): boolean {
  return status === 'init' && ready.length === 0 && waitingOn.length > 0
}

/** Whether a stream has a failure that no operator has acknowledged. */
export function hasUnacknowledgedFailure(summary: Pick<Summary, 'failed' | 'failedAtMs' | 'ackMs'>): boolean {
  return summary.failed > 0 && !isAcknowledged(summary)
}

/** Whether an operator has acknowledged all failures of a stream. */
export function isAcknowledged({ failedAtMs, ackMs }: Pick<Summary, 'failedAtMs' | 'ackMs'>): boolean {
  return ackMs !== undefined && (failedAtMs ?? 0) <= ackMs
}

/** Whether an open event is past its deadline. */
export function isOverdue({ dueMs }: Pick<Summary, 'dueMs'>, nowMs: number): boolean {
  return dueMs !== undefined && dueMs <= nowMs
}

/** Whether the claim has ended: another worker may take over its event. */
export function isAbandoned({ claimEndMs }: Pick<Summary, 'claimEndMs'>, nowMs: number): boolean {
  return claimEndMs !== undefined && claimEndMs <= nowMs
}

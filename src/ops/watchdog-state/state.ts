import { type DueAction, isDueAction } from '../../stream/operations/operation.ts'
import type { WatchdogEntry, WatchdogState } from './parse.ts'

export type { LastPass, PassFailure, RecordedDecision, WatchdogEntry, WatchdogState } from './parse.ts'

/** `late`: it missed some passes. `silent`: it is gone, or cannot write. `stopped`: it stopped properly. */
export type Liveness = 'live' | 'late' | 'silent' | 'stopped'

/** Tolerated difference between clocks, ms. */
export const MOST_SKEW_MS = 60_000

/**
 * Judges by the last write whether a watchdog is still running. A sweep that takes longer than the interval is followed
 * by the next one at once, so the longer of both counts. A time of writing more than a minute in the future proves
 * nothing: the clock of its machine is or was wrong.
 *
 * @param nowMs the store's clock, epoch ms
 */
export function livenessOf(
  {
    stoppedMs,
    writtenMs,
    intervalMs,
    tookMs,
  }: Pick<WatchdogEntry, 'stoppedMs' | 'writtenMs' | 'intervalMs' | 'tookMs'>,
  nowMs: number,
): Liveness {
  if (stoppedMs !== undefined) return 'stopped'
  const cadenceMs = Math.max(intervalMs, tookMs)
  const silentMs = nowMs - writtenMs
  if (silentMs < -MOST_SKEW_MS || silentMs > 10 * cadenceMs + 60_000) return 'silent'
  return silentMs > 3 * cadenceMs + 10_000 ? 'late' : 'live'
}

/**
 * The numbers of shards that running watchdogs use, in ascending order; 0 for those that watch all streams. Watchdogs
 * with different numbers share no work, which is harmless but hardly intended.
 */
export function shardCounts(state: Pick<WatchdogState, 'watchdogs'>, nowMs: number): readonly number[] {
  return [...new Set(running(state, nowMs).map(({ shards }) => shards?.total ?? 0))].sort((a, b) => a - b)
}

/**
 * What the running watchdogs do at the limit of an event that leaves it open, and which names they watch; the defaults if
 * none is running, or if they differ.
 */
export function commonSettings(
  state: Pick<WatchdogState, 'watchdogs'>,
  nowMs: number,
): { readonly onDue: DueAction; readonly match: string | undefined } {
  const [first, ...others] = running(state, nowMs).map(({ settings: { onDue, match } }) => ({ onDue, match }))
  const isCommon = others.every(({ onDue, match }) => onDue === first?.onDue && match === first.match)
  return isCommon && isDueAction(first?.onDue)
    ? { onDue: first.onDue, match: first.match }
    : { onDue: 'abort-event', match: undefined }
}

function running({ watchdogs }: Pick<WatchdogState, 'watchdogs'>, nowMs: number): readonly WatchdogEntry[] {
  return watchdogs.filter(entry => ['live', 'late'].includes(livenessOf(entry, nowMs)))
}

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
export function shardCounts({ watchdogs }: Pick<WatchdogState, 'watchdogs'>, nowMs: number): readonly number[] {
  const running = watchdogs.filter(entry => ['live', 'late'].includes(livenessOf(entry, nowMs)))
  return [...new Set(running.map(({ shards }) => shards?.total ?? 0))].sort((a, b) => a - b)
}

/** Tolerated difference between the clocks of machines that share a store, ms: a time less far ahead is trusted. */
const TOLERANCE_MS = 5 * 60_000

/**
 * Stamped times go back only by more than this, ms. It is long because a slow clock is as likely as a fast one, and its
 * stamps must not look like missing heartbeats: one clock may be a day fast and the other a day slow. Beyond this, the
 * clock of the last writer was wrong.
 */
export const FAR_MS = 3 * 86_400_000

/** Whether a time is so far ahead of the store's clock that timeouts do not count from it. */
export function isAhead(ms: number | undefined, nowMs: number): boolean {
  return ms !== undefined && ms > nowMs + TOLERANCE_MS
}

/** Whether a time is so far ahead that the next write does not continue from it. */
export function isFarAhead(ms: number | undefined, nowMs: number): boolean {
  return ms !== undefined && ms > nowMs + FAR_MS
}

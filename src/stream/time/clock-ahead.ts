/** Clocks of machines that share a store may differ by so much, ms: a time so little ahead is believed. */
const TOLERANCE_MS = 5 * 60_000

/**
 * What is stamped never goes back by less than this, ms. It is long, since a slow clock is as likely as a fast one, and what
 * it stamps must not look like silence: one clock may be a day fast and the other a day slow. Beyond it whoever wrote last
 * was wrong.
 */
export const FAR_MS = 3 * 86_400_000

/** Whether a time lies so far ahead of the store's clock that limits do not count from it. */
export function isAhead(ms: number | undefined, nowMs: number): boolean {
  return ms !== undefined && ms > nowMs + TOLERANCE_MS
}

/** Whether it lies so far ahead that the next write does not go on from it. */
export function isFarAhead(ms: number | undefined, nowMs: number): boolean {
  return ms !== undefined && ms > nowMs + FAR_MS
}

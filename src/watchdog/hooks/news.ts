import { MARGIN_MS } from './filter.ts'

/** What is known of a stream. */
export interface Known {
  /** What it did up to this version is known; `undefined`: nothing of it. */
  readonly before: number | undefined
  /** What happened since then is news, epoch ms. */
  readonly sinceMs: number
  /** Start of the last sweep that came to its end, epoch ms; `undefined` in the first. */
  readonly lastSweepMs: number | undefined
}

/**
 * What came after the version that was seen last is news. But a stream may have been made anew under the name, which counts
 * from 1 again, so what happened since the last sweep is looked at too; what was told is not told again.
 */
export function isNews(
  { version, atMs }: { readonly version: number | undefined; readonly atMs: number | undefined },
  { before, sinceMs, lastSweepMs }: Known,
): boolean {
  if (before !== undefined && version !== undefined && version > before) return true
  if (atMs === undefined) return before === undefined || version === undefined
  if (atMs < sinceMs - MARGIN_MS) return false
  return before === undefined || version === undefined || atMs >= (lastSweepMs ?? atMs + 1) - MARGIN_MS
}

const PART_MS = 10_000
const PARTS = 6

/** The time over which rates are measured, ms. */
export const RATE_WINDOW_MS = PARTS * PART_MS

/** Counts what happens, and tells how often it happened in the last minute. */
export class RateMeter {
  readonly #parts: { readonly part: number; count: number }[] = []

  /** @param nowMs a monotonic clock */
  count(nowMs: number, events = 1): void {
    const part = Math.floor(nowMs / PART_MS)
    const last = this.#parts.at(-1)
    if (last?.part === part) last.count += events
    else this.#parts.push({ part, count: events })
    if (this.#parts.length > PARTS + 1) this.#parts.shift()
  }

  perSecond(nowMs: number): number {
    const now = Math.floor(nowMs / PART_MS)
    let total = 0
    for (const { part, count } of this.#parts) if (now - part < PARTS) total += count
    return (total * 1_000) / RATE_WINDOW_MS
  }
}

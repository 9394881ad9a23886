import type { BlindSpot } from '../blind-spots.ts'
import type { Rows } from './roll-rows.ts'

const NEVER = Number.POSITIVE_INFINITY

/** Streams that did not answer while others did, and when they were not to be seen. */
export class Silences {
  readonly #rows: Rows
  readonly #spots = new Map<number, BlindSpot>()

  constructor(rows: Rows) {
    this.#rows = rows
  }

  /** It did not answer: it was not to be seen since `sinceMs`, and is not until somebody looks at it. */
  begin(name: string, sinceMs: number): void {
    const row = this.#rows.at(name)
    if (row === undefined) return
    this.#spots.set(row, { fromMs: this.#spots.get(row)?.fromMs ?? sinceMs, toMs: NEVER })
  }

  /** It answered: when it was not to be seen, as far as that may still matter. */
  end(name: string, nowMs: number): BlindSpot | undefined {
    const row = this.#rows.at(name) ?? -1
    const spot = this.#spots.get(row)
    if (spot?.toMs !== NEVER) return spot
    const over = { ...spot, toMs: nowMs }
    this.#spots.set(row, over)
    return over
  }

  forget(row: number): void {
    this.#spots.delete(row)
  }

  /** What the clock showed before it was set back to `nowMs` never was. */
  wasSetBack(nowMs: number): void {
    for (const [row, { fromMs, toMs }] of this.#spots) {
      const endMs = toMs === NEVER ? NEVER : Math.min(toMs, nowMs)
      this.#spots.set(row, { fromMs: Math.min(fromMs, nowMs), toMs: endMs })
    }
  }
}

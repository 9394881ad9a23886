import type { BlindSpot } from '../observation-gaps.ts'
import { type Columns, markOf, NO_VERSION, type Rows } from './columns.ts'

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

/** Streams that were to be changed and could not be, and in which pass that was tried last. */
export class Setbacks {
  readonly #rows: Rows
  readonly #passes = new Map<number, number>()
  #pass = 0

  constructor(rows: Rows) {
    this.#rows = rows
  }

  /** What is noted from now on was tried later than all before. */
  beginPass(): void {
    this.#pass += 1
  }

  /** The later it was tried the higher; 0: nothing is known to be in its way. */
  lastPassOf(name: string): number {
    return this.#passes.get(this.#rows.at(name) ?? -1) ?? 0
  }

  /** It was tried in this pass, and could not be changed. */
  note(name: string): void {
    const row = this.#rows.at(name)
    if (row !== undefined) this.#passes.set(row, this.#pass)
  }

  /** It was changed, or nothing is to be done with it any more. */
  clear(name: string): void {
    const row = this.#rows.at(name)
    if (row !== undefined) this.forget(row)
  }

  forget(row: number): void {
    this.#passes.delete(row)
  }
}

/** What observers of moves were told of the streams of a roll. */
export class ToldMoves {
  readonly #rows: Rows
  readonly #columns: Columns

  constructor(rows: Rows, columns: Columns) {
    this.#rows = rows
    this.#columns = columns
  }

  /** They were told how the stream stands now; without a version if it has none. */
  tell(name: string, version: number | undefined): void {
    const row = this.#rows.at(name)
    if (row === undefined) return
    this.#columns.isTold[row] = 1
    if (version !== undefined) this.#columns.toldVersion[row] = version
  }

  /** Whether they were told of this ETag; without one, of the one that was met last. */
  knows(name: string, etag?: string): boolean {
    const row = this.#rows.at(name)
    if (row === undefined || this.#columns.isTold[row] === 0) return false
    return etag === undefined || this.#columns.mark[row] === markOf(etag)
  }

  /** The version that they were told last; `undefined` if there was none. */
  versionOf(name: string): number | undefined {
    const version = this.#columns.toldVersion[this.#rows.at(name) ?? -1]
    return version === NO_VERSION ? undefined : version
  }
}

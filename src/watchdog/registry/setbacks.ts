import type { Rows } from './roll-rows.ts'

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

import { type Columns, type Rows, Sums } from './columns.ts'

const NEVER = Number.POSITIVE_INFINITY
const AT_ONCE = Number.NEGATIVE_INFINITY

/** When the streams of a roll have to be looked at. Times in epoch ms by the store's clock; `Infinity` for never. */
export class Agenda {
  readonly #rows: Rows
  readonly #columns: Columns
  readonly #heldBack = new Sums()

  constructor(rows: Rows, columns: Columns) {
    this.#rows = rows
    this.#columns = columns
  }

  /** Events that the breaker keeps from being ended, in streams that nobody has looked at since. */
  heldEvents(owns: (name: string) => boolean): number {
    return this.#heldBack.totalOf(row => owns(this.#rows.nameOf(row) ?? ''))
  }

  /** A stream was looked at: its first limit ends at `dueMs`. */
  set(row: number, dueMs: number, nextLookMs: number): void {
    this.#columns.due[row] = dueMs
    this.#columns.nextLook[row] = nextLookMs
    this.#heldBack.clear(row)
  }

  atOnce(row: number): void {
    this.#columns.nextLook[row] = AT_ONCE
  }

  /** What was decided of it was not done: it has to be looked at by that time. */
  postpone(name: string, dueMs: number, nextLookMs: number): void {
    const row = this.#rows.at(name)
    if (row === undefined) return
    const { due, nextLook } = this.#columns
    due[row] = Math.min(due[row] ?? dueMs, dueMs)
    nextLook[row] = Math.min(nextLook[row] ?? nextLookMs, nextLookMs)
  }

  /**
   * The breaker keeps so many of its events from being ended. As long as it does, and the stream does not move, there is
   * nothing new to be seen of it: it is looked at when all are let go.
   */
  holdBack(name: string, dueMs: number, events: number): void {
    const row = this.#rows.at(name)
    if (row === undefined) return
    this.#columns.due[row] = Math.min(this.#columns.due[row] ?? dueMs, dueMs)
    this.#heldBack.add(row, events)
  }

  /** The breaker lets go: what it kept from being ended is looked at anew. */
  letGo(): void {
    for (const row of this.#heldBack.rows()) this.atOnce(row)
  }

  /** Nobody can or need look at it before that time. */
  leave(name: string, nextLookMs: number): void {
    const row = this.#rows.at(name)
    if (row === undefined) return
    this.#columns.nextLook[row] = nextLookMs
    this.#heldBack.clear(row)
  }

  /** The store's clock was set back: what was put off by what it showed before is looked at by its limits. */
  wasSetBack(): void {
    const { due, nextLook } = this.#columns
    for (let row = 0; row < this.#rows.end; row++) nextLook[row] = Math.min(nextLook[row] ?? NEVER, due[row] ?? NEVER)
  }

  /** Names of the streams to be looked at by now, those first that have been for longest. */
  toLookAt(nowMs: number): string[] {
    const { nextLook } = this.#columns
    const rows: number[] = []
    for (let row = 0; row < this.#rows.end; row++) if ((nextLook[row] ?? NEVER) <= nowMs) rows.push(row)
    return rows.sort((a, b) => (nextLook[a] ?? 0) - (nextLook[b] ?? 0)).flatMap(row => this.#rows.nameOf(row) ?? [])
  }

  /** When the first stream has to be looked at. */
  soonestLookMs(): number {
    const { nextLook } = this.#columns
    let soonestMs = NEVER
    for (let row = 0; row < this.#rows.end; row++) soonestMs = Math.min(soonestMs, nextLook[row] ?? soonestMs)
    return soonestMs
  }
}

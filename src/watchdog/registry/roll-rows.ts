import { ownText } from '../../util/strings.ts'

/** Streams by the number of their row. The rows of those that are gone are given to others. */
export class Rows {
  readonly #rows = new Map<string, number>()
  readonly #names: (string | undefined)[] = []
  readonly #free: number[] = []

  /** How many streams there are. */
  get size(): number {
    return this.#rows.size
  }

  /** All rows are below this. */
  get end(): number {
    return this.#names.length
  }

  at(name: string): number | undefined {
    return this.#rows.get(name)
  }

  /** `undefined` for a row that is free. */
  nameOf(row: number): string | undefined {
    return this.#names[row]
  }

  add(name: string): number {
    const row = this.#free.pop() ?? this.#names.length
    // cut out of a page, the name would keep all of it
    const own = ownText(name)
    this.#rows.set(own, row)
    this.#names[row] = own
    return row
  }

  /** Returns its row, which is free now; `undefined` if there is no such stream. */
  remove(name: string): number | undefined {
    const row = this.#rows.get(name)
    if (row === undefined) return undefined
    this.#rows.delete(name)
    this.#names[row] = undefined
    this.#free.push(row)
    return row
  }
}

/** Few of very many rows with a number each, and what they add up to. */
export class Sums {
  readonly #numbers = new Map<number, number>()

  totalOf(isMeant: (row: number) => boolean): number {
    let total = 0
    for (const [row, number] of this.#numbers) if (isMeant(row)) total += number
    return total
  }

  /** Rows that have a number. */
  rows(): Iterable<number> {
    return this.#numbers.keys()
  }

  add(row: number, number: number): void {
    this.#numbers.set(row, (this.#numbers.get(row) ?? 0) + number)
  }

  clear(row: number): void {
    this.#numbers.delete(row)
  }
}

import { type Columns, NO_VERSION } from './columns.ts'
import { markOf } from './etag-mark.ts'
import type { Rows } from './roll-rows.ts'

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

/**
 * Widths that columns have needed so far. They grow while a list is shown, and never shrink: rows that come and go
 * move nothing.
 */
export class ColumnWidths {
  readonly #known = new Map<string, number>()
  #list = ''

  /** Forgets everything when another list is shown: that of another screen, or of another filter. */
  show(list: string): void {
    if (list === this.#list) return
    this.#list = list
    this.#known.clear()
  }

  /** The greatest width so far, this one included. */
  grown(column: string, width: number): number {
    const most = Math.max(width, this.#known.get(column) ?? 0)
    if (most > 0) this.#known.set(column, most)
    return most
  }
}

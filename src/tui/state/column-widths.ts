/**
 * Widths that columns have needed so far. They grow while a screen is open, and never shrink: rows that come and go
 * move nothing.
 */
export class ColumnWidths {
  readonly #known = new Map<string, number>()
  #screen = ''

  /** Forgets everything when another screen is shown. */
  show(screen: string): void {
    if (screen === this.#screen) return
    this.#screen = screen
    this.#known.clear()
  }

  /** The greatest width so far, this one included. */
  grown(column: string, width: number): number {
    const most = Math.max(width, this.#known.get(column) ?? 0)
    if (most > 0) this.#known.set(column, most)
    return most
  }
}

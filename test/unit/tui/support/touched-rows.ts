/** Follows the bytes of a program that draws with cursor moves, with autowrap off. */
export class CursorTrack {
  #row = 0

  /** Rows, from 0, on which the bytes print or erase something. Blanks count, moving the cursor does not. */
  follow(bytes: string, height: number): ReadonlySet<number> {
    const touched = new Set<number>()
    for (const [token, parameters, final] of bytes.matchAll(TOKEN)) {
      if (token === '\n') this.#move(1, height)
      else if (final !== undefined) this.#control(final, numbers(parameters), height, touched)
      else if (!/^[\x00-\x1f\x7f]/.test(token)) touched.add(this.#row)
    }
    return touched
  }

  #control(final: string, [first = 0]: readonly number[], height: number, touched: Set<number>): void {
    const steps = Math.max(1, first)
    if (final === 'A' || final === 'F') this.#move(-steps, height)
    else if (final === 'B' || final === 'E') this.#move(steps, height)
    else if (final === 'H' || final === 'd') this.#move(steps - 1 - this.#row, height)
    else if (final === 'K') touched.add(this.#row)
    else if (final === 'J') for (let row = first === 0 ? this.#row : 0; row < height; row += 1) touched.add(row)
  }

  #move(rows: number, height: number): void {
    this.#row = Math.min(height - 1, Math.max(0, this.#row + rows))
  }
}

/** An OSC or DCS string, a CSI sequence, another escape, one control, or a run of text. */
const TOKEN = /\x1b[\]P][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[([?<>=\d;]*)([@-~])|\x1b.|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+/gu

function numbers(parameters: string | undefined): readonly number[] {
  return (parameters ?? '').split(';').map(Number)
}

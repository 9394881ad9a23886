import { piecesOf, sameRow } from '../../src/tui/ink/ansi-row.ts'
import type { Frame, ScreenRow } from '../../src/tui/view/row.ts'
import type { TextStyle } from '../../src/tui/view/theme.ts'

/** The cheapest way to draw frames, and the reference for Ink: changed rows are written whole, all in one write. */
export class RawWriter {
  readonly #stdout: { write(text: string): unknown }
  #rows: readonly ScreenRow[] = []

  constructor(stdout: { write(text: string): unknown }) {
    this.#stdout = stdout
  }

  draw(make: () => Frame): void {
    const { rows, columns } = make()
    let text = ''
    for (const [at, row] of rows.entries()) {
      const before = this.#rows[at]
      if (before === undefined || !sameRow(before, row)) text += `\x1b[${at + 1};1H${lineOf(row, columns)}\x1b[K`
    }
    this.#rows = rows
    if (text !== '') this.#stdout.write(text)
  }

  close(): void {}
}

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

function lineOf(row: ScreenRow, columns: number): string {
  return piecesOf(row, columns, 'dark')
    .map(({ text, style }) => `\x1b[0${codesOf(style)}m${text}`)
    .join('')
    .concat('\x1b[0m')
}

function codesOf({ color, bold, dimColor, inverse }: TextStyle): string {
  const colour =
    color === undefined ? '' : `;${(color.endsWith('Bright') ? 90 : 30) + COLOURS.indexOf(color.replace('Bright', ''))}`
  return `${bold ? ';1' : ''}${dimColor ? ';2' : ''}${inverse ? ';7' : ''}${colour}`
}

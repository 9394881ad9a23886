import type { Cell } from '../../test/unit/tui/support/terminal.ts'
import { strokesOf } from './box-drawing.ts'
import { BACKGROUND, type CellLook, lookOfCell } from './palette.ts'

/** Size of one cell, in units of the picture. The width is that of DejaVu Sans Mono at this size, and of nearly all other fonts. */
const CELL = { width: 8.43, height: 18, fontSize: 14, baseline: 13.6 } as const
const MARGIN = 14
const TITLE_HEIGHT = 30

export interface SvgOptions {
  /** The title bar. */
  readonly title: string
  /** Fonts, in the format of `font-family`. */
  readonly fontFamily: string
}

/** The screen of a terminal as a picture. The same cells always give the same text. */
export function svgOf(screen: readonly (readonly Cell[])[], { title, fontFamily }: SvgOptions): string {
  const columns = Math.max(0, ...screen.map(row => row.length))
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN)
  const height = screen.length * CELL.height + TITLE_HEIGHT + 2 * MARGIN
  const runs = screen.flatMap((cells, row) => runsOf(cells).map(run => ({ ...run, row })))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `font-family="${escaped(fontFamily)}" font-size="${CELL.fontSize}">`,
    `<rect width="${width}" height="${height}" fill="${BACKGROUND}"/>`,
    ...titleBar(title, width),
    `<g transform="translate(${MARGIN} ${TITLE_HEIGHT + MARGIN})">`,
    ...runs.map(({ row, ...run }) => backgroundOf(run, row)).filter(line => line !== ''),
    ...runs.map(({ row, ...run }) => inkOf(run, row)).filter(line => line !== ''),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

/** Adjacent characters of one style. `isAlone`: one that may come from another font, with any width. */
interface Run {
  readonly text: string
  readonly column: number
  readonly columns: number
  readonly look: CellLook
  readonly isAlone: boolean
}

function runsOf(cells: readonly Cell[]): readonly Run[] {
  const runs: Run[] = []
  for (const [column, cell] of cells.entries()) {
    if (cell.width === 0) continue
    const text = cell.text === '' ? ' ' : cell.text
    const run = { text, column, columns: cell.width, look: lookOfCell(cell), isAlone: !/^[ -~]$/.test(text) }
    const last = runs.at(-1)
    if (last === undefined || last.isAlone || run.isAlone || !isSameLook(last.look, run.look)) runs.push(run)
    else runs[runs.length - 1] = { ...last, text: last.text + text, columns: last.columns + cell.width }
  }
  return runs
}

function isSameLook(a: CellLook, b: CellLook): boolean {
  return a.colour === b.colour && a.background === b.background && a.isBold === b.isBold
}

function backgroundOf({ column, columns, look }: Run, row: number): string {
  if (look.background === undefined) return ''
  const place = `x="${number(column * CELL.width)}" y="${row * CELL.height}"`
  const size = `width="${number(columns * CELL.width)}" height="${CELL.height}"`
  // Edges that meet between two pixels would leave a line in the background colour.
  return `<rect ${place} ${size} fill="${look.background}" shape-rendering="crispEdges"/>`
}

function inkOf(run: Run, row: number): string {
  if (run.text.trim() === '') return ''
  return strokesOf(run.text, run.column * CELL.width, row * CELL.height, CELL, run.look.colour) ?? textOf(run, row)
}

function textOf({ text, column, columns, look, isAlone }: Run, row: number): string {
  const front = text.length - text.trimStart().length
  const inked = text.trim()
  const width = isAlone ? columns * CELL.width : inked.length * CELL.width
  const x = (column + front) * CELL.width
  const place = isAlone
    ? `x="${number(x + width / 2)}" text-anchor="middle"`
    : `x="${number(x)}" textLength="${number(width)}"`
  const bold = look.isBold ? ' font-weight="bold"' : ''
  const y = number(row * CELL.height + CELL.baseline)
  return `<text ${place} y="${y}" fill="${look.colour}"${bold} xml:space="preserve">${escaped(inked)}</text>`
}

function titleBar(title: string, width: number): string[] {
  const text = `<text x="${width / 2}" y="20" text-anchor="middle" font-size="12.5" fill="#9aa3b2">${escaped(title)}</text>`
  const bar = `<rect width="${width}" height="${TITLE_HEIGHT}" fill="#232833"/>`
  return [bar, text]
}

/** Two decimals are more precise than any screen. */
function number(value: number): string {
  return String(Math.round(value * 100) / 100)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

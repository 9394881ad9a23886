import { noPaint, type Paint, type Style } from './style.ts'
import { cut, cutInside, widthOf } from './width.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Least width to which the text is cut. */
  readonly min?: number
  /** Order in which columns are cut on a narrow terminal: the highest first. 0 is never cut. */
  readonly give?: number
  /** `middle` for names: those with the same beginning differ at their end. */
  readonly cut?: 'end' | 'middle'
  /** For the last column: never cut, a long text wraps on the terminal. Only `min` is reserved for it. */
  readonly runsOn?: boolean
  /** Order in which columns are dropped before one with `give` 1 is cut: the highest first. Empty columns go before. */
  readonly spare?: number
}

/** A cell: a text that is safe to print, and its colour. */
export type Cell = string | { readonly text: string; readonly style: Style }

export interface TableOptions {
  /** Columns of the terminal; without it nothing is cut. */
  readonly width?: number
  readonly paint?: Paint
  /** Least widths, so that later parts of a long table line up with earlier ones. */
  readonly atLeast?: readonly number[]
}

const GAP = '  '

/** The rows of a table, without the header. */
export function tableRows(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  widths: readonly number[],
  paint: Paint = noPaint,
): string[] {
  return rows.map(row => line(columns, row, widths, paint))
}

/** The header of a table. */
export function tableHeader(columns: readonly Column[], widths: readonly number[], paint: Paint = noPaint): string {
  return line(
    columns,
    columns.map(column => ({ text: column.title, style: 'dim' as const })),
    widths,
    paint,
  )
}

/** Header and rows, aligned by display width; the last column is not padded. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions = {},
): string[] {
  const fitting = new FittingColumns(columns, rows, options)
  const cells = rows.map(row => fitting.cells(row))
  const atLeast = options.atLeast && fitting.cells(options.atLeast)
  const widths = tableWidths(fitting.columns, cells, { ...options, ...(atLeast === undefined ? {} : { atLeast }) })
  const { paint } = options
  return [tableHeader(fitting.columns, widths, paint), ...tableRows(fitting.columns, cells, widths, paint)]
}

/** The columns that a terminal of this width shows; see `keptColumns`. */
export class FittingColumns {
  readonly columns: readonly Column[]
  readonly #positions: readonly number[]
  readonly #all: number

  constructor(columns: readonly Column[], rows: readonly (readonly Cell[])[], { width, atLeast }: TableOptions) {
    this.#all = columns.length
    const natural = tableWidths(columns, rows, { ...(atLeast === undefined ? {} : { atLeast }) })
    this.#positions = width === undefined ? columns.map((_, at) => at) : keptColumns(columns, rows, natural, width)
    this.columns = this.#positions.flatMap(at => columns[at] ?? [])
  }

  /** The cells of the shown columns. */
  cells<Value extends Cell | number>(row: readonly Value[]): readonly Value[] {
    return this.#positions.length === this.#all ? row : this.#positions.flatMap(at => row[at] ?? [])
  }
}

/** The part of a terminal that names may take before lesser columns are dropped for them. */
const SHARE_OF_NAMES = 0.7

/**
 * Positions of the shown columns. As long as a column with `give` 1 would be cut, empty columns go first, then those with
 * `spare`. Very long names are cut beside columns that say something.
 */
function keptColumns(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  natural: readonly number[],
  width: number,
): readonly number[] {
  const needs = (kept: readonly number[], most: number) => {
    const least = (at: number) => leastWidth(columns[at], natural[at] ?? 0, most)
    return kept.reduce((sum, at) => sum + least(at), GAP.length * (kept.length - 1))
  }
  let kept: readonly number[] = columns.map((_, at) => at)
  const empty = kept.filter(at => at > 0 && rows.length > 0 && rows.every(row => isEmpty(row[at])))
  for (const at of empty) {
    if (needs(kept, Number.POSITIVE_INFINITY) > width) kept = kept.filter(other => other !== at)
  }
  const spare = kept.filter(at => columns[at]?.spare)
  spare.sort((a, b) => (columns[b]?.spare ?? 0) - (columns[a]?.spare ?? 0))
  for (const at of spare) {
    if (needs(kept, Math.floor(width * SHARE_OF_NAMES)) > width) kept = kept.filter(other => other !== at)
  }
  return kept
}

function leastWidth({ give = 0, min = 4, runsOn }: Partial<Column> = {}, natural: number, most: number): number {
  if (runsOn || give > 1) return Math.min(natural, min)
  return give === 1 ? Math.min(natural, most) : natural
}

function isEmpty(cell: Cell | undefined): boolean {
  const text = textOf(cell ?? '')
  return text === '' || text === '-'
}

/** The width of each column: its widest cell, cut to fit the terminal. */
export function tableWidths(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions = {},
): number[] {
  const widths = columns.map((column, at) => {
    if (column.runsOn && options.width !== undefined) return Math.max(widthOf(column.title), column.min ?? 4)
    return rows.reduce(
      (widest, row) => {
        const text = textOf(row[at] ?? '')
        // No UTF-16 unit takes more than two columns.
        return text.length * 2 > widest ? Math.max(widest, widthOf(text)) : widest
      },
      Math.max(widthOf(column.title), options.atLeast?.[at] ?? 0),
    )
  })
  return options.width === undefined ? widths : fitWidths(columns, widths, options.width)
}

function fitWidths(columns: readonly Column[], widths: number[], available: number): number[] {
  const result = [...widths]
  const gaps = GAP.length * (columns.length - 1)
  let over = result.reduce((sum, width) => sum + width, gaps) - available
  const order = columns
    .map((column, at) => ({ at, give: column.give ?? 0, min: column.min ?? 4 }))
    .filter(entry => entry.give > 0)
  order.sort((a, b) => b.give - a.give)
  for (const { at, min } of order) {
    if (over <= 0) break
    const taken = Math.min(over, Math.max(0, (result[at] ?? 0) - min))
    result[at] = (result[at] ?? 0) - taken
    over -= taken
  }
  return result
}

function line(columns: readonly Column[], cells: readonly Cell[], widths: readonly number[], paint: Paint): string {
  const parts = columns.map((column, at) => {
    const cell = cells[at] ?? ''
    const width = widths[at] ?? 0
    const whole = textOf(cell)
    const needed = widthOf(whole)
    const text = needed <= width ? whole : fittingText(column, whole, width)
    const painted = typeof cell === 'string' || cell.style === 'plain' ? text : paint(cell.style, text)
    const blanks = ' '.repeat(Math.max(0, width - (text === whole ? needed : widthOf(text))))
    return column.align === 'right' ? blanks + painted : painted + blanks
  })
  return parts.join(GAP).trimEnd()
}

function fittingText({ cut: how, runsOn }: Column, text: string, width: number): string {
  if (runsOn) return text
  return how === 'middle' ? cutInside(text, width) : cut(text, width)
}

/** The text of a cell. */
export function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

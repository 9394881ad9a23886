import { noPaint, type Paint, type Style } from './style.ts'
import { cut, cutInside, pad, padLeft, widthOf } from './width.ts'

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
  /** Order in which `table` drops columns before it cuts one with `give` 1: the highest first. */
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
  const kept = keptColumns(columns, rows, options)
  const shown = kept.map(at => columns[at]).filter(column => column !== undefined)
  const cells = kept.length === columns.length ? rows : rows.map(row => kept.map(at => row[at] ?? ''))
  const widths = tableWidths(shown, cells, options)
  return [tableHeader(shown, widths, options.paint), ...tableRows(shown, cells, widths, options.paint)]
}

/** Positions of the shown columns: those with `spare` go as long as a column with `give` 1 would be cut. */
function keptColumns(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { width }: TableOptions,
): readonly number[] {
  const all = columns.map((_, at) => at)
  if (width === undefined) return all
  const natural = tableWidths(columns, rows)
  const least = columns.map(({ give = 0, min = 4 }, at) =>
    give > 1 ? Math.min(natural[at] ?? 0, min) : (natural[at] ?? 0),
  )
  const needs = (kept: readonly number[]) =>
    kept.reduce((sum, at) => sum + (least[at] ?? 0), GAP.length * (kept.length - 1))
  const spare = all.filter(at => columns[at]?.spare).sort((a, b) => (columns[b]?.spare ?? 0) - (columns[a]?.spare ?? 0))
  let kept = all
  for (const at of spare) if (needs(kept) > width) kept = kept.filter(other => other !== at)
  return kept
}

/** The width of each column: its widest cell, cut to fit the terminal. */
export function tableWidths(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions = {},
): number[] {
  const widths = columns.map((column, at) => {
    if (column.runsOn && options.width !== undefined) return Math.max(widthOf(column.title), column.min ?? 4)
    const cells = rows.map(row => widthOf(textOf(row[at] ?? '')))
    return cells.reduce(
      (widest, width) => Math.max(widest, width),
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
    const text = fittingText(column, textOf(cell), width)
    const painted = typeof cell === 'string' || cell.style === 'plain' ? text : paint(cell.style, text)
    return column.align === 'right' ? padLeft(painted, width) : pad(painted, width)
  })
  return parts.join(GAP).trimEnd()
}

function fittingText({ cut: how, runsOn }: Column, text: string, width: number): string {
  if (runsOn) return text
  return how === 'middle' ? cutInside(text, width) : cut(text, width)
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

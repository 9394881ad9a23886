import { noPaint, type Paint, type Style } from './paint.ts'
import { cut, pad, padLeft, widthOf } from './width.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Columns on a terminal below which the text is not cut. */
  readonly min?: number
  /** Cut first when the terminal is narrow: the higher, the sooner. 0 is never cut. */
  readonly give?: number
}

/** A cell: a text that is safe to print, and its colour. */
export type Cell = string | { readonly text: string; readonly style: Style }

export interface TableOptions {
  /** Columns of the terminal; without it nothing is cut. */
  readonly width?: number
  readonly paint?: Paint
  /** Widths below which a column does not go, so that later parts of a long table stand below earlier ones. */
  readonly atLeast?: readonly number[]
}

const GAP = '  '

/** Lines of a table, without the header. */
export function tableRows(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  widths: readonly number[],
  paint: Paint = noPaint,
): string[] {
  return rows.map(row => line(columns, row, widths, paint))
}

/** The line of titles. */
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
  const widths = tableWidths(columns, rows, options)
  return [tableHeader(columns, widths, options.paint), ...tableRows(columns, rows, widths, options.paint)]
}

/** The width of each column: its widest cell, cut down to the terminal's width. */
export function tableWidths(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions = {},
): number[] {
  const widths = columns.map((column, at) => {
    const cells = rows.map(row => widthOf(textOf(row[at] ?? '')))
    return cells.reduce(
      (widest, width) => Math.max(widest, width),
      Math.max(widthOf(column.title), options.atLeast?.[at] ?? 0),
    )
  })
  return options.width === undefined ? widths : fitted(columns, widths, options.width)
}

function fitted(columns: readonly Column[], widths: number[], available: number): number[] {
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
    const text = cut(textOf(cell), width)
    const painted = typeof cell === 'string' || cell.style === 'plain' ? text : paint(cell.style, text)
    return column.align === 'right' ? padLeft(painted, width) : pad(painted, width)
  })
  return parts.join(GAP).trimEnd()
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

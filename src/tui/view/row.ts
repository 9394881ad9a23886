import type { Style } from '../../formats/terminal/style.ts'

/** A run of text in one look. The text is safe to print, fitted, and has no line break. */
export type Span = readonly [text: string, style: Style]

/**
 * One row of the screen, from the left, at most as wide as its area; the rest is blank. Texts of strangers stand last in
 * their row where they can: if a terminal measures them otherwise, nothing behind them is shifted.
 */
export interface Row {
  readonly spans: readonly Span[]
  /** `cursor`: the whole width stands out. `faint`: it is there for the eye only, such as a row that left the filter. */
  readonly look?: 'cursor' | 'faint'
}

/** A whole screen: exactly `size.rows` rows. */
export interface Frame {
  readonly columns: number
  readonly rows: readonly Row[]
}

/** A rectangle of the screen, in cells. */
export interface Area {
  readonly columns: number
  readonly rows: number
}

/** An empty row. */
export const BLANK: Row = { spans: [] }

import type { Style } from '../../formats/terminal/style.ts'
import { cut, pad, padLeft, widthOf } from '../../formats/terminal/width.ts'
import type { ColumnList } from '../state/state.ts'

/** A run of text in one style. The text is safe to print, fitted, and has no line break. */
export type StyledText = readonly [text: string, style: Style]

/**
 * One row of the screen, from the left, at most as wide as its area; the rest is blank. Untrusted texts are last in
 * their row where possible: if a terminal measures them differently, nothing after them is shifted.
 */
export interface ScreenRow {
  /** Key of the row of a list that it draws, for clicks; where lists begin right below the head it may be missing. */
  readonly key?: string
  /** The list whose titles it has, for clicks. */
  readonly titles?: ColumnList
  readonly spans: readonly StyledText[]
  /**
   * `cursor`: the whole width is highlighted. `faint`: shown for orientation only, such as a row that no longer matches
   * the filter.
   */
  readonly highlight?: 'cursor' | 'faint'
  /** Number of spans that are highlighted; all, and the blanks after them, without it. */
  readonly highlightedSpans?: number
}

/** A whole screen: exactly `size.rows` rows. */
export interface Frame {
  readonly columns: number
  readonly rows: readonly ScreenRow[]
}

/** A rectangle of the screen, in cells. */
export interface Area {
  readonly columns: number
  readonly rows: number
}

/** An empty row. */
export const BLANK: ScreenRow = { spans: [] }

/** Total width of spans, in columns. */
export function widthOfSpans(spans: readonly StyledText[]): number {
  return spans.reduce((sum, [text]) => sum + widthOf(text), 0)
}

/** The spans cut to a width, with a final `…` if something is missing. */
function fitSpans(spans: readonly StyledText[], width: number): StyledText[] {
  const kept: StyledText[] = []
  let left = Math.max(0, width)
  for (const [text, style] of spans) {
    if (text === '') continue
    const taken = widthOf(text)
    if (taken > left) return [...(left > 0 ? kept : kept.slice(0, -1)), ...endOf(kept, text, style, left)]
    kept.push([text, style])
    left -= taken
  }
  return kept
}

/** The last visible span: the part that still fits, or the previous one with a `…`. Blanks are dropped without it. */
function endOf(kept: readonly StyledText[], text: string, style: Style, left: number): StyledText[] {
  if (left > 0) return [[cut(text, left), style]]
  const last = kept.at(-1)
  if (last === undefined || text.trim() === '') return last === undefined ? [] : [last]
  return [[cut(`${last[0]}…`, widthOf(last[0])), last[1]]]
}

/** A row cut to a width; neighbours with the same style become one span, as each span has a cost. */
export function rowOf(spans: readonly StyledText[], width: number, highlight?: ScreenRow['highlight']): ScreenRow {
  const merged: StyledText[] = []
  for (const [text, style] of fitSpans(spans, width)) {
    const last = merged.at(-1)
    if (last !== undefined && last[1] === style) merged[merged.length - 1] = [last[0] + text, style]
    else merged.push([text, style])
  }
  return highlight === undefined ? { spans: merged } : { spans: merged, highlight }
}

/** Two rows side by side with a line between them. Only the left one, `width` columns wide, keeps its highlight. */
export function besideRow(left: ScreenRow, right: ScreenRow, width: number): ScreenRow {
  const blanks = ' '.repeat(Math.max(0, width - widthOfSpans(left.spans)))
  const before: StyledText[] = blanks === '' ? [...left.spans] : [...left.spans, [blanks, 'plain']]
  const spans: StyledText[] = [...before, ['│', 'dim'], ...right.spans]
  return left.highlight === undefined
    ? { spans }
    : { spans, highlight: left.highlight, highlightedSpans: before.length }
}

/** A text in exactly `width` columns. */
export function cell(
  text: string,
  width: number,
  style: Style = 'plain',
  align: 'left' | 'right' = 'left',
): StyledText {
  const fitted = cut(text, width)
  return [align === 'right' ? padLeft(fitted, width) : pad(fitted, width), style]
}

/** A bar of this width, filled as far as `done` of `count` is. */
export function barOf(done: number, count: number, width: number): string {
  const full = count <= 0 ? width : Math.min(width, Math.floor((done / count) * width))
  return '█'.repeat(full) + '░'.repeat(width - full)
}

/** Parts in one line with a gap between them; empty ones are left out. */
export function joined(parts: readonly (readonly StyledText[])[], gap: string): StyledText[] {
  const shown = parts.filter(part => part.some(([text]) => text !== ''))
  return shown.flatMap((part, at) => (at === 0 ? [...part] : [[gap, 'plain'] as const, ...part]))
}

/** `─ title ─────`, or a line without title. */
export function ruleRow(title: string, width: number, style: Style = 'strong'): ScreenRow {
  if (title === '' || width < 6) return { spans: [['─'.repeat(Math.max(0, width)), 'dim']] }
  const text = cut(title, width - 4)
  const rest = '─'.repeat(Math.max(0, width - 3 - widthOf(text)))
  return rowOf(
    [
      ['─ ', 'dim'],
      [text, style],
      [` ${rest}`, 'dim'],
    ],
    width,
  )
}

/** Exactly as many rows as the area has. */
export function filled(rows: readonly ScreenRow[], area: Area): ScreenRow[] {
  return Array.from({ length: Math.max(0, area.rows) }, (_, at) => rows[at] ?? BLANK)
}

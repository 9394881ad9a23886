import { cut, widthOf } from '../../formats/terminal/width.ts'
import type { Scene } from '../state/context.ts'
import type { TextPage } from '../state/state.ts'
import { hasDetailFocus } from '../state/text/focus.ts'
import { gutterOf, numberWidth, offsetAfter, type TextPart, textLayout } from '../state/text/layout.ts'
import { matchCount, placeOf } from '../state/text/reading.ts'
import { matchesIn } from '../state/text/search.ts'
import type { ReadableText, Reading, StyledRange } from '../state/text/text.ts'
import { type Area, filled, rowOf, ruleRow, type ScreenRow, type StyledText } from './row.ts'
import { safeText } from './safe-text.ts'

/** The visible rows of a text that is read. Costs the rows, not the text. */
export function readableRows(text: ReadableText, reading: Reading, area: Area): ScreenRow[] {
  const layout = textLayout(text, area.columns, reading)
  const top = Math.max(0, Math.min(reading.top, layout.total - area.rows))
  const cursor = placeOf(reading, text)?.line
  const shown = Math.max(0, Math.min(area.rows, layout.total - top))
  const rows = Array.from({ length: shown }, (_, row) => {
    const part = layout.row(top + row)
    const next = layout.row(top + row + 1)
    const hidden = top + row + 1 < layout.total ? next.line - part.line - 1 : text.lines.length - part.line - 1
    return partRow(text, reading, part, { columns: area.columns, isCursor: part.line === cursor, hidden })
  })
  return filled(rows, area)
}

/** The pane of open details: a rule with the title, and the text as far as it was read. */
export function readingRows({ state }: Scene, title: string, text: ReadableText, area: Area): ScreenRow[] {
  const room = { columns: area.columns, rows: Math.max(0, area.rows - 1) }
  const { detail } = state
  const hasFocus = hasDetailFocus(state)
  const place = placeText(text, detail, room)
  const keys = hasFocus ? 'tab: to the list' : place === '' ? '' : 'J K scroll, o reads'
  const rule = titleRule(
    [title, searchText(text, detail), [place, keys].filter(part => part !== '').join(': ')],
    area.columns,
    hasFocus,
  )
  return filled([rule, ...readableRows(text, detail, room)], area)
}

/** A text on the whole screen, below a rule with its title. */
export function pageRows({ title, text, reading }: TextPage, area: Area): ScreenRow[] {
  const room = { columns: area.columns, rows: Math.max(0, area.rows - 1) }
  const rule = titleRule([title, searchText(text, reading), placeText(text, reading, room)], area.columns, false)
  return filled([rule, ...readableRows(text, reading, room)], area)
}

/** Title, search and place; the title is cut first. */
function titleRule(parts: readonly string[], columns: number, hasFocus: boolean): ScreenRow {
  const [title = '', ...others] = parts.filter((part, at) => at === 0 || part !== '')
  const rest = others.map(part => `, ${part}`).join('')
  return ruleRow(
    `${cut(title, Math.max(8, columns - 4 - widthOf(rest)))}${rest}`,
    columns,
    hasFocus ? 'active' : 'strong',
  )
}

/** `/timeout: 3 of 17`; `''` without a search. */
function searchText(text: ReadableText, reading: Reading): string {
  return reading.search === '' ? '' : `/${safeText(reading.search)}: ${matchCount(text, reading)}`
}

/** `1–20 of 88`; `''` if all of it is visible. */
function placeText(text: ReadableText, reading: Reading, { columns, rows }: Area): string {
  const { total } = textLayout(text, columns, reading)
  const top = Math.max(0, Math.min(reading.top, total - rows))
  return total > rows ? `${top + 1}–${Math.min(total, top + rows)} of ${total}` : ''
}

interface PartOptions {
  readonly columns: number
  readonly isCursor: boolean
  /** Lines of the element that are folded away. */
  readonly hidden: number
}

function partRow(text: ReadableText, reading: Reading, part: TextPart, options: PartOptions): ScreenRow {
  const { columns, hidden } = options
  const badge = hidden > 0 && part.to > 0 ? `  +${hidden} lines` : ''
  const width = Math.max(0, columns - gutterOf(text) - badge.length)
  const spans = [...gutterSpans(text, part, options), ...rowOf(contentSpans(text, reading, part, width), width).spans]
  return rowOf(badge === '' ? spans : [...spans, [badge, 'dim']], columns)
}

function gutterSpans(text: ReadableText, { line, from }: TextPart, { isCursor, hidden }: PartOptions): StyledText[] {
  const sign = isCursor && from === 0 ? '›' : ' '
  if (text.outline === undefined) return [[sign, 'plain']]
  const number = (from === 0 ? String(line + 1) : '').padStart(numberWidth(text.lines))
  const mark = hidden > 0 ? '▸' : from === 0 && text.outline.ends.has(line) ? '▾' : ' '
  return [
    [sign, 'plain'],
    [number, isCursor ? 'mark' : 'dim'],
    [`${mark} `, 'dim'],
  ]
}

function contentSpans(text: ReadableText, reading: Reading, { line, from, to }: TextPart, width: number): StyledText[] {
  const content = text.lines[line] ?? ''
  const begin = reading.left === 0 ? from : Math.min(to, offsetAfter(content, from, reading.left))
  // Most characters take at least half a column per UTF-16 unit; invisible ones do not. Enough for any row.
  const end = Math.min(to, begin + 4 * width)
  const shown = to === end ? content.slice(begin, end).trimEnd().length + begin : end
  const pieces = styledPieces(
    text.rangesOf?.(line) ?? [],
    visibleMatches(content, reading.search, begin, shown),
    begin,
    shown,
  )
  const spans: [string, StyledText[1]][] = []
  for (const [a, b, style] of pieces) {
    const piece = safeText(content.slice(a, b))
    const last = spans.at(-1)
    // Blanks look the same in any style but reverse video.
    if (last !== undefined && style !== 'mark' && piece.trim() === '') last[0] += piece
    else spans.push([piece, style])
  }
  return to > end ? [...spans, ['…', 'plain']] : spans
}

/** Also those that begin before the visible part. */
function visibleMatches(content: string, search: string, begin: number, end: number): readonly StyledRange[] {
  const from = Math.max(0, begin - 2 * search.length)
  const part = content.slice(from, end + 2 * search.length)
  return matchesIn(part, search).map(range => ({ ...range, from: range.from + from, to: range.to + from }))
}

type Piece = readonly [from: number, to: number, style: StyledText[1]]

/** The part of a line in pieces of one style; matches have theirs before the others. */
function styledPieces(
  styles: readonly StyledRange[],
  matches: readonly StyledRange[],
  from: number,
  to: number,
): Piece[] {
  const edges = new Set([from, to])
  for (const range of [...styles, ...matches]) {
    if (range.to <= from || range.from >= to) continue
    edges.add(Math.max(from, range.from)).add(Math.min(to, range.to))
  }
  const sorted = [...edges].sort((a, b) => a - b)
  return sorted.slice(0, -1).map((begin, at): Piece => {
    const isIn = (range: StyledRange) => range.from <= begin && begin < range.to
    const style = (matches.find(isIn) ?? styles.find(isIn))?.style ?? 'plain'
    return [begin, sorted[at + 1] ?? to, style]
  })
}

import type { CellFormat, Field } from '../../formats/field.ts'
import type { Style } from '../../formats/terminal/style.ts'
import { cut, cutInside, pad, padLeft } from '../../formats/terminal/width.ts'
import { type ScreenRow, type StyledText, widthOfSpans } from './row.ts'

/** A field as a column of a list. Its width depends only on the width of the list, so that nothing moves while data changes. */
export interface ListColumn<Item> extends Field<Item> {
  /** The least width, and the width without `share`. */
  readonly width: number
  /** Its share of the remaining width. */
  readonly share?: number
  /** Shown only in lists of at least this width. */
  readonly from?: number
  /** Order in which columns are dropped if there is not enough room: the highest first. */
  readonly spare?: number
  /** The value in several styles, instead of `cell`. */
  readonly spans?: (item: Item, format: CellFormat, width: number) => readonly StyledText[]
}

export interface PlacedColumn<Item> {
  readonly column: ListColumn<Item>
  readonly width: number
}

/** Columns before each row: cursor, mark, blank. */
const GUTTER = 3
const GAP = '  '

/** The columns that fit into a list of this width, with their widths. */
export function placeColumns<Item>(
  columns: readonly ListColumn<Item>[],
  available: number,
): readonly PlacedColumn<Item>[] {
  let kept = columns.filter(({ from = 0 }) => available >= from)
  while (kept.length > 1 && leastWidth(kept) > available) {
    const most = Math.max(...kept.map(({ spare = 0 }) => spare))
    const last = kept.findLastIndex(({ spare = 0 }) => spare === most)
    kept = kept.toSpliced(last, 1)
  }
  const over = available - leastWidth(kept)
  if (over < 0) return kept.map(column => ({ column, width: Math.max(0, column.width + over) }))
  let shares = kept.reduce((sum, { share = 0 }) => sum + share, 0)
  let left = over
  return kept.map(column => {
    const part = shares === 0 ? 0 : Math.floor((left * (column.share ?? 0)) / shares)
    left -= part
    shares -= column.share ?? 0
    return { column, width: column.width + part }
  })
}

function leastWidth(columns: readonly ListColumn<never>[]): number {
  return columns.reduce((sum, { width }) => sum + width, GUTTER + GAP.length * (columns.length - 1))
}

/** The titles above a list. */
export function titleRow(columns: readonly PlacedColumn<never>[]): ScreenRow {
  const titles = columns.map(({ column, width }) => fitted(column.title, column, width))
  return { spans: [[`${' '.repeat(GUTTER)}${titles.join(GAP)}`.trimEnd(), 'dim']] }
}

export interface RowMarks {
  readonly isCursor?: boolean
  readonly isMarked?: boolean
  readonly isFaint?: boolean
  /** Something in it has just changed. */
  readonly isChanged?: boolean
}

/** One row of a list. Neighbours with the same style are one span, which is cheaper to draw. */
export function listRow<Item>(
  columns: readonly PlacedColumn<Item>[],
  item: Item,
  format: CellFormat,
  marks: RowMarks = {},
): ScreenRow {
  const spans: [text: string, style: Style][] = [...gutter(marks)].map(span => [...span])
  columns.forEach(({ column, width }, at) => {
    for (const [text, style] of cellSpans(column, item, format, width)) append(spans, text, style)
    if (at < columns.length - 1) append(spans, GAP, 'plain')
  })
  return { spans: trimmed(spans), ...highlightOf(marks) }
}

function cellSpans<Item>(
  column: ListColumn<Item>,
  item: Item,
  format: CellFormat,
  width: number,
): readonly StyledText[] {
  if (column.spans !== undefined) {
    const parts = column.spans(item, format, width)
    return [...parts, [' '.repeat(Math.max(0, width - widthOfSpans(parts))), 'plain']]
  }
  const cell = column.cell(item, format)
  return typeof cell === 'string'
    ? [[fitted(cell, column, width), 'plain']]
    : [[fitted(cell.text, column, width), cell.style]]
}

/** Cursor and changes are also characters, for terminals without reverse video. */
export function gutter({ isCursor, isMarked, isChanged }: RowMarks): readonly StyledText[] {
  const sign = isCursor ? '›' : ' '
  const last = isChanged ? '~' : ' '
  return isMarked
    ? [
        [sign, 'plain'],
        [`•${last}`, 'active'],
      ]
    : [[`${sign} ${last}`, 'plain']]
}

export function highlightOf({ isCursor, isFaint }: RowMarks): Pick<ScreenRow, 'highlight'> {
  return isCursor ? { highlight: 'cursor' } : isFaint ? { highlight: 'faint' } : {}
}

type Fit = Pick<ListColumn<never>, 'align' | 'cut'>

/** The text in exactly `width` columns. */
export function fitted(text: string, fit: Fit, width: number): string {
  if (ASCII.test(text)) return fitText(text, fit, width)
  const key = `${width}${fit.align ?? ''}${fit.cut ?? ''} ${text}`
  const known = FITTED.get(key)
  if (known !== undefined) return known
  if (FITTED.size >= MOST_FITTED) FITTED.clear()
  const made = fitText(text, fit, width)
  FITTED.set(key, made)
  return made
}

function fitText(text: string, { align, cut: how }: Fit, width: number): string {
  const short = how === 'middle' ? cutInside(text, width) : cut(text, width)
  return align === 'right' ? padLeft(short, width) : pad(short, width)
}

const ASCII = /^[ -~]*$/
/** Measuring and cutting wide characters is the most expensive step, and frames repeat the same texts. */
const FITTED = new Map<string, string>()
const MOST_FITTED = 2_000

function append(spans: [string, Style][], text: string, style: Style): void {
  const last = spans.at(-1)
  // Blanks look the same in any style except reverse video.
  if (last !== undefined && (last[1] === style || text.trim() === '')) last[0] += text
  else spans.push([text, style])
}

function trimmed(spans: [string, Style][]): readonly StyledText[] {
  const last = spans.at(-1)
  if (last !== undefined) last[0] = last[0].trimEnd()
  return spans
}

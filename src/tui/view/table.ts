import type { CellFormat, Field } from '../../formats/field.ts'
import type { Style } from '../../formats/terminal/style.ts'
import { cut, cutInside, pad, padLeft, widthOf } from '../../formats/terminal/width.ts'
import type { ColumnWidths } from '../state/column-widths.ts'
import type { ColumnList } from '../state/state.ts'
import type { ScreenRow, StyledText } from './row.ts'

/** A field as a column of a list, as wide as what is shown needs. */
export interface FlexColumn<Item> extends Field<Item> {
  /** Its texts are cut down to this width where there is not enough room; without it they are never cut. */
  readonly least?: number
  /** A text of any length: it gets the width that the others leave. */
  readonly isText?: true
  /** Order in which columns are dropped if there is not enough room: the highest first. */
  readonly spare?: number
  /** The value in several styles, instead of `cell`. */
  readonly spans?: (item: Item, format: CellFormat) => readonly StyledText[]
  /** A change of it is not marked: inverted, a bar would show the opposite. */
  readonly isSteady?: true
}

/** A column with the width that its texts have needed so far, without the title. */
export interface NeededColumn<Item> {
  readonly column: FlexColumn<Item>
  readonly content: number
}

interface WidthOfColumn<Item> {
  readonly column: FlexColumn<Item>
  readonly width: number
}

/** Columns before each row: cursor, mark, blank. */
const GUTTER = 3
const GAP = '  '

/**
 * The columns that fit into a list of this width, with their widths. First columns without any text are dropped, then
 * those that are spared most easily; then texts are cut, the name last; numbers never.
 */
export function columnWidths<Item>(
  needed: readonly NeededColumn<Item>[],
  available: number,
): readonly WidthOfColumn<Item>[] {
  let kept = needed
  const isOver = (leastOf: (one: NeededColumn<Item>) => number) => sumOf(kept.map(leastOf)) > available
  const wanted = (one: NeededColumn<Item>) => Math.min(needOf(one), WANTED)
  while (isOver(wanted) && kept.some(isEmpty)) kept = without(kept, isEmpty)
  const readable = (one: NeededColumn<Item>) => (one.column.isText ? Math.min(needOf(one), READABLE) : wanted(one))
  while (isOver(readable) && kept.some(isExtra)) kept = without(kept, isExtra)
  while (kept.length > 1 && isOver(leastOf)) kept = without(kept, () => true)
  const least = kept.map(leastOf)
  let left = available - sumOf(least)
  if (left < 0) return kept.map(({ column }, at) => ({ column, width: Math.max(0, (least[at] ?? 0) + left) }))
  const widths = [...least]
  const give = (at: number, most: number) => {
    const more = Math.max(0, Math.min(left, most))
    widths[at] = (widths[at] ?? 0) + more
    left -= more
  }
  const inOrder = [...kept.keys()].sort((a, b) => orderOf(kept[a]) - orderOf(kept[b]))
  for (const at of inOrder) give(at, needOf(kept[at]) - (widths[at] ?? 0))
  const text = kept.findLastIndex(({ column }) => column.isText)
  if (text >= 0) give(text, left)
  return kept.map(({ column }, at) => ({ column, width: widths[at] ?? 0 }))
}

/** A text of this width is worth more than the title of an empty column. */
const WANTED = 60
/** A whole name and a text of this width are worth more than a column that is spared easily. */
const READABLE = 24
/** The least `spare` of such a column. */
const EXTRA = 7

function sumOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GUTTER + GAP.length * (widths.length - 1))
}

function needOf(one: NeededColumn<never> | undefined): number {
  return one === undefined ? 0 : Math.max(one.content, widthOf(one.column.title))
}

function leastOf(one: NeededColumn<never>): number {
  const { least = Number.POSITIVE_INFINITY } = one.column
  return Math.min(needOf(one), least)
}

function isEmpty({ content, column }: NeededColumn<never>): boolean {
  return content === 0 && (column.spare ?? 0) > 0
}

function isExtra({ column }: NeededColumn<never>): boolean {
  return (column.spare ?? 0) >= EXTRA
}

/** The name grows first, then the other short texts, texts of any length last. */
function orderOf(one: NeededColumn<never> | undefined): number {
  return one?.column.isText ? 1 : 0
}

function without<Item>(
  kept: readonly NeededColumn<Item>[],
  isMeant: (one: NeededColumn<Item>) => boolean,
): readonly NeededColumn<Item>[] {
  const most = Math.max(...kept.filter(isMeant).map(({ column: { spare = 0 } }) => spare))
  const last = kept.findLastIndex(one => isMeant(one) && (one.column.spare ?? 0) === most)
  return kept.toSpliced(last, 1)
}

/** A row of a table: an item, or a row that is drawn otherwise. */
export type TableRow<Item> = ItemRow<Item> | { readonly row: ScreenRow }

interface ItemRow<Item> {
  readonly item: Item
  readonly marks: RowMarks
  /** The item as it was before its latest changes, which are marked. */
  readonly previous?: Item | undefined
  /** For clicks. */
  readonly key?: string
}

export interface ListTableOptions {
  readonly columns: number
  readonly format: CellFormat
  readonly widths: ColumnWidths
  readonly hasTitles: boolean
  readonly list: ColumnList
}

/** The rows of a list below its titles. */
export function tableRows<Item>(
  all: readonly FlexColumn<Item>[],
  rows: readonly TableRow<Item>[],
  { columns, format, widths, hasTitles, list }: ListTableOptions,
): ScreenRow[] {
  const cells = rows.map(row => ('item' in row ? all.map(column => cellSpans(column, row.item, format)) : []))
  const needed = all.map((column, at) => {
    const width = cells.reduce((most, row) => Math.max(most, widthOfCell(row[at])), 0)
    return { column, at, content: widths.grown(`${list} ${column.title.replace(/ [↑↓]$/, '')}`, width) }
  })
  const placed = columnWidths(needed, columns)
  const positions = placed.map(({ column }) => all.indexOf(column))
  const drawn = rows.map((row, index) => {
    if ('row' in row) return row.row
    const { marks, previous, key } = row
    let isChanged = false
    const texts = placed.map(({ column, width }, at) => {
      const cell = cells[index]?.[positions[at] ?? -1] ?? []
      const isNew =
        previous !== undefined && !column.isSteady && textOf(cell) !== textOf(cellSpans(column, previous, format))
      isChanged ||= isNew
      const fit = fittedSpans(cell, column, width)
      return isNew ? markedCell(fit) : fit
    })
    return { ...cellsRow(texts, { ...marks, isChanged }), ...(key !== undefined && { key }) }
  })
  return hasTitles ? [{ ...titleRow(placed), titles: list }, ...drawn] : drawn
}

function textOf(cell: readonly StyledText[]): string {
  return cell.map(([text]) => text).join('')
}

/** The text of a cell that has just changed, without the blanks around it. */
function markedCell(cell: readonly StyledText[]): readonly StyledText[] {
  const [, before = '', text = '', after = ''] = /^( *)(.*?)( *)$/.exec(textOf(cell)) ?? []
  return [
    [before, 'plain'],
    [text, 'mark'],
    [after, 'plain'],
  ]
}

function widthOfCell(spans: readonly StyledText[] | undefined): number {
  return spans?.reduce((sum, [text]) => sum + widthOf(text), 0) ?? 0
}

/** Nothing is shown as nothing: a wall of hyphens hides what there is. */
function cellSpans<Item>(column: FlexColumn<Item>, item: Item, format: CellFormat): readonly StyledText[] {
  if (column.spans !== undefined) return column.spans(item, format)
  const cell = column.cell(item, format)
  const { text, style } = typeof cell === 'string' ? { text: cell, style: 'plain' as const } : cell
  return text === '' || (text === '-' && column.cut !== 'middle') ? [] : [[text, style]]
}

function fittedSpans(
  spans: readonly StyledText[],
  fit: Pick<FlexColumn<never>, 'align' | 'cut'>,
  width: number,
): readonly StyledText[] {
  const [first, ...others] = spans
  if (first === undefined) return [[' '.repeat(width), 'plain']]
  if (others.length === 0) return [[fitted(first[0], fit, width), first[1]]]
  const rest = ' '.repeat(Math.max(0, width - widthOfCell(spans)))
  return fit.align === 'right' ? [[rest, 'plain'], ...spans] : [...spans, [rest, 'plain']]
}

function titleRow(columns: readonly WidthOfColumn<never>[]): ScreenRow {
  const titles = columns.map(({ column, width }) => fitted(column.title, column, width))
  return { spans: [[`${' '.repeat(GUTTER)}${titles.join(GAP)}`.trimEnd(), 'dim']] }
}

/** Neighbours with the same style are one span, which is cheaper to draw. */
function cellsRow(cells: readonly (readonly StyledText[])[], marks: RowMarks): ScreenRow {
  const spans: [text: string, style: Style][] = [...gutter(marks)].map(span => [...span])
  cells.forEach((cell, at) => {
    for (const [text, style] of cell) append(spans, text, style)
    if (at < cells.length - 1) append(spans, GAP, 'plain')
  })
  return { spans: trimmed(spans), ...highlightOf(marks) }
}

function append(spans: [string, Style][], text: string, style: Style): void {
  const last = spans.at(-1)
  // Blanks look the same in any style except reverse video.
  const isBlank = text.trim() === '' && last?.[1] !== 'mark'
  if (last !== undefined && (last[1] === style || isBlank)) last[0] += text
  else spans.push([text, style])
}

function trimmed(spans: [string, Style][]): readonly StyledText[] {
  const last = spans.at(-1)
  if (last !== undefined) last[0] = last[0].trimEnd()
  return spans
}

export interface RowMarks {
  readonly isCursor?: boolean
  readonly isMarked?: boolean
  readonly isFaint?: boolean
  /** Something in it has just changed. */
  readonly isChanged?: boolean
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

type Fit = Pick<FlexColumn<never>, 'align' | 'cut'>

/** The text in exactly `width` columns. */
function fitted(text: string, fit: Fit, width: number): string {
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

import type { Scene } from '../../state/context.ts'
import { cursorIndex } from '../../state/cursor.ts'
import { windowTop } from '../../state/layout.ts'
import type { ColumnList } from '../../state/state.ts'
import { columnsOf } from '../columns-of.ts'
import { emptyRows, noMatch } from '../empty.ts'
import { type Area, BLANK, filled, rowOf, ruleRow, type ScreenRow, type StyledText } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { isTiny, marksOf } from '../streams.ts'
import { type FlexColumn, gutter, highlightOf, tableRows } from '../table.ts'
import { screenFormat } from '../times.ts'

/** The columns of a list by their titles. */
export type ColumnsOf<Title extends string, Item> = { readonly [Of in Title]: Omit<FlexColumn<Item>, 'title'> }

/**
 * A list, and below it the parts of its row under the cursor. In the listing of the screen their keys follow those of the
 * list, with the key of their row before a line feed.
 */
export interface TwoLists<Item, Part> {
  /** What a row of the list is: `subscription`. */
  readonly noun: string
  /** False before the first answer. */
  readonly isRead: boolean
  /** What makes the first one. */
  readonly whenNone: string
  readonly list: ColumnList
  readonly columns: ColumnsOf<string, Item>
  readonly partList: ColumnList
  readonly partColumns: ColumnsOf<string, Part>
  itemOf(key: string): { readonly item: Item; readonly part?: Part } | undefined
  /** Title of the parts of a row. */
  title(item: Item): string
  /** What is there in place of its parts, if none is listed. */
  withoutParts(item: Item): StyledText
  /** A row in a small terminal. */
  shortText(item: Item, part: Part | undefined): StyledText
}

/** The screen of two lists. */
export function twoListRows<Item, Part>(scene: Scene, area: Area, lists: TwoLists<Item, Part>): ScreenRow[] {
  return filled(screenRows(scene, area, lists), area)
}

function screenRows<Item, Part>(scene: Scene, area: Area, lists: TwoLists<Item, Part>): ScreenRow[] {
  const { data, listing, facts } = scene
  if (!lists.isRead) {
    const { error } = data.freshness
    if (error !== undefined) return emptyRows(area, `no answer yet: ${safeText(error.message)}`, ['retrying'], 'bad')
    return emptyRows(area, `reading ${lists.list} …`, [], 'dim')
  }
  if (listing.total === 0) return emptyRows(area, `no ${lists.noun} in ${facts.address}`, [lists.whenNone])
  if (listing.keys.length === 0) return noMatch(scene, area, lists.noun)
  if (isTiny(scene)) return tinyRows(scene, area, lists)
  const names = listing.keys.filter(key => !key.includes('\n'))
  const selected = listing.keys[cursorIndex(scene.state, scene)]?.split('\n', 1)[0] ?? ''
  const most = Math.max(2, Math.min(names.length + 1, Math.floor(area.rows / 2)))
  const above = upperRows(scene, { ...area, rows: most }, names, selected, lists)
  const below = { ...area, rows: area.rows - above.length - 1 }
  return [...above, BLANK, ...partRows(scene, below, names.length, selected, lists)]
}

/** The rows around one of them that fit. */
function around(keys: readonly string[], at: number, rows: number): readonly string[] {
  const from = windowTop(Math.max(0, at), Math.floor(rows / 2), rows, keys.length)
  return keys.slice(from, from + Math.max(0, rows))
}

function upperRows<Item, Part>(
  scene: Scene,
  area: Area,
  names: readonly string[],
  selected: string,
  { itemOf, list, columns }: TwoLists<Item, Part>,
): ScreenRow[] {
  const rows = around(names, names.indexOf(selected), area.rows - 1).flatMap(key => {
    const item = itemOf(key)?.item
    return item === undefined ? [] : [{ item, marks: marksOf(scene, key, cursorOf(scene)), key }]
  })
  return tableRows(columnsOf(scene, list, columns), rows, tableOptions(scene, area, list))
}

function partRows<Item, Part>(
  scene: Scene,
  area: Area,
  before: number,
  selected: string,
  { itemOf, partList, partColumns, title, withoutParts }: TwoLists<Item, Part>,
): ScreenRow[] {
  const item = itemOf(selected)?.item
  if (area.rows < 2 || item === undefined) return []
  const rule = ruleRow(title(item), area.columns)
  const keys = scene.listing.keys.slice(before)
  if (keys.length === 0) {
    const [text, style] = withoutParts(item)
    return [rule, rowOf([[`   ${text}`, style]], area.columns)]
  }
  const at = cursorIndex(scene.state, scene) - before
  const rows = around(keys, at, area.rows - 2).flatMap(key => {
    const part = itemOf(key)?.part
    return part === undefined ? [] : [{ item: part, marks: marksOf(scene, key, cursorOf(scene)), key }]
  })
  return [rule, ...tableRows(columnsOf(scene, partList, partColumns), rows, tableOptions(scene, area, partList))]
}

function tableOptions({ nowMs, state, widths }: Scene, { columns }: Area, list: ColumnList) {
  return { columns, format: screenFormat(nowMs, state.time), widths, hasTitles: true, list }
}

function cursorOf(scene: Scene): string | undefined {
  return scene.listing.keys[cursorIndex(scene.state, scene)]
}

/** A line each. */
function tinyRows<Item, Part>(scene: Scene, area: Area, { itemOf, shortText }: TwoLists<Item, Part>): ScreenRow[] {
  const { keys } = scene.listing
  return around(keys, cursorIndex(scene.state, scene), area.rows).flatMap(key => {
    const found = itemOf(key)
    if (found === undefined) return []
    const marks = marksOf(scene, key, cursorOf(scene))
    const spans = [...gutter(marks), shortText(found.item, found.part)]
    return [{ ...rowOf(spans, area.columns, highlightOf(marks).highlight), key }]
  })
}

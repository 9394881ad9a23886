import type { CellFormat } from '../../formats/field.ts'
import { rateText, sharingOf } from '../../formats/subscription.ts'
import { calmSpan, countText } from '../../formats/terminal/numbers.ts'
import type { Style } from '../../formats/terminal/style.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import type { SubscriptionView } from '../../subscriptions/read.ts'
import type { HaltedStream } from '../../subscriptions/types.ts'
import type { SubscriptionRow } from '../data/types.ts'
import type { TitleOf } from '../state/columns.ts'
import type { Scene } from '../state/context.ts'
import { cursorIndex } from '../state/cursor.ts'
import { windowTop } from '../state/layout.ts'
import { subscriptionItem } from '../state/lists/subscription-list.ts'
import { columnsOf } from './columns-of.ts'
import { emptyRows, noMatch } from './empty.ts'
import { type Area, BLANK, filled, rowOf, ruleRow, type ScreenRow } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { BARS, isTiny, marksOf } from './streams.ts'
import { type FlexColumn, gutter, highlightOf, tableRows } from './table.ts'
import { screenFormat } from './times.ts'

/** The screen of subscriptions, and below them the waiting and parked streams of the one with the cursor. */
export function subscriptionRows(scene: Scene, area: Area): ScreenRow[] {
  return filled(screenRows(scene, area), area)
}

function screenRows(scene: Scene, area: Area): ScreenRow[] {
  const { data, listing, facts } = scene
  if (data.subscriptions.rows === undefined) {
    const { error } = data.freshness
    if (error !== undefined) return emptyRows(area, `no answer yet: ${safeText(error.message)}`, ['retrying'], 'bad')
    return emptyRows(area, 'reading the subscriptions …', [], 'dim')
  }
  if (listing.total === 0) {
    return emptyRows(area, `no subscription in ${facts.address}`, [
      'leasectl subscribe --as NAME -- PROGRAM   hands each transaction to a program',
    ])
  }
  if (listing.keys.length === 0) return noMatch(scene, area, 'subscription')
  if (isTiny(scene)) return tinyRows(scene, area)
  const names = listing.keys.filter(key => !key.includes('\n'))
  const at = cursorIndex(scene.state, scene)
  const selected = subscriptionItem(data, listing.keys[at]?.split('\n', 1)[0] ?? '')?.row
  const most = Math.max(2, Math.min(names.length + 1, Math.floor(area.rows / 2)))
  const above = subscriptionTable(scene, { ...area, rows: most }, names, selected)
  return [...above, BLANK, ...haltedPart(scene, { ...area, rows: area.rows - above.length - 1 }, names, selected)]
}

/** The rows around one of them that fit. */
function around(keys: readonly string[], at: number, rows: number): readonly string[] {
  const from = windowTop(Math.max(0, at), Math.floor(rows / 2), rows, keys.length)
  return keys.slice(from, from + Math.max(0, rows))
}

function subscriptionTable(
  scene: Scene,
  area: Area,
  names: readonly string[],
  selected: SubscriptionRow | undefined,
): ScreenRow[] {
  const rows = around(names, names.indexOf(selected?.key ?? ''), area.rows - 1).flatMap(key => {
    const item = subscriptionItem(scene.data, key)?.row
    return item === undefined ? [] : [{ item, marks: marksOf(scene, key, cursorOf(scene)), key }]
  })
  return tableRows(columnsOf(scene, 'subscriptions', COLUMNS), rows, tableOptions(scene, area, 'subscriptions'))
}

function haltedPart(
  scene: Scene,
  area: Area,
  names: readonly string[],
  selected: SubscriptionRow | undefined,
): ScreenRow[] {
  if (area.rows < 2 || selected === undefined) return []
  const { view } = selected
  const title = ruleRow(safeText(`${view.name}: streams that do not go on`), area.columns)
  if (view.kind === 'unreadable') return [title, rowOf([[`   ! ${safeText(view.why)}`, 'bad']], area.columns)]
  const keys = scene.listing.keys.slice(names.length)
  if (keys.length === 0) {
    const text = selected.halted.length > 0 ? 'none that matches the filter' : 'none waits, none is parked'
    return [title, rowOf([[`   ${text}`, 'dim']], area.columns)]
  }
  const at = cursorIndex(scene.state, scene) - names.length
  const rows = around(keys, at, area.rows - 2).flatMap(key => {
    const item = subscriptionItem(scene.data, key)?.halted
    return item === undefined ? [] : [{ item, marks: marksOf(scene, key, cursorOf(scene)), key }]
  })
  return [title, ...tableRows(columnsOf(scene, 'halted', HALTED), rows, tableOptions(scene, area, 'halted'))]
}

function tableOptions({ nowMs, state, widths }: Scene, { columns }: Area, list: 'subscriptions' | 'halted') {
  return { columns, format: screenFormat(nowMs, state.time), widths, hasTitles: true, list }
}

function cursorOf(scene: Scene): string | undefined {
  return scene.listing.keys[cursorIndex(scene.state, scene)]
}

/** A line each: its name and how it stands. */
function tinyRows(scene: Scene, area: Area): ScreenRow[] {
  const { keys } = scene.listing
  return around(keys, cursorIndex(scene.state, scene), area.rows).flatMap(key => {
    const item = subscriptionItem(scene.data, key)
    if (item === undefined) return []
    const marks = marksOf(scene, key, cursorOf(scene))
    const { row, halted } = item
    const text = halted === undefined ? shortText(row.view) : `  ${safeName(halted.stream)} ${safeText(halted.why)}`
    const style = halted === undefined ? 'plain' : styleOf(halted)
    return [{ ...rowOf([...gutter(marks), [text, style]], area.columns, highlightOf(marks).highlight), key }]
  })
}

function shortText(view: SubscriptionView): string {
  if (view.kind === 'unreadable') return `? ${safeText(view.name)} ${safeText(view.why)}`
  return `${safeText(view.name)} ${calmSpan(view.lagMs)} ${countText(view.parked)} parked`
}

function styleOf({ state }: HaltedStream): Style {
  return state === 'parked' ? 'bad' : 'warn'
}

type Readable = Extract<SubscriptionView, { readonly kind: 'readable' }>

/** A value of a subscription that can be read. */
function known(of: (view: Readable, format: CellFormat) => Cell): FlexColumn<SubscriptionRow>['cell'] {
  return ({ view }, format) => (view.kind === 'readable' ? of(view, format) : '')
}

function countCell(count: number, style: Style): Cell {
  return count === 0 ? '-' : { text: countText(count), style }
}

/** Who runs which shards; of a subscription that cannot be read, why. */
function runByCell({ view }: SubscriptionRow, format: CellFormat): Cell {
  if (view.kind === 'unreadable') return { text: `! ${format.text(view.why)}`, style: 'bad' }
  const text = format.text(sharingOf(view.shards).join(', '))
  return view.held < view.shards.length ? { text, style: 'warn' } : text
}

/** The lags as bars: a second is the lowest, and each bar is four times the one before. */
export function lagBars(lags: readonly number[]): string {
  return lags
    .map(lagMs => (lagMs < 1_000 ? 0 : Math.min(BARS.length - 1, 1 + Math.floor(Math.log2(lagMs / 1_000) / 2))))
    .map(level => BARS.charAt(level))
    .join('')
}

const COLUMNS: { readonly [Title in TitleOf<'subscriptions'>]: Omit<FlexColumn<SubscriptionRow>, 'title'> } = {
  SUBSCRIPTION: { least: 10, cut: 'middle', cell: ({ view }, format) => format.text(view.name) },
  LAG: { align: 'right', cell: known(({ lagMs }, format) => format.span(lagMs)) },
  'LAG BEFORE': { spare: 4, cell: ({ lags }) => ({ text: lagBars(lags), style: 'active' }) },
  RATE: { align: 'right', spare: 3, cell: known(({ rate }) => rateText(rate)) },
  WAITING: { align: 'right', cell: known(({ waiting }) => countCell(waiting, 'warn')) },
  PARKED: { align: 'right', cell: known(({ parked }) => countCell(parked, 'bad')) },
  SHARDS: { align: 'right', spare: 2, cell: known(({ held, shards }) => `${held}/${shards.length}`) },
  'RUN BY': { least: 10, spare: 1, cell: runByCell },
  STREAMS: {
    least: 8,
    spare: 5,
    cell: known(({ subscription }, format) => format.text(subscription.spec.match.join(' ') || 'all')),
  },
  DELIVERED: { align: 'right', spare: 6, cell: known(({ delivered }) => countText(delivered)) },
  CREATED: { align: 'right', spare: 7, cell: known(({ subscription }, format) => format.age(subscription.createdMs)) },
}

const HALTED: { readonly [Title in TitleOf<'halted'>]: Omit<FlexColumn<HaltedStream>, 'title'> } = {
  STREAM: { least: 12, cut: 'middle', cell: ({ stream }, format) => format.name(stream) },
  STATE: { cell: halted => ({ text: halted.state, style: styleOf(halted) }) },
  TRIES: { align: 'right', spare: 2, cell: ({ tries }) => String(tries) },
  SINCE: { align: 'right', spare: 3, cell: ({ sinceMs }, format) => format.age(sinceMs || undefined) },
  NEXT: {
    align: 'right',
    spare: 4,
    cell: ({ state, nextMs }, { nowMs, due }) => (state === 'parked' ? '-' : nextMs <= nowMs ? 'now' : due(nextMs)),
  },
  WHY: { least: 12, isText: true, spare: 1, cell: ({ why }, format) => format.text(why.trim()) },
  AFTER: { align: 'right', spare: 5, cell: ({ version }) => `v${version}` },
}

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
import { subscriptionItem } from '../state/lists/subscription-list.ts'
import type { Area, ScreenRow, StyledText } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { BARS } from './streams.ts'
import type { FlexColumn } from './table.ts'
import { type ColumnsOf, twoListRows } from './two-lists/two-lists.ts'

/** The screen of subscriptions, and below them the waiting and parked streams of the one with the cursor. */
export function subscriptionRows(scene: Scene, area: Area): ScreenRow[] {
  return twoListRows<SubscriptionRow, HaltedStream>(scene, area, {
    noun: 'subscription',
    isRead: scene.data.subscriptions.rows !== undefined,
    whenNone: 'leasectl subscribe --as NAME -- PROGRAM   hands each transaction to a program',
    ...{ list: 'subscriptions', columns: COLUMNS, partList: 'halted', partColumns: HALTED },
    itemOf: key => {
      const found = subscriptionItem(scene.data, key)
      return found && { item: found.row, ...(found.halted && { part: found.halted }) }
    },
    title: ({ view }) => safeText(`${view.name}: streams that do not go on`),
    withoutParts: ({ view, halted }) => {
      if (view.kind === 'unreadable') return [`! ${safeText(view.why)}`, 'bad']
      return [halted.length > 0 ? 'none that matches the filter' : 'none waits, none is parked', 'dim']
    },
    shortText,
  })
}

function shortText({ view }: SubscriptionRow, halted: HaltedStream | undefined): StyledText {
  if (halted !== undefined) return [`  ${safeName(halted.stream)} ${safeText(halted.why)}`, styleOf(halted)]
  if (view.kind === 'unreadable') return [`? ${safeText(view.name)} ${safeText(view.why)}`, 'plain']
  return [`${safeText(view.name)} ${calmSpan(view.lagMs)} ${countText(view.parked)} parked`, 'plain']
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

const COLUMNS: ColumnsOf<TitleOf<'subscriptions'>, SubscriptionRow> = {
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

const HALTED: ColumnsOf<TitleOf<'halted'>, HaltedStream> = {
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

import { runnersOf } from '../../../formats/subscription.ts'
import type { HaltedStream } from '../../../subscriptions/types.ts'
import type { Data, SubscriptionRow } from '../../data/types.ts'
import { placeOf } from '../../store-key.ts'
import { sortOf } from '../columns.ts'
import type { Listing } from '../context.ts'
import type { State } from '../state.ts'
import { type FilterFields, filterParser, searchable } from './filter.ts'
import { KeptListing, listingOf } from './rows.ts'
import { type RowKeys, sortedRows } from './sorting.ts'

/** What a row is about: a subscription, or a stream that does not go on in it. */
interface SubscriptionItem {
  readonly row: SubscriptionRow
  readonly halted?: HaltedStream
}

/** All subscriptions, and after them the streams that do not go on in the one with the cursor. */
export class SubscriptionList {
  readonly #kept = new KeptListing()
  readonly #parse = filterParser(SUBSCRIPTION_FILTER)

  listing(state: State, { subscriptions: { rows = [] } }: Data, nowMs: number): Listing {
    const { filter, cursor } = state.lists.subscriptions
    const order = sortOf(state, 'subscriptions')
    const haltedOrder = sortOf(state, 'halted')
    const inputs = [order.by, order.isDescending, haltedOrder.by, haltedOrder.isDescending]
    const second = filter === '' ? 0 : Math.floor(nowMs / 1_000)
    return this.#kept.get([rows, filter, cursor, second, ...inputs], () => {
      const wanted = this.#parse(filter)
      const passes = (item: SubscriptionItem) => wanted.accepts(() => textOf(item), item, nowMs)
      const passing = rows.filter(row => passes({ row }) || row.halted.some(halted => passes({ row, halted })))
      const shown = sortedRows(passing, KEYS[order.by], order.isDescending, nowMs)
      const selected = shown.find(({ key }) => key === placeKey(cursor)) ?? shown[0]
      const halted = selected?.halted.filter(one => passes({ row: selected, halted: one })) ?? []
      const below = sortedRows(halted, HALTED_KEYS[haltedOrder.by], haltedOrder.isDescending, nowMs)
      const keys = [...shown.map(({ key }) => key), ...below.map(({ stream }) => `${selected?.key}\n${stream}`)]
      return listingOf(keys, { matching: shown.length, total: rows.length })
    })
  }
}

function placeKey(key: string | undefined): string | undefined {
  return key?.split('\n', 1)[0]
}

/** What a row is about: the context of its store, among several, the name of the subscription, and a stream of it. */
interface PlaceInSubscription {
  readonly store?: string
  readonly subscription?: string
  readonly stream?: string
}

export function placeInSubscription(key: string): PlaceInSubscription {
  if (key === '') return {}
  const at = key.indexOf('\n')
  const row = at < 0 ? key : key.slice(0, at)
  const place = placeOf(row)
  return {
    ...(place !== undefined && { store: place.context }),
    subscription: place?.stream ?? row,
    ...(at >= 0 && { stream: key.slice(at + 1) }),
  }
}

/** What a row of the list is about; `undefined` if it is no longer there. */
export function subscriptionItem(
  { subscriptions: { rows = [] } }: Pick<Data, 'subscriptions'>,
  key: string,
): SubscriptionItem | undefined {
  const row = rows.find(found => found.key === placeKey(key))
  if (row === undefined || row.key === key) return row && { row }
  const halted = row.halted.find(({ stream }) => key === `${row.key}\n${stream}`)
  return halted && { row, halted }
}

function runners({ view }: SubscriptionRow): readonly string[] {
  return view.kind === 'readable' ? runnersOf(view.shards) : []
}

function globs({ view }: SubscriptionRow): readonly string[] {
  return view.kind === 'readable' ? view.subscription.spec.match : []
}

function textOf({ row, halted }: SubscriptionItem): string {
  const { view } = row
  const own = [view.name, ...runners(row), ...globs(row), view.kind === 'unreadable' ? view.why : '']
  return searchable(halted === undefined ? own : [...own, halted.stream, halted.state, halted.why])
}

/** The fields of a subscription and of the streams that do not go on in it that a filter can name. */
export const SUBSCRIPTION_FILTER: FilterFields<SubscriptionItem> = {
  store: { texts: ({ row: { store = '' } }) => [store] },
  name: { texts: ({ row, halted }) => [row.view.name, halted?.stream ?? ''] },
  owner: { texts: ({ row }) => runners(row) },
  status: { texts: ({ halted }) => [halted?.state ?? ''] },
  why: { texts: ({ halted }) => [halted?.why ?? ''] },
  lag: { number: ({ row: { view } }) => (view.kind === 'readable' ? view.lagMs : undefined), isSpan: true },
  rate: { number: ({ row: { view } }) => (view.kind === 'readable' ? view.rate : undefined) },
  waiting: { number: ({ row: { view } }) => (view.kind === 'readable' ? view.waiting : undefined) },
  parked: { number: ({ row: { view } }) => (view.kind === 'readable' ? view.parked : undefined) },
  tries: { number: ({ halted }) => halted?.tries },
  age: { number: ({ halted }, nowMs) => halted?.sinceMs && nowMs - halted.sinceMs, isSpan: true },
}

type Readable = Extract<SubscriptionRow['view'], { readonly kind: 'readable' }>

/** Of a subscription that cannot be read, none: it is last. */
function known(of: (view: Readable) => number | string | undefined) {
  return ({ view }: SubscriptionRow) => (view.kind === 'readable' ? of(view) : undefined)
}

const KEYS: RowKeys<SubscriptionRow> = {
  name: ({ key }) => key,
  store: ({ store }) => store,
  lag: known(({ lagMs }) => -lagMs),
  rate: known(({ rate }) => -rate),
  waiting: known(({ waiting }) => -waiting),
  parked: known(({ parked }) => -parked),
  held: known(({ held, shards }) => held / shards.length),
  delivered: known(({ delivered }) => -delivered),
  created: known(({ subscription }) => -subscription.createdMs),
  runner: row => runners(row)[0],
  streams: row => globs(row).join(' ') || undefined,
}

/** The usual order: parked ones first. */
const HALTED_KEYS: RowKeys<HaltedStream> = {
  state: ({ state }) => state,
  stream: ({ stream }) => stream,
  tries: ({ tries }) => -tries,
  since: ({ sinceMs }) => sinceMs || undefined,
  next: ({ nextMs }) => nextMs || undefined,
  why: ({ why }) => why || undefined,
  after: ({ version }) => -version,
}

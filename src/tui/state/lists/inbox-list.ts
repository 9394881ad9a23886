import type { PartitionState } from '../../../inbox/lag.ts'
import type { InboxView } from '../../../inbox/view.ts'
import type { Data, InboxRow } from '../../data/types.ts'
import { placeOf } from '../../store-key.ts'
import { sortOf } from '../columns.ts'
import type { Listing } from '../context.ts'
import type { State } from '../state.ts'
import { type FilterFields, filterParser, searchable } from './filter.ts'
import { KeptListing, listingOf } from './rows.ts'
import { type RowKeys, sortedRows } from './sorting.ts'

/** What a row is about: an inbox, or a partition of it. */
interface InboxItem {
  readonly row: InboxRow
  readonly partition?: PartitionState
}

/** All inboxes, and after them the partitions of the one with the cursor. */
export class InboxList {
  readonly #kept = new KeptListing()
  readonly #parse = filterParser(INBOX_FILTER)

  listing(state: State, { inboxes: { rows = [] } }: Data, nowMs: number): Listing {
    const { filter, cursor } = state.lists.inboxes
    const order = sortOf(state, 'inboxes')
    const partOrder = sortOf(state, 'partitions')
    const inputs = [order.by, order.isDescending, partOrder.by, partOrder.isDescending]
    const second = filter === '' ? 0 : Math.floor(nowMs / 1_000)
    return this.#kept.get([rows, filter, cursor, second, ...inputs], () => {
      const wanted = this.#parse(filter)
      const passes = (item: InboxItem) => wanted.accepts(() => textOf(item), item, nowMs)
      const passing = rows.filter(row => passes({ row }) || parts(row).some(partition => passes({ row, partition })))
      const shown = sortedRows(passing, KEYS[order.by], order.isDescending, nowMs)
      const selected = shown.find(({ key }) => key === cursor?.split('\n', 1)[0]) ?? shown[0]
      const within =
        selected === undefined ? [] : parts(selected).filter(one => passes({ row: selected, partition: one }))
      const below = sortedRows(within, PARTITION_KEYS[partOrder.by], partOrder.isDescending, nowMs)
      const keys = [...shown.map(({ key }) => key), ...below.map(({ partition }) => `${selected?.key}\n${partition}`)]
      return listingOf(keys, { matching: shown.length, total: rows.length })
    })
  }
}

/** The inbox that a row is about, with the context of its store among several. */
export function placeOfInbox(key: string): { readonly store?: string; readonly inbox?: string } {
  const row = key.split('\n', 1)[0] ?? ''
  if (row === '') return {}
  const place = placeOf(row)
  return place === undefined ? { inbox: row } : { store: place.context, inbox: place.stream }
}

/** What a row of the list is about; `undefined` if it is no longer there. */
export function inboxItem({ inboxes: { rows = [] } }: Pick<Data, 'inboxes'>, key: string): InboxItem | undefined {
  const [name, number] = key.split('\n')
  const row = rows.find(found => found.key === name)
  if (row === undefined || number === undefined) return row && { row }
  const partition = parts(row).find(one => String(one.partition) === number)
  return partition && { row, partition }
}

function parts({ view }: InboxRow): readonly PartitionState[] {
  return view.kind === 'readable' ? view.partitions : []
}

function ownersOf({ row, partition }: InboxItem): readonly string[] {
  return (partition === undefined ? parts(row) : [partition]).flatMap(({ checkpoint }) => checkpoint.owner ?? [])
}

function textOf(item: InboxItem): string {
  const { view } = item.row
  return searchable([view.name, ...ownersOf(item), view.kind === 'unreadable' ? view.why : ''])
}

/** The lag of a partition, or of all. */
function lagOf({ row: { view }, partition }: InboxItem) {
  return partition?.lag ?? (view.kind === 'readable' ? view.lag : undefined)
}

/** The fields of an inbox and of its partitions that a filter can name. */
export const INBOX_FILTER: FilterFields<InboxItem> = {
  store: { texts: ({ row: { store = '' } }) => [store] },
  name: { texts: ({ row }) => [row.view.name] },
  owner: { texts: ownersOf },
  lag: { number: item => lagOf(item)?.records },
  age: {
    number: (item, nowMs) => {
      const oldestMs = lagOf(item)?.oldestMs
      return oldestMs && nowMs - oldestMs
    },
    isSpan: true,
  },
  dead: {
    number: ({ row: { view }, partition }) =>
      partition?.checkpoint.dead ?? (view.kind === 'readable' ? view.deadLetters.open : undefined),
  },
}

/** Of an inbox that cannot be read, none: it is last. */
function known(of: (view: InboxView) => number | string | undefined) {
  return ({ view }: InboxRow) => (view.kind === 'readable' ? of(view) : undefined)
}

const KEYS: RowKeys<InboxRow> = {
  name: ({ key }) => key,
  store: ({ store }) => store,
  partitions: known(({ inbox }) => inbox.partitions),
  lag: known(({ lag }) => -lag.records),
  oldest: known(({ lag }) => lag.oldestMs),
  in: known(({ rate }) => -rate.in),
  out: known(({ rate }) => -rate.out),
  dead: known(({ deadLetters }) => -deadLetters.open),
  owner: row => ownersOf({ row })[0],
  size: known(({ lag }) => -lag.bytes),
  drained: known(({ drained }) => -drained),
  created: known(({ inbox }) => -inbox.createdMs),
}

const PARTITION_KEYS: RowKeys<PartitionState> = {
  partition: ({ partition }) => partition,
  lag: ({ lag }) => -lag.records,
  oldest: ({ lag }) => lag.oldestMs,
  in: ({ putRate }) => -putRate,
  out: ({ checkpoint }) => -checkpoint.rate,
  dead: ({ checkpoint }) => -checkpoint.dead,
  owner: ({ checkpoint }) => checkpoint.owner,
  drained: ({ checkpoint }) => -checkpoint.records,
  checkpoint: ({ checkpoint }) => checkpoint.atMs && -checkpoint.atMs,
  size: ({ lag }) => -lag.bytes,
}

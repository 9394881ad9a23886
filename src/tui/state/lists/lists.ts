import { mayPass, type StreamFilter, verdictOf } from '../../../ops/filter.ts'
import { isHeld } from '../../../stream/lease.ts'
import { type LimitRow, limitRows } from '../../data/limit-rows.ts'
import { leaseNow } from '../../data/stream-table.ts'
import type { Activity, Data, StreamEntry } from '../../data/types.ts'
import { sortOf } from '../columns.ts'
import type { Listing } from '../context.ts'
import type { Sort, State } from '../state.ts'
import { filterParser } from './filter.ts'
import { ACTIVITY_FILTER, activityText } from './filters.ts'
import { InboxList } from './inbox-list.ts'
import { KeptListing, listingOf, NO_ROWS, searchText } from './rows.ts'
import { type RowKeys, sortedRows } from './sorting.ts'
import { STREAM_FILTER, streamText } from './stream-text.ts'
import { SubscriptionList } from './subscription-list.ts'
import { TableList } from './table-list.ts'
import { TreeList } from './tree-list.ts'
import { WorkerList } from './worker-list.ts'

/** The rows of each list in order, cached from frame to frame. */
export class Lists {
  readonly #streams: TableList
  readonly #leases: TableList
  readonly #tree = new TreeList()
  readonly #watchdog = new KeptListing()
  readonly #activity = new KeptListing()
  readonly #workers = new WorkerList()
  readonly #subscriptions = new SubscriptionList()
  readonly #inboxes = new InboxList()
  readonly #limitText = searchText(limitTexts)
  readonly #parseStreams = filterParser(STREAM_FILTER)
  readonly #parseChanges = filterParser(ACTIVITY_FILTER)

  /** @param filter the streams to list */
  constructor(filter?: StreamFilter) {
    const isSelected = filter === undefined ? undefined : selectedBy(filter)
    this.#streams = new TableList({
      ...(isSelected && { isIn: isSelected }),
      sort: { by: 'name', isDescending: false },
      keepsCursorOnly: false,
    })
    this.#leases = new TableList({
      isIn: (entry, nowMs) =>
        isHeld(leaseNow(entry.item.listed.lease, nowMs)) && (isSelected === undefined || isSelected(entry, nowMs)),
      sort: { by: 'since', isDescending: false },
      // Where every change takes a lease, leases come and go all the time.
      keepsCursorOnly: true,
    })
  }

  /** The rows of the current screen. @param nowMs the store's clock */
  listing(state: State, data: Data, nowMs: number): Listing {
    const list = state.lists[state.screen]
    switch (state.screen) {
      case 'streams':
        return this.#streams.listing(list, data.streams, nowMs)
      case 'leases':
        return this.#leases.listing(list, data.streams, nowMs)
      case 'stream': {
        const { open } = data
        return open?.name === state.stream ? this.#tree.listing(list, state, open, nowMs) : NO_ROWS
      }
      case 'watchdog':
        return this.#expiring(list.filter, sortOf(state, 'watchdog'), data, nowMs)
      case 'activity':
        return this.#activities(list.filter, sortOf(state, 'activity'), data, nowMs)
      case 'workers':
        return this.#workers.listing(list, data, nowMs)
      case 'subscriptions':
        return this.#subscriptions.listing(state, data, nowMs)
      case 'inboxes':
        return this.#inboxes.listing(state, data, nowMs)
      default:
        return state.screen satisfies never
    }
  }

  /** What a filter finds changes with the streams and with time. */
  #expiring(filter: string, { by, isDescending }: Sort, { watchdog, streams }: Data, nowMs: number): Listing {
    const rows = limitRows(watchdog)
    const wanted = this.#parseStreams(filter)
    const inputs = [rows, by, isDescending, ...(wanted.isEmpty ? [] : [filter, nowMs, streams.revision])]
    return this.#watchdog.get(inputs, () => {
      const passing = rows.filter(row => {
        const entry = streams.get(row.stream)
        const textOf = () => `${this.#limitText(row)}\n${entry === undefined ? '' : streamText(entry, nowMs)}`
        return wanted.isEmpty || wanted.accepts(textOf, entry, nowMs)
      })
      return listingOf(
        sortedRows(passing, LIMIT_KEYS[by], isDescending, nowMs).map(({ key }) => key),
        { matching: passing.length, total: rows.length },
      )
    })
  }

  #activities(filter: string, { by, isDescending }: Sort, { activity: { items } }: Data, nowMs: number): Listing {
    const wanted = this.#parseChanges(filter)
    return this.#activity.get([items, by, isDescending, ...(wanted.isEmpty ? [] : [filter, nowMs])], () => {
      const passing = wanted.isEmpty
        ? items
        : items.filter(item => wanted.accepts(() => activityText(item), item, nowMs))
      const keys = sortedRows(passing, ACTIVITY_KEYS[by], isDescending, nowMs).map(({ key }) => key)
      return listingOf(keys, { matching: keys.length, total: items.length })
    })
  }
}

/** The usual order, by due, is that of the rows. */
const LIMIT_KEYS: RowKeys<LimitRow> = {
  will: ({ limit, planned, isNotified }) => (isNotified ? 'notified' : (limit?.action ?? planned?.action)),
  stream: ({ stream }) => stream,
  event: ({ event, name }) => event && `${event} ${name}`,
  limit: ({ limit }) => limit?.kind,
  planned: ({ planned }) => planned && -planned.ends,
}

/** The usual order, the latest first, is that of the rows. */
const ACTIVITY_KEYS: RowKeys<Activity> = {
  stream: ({ stream }) => stream,
  who: ({ tx }) => tx.by || undefined,
  what: ({ tx }) => tx.op,
  why: ({ tx }) => tx.why || undefined,
  version: ({ tx }) => -tx.version,
}

/** A stream that was not read yet is listed: only so it is read. So is one whose summary is cut. */
function selectedBy(filter: StreamFilter): (entry: StreamEntry, nowMs: number) => boolean {
  return ({ item, isRead }, nowMs) =>
    mayPass(item.listed, filter) && (!isRead || verdictOf(item, filter, nowMs) !== 'no')
}

function limitTexts({ stream, event, name, limit, isNotified, planned }: LimitRow): readonly string[] {
  const words = [limit?.action, isNotified ? 'notified' : '', planned?.action].map(word => word?.replace('-', ' '))
  return [stream, event, name, limit?.kind, limit?.timeout, ...words].map(text => text ?? '')
}

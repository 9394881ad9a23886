import { mayPass, type StreamFilter, verdictOf } from '../../../ops/filter.ts'
import { isHeld } from '../../../stream/lease.ts'
import { type LimitRow, limitRows } from '../../data/limit-rows.ts'
import { leaseNow } from '../../data/stream-table.ts'
import type { Data, StreamEntry } from '../../data/types.ts'
import type { Listing } from '../context.ts'
import type { State } from '../state.ts'
import { filterParser } from './filter.ts'
import { ACTIVITY_FILTER, activityText } from './filters.ts'
import { KeptListing, listingOf, NO_ROWS, searchText } from './rows.ts'
import { STREAM_FILTER, streamText } from './stream-text.ts'
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
        return this.#expiring(list.filter, data, nowMs)
      case 'activity':
        return this.#activities(list.filter, data, nowMs)
      case 'workers':
        return this.#workers.listing(list, data, nowMs)
      default:
        return state.screen satisfies never
    }
  }

  /** What a filter finds changes with the streams and with time. */
  #expiring(filter: string, { watchdog, streams }: Data, nowMs: number): Listing {
    const rows = limitRows(watchdog)
    const wanted = this.#parseStreams(filter)
    const inputs = wanted.isEmpty ? [rows] : [rows, filter, nowMs, streams.revision]
    return this.#watchdog.get(inputs, () => {
      const passing = rows.filter(row => {
        const entry = streams.get(row.stream)
        const textOf = () => `${this.#limitText(row)}\n${entry === undefined ? '' : streamText(entry, nowMs)}`
        return wanted.isEmpty || wanted.accepts(textOf, entry, nowMs)
      })
      return listingOf(
        passing.map(({ key }) => key),
        { matching: passing.length, total: rows.length },
      )
    })
  }

  #activities(filter: string, { activity: { items } }: Data, nowMs: number): Listing {
    const wanted = this.#parseChanges(filter)
    return this.#activity.get(wanted.isEmpty ? [items] : [items, filter, nowMs], () => {
      const passing = wanted.isEmpty
        ? items
        : items.filter(item => wanted.accepts(() => activityText(item), item, nowMs))
      const keys = passing.map(({ key }) => key)
      return listingOf(keys, { matching: keys.length, total: items.length })
    })
  }
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

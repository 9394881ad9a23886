import { mayPass, type StreamFilter, verdictOf } from '../../../ops/filter.ts'
import { isHeld } from '../../../stream/lease.ts'
import { leaseNow } from '../../data/stream-table.ts'
import type { Activity, Data, StreamEntry } from '../../data/types.ts'
import type { Listing } from '../context.ts'
import type { State } from '../state.ts'
import { filterWords, KeptListing, listingOf, NO_ROWS, searchText } from './rows.ts'
import { fieldsOfStream, leaseText, streamText } from './stream-text.ts'
import { TableList } from './table-list.ts'
import { TreeList } from './tree-list.ts'

/** The rows of each list in order, cached from frame to frame. */
export class Lists {
  readonly #streams: TableList
  readonly #leases: TableList
  readonly #tree = new TreeList()
  readonly #watchdog = new KeptListing()
  readonly #activity = new KeptListing()
  readonly #activityText = searchText(activityTexts)

  /** @param filter the streams to list */
  constructor(filter?: StreamFilter) {
    const isSelected = filter === undefined ? undefined : selectedBy(filter)
    this.#streams = new TableList({
      ...(isSelected && { isIn: isSelected }),
      sort: { by: 'name', isDescending: false },
      textOf: streamText,
      fieldsOf: fieldsOfStream,
      keepsCursorOnly: false,
    })
    this.#leases = new TableList({
      isIn: (entry, nowMs) =>
        isHeld(leaseNow(entry.item.listed.lease, nowMs)) && (isSelected === undefined || isSelected(entry, nowMs)),
      sort: { by: 'since', isDescending: false },
      textOf: leaseText,
      fieldsOf: fieldsOfStream,
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
        return this.#expiring(list.filter, data)
      case 'activity':
        return this.#activities(list.filter, data)
      default:
        return state.screen satisfies never
    }
  }

  #expiring(filter: string, { watchdog: { next } }: Data): Listing {
    return this.#watchdog.get([filter, next], () => {
      const words = filterWords(filter)
      const keys = next.map(({ stream }) => stream).filter(name => words.accepts(name.toLowerCase()))
      return listingOf(keys, { matching: keys.length, total: next.length })
    })
  }

  #activities(filter: string, { activity: { items } }: Data): Listing {
    return this.#activity.get([filter, items], () => {
      const words = filterWords(filter)
      const passing = words.isEmpty ? items : items.filter(item => words.accepts(this.#activityText(item)))
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

function activityTexts({ stream, tx: { by, op, why, on, changes } }: Activity): readonly string[] {
  return [stream, by, op, why, on, ...changes.map(({ event }) => event)]
}

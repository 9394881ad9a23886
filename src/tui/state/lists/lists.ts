import { isHeld } from '../../../stream/lease.ts'
import { leaseNow } from '../../data/stream-table.ts'
import type { Activity, Data } from '../../data/types.ts'
import type { Listing } from '../context.ts'
import type { State } from '../state.ts'
import { filterWords, KeptListing, listingOf, NO_ROWS, searchText } from './rows.ts'
import { fieldsOfStream, leaseText, streamText } from './stream-text.ts'
import { TableList } from './table-list.ts'
import { TreeList } from './tree-list.ts'

/** The rows of each list in order, cached from frame to frame. */
export class Lists {
  readonly #streams = new TableList({
    sort: { by: 'name', isDescending: false },
    textOf: streamText,
    fieldsOf: fieldsOfStream,
    keepsCursorOnly: false,
  })
  readonly #leases = new TableList({
    isIn: ({ item }, nowMs) => isHeld(leaseNow(item.listed.lease, nowMs)),
    sort: { by: 'since', isDescending: false },
    textOf: leaseText,
    fieldsOf: fieldsOfStream,
    // Where every change takes a lease, leases come and go all the time.
    keepsCursorOnly: true,
  })
  readonly #tree = new TreeList()
  readonly #watchdog = new KeptListing()
  readonly #activity = new KeptListing()
  readonly #activityText = searchText(activityTexts)

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
        return open?.name === state.stream ? this.#tree.listing(list, state.folded, open, nowMs) : NO_ROWS
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

function activityTexts({ stream, tx: { by, op, why, on, changes } }: Activity): readonly string[] {
  return [stream, by, op, why, on, ...changes.map(({ event }) => event)]
}

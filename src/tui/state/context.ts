import type { Data } from '../data/types.ts'
import type { CommandContext } from '../ports.ts'
import type { State } from './state.ts'

/** What a list shows, in order. */
export interface Listing {
  /** Names of its rows: of streams, of tree nodes, of leases, of activities. */
  readonly keys: readonly string[]
  /** Where a name stands, -1 for one that is not there. */
  indexOf(key: string): number
  /** A row that does not pass the filter any more and stays until the cursor moves; in the tree one that is there for what is below it. */
  isFaint(key: string): boolean
  /** Rows that pass the filter, of how many there are. */
  readonly matching: number
  readonly total: number
}

/** What never changes while the dashboard runs. */
export interface StoreInfo {
  /** The store's address, safe to print. */
  readonly address: string
  readonly isProtected: boolean
  readonly protectedName: string
  /** Version of the program. */
  readonly version: string
}

/** What keys and screens see of everything else. */
export interface World {
  /** The live data, or what was there when the picture was frozen. */
  readonly data: Data
  /** Of the live data. */
  readonly liveRevision: number
  /** The rows of the current screen. */
  readonly listing: Listing
  readonly facts: StoreInfo
  /** The store's clock, floored to a second, epoch ms. */
  readonly nowMs: number
  commandFor(subject: CommandContext): string
}

/** What a screen is drawn from. */
export interface Scene extends World {
  readonly state: State
}

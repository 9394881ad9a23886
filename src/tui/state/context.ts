import type { Data } from '../data/types.ts'
import type { CommandContext } from '../ports.ts'
import type { ColumnWidths } from './column-widths.ts'
import type { State, TextPage, TextSubject } from './state.ts'
import type { ReadableText } from './text/text.ts'

/** The rows of a list, in order. */
export interface Listing {
  /** Keys of its rows: names of streams or leases, keys of tree nodes or activities. */
  readonly keys: readonly string[]
  /** Position of a key, -1 if absent. */
  indexOf(key: string): number
  /**
   * A row that no longer matches the filter and stays until the cursor moves; in the tree, one shown for the rows below
   * it.
   */
  isFaint(key: string): boolean
  /** Number of rows that match the filter, and of all rows. */
  readonly matching: number
  readonly total: number
  /** Rows of the tree that stand for many children of one event, by key. */
  readonly groups: ReadonlyMap<string, RowGroup>
  /** The last row among the children of an event with such rows, by the event's position in the tree. */
  readonly lastRows: ReadonlyMap<number, string>
}

/** Children of one event that have the same status, as one row. */
export interface RowGroup {
  readonly key: string
  /** Position of the event in the tree. */
  readonly parent: number
  /** Their status. */
  readonly word: string
  readonly count: number
  /** Their rows follow. */
  readonly isOpen: boolean
}

/** Constant while the dashboard runs. */
export interface StoreInfo {
  /** The store's address, safe to print. */
  readonly address: string
  /** The contexts of several stores; none of a single store. */
  readonly contexts: readonly string[]
  readonly isProtected: boolean
  readonly protectedName: string
  /** The flags that selected streams at the start; `''` for none. */
  readonly selection: string
  /** Version of the program. */
  readonly version: string
}

/** What keys and screens read besides the state. */
export interface ScreenContext {
  /** The live data, or the frozen snapshot. */
  readonly data: Data
  /** Revision of the live data. */
  readonly liveRevision: number
  /** The rows of the current screen. */
  readonly listing: Listing
  readonly facts: StoreInfo
  /** Widths that the columns of the current screen have needed so far. */
  readonly widths: ColumnWidths
  /** The store's clock, floored to a second, epoch ms. */
  readonly nowMs: number
  /** The rows of the screen that another state shows. */
  listingFor(state: State): Listing
  /** The details of the row under the cursor, for the pane; `undefined` without a row. */
  detailOf(state: State): ReadableText | undefined
  /** A text for the whole screen; `undefined` if what it is about is no longer there. */
  pageOf(state: State, subject: TextSubject): Pick<TextPage, 'title' | 'text'> | undefined
  commandFor(subject: CommandContext): string
}

/** What a screen is drawn from. */
export interface Scene extends ScreenContext {
  readonly state: State
}

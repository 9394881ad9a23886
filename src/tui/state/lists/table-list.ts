import { compareNames } from '../../../store/names.ts'
import type { StreamEntry, StreamTable } from '../../data/types.ts'
import type { Listing } from '../context.ts'
import type { ListState, Sort } from '../state.ts'
import { filterWords, listingOf, NO_ROWS, type SearchText } from './rows.ts'

/** Rules of a list of streams. */
export interface TableListRules {
  /** Streams that belong to the list; all without it. */
  readonly isIn?: (entry: StreamEntry, nowMs: number) => boolean
  /** Default order. */
  readonly sort: Sort
  /** The searched text of a stream. */
  readonly textOf: SearchText<StreamEntry>
  /** Of the rows that no longer belong, only the one under the cursor stays. */
  readonly keepsCursorOnly: boolean
}

/** Inputs of a listing. */
interface ListInputs {
  readonly table: StreamTable
  readonly revision: number
  readonly membership: number
  readonly filter: string
  readonly sort: Sort | undefined
  readonly moves: number
  readonly nowMs: number
}

/**
 * A sorted list of streams. It is rebuilt when streams are added or removed, or when the filter or the order changes;
 * for changes in the streams at most once a second, so that rows stay readable.
 */
export class TableList {
  readonly #rules: TableListRules
  #inputs: ListInputs | undefined
  #listing: Listing = NO_ROWS
  #hasStale = false
  #names: readonly string[] = []

  constructor(rules: TableListRules) {
    this.#rules = rules
  }

  listing(list: ListState, table: StreamTable, nowMs: number): Listing {
    const { filter, sort, moves } = list
    const { revision, membership } = table
    const now: ListInputs = { table, revision, membership, filter, sort, moves, nowMs }
    const before = this.#inputs
    if (before !== undefined && this.#isCurrent(before, now)) return this.#listing
    if (before?.table !== table || before.membership !== membership) this.#names = namesOf(table)
    this.#listing = this.#make(list, now, this.#staysFor(before, list))
    this.#inputs = now
    return this.#listing
  }

  #isCurrent(before: ListInputs, now: ListInputs): boolean {
    if (before.table !== now.table || before.membership !== now.membership) return false
    if (before.filter !== now.filter || !isSameSort(before.sort, now.sort)) return false
    if (this.#hasStale && before.moves !== now.moves) return false
    if (this.#isAllByName(now)) return true
    return before.revision === now.revision || Math.floor(before.nowMs / 1_000) === Math.floor(now.nowMs / 1_000)
  }

  /** The content of the streams does not matter then. */
  #isAllByName({ filter, sort = this.#rules.sort }: Pick<ListInputs, 'filter' | 'sort'>): boolean {
    return this.#rules.isIn === undefined && sort.by === 'name' && filterWords(filter).isEmpty
  }

  /** Whether a row that no longer matches stays in place. */
  #staysFor(before: ListInputs | undefined, { filter, moves, cursor }: ListState): (name: string) => boolean {
    if (before === undefined || before.filter !== filter || before.moves !== moves) return () => false
    const { indexOf } = this.#listing
    const { keepsCursorOnly } = this.#rules
    return name => (!keepsCursorOnly || name === cursor) && indexOf(name) >= 0
  }

  #make(list: ListState, { table, nowMs }: ListInputs, stays: (name: string) => boolean): Listing {
    const { isIn = () => true, textOf, sort: usual } = this.#rules
    const { filter, sort = usual } = list
    if (this.#isAllByName(list)) return this.#all(sort)
    const words = filterWords(filter)
    const entries: StreamEntry[] = []
    const faint = new Set<string>()
    let total = 0
    for (const name of this.#names) {
      const entry = table.get(name)
      if (entry === undefined) continue
      const belongs = isIn(entry, nowMs)
      if (belongs) total++
      const passes = belongs && (words.isEmpty || words.accepts(textOf(entry)))
      if (!passes && !stays(name)) continue
      if (!passes) faint.add(name)
      entries.push(entry)
    }
    this.#hasStale = faint.size > 0
    const keys = sortStreams(entries, sort).map(({ name }) => name)
    return listingOf(keys, { faint, matching: keys.length - faint.size, total })
  }

  #all({ isDescending }: Sort): Listing {
    this.#hasStale = false
    const keys = isDescending ? this.#names.toReversed() : this.#names
    return listingOf(keys, { matching: keys.length, total: keys.length })
  }
}

/**
 * Code unit order equals the order of `compareNames` unless a name has characters from U+D800 on, and is ten times as
 * fast.
 */
function namesOf(table: StreamTable): readonly string[] {
  const names: string[] = []
  for (const { name } of table.values()) names.push(name)
  return names.some(name => DIFFERENT.test(name)) ? names.sort(compareNames) : names.sort()
}

const DIFFERENT = /[\ud800-\uffff]/

function isSameSort(a: Sort | undefined, b: Sort | undefined): boolean {
  return a?.by === b?.by && a?.isDescending === b?.isDescending
}

/** The sort key of a stream, lowest first; streams without one are last in both directions. */
type KeyOf = (entry: StreamEntry) => number | string | undefined

/** The most urgent status first. */
const STATUSES = ['aborted', 'inprocess', 'init', 'canceled', 'completed']
const UNREADABLE = -1

const KEYS: { readonly [By in string]: KeyOf } = {
  status: ({ item }) => (item.fault === undefined ? statusRank(item.summary?.status) : UNREADABLE),
  failed: ({ item }) => (item.summary === undefined ? undefined : -item.summary.failed),
  due: ({ item }) => item.summary?.dueMs,
  age: ({ item }) => item.summary?.createdMs,
  changed: ({ item }) => -item.listed.modifiedMs,
  since: ({ leasedSinceMs }) => leasedSinceMs,
  holder: ({ item }) => item.listed.lease.holder?.by,
}

/** An unknown status counts as open. */
function statusRank(status: string | undefined): number | undefined {
  if (status === undefined) return undefined
  const rank = STATUSES.indexOf(status)
  return rank < 0 ? STATUSES.indexOf('inprocess') : rank
}

/** Sorts streams that are in name order; equal ones keep that order. */
function sortStreams(entries: StreamEntry[], { by, isDescending }: Sort): StreamEntry[] {
  if (by === 'name') return isDescending ? entries.reverse() : entries
  const keyOf = KEYS[by]
  if (keyOf === undefined) return entries
  const direction = isDescending ? -1 : 1
  return entries
    .map(entry => ({ entry, key: keyOf(entry) }))
    .sort((a, b) => compare(a.key, b.key, direction))
    .map(({ entry }) => entry)
}

function compare(a: ReturnType<KeyOf>, b: ReturnType<KeyOf>, direction: number): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a < b ? -direction : direction
}

import { compareNames } from '../../../store/names.ts'
import type { StreamEntry, StreamTable } from '../../data/types.ts'
import type { Listing } from '../context.ts'
import type { ListState, Sort } from '../state.ts'
import { filterWords, listingOf, NO_ROWS, type SearchTexts } from './rows.ts'

/** What a list takes of the table. */
export interface TableListRules {
  /** Which streams it is about; all without it. */
  readonly isIn?: (entry: StreamEntry, nowMs: number) => boolean
  /** By what it is sorted unless somebody chose otherwise. */
  readonly sort: Sort
  /** What of them is searched. */
  readonly texts: SearchTexts<StreamEntry>
  /** Of what is not in it any more only the row under the cursor stays. */
  readonly keepsCursorOnly: boolean
}

/** From what the rows were made. */
interface Made {
  readonly table: StreamTable
  readonly revision: number
  readonly membership: number
  readonly filter: string
  readonly sort: Sort | undefined
  readonly moves: number
  readonly nowMs: number
}

/**
 * A list of streams in its order. It is made anew when streams come or go and when somebody chose another filter or
 * order; for what changes in the streams themselves at most once a second, so that rows can be read.
 */
export class TableList {
  readonly #rules: TableListRules
  #made: Made | undefined
  #listing: Listing = NO_ROWS
  #hasGhosts = false
  #names: readonly string[] = []

  constructor(rules: TableListRules) {
    this.#rules = rules
  }

  listing(list: ListState, table: StreamTable, nowMs: number): Listing {
    const { filter, sort, moves } = list
    const { revision, membership } = table
    const now: Made = { table, revision, membership, filter, sort, moves, nowMs }
    const before = this.#made
    if (before !== undefined && this.#isGood(before, now)) return this.#listing
    if (before?.table !== table || before.membership !== membership) this.#names = namesOf(table)
    this.#listing = this.#make(list, now, this.#ghostsOf(before, list))
    this.#made = now
    return this.#listing
  }

  #isGood(before: Made, now: Made): boolean {
    if (before.table !== now.table || before.membership !== now.membership) return false
    if (before.filter !== now.filter || !isSameSort(before.sort, now.sort)) return false
    if (this.#hasGhosts && before.moves !== now.moves) return false
    if (this.#isAllByName(now)) return true
    return before.revision === now.revision || Math.floor(before.nowMs / 1_000) === Math.floor(now.nowMs / 1_000)
  }

  /** What streams are like is of no matter then. */
  #isAllByName({ filter, sort = this.#rules.sort }: Pick<Made, 'filter' | 'sort'>): boolean {
    return this.#rules.isIn === undefined && sort.by === 'name' && filterWords(filter).isEmpty
  }

  /** Whether a row that does not pass any more stays where it was seen. */
  #ghostsOf(before: Made | undefined, { filter, moves, cursor }: ListState): (name: string) => boolean {
    if (before === undefined || before.filter !== filter || before.moves !== moves) return () => false
    const { indexOf } = this.#listing
    const { keepsCursorOnly } = this.#rules
    return name => (!keepsCursorOnly || name === cursor) && indexOf(name) >= 0
  }

  #make(list: ListState, { table, nowMs }: Made, stays: (name: string) => boolean): Listing {
    const { isIn = () => true, texts, sort: usual } = this.#rules
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
      const passes = belongs && (words.isEmpty || words.accepts(texts.get(entry)))
      if (!passes && !stays(name)) continue
      if (!passes) faint.add(name)
      entries.push(entry)
    }
    this.#hasGhosts = faint.size > 0
    const keys = sortStreams(entries, sort).map(({ name }) => name)
    return listingOf(keys, { faint, matching: keys.length - faint.size, total })
  }

  #all({ isDescending }: Sort): Listing {
    this.#hasGhosts = false
    const keys = isDescending ? this.#names.toReversed() : this.#names
    return listingOf(keys, { matching: keys.length, total: keys.length })
  }
}

/** Where no name has what the two orders see differently, that of code units is the same and ten times as fast. */
function namesOf(table: StreamTable): readonly string[] {
  const names: string[] = []
  for (const { name } of table.values()) names.push(name)
  return names.some(name => DIFFERENT.test(name)) ? names.sort(compareNames) : names.sort()
}

const DIFFERENT = /[\ud800-\uffff]/

function isSameSort(a: Sort | undefined, b: Sort | undefined): boolean {
  return a?.by === b?.by && a?.isDescending === b?.isDescending
}

/** What a stream is sorted by, lowest first; streams without it stand last, whichever way the order goes. */
type KeyOf = (entry: StreamEntry) => number | string | undefined

/** What needs somebody's attention comes first. */
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

/** An unknown status is an open one. */
function statusRank(status: string | undefined): number | undefined {
  if (status === undefined) return undefined
  const rank = STATUSES.indexOf(status)
  return rank < 0 ? STATUSES.indexOf('inprocess') : rank
}

/** Brings streams that are sorted by name into another order; those that are equal in it stay sorted by name. */
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

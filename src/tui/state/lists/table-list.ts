import { isBroken, streamStateOf } from '../../../formats/listing/health.ts'
import { hasUnacknowledgedFailure } from '../../../ops/filter.ts'
import { compareNames } from '../../../store/names.ts'
import { isFinal } from '../../../stream/event.ts'
import { isHeld } from '../../../stream/lease.ts'
import type { Summary } from '../../../stream/summary.ts'
import { leaseNow } from '../../data/stream-table.ts'
import type { StreamEntry, StreamTable } from '../../data/types.ts'
import { streamKey } from '../../store-key.ts'
import type { Listing } from '../context.ts'
import type { ListState, Sort } from '../state.ts'
import { filterParser } from './filter.ts'
import { listingOf, NO_ROWS } from './rows.ts'
import { type RowKey, type RowKeys, sortedRows } from './sorting.ts'
import { STREAM_FILTER, streamText } from './stream-text.ts'

/** Rules of a list of streams. */
export interface TableListRules {
  /** Streams that belong to the list; all without it. */
  readonly isIn?: (entry: StreamEntry, nowMs: number) => boolean
  /** Default order. */
  readonly sort: Sort
  /** Of the rows that no longer belong, only the one under the cursor stays. */
  readonly keepsCursorOnly: boolean
}

/** Inputs of a listing. */
interface ListInputs {
  readonly table: StreamTable
  readonly revision: number
  readonly membership: number
  readonly filter: string
  readonly onlyBroken: boolean
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
  readonly #parse = filterParser(STREAM_FILTER)
  #inputs: ListInputs | undefined
  #listing: Listing = NO_ROWS
  #hasStale = false
  #names: readonly string[] = []

  constructor(rules: TableListRules) {
    this.#rules = rules
  }

  listing(list: ListState, table: StreamTable, nowMs: number): Listing {
    const { filter, onlyBroken, sort, moves } = list
    const { revision, membership } = table
    const now: ListInputs = { table, revision, membership, filter, onlyBroken, sort, moves, nowMs }
    const before = this.#inputs
    if (before !== undefined && this.#isCurrent(before, now)) return this.#listing
    if (before?.table !== table || before.membership !== membership) this.#names = namesOf(table)
    this.#listing = this.#make(list, now, this.#staysFor(before, list))
    this.#inputs = now
    return this.#listing
  }

  #isCurrent(before: ListInputs, now: ListInputs): boolean {
    if (before.table !== now.table || before.membership !== now.membership) return false
    if (!isSameChoice(before, now) || !isSameSort(before.sort, now.sort)) return false
    if (this.#hasStale && before.moves !== now.moves) return false
    if (this.#isAllByName(now)) return true
    if (Math.floor(before.nowMs / 1_000) === Math.floor(now.nowMs / 1_000)) return true
    return before.revision === now.revision && !this.#changesWithTime(now)
  }

  /** Deadlines and claims pass without a write. */
  #changesWithTime({ filter, onlyBroken, sort }: ListInputs): boolean {
    return this.#rules.isIn !== undefined || onlyBroken || sort?.by === 'status' || !this.#parse(filter).isEmpty
  }

  /** The content of the streams does not matter then. */
  #isAllByName({ filter, onlyBroken, sort = this.#rules.sort }: Pick<ListInputs, Choice | 'sort'>): boolean {
    return this.#rules.isIn === undefined && !onlyBroken && sort.by === 'name' && this.#parse(filter).isEmpty
  }

  /** Whether a row that no longer matches stays in place. */
  #staysFor(before: ListInputs | undefined, list: ListState): (name: string) => boolean {
    const { moves, cursor } = list
    if (before === undefined || !isSameChoice(before, list) || before.moves !== moves) return () => false
    const { indexOf } = this.#listing
    const { keepsCursorOnly } = this.#rules
    return name => (!keepsCursorOnly || name === cursor) && indexOf(name) >= 0
  }

  #make(list: ListState, { table, nowMs }: ListInputs, stays: (name: string) => boolean): Listing {
    const { isIn = () => true, sort: usual } = this.#rules
    const { filter, onlyBroken, sort = usual } = list
    if (this.#isAllByName(list)) return this.#all(sort)
    const wanted = this.#parse(filter)
    const entries: StreamEntry[] = []
    const faint = new Set<string>()
    let total = 0
    for (const name of this.#names) {
      const entry = table.get(name)
      if (entry === undefined) continue
      const belongs = isIn(entry, nowMs)
      if (belongs) total++
      const isShown = belongs && (!onlyBroken || isBroken(entry.item, nowMs))
      const passes = isShown && (wanted.isEmpty || wanted.accepts(() => streamText(entry, nowMs), entry, nowMs))
      if (!passes && !stays(name)) continue
      if (!passes) faint.add(name)
      entries.push(entry)
    }
    this.#hasStale = faint.size > 0
    const keys = sortStreams(entries, sort, nowMs).map(({ name }) => name)
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
  const stores = new Set<string>()
  for (const { name, store, item } of table.values()) {
    // Of several stores by name, then by store: no name has a control character.
    names.push(store === undefined ? name : `${item.listed.name}\0${store}`)
    if (store !== undefined) stores.add(store)
  }
  const sorted = sortedNames(names)
  if (stores.size === 0) return sorted
  return sorted.map(text => {
    const at = text.indexOf('\0')
    return streamKey(text.slice(at + 1), text.slice(0, at))
  })
}

function sortedNames(names: string[]): readonly string[] {
  return names.some(name => DIFFERENT.test(name)) ? names.sort(compareNames) : names.sort()
}

const DIFFERENT = /[\ud800-\uffff]/

type Choice = 'filter' | 'onlyBroken'

function isSameChoice(a: Pick<ListState, Choice>, b: Pick<ListState, Choice>): boolean {
  return a.filter === b.filter && a.onlyBroken === b.onlyBroken
}

function isSameSort(a: Sort | undefined, b: Sort | undefined): boolean {
  return a?.by === b?.by && a?.isDescending === b?.isDescending
}

/** The most urgent status first. */
const STATES = [
  'blocked',
  'aborted',
  'failing',
  'compensating',
  'abandoned',
  'overdue',
  'suspended',
  'inprocess',
  'held',
  'init',
  'canceled',
  'errors',
  'completed',
]
const UNREADABLE = -1

const KEYS: RowKeys<StreamEntry> = {
  store: ({ store }) => store,
  status: ({ item }, nowMs) => (item.fault === undefined ? stateRank(item.summary, nowMs) : UNREADABLE),
  failed: ({ item }) => failureRank(item.summary),
  due: ({ item }) => item.summary?.dueMs,
  age: ({ item }) => item.summary?.createdMs,
  changed: ({ item }) => -item.listed.modifiedMs,
  progress: ({ item: { summary } }) => summary && (summary.total - summary.open) / Math.max(1, summary.total),
  version: ({ item }) => item.summary && -item.summary.version,
  root: textKey(({ root }) => root),
  key: textKey(({ key }) => key),
  topic: textKey(({ topic }) => topic),
  by: textKey(({ lastBy }) => lastBy),
  lease: ({ item: { listed } }, nowMs) =>
    isHeld(leaseNow(listed.lease, nowMs)) ? (listed.lease.holder?.by ?? '') : undefined,
  since: ({ leasedSinceMs }) => leasedSinceMs,
  holder: ({ item }) => item.listed.lease.holder?.by,
}

/** Streams without the text are last. */
function textKey(read: (summary: Summary) => string): RowKey<StreamEntry> {
  return ({ item }) => (item.summary && read(item.summary)) || undefined
}

/** An unknown status counts as open. */
function stateRank(summary: Summary | undefined, nowMs: number): number | undefined {
  if (summary === undefined) return undefined
  const rank = STATES.indexOf(streamStateOf(summary, nowMs))
  return rank < 0 ? STATES.indexOf('inprocess') : rank
}

/** Streams that were aborted, then open ones with failures, then the other failed, acknowledged and canceled ones; each kind by number. */
function failureRank(summary: Summary | undefined): number | undefined {
  if (summary === undefined) return undefined
  const { failed, canceled, status } = summary
  const kind = failed === 0 ? (canceled > 0 ? 1 : 0) : !hasUnacknowledgedFailure(summary) ? 2 : openOrAborted(status)
  return -(kind * MAX_EVENTS + Math.min(failed > 0 ? failed : canceled, MAX_EVENTS - 1))
}

function openOrAborted(status: string): number {
  return status === 'aborted' ? 5 : isFinal({ status }) ? 3 : 4
}

/** More events than any stream has. */
const MAX_EVENTS = 1e9

/** Sorts streams that are in name order; equal ones keep that order. */
function sortStreams(
  entries: readonly StreamEntry[],
  { by, isDescending }: Sort,
  nowMs: number,
): readonly StreamEntry[] {
  return by === 'name' || by in KEYS ? sortedRows(entries, KEYS[by], isDescending, nowMs) : entries
}

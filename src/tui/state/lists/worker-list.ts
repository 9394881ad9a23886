import { isAbandoned } from '../../../ops/open-events.ts'
import type { Data, WorkerRow } from '../../data/types.ts'
import { nameIn } from '../../store-key.ts'
import type { Listing } from '../context.ts'
import type { ListState, Sort } from '../state.ts'
import { type FilterField, type FilterFields, filterParser } from './filter.ts'
import { KeptListing, listingOf, searchText } from './rows.ts'
import { compareKeys, type RowKeys } from './sorting.ts'

/** What workers have in hand, in order. */
export class WorkerList {
  readonly #kept = new KeptListing()
  readonly #text = searchText(workerTexts)
  readonly #parse = filterParser(WORKER_FILTER)

  listing({ filter, sort }: ListState, { workers: { rows } }: Data, nowMs: number): Listing {
    const second = Math.floor(nowMs / 1_000)
    return this.#kept.get([filter, sort?.by, sort?.isDescending, rows, second], () => {
      const wanted = this.#parse(filter)
      const passing = rows.filter(row =>
        wanted.accepts(() => `${this.#text(row)}\n${workerState(row, nowMs)}`, row, nowMs),
      )
      const keys = sorted(passing, sort, nowMs).map(({ key }) => key)
      return listingOf(keys, { matching: keys.length, total: rows.length })
    })
  }
}

export type WorkerState = 'abandoned' | 'running' | 'idle'

/** `idle`: a worker that holds nothing, but has ended something lately. */
export function workerState({ claim }: Pick<WorkerRow, 'claim'>, nowMs: number): WorkerState {
  if (claim === undefined) return 'idle'
  return isAbandoned(claim, nowMs) ? 'abandoned' : 'running'
}

function workerTexts({ owner, stream, event, claim }: WorkerRow): readonly string[] {
  return [owner, stream, event ?? '', claim?.name ?? '']
}

/** The fields of a worker and what it has in hand that a filter can name. */
export const WORKER_FILTER: FilterFields<WorkerRow> = {
  store: { texts: ({ store = '' }) => [store] },
  owner: { texts: ({ owner }) => [owner] },
  name: { texts: row => [nameIn(row)] },
  event: { texts: ({ event, claim }) => [event ?? '', claim?.name ?? ''] },
  status: { texts: (row, nowMs) => [workerState(row, nowMs)] },
  attempt: { number: ({ claim }) => claim?.attempt },
  age: spanOf(({ claim }, nowMs) => claim?.sinceMs && nowMs - claim.sinceMs),
  seen: spanOf(({ claim }, nowMs) => claim?.lastSeenMs && nowMs - claim.lastSeenMs),
  claim: spanOf(({ claim }, nowMs) => claim?.claimEndMs && claim.claimEndMs - nowMs),
  done: { number: ({ done }) => done },
  failed: { number: ({ failed }) => failed },
}

function spanOf(number: (row: WorkerRow, nowMs: number) => number | undefined): FilterField<WorkerRow> {
  return { number, isSpan: true }
}

const KEYS: RowKeys<WorkerRow> = {
  worker: ({ owner }) => owner,
  stream: ({ stream }) => stream,
  event: ({ event, claim }) => event && `${event} ${claim?.name ?? ''}`,
  attempt: ({ claim }) => claim && -claim.attempt,
  failed: ({ failed }) => -failed,
  since: ({ claim }) => claim?.sinceMs,
  seen: ({ claim }) => claim?.lastSeenMs,
  claim: ({ claim }) => claim?.claimEndMs,
  done: ({ done }) => -done,
}

const RANKS: { readonly [Of in WorkerState]: number } = { abandoned: 0, running: 1, idle: 2 }

/** By state: abandoned ones first, those whose claim ended first at the top, then the earliest claims. */
function sorted(rows: readonly WorkerRow[], sort: Sort | undefined, nowMs: number): readonly WorkerRow[] {
  const keyOf = KEYS[sort?.by ?? '']
  const direction = sort?.isDescending ? -1 : 1
  const rank = (row: WorkerRow) => RANKS[workerState(row, nowMs)]
  const timeOf = (row: WorkerRow) =>
    rank(row) === 0 ? row.claim?.claimEndMs : (row.claim?.sinceMs ?? (row.atMs === undefined ? undefined : -row.atMs))
  return rows.toSorted((a, b) => {
    const first =
      keyOf === undefined ? direction * (rank(a) - rank(b)) : compareKeys(keyOf(a, nowMs), keyOf(b, nowMs), direction)
    return first || rank(a) - rank(b) || compareKeys(timeOf(a), timeOf(b), 1) || (a.key < b.key ? -1 : 1)
  })
}

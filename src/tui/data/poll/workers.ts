import { type ClaimedEvent, WorkerTally } from '../../../ops/workers.ts'
import type { StreamStore } from '../../../store/store.ts'
import { firstOf } from '../../../util/top-n.ts'
import type { DataStore } from '../store.ts'
import type { StreamTable, WorkerRow, WorkersView } from '../types.ts'
import { inLastMinute, type WorkerRates } from '../worker-rates.ts'

/** Claims shown at most: abandoned ones first, then those that will end first. */
const MAX_CLAIMS = 5_000
/** How long a worker without a claim is shown after it has ended something, ms. */
const IDLE_SHOWN_MS = 120_000
/** Counting a large table may take a tenth of the time. */
const SHARE = 10

/** Keeps what workers have in hand, counted by the code of `leasectl workers` from the summaries of the listing. */
export class WorkersPoll {
  readonly #store: StreamStore
  readonly #data: DataStore
  readonly #monotonicMs: () => number
  #tableRevision = -1
  #second = -1
  #notBeforeMs = Number.NEGATIVE_INFINITY

  constructor(store: StreamStore, data: DataStore, monotonicMs: () => number) {
    this.#store = store
    this.#data = data
    this.#monotonicMs = monotonicMs
  }

  /** Claims end without a write: counts again after changes and each second. Call it after the streams were polled. */
  poll(): void {
    const { streams, workerRates } = this.#data
    const nowMs = this.#store.nowMs()
    const second = Math.floor(nowMs / 1_000)
    if (streams.revision === this.#tableRevision && second === this.#second) return
    const startMs = this.#monotonicMs()
    if (startMs < this.#notBeforeMs) return
    const view = workersOf(streams, workerRates, nowMs)
    // Time alone changes nothing until a claim ends: a frozen screen counts changes.
    if (!isSame(view, this.#data.workers)) this.#data.putWorkers(view)
    this.#tableRevision = streams.revision
    this.#second = second
    this.#notBeforeMs = startMs + SHARE * (this.#monotonicMs() - startMs)
  }
}

function workersOf(streams: StreamTable, rates: WorkerRates, nowMs: number): Counted {
  const tally = new WorkerTally({}, { keepsEvents: true })
  for (const { item } of streams.values()) tally.add(item, nowMs)
  const claims = firstOf(tally.events(), MAX_CLAIMS, (a, b) => endOf(a) - endOf(b))
  const loads = tally.workers()
  const rows = claims.map(({ stream, claim }): WorkerRow => {
    const { owner, id } = claim
    return {
      key: `${stream}\n${id}`,
      owner,
      stream,
      event: id,
      claim,
      atMs: undefined,
      ...countsOf(rates, owner, nowMs),
    }
  })
  const busy = new Set(loads.map(({ owner }) => owner))
  return { rows: [...rows, ...idleRows(rates, busy, nowMs)], workers: loads.length, steps: tally.steps() }
}

type Counted = Omit<WorkersView, 'revision'>

function isSame(a: Counted, b: Counted): boolean {
  if (a.workers !== b.workers || a.rows.length !== b.rows.length) return false
  return JSON.stringify(a.steps) === JSON.stringify(b.steps) && a.rows.every((row, at) => isSameRow(row, b.rows[at]))
}

function isSameRow(a: WorkerRow, b: WorkerRow | undefined): boolean {
  if (b === undefined || a.key !== b.key || a.owner !== b.owner || a.done !== b.done || a.failed !== b.failed)
    return false
  const [one, other] = [a.claim, b.claim]
  if (a.atMs !== b.atMs || one?.attempt !== other?.attempt) return false
  return one?.claimEndMs === other?.claimEndMs && one?.lastSeenMs === other?.lastSeenMs
}

/** Claims without an end come last. */
function endOf({ claim }: ClaimedEvent): number {
  return claim.claimEndMs ?? Number.MAX_VALUE
}

/** Workers that hold nothing now, but have ended something lately. */
function idleRows(rates: WorkerRates, busy: ReadonlySet<string | undefined>, nowMs: number): WorkerRow[] {
  const rows: WorkerRow[] = []
  for (const [owner, { stream, event, atMs }] of rates.entries()) {
    if (busy.has(owner) || nowMs - atMs > IDLE_SHOWN_MS) continue
    rows.push({ key: `\n${owner}`, owner, stream, event, claim: undefined, atMs, ...countsOf(rates, owner, nowMs) })
  }
  return rows
}

function countsOf(rates: WorkerRates, owner: string, nowMs: number): Pick<WorkerRow, 'done' | 'failed'> {
  const rate = rates.get(owner)
  return { done: inLastMinute(rate?.done, nowMs), failed: inLastMinute(rate?.failed, nowMs) }
}

import type { SummarizedStream } from '../../src/ops/summaries.ts'
import type { Summary } from '../../src/stream/summary.ts'
import type { DataStore } from '../../src/tui/data/store.ts'

/** Percentage of the changes made to visible streams: otherwise almost nothing on the screen would change. */
const SEEN_OF_100 = 10
/** The first by name, which are on the screen. */
const SEEN = 40

/** Streams that change constantly. */
export class StreamsLoad {
  readonly #data: DataStore
  readonly #rows: SummarizedStream[]
  #changes = 0

  constructor(data: DataStore, streams: number) {
    this.#data = data
    this.#rows = Array.from({ length: streams }, (_, at) => rowOf(at))
    data.putStreams(this.#rows, Date.now())
    data.completeStreams()
    data.putFreshness({ polledMs: Date.now(), intervalMs: 1_000 })
  }

  /** Changes this many of them. */
  change(count: number): void {
    const changed = Array.from({ length: count }, (_, nth) => {
      const at = this.#next(nth)
      const row = changedRow(this.#rows[at] ?? rowOf(at), ++this.#changes)
      this.#rows[at] = row
      return row
    })
    this.#data.putStreams(changed, Date.now())
    this.#data.putFreshness({ polledMs: Date.now() })
  }

  #next(nth: number): number {
    const isSeen = nth % 100 < SEEN_OF_100
    return isSeen ? (this.#changes * 7) % SEEN : SEEN + ((this.#changes * 7_919) % (this.#rows.length - SEEN))
  }
}

function rowOf(at: number): SummarizedStream {
  const name = `orders/${String(at).padStart(6, '0')}`
  const createdMs = Date.now() - 20_000 - (at % 3_000) * 1_000
  const summary: Summary = {
    version: 7,
    born: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
    status: 'inprocess',
    outcome: at % 9 === 0 ? 'errors' : '',
    lastBy: `worker-${at % 40}@host-${at % 7}`,
    root: 'OrderStart',
    createdMs,
    key: `4711-${at}`,
    topic: 'orders/search',
    tag: `customer-${at % 1_000}`,
    trackingId: '',
    failedAtMs: at % 9 === 0 ? createdMs : undefined,
    failedName: '',
    failedId: at % 9 === 0 ? '03.00' : '',
    failure: at % 9 === 0 ? 'connect ETIMEDOUT 10.0.0.7:443' : '',
    open: 7,
    canceled: 0,
    ackMs: undefined,
    suspendedMs: undefined,
    suspendedBy: '',
    suspendedWhy: '',
    done: 0,
    failed: at % 9 === 0 ? 1 : 0,
    total: 10,
    dueMs: Date.now() + 86_400_000 + at * 1_000,
    claimEndMs: undefined,
    readySinceMs: undefined,
    waitingOn: ['01.00', '02.00', '04.00'],
    ready: [],
    running: [],
    gated: [],
    wakeMs: undefined,
  }
  return rowWith(name, summary)
}

function changedRow({ listed, summary }: SummarizedStream, change: number): SummarizedStream {
  if (summary === undefined) throw new Error(`${listed.name} has no summary`)
  const done = change % 7
  const waitingOn = [`0${1 + (change % 9)}.00`, ...summary.waitingOn.slice(0, 2)]
  return rowWith(listed.name, { ...summary, version: summary.version + 1, open: 9 - done, waitingOn })
}

function rowWith(name: string, summary: Summary): SummarizedStream {
  const { version, born } = summary
  const lease = { state: 'available' } as const
  const listed = { name, etag: `"${version}"`, size: 2_000, modifiedMs: Date.now(), lease, summary }
  return { listed, summary, fault: undefined, pin: { ifVersion: version, ifBorn: born } }
}

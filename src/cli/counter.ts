import { counted, countText, moreThanText } from '../formats/terminal/numbers.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { visibleText } from '../util/visible-text.ts'
import type { ProgressLine } from './progress-line.ts'
import type { Runtime } from './runtime.ts'
import { missingFile } from './store.ts'

/** Shows how far a long listing is, once it takes a second. */
export async function showCount(
  seen: number,
  startMs: number,
  progress: ProgressLine,
  runtime: Pick<Runtime, 'nowMs'>,
): Promise<void> {
  if (runtime.nowMs() - startMs >= 1_000) await progress.show(`${counted(seen, 'stream')} listed`)
}

/** What to say where a listing found nothing. `isFiltered`: it had filters; `what`: nothing of what. */
export async function nothingText(
  store: StreamStore,
  isFiltered: boolean,
  runtime: Runtime,
  what = 'nothing matches',
): Promise<string> {
  const where = visibleText(store.address)
  const all = isFiltered ? await countStreams(store, runtime) : { seen: 0, exact: true }
  if (all.exact && all.seen === 0) {
    const missing = missingFile(store.address)
    return `no streams in ${where}${missing === undefined ? '' : `: ${missing}`}`
  }
  return `${what}: none of ${all.exact ? counted(all.seen, 'stream') : `${moreThanText(all.seen)} streams`} in ${where}`
}

/** `200 of 12 431`, or `200 of more than 85 000`. */
export function shownOf({ shown, seen, exact }: ListingCount): string {
  return `${countText(shown)} of ${exact ? countText(seen) : moreThanText(seen)}`
}

/** All streams of the store, counted for a while. */
async function countStreams(store: StreamStore, runtime: Runtime): Promise<Pick<ListingCount, 'seen' | 'exact'>> {
  const patience = patienceOf(runtime)
  let seen = 0
  try {
    for await (const page of store.list({ signal: patience.signal })) {
      seen += page.length
      if (!patience.lasts()) return { seen, exact: false }
    }
    return { seen, exact: true }
  } catch (error) {
    if (!runtime.signal.aborted && (patience.ended || error instanceof StoreUnreachable)) return { seen, exact: false }
    throw error
  } finally {
    patience.close()
  }
}

/** For how long streams are counted that nobody asked to see, ms. */
const COUNTING_MS = 2_000

/** The time that is given to counting. It begins to run when it is first asked about. */
export interface CountingTime {
  /** Aborts with the runtime's, and when the time is over: a page that does not come is not waited for. */
  readonly signal: AbortSignal
  /** The time is over, and what was under way was stopped for it. */
  readonly ended: boolean
  lasts(): boolean
  close(): void
}

export function patienceOf(runtime: Runtime): CountingTime {
  const over = new AbortController()
  let untilMs: number | undefined
  let timer: NodeJS.Timeout | undefined
  return {
    signal: AbortSignal.any([runtime.signal, over.signal]),
    get ended() {
      return over.signal.aborted
    },
    lasts() {
      untilMs ??= runtime.nowMs() + COUNTING_MS
      timer ??= setTimeout(() => over.abort(), COUNTING_MS)
      return runtime.nowMs() < untilMs
    },
    close: () => clearTimeout(timer),
  }
}

/** What came of a listing. */
export interface ListingCount {
  /** Rows that were written. */
  readonly shown: number
  /** Streams that passed the filter, as far as they were counted. */
  readonly seen: number
  /** They were counted to the end. */
  readonly exact: boolean
}

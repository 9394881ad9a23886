import { counted, countText, moreThanText } from '../formats/terminal/numbers.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { visibleText } from '../util/visible-text.ts'
import type { ProgressLine } from './output/progress-line.ts'
import type { Runtime } from './runtime.ts'
import { missingFile } from './store.ts'

/** Shows the progress of a listing once it has taken a second. */
export async function showCount(
  seen: number,
  startMs: number,
  progress: ProgressLine,
  runtime: Pick<Runtime, 'nowMs'>,
): Promise<void> {
  if (runtime.nowMs() - startMs >= 1_000) await progress.show(`${counted(seen, 'stream')} listed`)
}

/**
 * The sentence for an empty listing.
 *
 * @param isFiltered the listing had filters
 * @param what the words for nothing: `nothing that matches ended`
 */
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

/** Counts the streams of the store, for a limited time. */
async function countStreams(store: StreamStore, runtime: Runtime): Promise<Pick<ListingCount, 'seen' | 'exact'>> {
  const counting = startCounting(runtime)
  let seen = 0
  try {
    for await (const page of store.list({ signal: counting.signal })) {
      seen += page.length
      if (!counting.hasTimeLeft()) return { seen, exact: false }
    }
    return { seen, exact: true }
  } catch (error) {
    if (!runtime.signal.aborted && (counting.isOver || error instanceof StoreUnreachable)) return { seen, exact: false }
    throw error
  } finally {
    counting.close()
  }
}

/** Time limit for counting streams that are not printed, ms. */
const COUNTING_MS = 2_000

/** The time limit for counting. It starts with the first call of `hasTimeLeft`. */
export interface CountingTime {
  /** Aborts with the signal of the runtime, and when the time is over: a late page is not awaited. */
  readonly signal: AbortSignal
  /** The time is over; pending requests were aborted. */
  readonly isOver: boolean
  hasTimeLeft(): boolean
  close(): void
}

export function startCounting(runtime: Runtime): CountingTime {
  const over = new AbortController()
  let untilMs: number | undefined
  let timer: NodeJS.Timeout | undefined
  return {
    signal: AbortSignal.any([runtime.signal, over.signal]),
    get isOver() {
      return over.signal.aborted
    },
    hasTimeLeft() {
      untilMs ??= runtime.nowMs() + COUNTING_MS
      timer ??= setTimeout(() => over.abort(), COUNTING_MS)
      return runtime.nowMs() < untilMs
    },
    close: () => clearTimeout(timer),
  }
}

/** The counts of a listing. */
export interface ListingCount {
  /** Rows printed. */
  readonly shown: number
  /** Streams that passed the filter, as far as counted. */
  readonly seen: number
  /** All streams were counted. */
  readonly exact: boolean
}

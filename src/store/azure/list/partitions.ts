import { StoreIncompatible } from '../../errors.ts'
import type { StreamRow } from '../../store.ts'
import type { ListedPage, PageSource, RowFilter } from './pages.ts'

/** Number of pages read at the same time. */
const CONCURRENCY = 4
/** Pages of a range before split points are searched: a smaller container is read faster than the search takes. */
const PAGES_BEFORE_SEARCH = 2

/** The names to list. */
export interface ListScope {
  readonly prefix: string | undefined
  readonly startFrom: string | undefined
  readonly wanted: RowFilter
  /** A later name from which to continue after a page; `undefined` for the next page. */
  readonly resumeAt?: (page: ListedPage) => string | undefined
  readonly signal: AbortSignal | undefined
}

/** A range of names, read page by page from its start. */
interface Partition {
  from: string | undefined
  /** Exclusive end of the range. It is lowered only between two pages, and never below a name that was read. */
  to: string | undefined
  marker: string | undefined
  /** The last name that was read. */
  last: string | undefined
  pages: number
  /** Number of pages after which split points are searched. */
  searchAt: number
  /** Split points for the rest of the range. */
  cuts: readonly string[]
}

/** Rows of a page that is still arriving; the end of a page, with its last rows; or an error. */
type Arrival =
  | { readonly kind: 'rows'; readonly rows: readonly StreamRow[] }
  | { readonly kind: 'page'; readonly part: Partition; readonly page: ListedPage }
  | { readonly kind: 'fault'; readonly thrown: unknown }

/**
 * Lists all names in ranges that are read in parallel, and yields rows as they arrive. It starts with one range. If the range has
 * more than two pages, it is split at names that were found, and again whenever a reader is free.
 *
 * Each blob is listed once, wherever the split points are: at any time the ranges cover all names without overlap, because a range
 * is split only after the part that was read; and a name on a page of another range is dropped there. Blobs that are created,
 * removed or written meanwhile are listed, left out, or listed in their old state, as in a single listing by name: it
 * depends on whether their range has passed them.
 *
 * It requires names in ascending order, which the service lists by code unit. With a hierarchical namespace they are not
 * (`a/b` comes before `a-b`): such a container stays one range.
 */
export async function* listInPartitions(source: PageSource, scope: ListScope): AsyncGenerator<readonly StreamRow[]> {
  const listing = new PartitionedListing(source, scope)
  try {
    for (let rows = await listing.next(); rows !== undefined; rows = await listing.next()) {
      if (rows.length > 0) yield rows
    }
  } finally {
    await listing.end()
  }
}

class PartitionedListing {
  readonly #source: PageSource
  readonly #scope: ListScope
  readonly #ended = new AbortController()
  readonly #signal: AbortSignal
  readonly #reading = new Map<Partition, Promise<void>>()
  readonly #arrivals: Arrival[] = []
  #wake = (): void => {}
  #search: Promise<void> | undefined
  #isSplit = false

  constructor(source: PageSource, scope: ListScope) {
    const { startFrom, signal } = scope
    this.#source = source
    this.#scope = scope
    this.#signal = signal === undefined ? this.#ended.signal : AbortSignal.any([this.#ended.signal, signal])
    this.#read(newPartition(startFrom, undefined, []))
  }

  /** The next rows of any partition. At the end of a page the next one is requested at once. */
  async next(): Promise<readonly StreamRow[] | undefined> {
    while (this.#arrivals.length === 0) {
      if (this.#reading.size === 0) return undefined
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
    const arrival = this.#arrivals.shift()
    if (arrival?.kind === 'fault') throw arrival.thrown
    if (arrival?.kind === 'page') this.#continue(arrival.part, arrival.page)
    return arrival?.kind === 'rows' ? arrival.rows : arrival?.page.rows
  }

  #continue(part: Partition, page: ListedPage): void {
    this.#reading.delete(part)
    this.#checkOrder(part, page)
    if (page.marker === undefined || isPast(part, page)) return
    const later = this.#scope.resumeAt?.(page)
    if (later !== undefined && part.to !== undefined && later >= part.to) return
    part.from = later ?? part.from
    part.marker = later === undefined ? page.marker : undefined
    part.last = page.last ?? part.last
    part.pages += 1
    if (this.#source.isOrdered && part.last !== undefined) this.#share(part, part.last)
    this.#read(part)
  }

  /** Stops all reads, and waits for their end. */
  async end(): Promise<void> {
    this.#ended.abort()
    await Promise.allSettled([...this.#reading.values(), this.#search])
  }

  #read(part: Partition): void {
    const { prefix, wanted } = this.#scope
    const { from, marker } = part
    const isIn: RowFilter = (name, etag, isLeased) =>
      (from === undefined || name >= from) && (part.to === undefined || name < part.to) && wanted(name, etag, isLeased)
    const request = { prefix, startFrom: from, marker, size: this.#source.pageSize, signal: this.#signal }
    const page = this.#source.page(request, isIn, rows => this.#arrive({ kind: 'rows', rows }))
    const arrival = page.then(
      page => this.#arrive({ kind: 'page', part, page }),
      thrown => this.#arrive({ kind: 'fault', thrown }),
    )
    this.#reading.set(part, arrival)
  }

  #arrive(arrival: Arrival): void {
    this.#arrivals.push(arrival)
    this.#wake()
  }

  #checkOrder(part: Partition, page: ListedPage): void {
    const isBehind = part.last === undefined || page.first === undefined || page.first > part.last
    if (page.isSorted && isBehind) return
    this.#source.isOrdered = false
    if (!this.#isSplit) return
    // Some partition may have ended before its last name.
    throw new StoreIncompatible('the service lists names out of order', {
      hint: 'Try again: the next listing reads the pages one by one.',
    })
  }

  /** Splits the range after `last` for free readers, or searches split points. */
  #share(part: Partition, last: string): void {
    const { to } = part
    const cuts = part.cuts.filter(cut => cut > last && (to === undefined || cut < to))
    const pieces = Math.min(this.#free, cuts.length) + 1
    let end = cuts.length
    for (let piece = pieces - 1; piece > 0; piece -= 1) {
      const at = Math.round((piece * (cuts.length + 1)) / pieces) - 1
      this.#read(newPartition(cuts[at], part.to, cuts.slice(at + 1, end)))
      part.to = cuts[at]
      end = at
      this.#isSplit = true
    }
    part.cuts = cuts.slice(0, end)
    const maySearch = this.#search === undefined && this.#free > 0
    if (maySearch && part.cuts.length === 0 && part.pages >= part.searchAt) this.#searchCuts(part, last)
  }

  #searchCuts(part: Partition, last: string): void {
    const { prefix } = this.#scope
    const signal = this.#signal
    const first = async (startFrom: string): Promise<string | undefined> =>
      (await this.#source.page({ prefix, startFrom, size: 1, signal }, () => false)).first
    part.searchAt = 2 * part.pages
    this.#search = findCuts(first, { last, to: part.to, prefix: prefix ?? '' })
      // The partition is read to its end anyway, and its pages report the error.
      .catch(() => [])
      .then(cuts => {
        part.cuts = cuts
        this.#search = undefined
      })
  }

  /** Number of free readers, without the one for the current partition. */
  get #free(): number {
    return CONCURRENCY - 1 - this.#reading.size - (this.#search === undefined ? 0 : 1)
  }
}

function newPartition(from: string | undefined, to: string | undefined, cuts: readonly string[]): Partition {
  return { from, to, marker: undefined, last: undefined, pages: 0, searchAt: PAGES_BEFORE_SEARCH, cuts }
}

function isPast({ to }: Partition, { last }: ListedPage): boolean {
  return to !== undefined && last !== undefined && last >= to
}

/** The names that are still to be listed. */
export interface Stretch {
  /** The last name that was listed: the remaining names come after it. */
  readonly last: string
  /** Exclusive upper bound of the remaining names, if any. */
  readonly to: string | undefined
  /** Prefix of all names. */
  readonly prefix: string
}

/** Finds the first existing name at or after the given one. */
export type FirstName = (from: string) => Promise<string | undefined>

const MAX_PROBES = 16
const MAX_CUTS = 9
/** The number of readers that may be free. */
const ENOUGH = 3

/**
 * Searches names at which a stretch of a listing can be split into parts of about the same size, in ascending order. Each
 * remaining name differs from the last one from some position on. The first such position splits them best: by the character
 * there. It is found by binary search, probing for the first name after all that share a prefix with the last one; the
 * characters are found by further probes from there. At most sixteen probes. The result need not be exact: wherever it is
 * split, the parts together are the stretch.
 */
export async function findCuts(first: FirstName, { last, to, prefix }: Stretch): Promise<string[]> {
  let cuts: string[] = []
  /** Exclusive upper bound of the search. */
  let end = to
  let probes = 0
  const isBefore = (name: string): boolean => end === undefined || name < end

  /** The first name after all that share the characters of this one up to and including position `at`. */
  async function probe(name: string, at: number): Promise<string | undefined> {
    const from = successorOf(name, at)
    if (from === undefined || !isBefore(from) || probes >= MAX_PROBES) return undefined
    probes += 1
    const found = await first(from)
    return found !== undefined && found >= from && isBefore(found) ? found : undefined
  }

  /** A name that differs from the last one at the earliest possible position, but not before `from`. */
  async function firstBranch(from: number): Promise<string | undefined> {
    let branch: string | undefined
    let low = from
    for (let high = last.length - 1; low <= high; ) {
      const at = (low + high) >> 1
      const name = await probe(last, at)
      if (name === undefined) low = at + 1
      else {
        branch = name
        high = commonLength(name, last) - 1
      }
    }
    return branch
  }

  /** Adds split points before this name and the following ones, each of the given length. */
  async function addCuts(branch: string, length: number): Promise<void> {
    const more: string[] = []
    for (let name: string | undefined = branch; name !== undefined; ) {
      const cut = name.slice(0, length)
      if (isSafe(cut)) more.push(cut)
      name = cuts.length + more.length < MAX_CUTS ? await probe(name, length - 1) : undefined
    }
    cuts = [...more, ...cuts]
    end = cuts[0] ?? end
  }

  for (let from = prefix.length; cuts.length < ENOUGH; ) {
    const branch = await firstBranch(from)
    if (branch === undefined) break
    from = commonLength(branch, last) + 1
    await addCuts(branch, from)
  }
  return cuts
}

/** Lower bound of the names after all that share the characters up to and including position `at`. */
function successorOf(name: string, at: number): string | undefined {
  const next = name.charCodeAt(at) + 1
  // The service rejects control characters.
  const from = name.slice(0, at) + String.fromCharCode(next >= 0x7f && next < 0xa0 ? 0xa0 : next)
  return isSafe(from) ? from : undefined
}

/** Below the surrogates, code units and UTF-8 bytes have the same order: names compare with it in the same way in both. */
function isSafe(name: string): boolean {
  return !/[\ud800-\uffff]/.test(name)
}

function commonLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}

import { StoreIncompatible } from '../../errors.ts'
import type { Listed } from '../../store.ts'
import { findCuts } from './cuts.ts'
import type { ListedPage, PageSource, Wanted } from './pages.ts'

/** So many pages are read at a time. */
const AT_ONCE = 4
/** A container of so few pages is read before it would be known how to part it. */
const PAGES_BEFORE_SEARCH = 2

/** What is listed. */
export interface Parting {
  readonly prefix: string | undefined
  readonly startFrom: string | undefined
  readonly wanted: Wanted
  readonly signal: AbortSignal | undefined
}

/** A range of names, read page by page from its beginning. */
interface Part {
  readonly from: string | undefined
  /** The range ends before this name. It is moved forward only between two pages, and never before a name that was read. */
  to: string | undefined
  marker: string | undefined
  /** The last name that was read. */
  last: string | undefined
  pages: number
  /** After so many pages places to cut are looked for. */
  searchAt: number
  /** Where the rest of it may be cut. */
  cuts: readonly string[]
}

/** Rows of pages that are still arriving; the end of a page, with the last of its rows; what went wrong. */
type Arrival =
  | { readonly kind: 'rows'; readonly rows: readonly Listed[] }
  | { readonly kind: 'page'; readonly part: Part; readonly page: ListedPage }
  | { readonly kind: 'fault'; readonly thrown: unknown }

/**
 * Lists all names in ranges that are read side by side, rows as they arrive. It begins as one range; when there is more
 * than two pages of it, it is cut where names were found, and so on whenever a reader is free.
 *
 * Each blob is listed once, wherever the cuts are: at any time the ranges that were read, are being read and are to be
 * read have all names between them and no name twice, as a range is only ever cut behind what was read of it; and a name
 * that comes with a page of another range is dropped there. Blobs that are created, removed or written meanwhile are
 * listed, left out, or listed as they were, as with one listing by name: it depends on whether their range is past them.
 *
 * It needs names in ascending order, as the service lists them by code unit. With a hierarchical namespace it does not
 * (`a/b` comes before `a-b` there): such a container stays one range.
 */
export async function* listInParts(source: PageSource, parting: Parting): AsyncGenerator<readonly Listed[]> {
  const listing = new PartedListing(source, parting)
  try {
    for (let rows = await listing.next(); rows !== undefined; rows = await listing.next()) {
      if (rows.length > 0) yield rows
    }
  } finally {
    await listing.end()
  }
}

class PartedListing {
  readonly #source: PageSource
  readonly #parting: Parting
  readonly #ended = new AbortController()
  readonly #signal: AbortSignal
  readonly #reading = new Map<Part, Promise<void>>()
  readonly #arrivals: Arrival[] = []
  #wake = (): void => {}
  #search: Promise<void> | undefined
  #isParted = false

  constructor(source: PageSource, parting: Parting) {
    const { startFrom, signal } = parting
    this.#source = source
    this.#parting = parting
    this.#signal = signal === undefined ? this.#ended.signal : AbortSignal.any([this.#ended.signal, signal])
    this.#read(newPart(startFrom, undefined, []))
  }

  /** The next rows that arrive, of whichever part. When a page has ended, the one behind it is asked for at once. */
  async next(): Promise<readonly Listed[] | undefined> {
    while (this.#arrivals.length === 0) {
      if (this.#reading.size === 0) return undefined
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
    const arrival = this.#arrivals.shift()
    if (arrival?.kind === 'fault') throw arrival.thrown
    if (arrival?.kind === 'page') this.#goOn(arrival.part, arrival.page)
    return arrival?.kind === 'rows' ? arrival.rows : arrival?.page.rows
  }

  #goOn(part: Part, page: ListedPage): void {
    this.#reading.delete(part)
    this.#checkOrder(part, page)
    if (page.marker === undefined || isPast(part, page)) return
    part.marker = page.marker
    part.last = page.last ?? part.last
    part.pages += 1
    if (this.#source.isOrdered && part.last !== undefined) this.#share(part, part.last)
    this.#read(part)
  }

  /** Nothing is under way afterwards. */
  async end(): Promise<void> {
    this.#ended.abort()
    await Promise.allSettled([...this.#reading.values(), this.#search])
  }

  #read(part: Part): void {
    const { prefix, wanted } = this.#parting
    const { from, marker } = part
    const isIn: Wanted = (name, etag, isLeased) =>
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

  #checkOrder(part: Part, page: ListedPage): void {
    const isBehind = part.last === undefined || page.first === undefined || page.first > part.last
    if (page.isSorted && isBehind) return
    this.#source.isOrdered = false
    if (!this.#isParted) return
    // Some part may have been left before the last of its names.
    throw new StoreIncompatible('the service lists names out of order', {
      hint: 'Try again: the next listing reads one page after the other.',
    })
  }

  /** Hands parts of what is left behind `last` to readers that are free, or looks for places to cut. */
  #share(part: Part, last: string): void {
    const { to } = part
    const cuts = part.cuts.filter(cut => cut > last && (to === undefined || cut < to))
    const pieces = Math.min(this.#free, cuts.length) + 1
    let end = cuts.length
    for (let piece = pieces - 1; piece > 0; piece -= 1) {
      const at = Math.round((piece * (cuts.length + 1)) / pieces) - 1
      this.#read(newPart(cuts[at], part.to, cuts.slice(at + 1, end)))
      part.to = cuts[at]
      end = at
      this.#isParted = true
    }
    part.cuts = cuts.slice(0, end)
    const mayLook = this.#search === undefined && this.#free > 0
    if (mayLook && part.cuts.length === 0 && part.pages >= part.searchAt) this.#look(part, last)
  }

  #look(part: Part, last: string): void {
    const { prefix } = this.#parting
    const signal = this.#signal
    const first = async (startFrom: string): Promise<string | undefined> =>
      (await this.#source.page({ prefix, startFrom, size: 1, signal }, () => false)).first
    part.searchAt = 2 * part.pages
    this.#search = findCuts(first, { last, to: part.to, prefix: prefix ?? '' })
      // The part is read to its end all the same, and its pages tell what is wrong.
      .catch(() => [])
      .then(cuts => {
        part.cuts = cuts
        this.#search = undefined
      })
  }

  /** Readers that have nothing to do but to go on with the part at hand. */
  get #free(): number {
    return AT_ONCE - 1 - this.#reading.size - (this.#search === undefined ? 0 : 1)
  }
}

function newPart(from: string | undefined, to: string | undefined, cuts: readonly string[]): Part {
  return { from, to, marker: undefined, last: undefined, pages: 0, searchAt: PAGES_BEFORE_SEARCH, cuts }
}

function isPast({ to }: Part, { last }: ListedPage): boolean {
  return to !== undefined && last !== undefined && last >= to
}

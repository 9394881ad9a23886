import { StoreIncompatible } from '../../errors.ts'
import type { StreamRow } from '../../store.ts'
import type { ListedPage, PageSource, RowFilter } from './pages.ts'

/** So many pages are read at a time. */
const AT_ONCE = 4
/** A container of so few pages is read before it would be known how to part it. */
const PAGES_BEFORE_SEARCH = 2

/** What is listed. */
export interface Parting {
  readonly prefix: string | undefined
  readonly startFrom: string | undefined
  readonly wanted: RowFilter
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
  | { readonly kind: 'rows'; readonly rows: readonly StreamRow[] }
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
export async function* listInParts(source: PageSource, parting: Parting): AsyncGenerator<readonly StreamRow[]> {
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
  async next(): Promise<readonly StreamRow[] | undefined> {
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

/** What is known of the names that are still to be listed. */
export interface Stretch {
  /** The last name that was listed: all others are behind it. */
  readonly last: string
  /** They are before this one, if it is given. */
  readonly to: string | undefined
  /** They all begin with this. */
  readonly prefix: string
}

/** The first name there is at or behind the given one. */
export type FirstName = (from: string) => Promise<string | undefined>

const MAX_PROBES = 16
const MAX_CUTS = 9
/** As many as there may be readers that wait for a part. */
const ENOUGH = 3

/**
 * Looks for names at which a stretch of a listing may be cut into parts of about the same size, in ascending order. All
 * names that are left differ from the last one from some place on; the first such place parts them best: into those that
 * have one character there, those that have another, and so on. It is found by asking for the first name behind all that
 * have a beginning in common with the last, longer and shorter ones; the characters, by asking on from there. At most
 * sixteen questions. What is found need only be good, not right: cut anywhere, the parts together are the stretch.
 */
export function findCuts(first: FirstName, stretch: Stretch): Promise<string[]> {
  return new CutSearch(first, stretch).run()
}

class CutSearch {
  readonly #first: FirstName
  readonly #last: string
  readonly #prefix: string
  /** The search goes on before this. */
  #to: string | undefined
  #cuts: string[] = []
  #probes = 0

  constructor(first: FirstName, { last, to, prefix }: Stretch) {
    this.#first = first
    this.#last = last
    this.#to = to
    this.#prefix = prefix
  }

  async run(): Promise<string[]> {
    for (let from = this.#prefix.length; this.#cuts.length < ENOUGH; ) {
      const branch = await this.#firstBranch(from)
      if (branch === undefined) break
      from = commonLength(branch, this.#last) + 1
      await this.#addCuts(branch, from)
    }
    return this.#cuts
  }

  /** A name that differs from the last one as early as any behind it, but not before this place. */
  async #firstBranch(from: number): Promise<string | undefined> {
    let branch: string | undefined
    let low = from
    for (let high = this.#last.length - 1; low <= high; ) {
      const at = (low + high) >> 1
      const name = await this.#probe(this.#last, at)
      if (name === undefined) low = at + 1
      else {
        branch = name
        high = commonLength(name, this.#last) - 1
      }
    }
    return branch
  }

  /** Cuts before this name and those behind it, each of a length. */
  async #addCuts(branch: string, length: number): Promise<void> {
    const cuts: string[] = []
    for (let name: string | undefined = branch; name !== undefined; ) {
      const cut = name.slice(0, length)
      if (isSafe(cut)) cuts.push(cut)
      name = this.#cuts.length + cuts.length < MAX_CUTS ? await this.#probe(name, length - 1) : undefined
    }
    this.#cuts = [...cuts, ...this.#cuts]
    this.#to = this.#cuts[0] ?? this.#to
  }

  /** The first name behind all that are the same as this one up to and with the character at this place. */
  async #probe(name: string, at: number): Promise<string | undefined> {
    const from = behind(name, at)
    if (from === undefined || !this.#isBefore(from) || this.#probes >= MAX_PROBES) return undefined
    this.#probes += 1
    const found = await this.#first(from)
    return found !== undefined && found >= from && this.#isBefore(found) ? found : undefined
  }

  #isBefore(name: string): boolean {
    return this.#to === undefined || name < this.#to
  }
}

/** What is behind all names that are the same up to and with the character at this place. */
function behind(name: string, at: number): string | undefined {
  const next = name.charCodeAt(at) + 1
  // The service refuses control characters.
  const from = name.slice(0, at) + String.fromCharCode(next >= 0x7f && next < 0xa0 ? 0xa0 : next)
  return isSafe(from) ? from : undefined
}

/** Below the surrogates the order of code units is that of UTF-8 bytes: names are on the same side of it in either. */
function isSafe(name: string): boolean {
  return !/[\ud800-\uffff]/.test(name)
}

function commonLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}

import type { EventStore, Listed } from '../../store/store.ts'
import { ownText } from '../../util/strings.ts'
import type { Selection } from '../selection.ts'
import type { SummarizedStream } from '../summaries.ts'
import { type Entrance, entranceOf, type Sight } from './entrance.ts'
import { listingOf, type SelectionListing } from './listing.ts'

/** A state of a stream. */
export interface Standing {
  readonly version: number
  /** The life (`lc:born`) in which the version counts. */
  readonly born: string
  /** When the store wrote it, epoch ms. */
  readonly modifiedMs: number
}

/** A stream that is new to the selection, or whose ETag moved. */
export interface WatchedStream extends SummarizedStream {
  /**
   * How it stood when it was last looked at, inside the selection or not. `undefined` when it could not be read until
   * now or was not there: at the first look, and for a stream that was created since.
   */
  readonly before: Standing | undefined
}

/** What is kept of a stream from look to look. */
interface Seen {
  /** In memory of its own, so that others may keep it too. */
  readonly name: string
  readonly etag: string
  readonly standing: Standing | undefined
  /** It has passed the filter once. */
  readonly isInside: boolean
  readonly passesFromMs: number
  /** The last look that found it. */
  look: number
}

/** At most so many documents are read at a time. */
const READS_AT_ONCE = 8

/** The streams of a selection as they were last seen: finds what moved since. */
export class Watched {
  readonly #seen = new Map<string, Seen>()
  readonly #names: readonly string[]
  readonly #rows: SelectionListing
  readonly #entrance: Entrance
  readonly #signal: AbortSignal | undefined
  readonly #forgets: boolean
  readonly #nowMs: () => number
  /** Number of the look that was begun last. */
  #look = 0
  #isFirst = true

  /** @param options `once`: there will be one look, so that nothing has to be kept but what tells missing names */
  constructor(
    store: EventStore,
    selection: Selection,
    { once = false, signal }: { readonly once?: boolean; readonly signal?: AbortSignal },
  ) {
    this.#forgets = once && selection.kind === 'filter'
    this.#names = selection.kind === 'filter' ? [] : [...new Set(selection.names)]
    this.#nowMs = () => store.nowMs()
    this.#rows = listingOf(store, selection)
    this.#entrance = entranceOf(store, selection.kind === 'filter' ? selection.filter : {}, signal)
    this.#signal = signal
  }

  /** What is new or has moved, in order of name. What it has given it never gives again, even if it fails later on. */
  async *look(): AsyncGenerator<readonly WatchedStream[]> {
    this.#look += 1
    const asked = {
      ...(this.#signal && { signal: this.#signal }),
      ...(this.#isFirst ? {} : { skip: (name: string, etag: string) => this.#isUnmoved(name, etag) }),
    }
    for await (const page of this.#rows(asked)) {
      const news = page.filter(row => this.#isNews(row))
      for (let at = 0; at < news.length; at += READS_AT_ONCE) {
        const rows = news.slice(at, at + READS_AT_ONCE)
        const sights = await Promise.all(rows.map(row => this.#entrance.sight(row)))
        const streams = sights.flatMap(sight => (sight === undefined ? [] : this.#keep(sight)))
        if (streams.length > 0) yield streams
      }
    }
  }

  /** What only a whole look tells: call it once after each that came to its end. */
  ended(): { readonly gone: readonly string[]; readonly missing: readonly string[]; readonly first: boolean } {
    const gone: string[] = []
    for (const [name, { look, isInside }] of this.#seen) {
      if (look === this.#look) continue
      this.#seen.delete(name)
      if (isInside) gone.push(name)
    }
    const first = this.#isFirst
    this.#isFirst = false
    return { gone, first, missing: this.#names.filter(name => !this.#seen.has(name)) }
  }

  /** Nothing of such a stream can be news, so that its row need not be made. */
  #isUnmoved(name: string, etag: string): boolean {
    const seen = this.#seen.get(name)
    if (seen === undefined || seen.etag !== etag) return false
    if (!seen.isInside && seen.passesFromMs <= this.#nowMs()) return false
    seen.look = this.#look
    return true
  }

  #isNews(row: Listed): boolean {
    const seen = this.#seen.get(row.name)
    if (seen === undefined || seen.etag !== row.etag) return true
    seen.look = this.#look
    return !seen.isInside && this.#entrance.isOpen(seen.passesFromMs, row)
  }

  #keep({ item, passesFromMs }: Sight): WatchedStream[] {
    const { listed } = item
    const seen = this.#seen.get(listed.name)
    const before = seen?.standing
    const isInside = seen?.isInside === true || this.#entrance.isOpen(passesFromMs, listed)
    const name = seen?.name ?? ownText(listed.name)
    const next = {
      name,
      etag: ownText(listed.etag),
      standing: standingOf(item, before),
      isInside,
      passesFromMs,
      look: this.#look,
    }
    if (!this.#forgets) this.#seen.set(name, next)
    return isInside ? [{ ...item, listed: { ...listed, name }, before }] : []
  }
}

/** A document that cannot be read for a while has not moved on. */
function standingOf({ listed, pin }: SummarizedStream, before: Standing | undefined): Standing | undefined {
  const { ifVersion, ifBorn } = pin
  if (ifVersion === undefined || ifBorn === undefined) return before
  const born = before?.born === ifBorn ? before.born : ownText(ifBorn)
  return { version: ifVersion, born, modifiedMs: listed.modifiedMs }
}

import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamRow, StreamStore } from '../../store/store.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { ownText } from '../../util/strings.ts'
import type { Selection } from '../selection.ts'
import type { SummarizedStream } from '../summaries.ts'
import { ChangedStreams, type RememberedStream } from './changed-streams.ts'
import { type Evaluated, entranceOf, type FilterGate, listingOf, type SelectionListing } from './listing.ts'

export interface WatchStreamsOptions {
  /** From the start of one look to the start of the next, ms. A look that takes longer is followed by the next at once. */
  readonly intervalMs: number
  /** One look is all: `StoreUnreachable` is thrown, and of the streams of a filter nothing is kept. */
  readonly once?: boolean
  readonly signal?: AbortSignal
}

/** What one sees while watching a selection. */
export type WatchItem =
  /** Streams that are new to the selection or whose ETag moved since the last look; all of them at the first look. */
  | { readonly kind: 'moved'; readonly streams: readonly WatchedStream[] }
  /** Names that are no longer there. A stream that merely stops passing the filter stays watched. */
  | { readonly kind: 'gone'; readonly names: readonly string[] }
  /** A look has ended. `first`: the first that did. `missing`: names of the selection that do not exist now. */
  | { readonly kind: 'looked'; readonly first: boolean; readonly missing: readonly string[] }
  /** The store does not answer; it is asked again each interval. Said once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  /** It answers again: comes at the end of the first whole look, before its `gone` and `looked`. */
  | { readonly kind: 'resumed' }

/**
 * Watches the streams of a selection: one listing an interval, documents are read only where a summary does not count
 * and the ETag moved. Of each stream only name, ETag, version and life are kept.
 *
 * A stream belongs to the selection from the look at which it passes the filter, and for as long as it exists: what
 * makes it leave the filter, such as its end with `--status inprocess`, is told like what follows. One that begins to
 * pass comes as `moved` with what it was before, even if only time (`overdue`) or a lease (`locked`) brought it in.
 *
 * What was `moved` is never told again, whatever becomes of the rest of that look. Ends when the signal aborts.
 * @throws the store's faults but `StoreUnreachable`
 */
export async function* watch(
  store: StreamStore,
  selection: Selection,
  options: WatchStreamsOptions,
): AsyncGenerator<WatchItem> {
  const watched = new WatchedStreams(store, selection, options)
  let interrupted = false
  while (options.signal?.aborted !== true) {
    const startedMs = performance.now()
    try {
      for await (const streams of watched.poll()) yield { kind: 'moved', streams }
      if (interrupted) yield { kind: 'resumed' }
      interrupted = false
      const { gone, first, missing } = watched.end()
      if (gone.length > 0) yield { kind: 'gone', names: gone }
      yield { kind: 'looked', first, missing }
      if (options.once) return
    } catch (cause) {
      if (options.signal?.aborted) return
      if (options.once || !(cause instanceof StoreUnreachable)) throw cause
      if (!interrupted) yield { kind: 'interrupted', cause }
      interrupted = true
    }
    await sleepUntilAborted(startedMs + options.intervalMs - performance.now(), options.signal)
  }
}

/** A state of a stream. */
export interface StreamVersion {
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
  readonly before: StreamVersion | undefined
}

/** What is remembered of a stream from look to look. */
interface WatchedState extends RememberedStream {
  readonly standing: StreamVersion | undefined
  /** It has passed the filter once. */
  readonly isInside: boolean
  readonly passesFromMs: number
}

/** At most so many documents are read at a time. */
const READS_AT_ONCE = 8

/** The streams of a selection as they were last seen: finds what moved since. */
class WatchedStreams {
  readonly #streams = new ChangedStreams<WatchedState>()
  readonly #names: readonly string[]
  readonly #rows: SelectionListing
  readonly #entrance: FilterGate
  readonly #signal: AbortSignal | undefined
  readonly #forgets: boolean
  readonly #nowMs: () => number
  #isFirst = true

  /** @param options `once`: there will be one look, so that nothing has to be kept but what tells missing names */
  constructor(
    store: StreamStore,
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
  async *poll(): AsyncGenerator<readonly WatchedStream[]> {
    this.#streams.begin()
    const mayPass = ({ isInside, passesFromMs }: WatchedState) => !isInside && passesFromMs <= this.#nowMs()
    const skip = (name: string, etag: string) => this.#streams.skip(name, etag, mayPass)
    const asked = { ...(this.#signal && { signal: this.#signal }), ...(this.#isFirst ? {} : { skip }) }
    for await (const page of this.#rows(asked)) {
      const changed = page.filter(row => !this.#streams.skip(row.name, row.etag, state => this.#passesNow(state, row)))
      for (let at = 0; at < changed.length; at += READS_AT_ONCE) {
        const rows = changed.slice(at, at + READS_AT_ONCE)
        const sights = await Promise.all(rows.map(row => this.#entrance.sight(row)))
        const streams = sights.flatMap(sight => (sight === undefined ? [] : this.#take(sight)))
        if (streams.length > 0) yield streams
      }
    }
  }

  /** What only a whole look tells: call it once after each that came to its end. */
  end(): { readonly gone: readonly string[]; readonly missing: readonly string[]; readonly first: boolean } {
    const gone = this.#streams.end().flatMap(({ name, isInside }) => (isInside ? [name] : []))
    const first = this.#isFirst
    this.#isFirst = false
    return { gone, first, missing: this.#names.filter(name => this.#streams.get(name) === undefined) }
  }

  #passesNow({ isInside, passesFromMs }: WatchedState, row: StreamRow): boolean {
    return !isInside && this.#entrance.isOpen(passesFromMs, row)
  }

  #take({ item, passesFromMs }: Evaluated): WatchedStream[] {
    const { listed } = item
    const state = this.#streams.get(listed.name)
    const before = state?.standing
    const isInside = state?.isInside === true || this.#entrance.isOpen(passesFromMs, listed)
    const name = state?.name ?? ownText(listed.name)
    const standing = standingOf(item, before)
    const etag = ownText(listed.etag)
    if (!this.#forgets) this.#streams.take({ name, etag, standing, isInside, passesFromMs, listing: 0 })
    return isInside ? [{ ...item, listed: { ...listed, name }, before }] : []
  }
}

/** A document that cannot be read for a while has not moved on. */
function standingOf({ listed, pin }: SummarizedStream, before: StreamVersion | undefined): StreamVersion | undefined {
  const { ifVersion, ifBorn } = pin
  if (ifVersion === undefined || ifBorn === undefined) return before
  const born = before?.born === ifBorn ? before.born : ownText(ifBorn)
  return { version: ifVersion, born, modifiedMs: listed.modifiedMs }
}

import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamRow, StreamStore } from '../../store/store.ts'
import { machineTiming, type Timing } from '../../util/clock.ts'
import { ownText } from '../../util/strings.ts'
import type { Selection } from '../selection.ts'
import type { SummarizedStream } from '../summaries.ts'
import { ChangedStreams, etagHash, type RememberedStream } from './changed-streams.ts'
import { type Evaluated, type FilterGate, filterGateOf, listingOf, type SelectionListing } from './listing.ts'

export interface WatchStreamsOptions {
  /** Time between the starts of two polls, ms. A longer poll is followed by the next at once. */
  readonly intervalMs: number
  /** Polls only once: `StoreUnreachable` is thrown, and the streams of a filter are not remembered. */
  readonly once?: boolean
  /** Called before the listing of each poll. */
  readonly began?: () => void
  readonly signal?: AbortSignal
  readonly timing?: Pick<Timing, 'monotonicMs' | 'pause'>
}

/** An item of `watch`. */
export type WatchItem =
  /** Streams that are new to the selection or whose ETag changed since the last poll; all of them at the first poll. */
  | { readonly kind: 'moved'; readonly streams: readonly WatchedStream[] }
  /** Removed streams. A stream that merely stops passing the filter stays watched. */
  | { readonly kind: 'gone'; readonly names: readonly string[] }
  /** The end of a poll. `first`: the first whole poll. `missing`: names of the selection that do not exist now. */
  | { readonly kind: 'polled'; readonly first: boolean; readonly missing: readonly string[] }
  /** The store does not answer; the next poll tries again. Yielded once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  /** The store answers again: yielded at the end of the first whole poll, before its `gone` and `looked`. */
  | { readonly kind: 'resumed' }

/**
 * Watches the streams of a selection: one listing per interval; a document is read only if its ETag changed and its
 * summary is not valid. Only name, ETag, version and incarnation of each stream are kept.
 *
 * A stream belongs to the selection from the first poll at which it passes the filter until it is removed: changes that
 * make it leave the filter, such as its end with `--status inprocess`, and later ones are reported. A stream that
 * begins to pass is `moved` with its earlier state, even if only time (`overdue`) or a lease (`locked`) makes it pass.
 *
 * A `moved` stream is not repeated, even if the rest of that poll fails. Ends when the signal aborts.
 * @throws the store's faults but `StoreUnreachable`
 */
export async function* watch(
  store: StreamStore,
  selection: Selection,
  options: WatchStreamsOptions,
): AsyncGenerator<WatchItem> {
  const watched = new WatchedStreams(store, selection, options)
  const { timing = machineTiming, signal = new AbortController().signal } = options
  let interrupted = false
  while (!signal.aborted) {
    const startedMs = timing.monotonicMs()
    options.began?.()
    try {
      for await (const streams of watched.poll()) yield { kind: 'moved', streams }
      if (interrupted) yield { kind: 'resumed' }
      interrupted = false
      const { gone, first, missing } = watched.end()
      if (gone.length > 0) yield { kind: 'gone', names: gone }
      yield { kind: 'polled', first, missing }
      if (options.once) return
    } catch (cause) {
      if (signal.aborted) return
      if (options.once || !(cause instanceof StoreUnreachable)) throw cause
      if (!interrupted) yield { kind: 'interrupted', cause }
      interrupted = true
    }
    await timing.pause(startedMs + options.intervalMs - timing.monotonicMs(), signal)
  }
}

/** A version of a stream. */
export interface StreamVersion {
  readonly version: number
  /** The incarnation (`lc:born`) of the version. */
  readonly born: string
  /** When the store wrote it, epoch ms. */
  readonly modifiedMs: number
}

/** A stream that is new to the selection, or whose ETag changed. */
export interface WatchedStream extends SummarizedStream {
  /**
   * Its version at the last poll, inside the selection or not. `undefined` if it was unreadable until now or did not
   * exist: at the first poll, and for a stream that was created since.
   */
  readonly before: StreamVersion | undefined
}

/** The remembered state of a stream between polls: flat and with the hash of its ETag, as there are many. */
interface WatchedState extends RememberedStream {
  /** Its version; `undefined` if it was unreadable until now. */
  readonly version: number | undefined
  readonly born: string
  readonly modifiedMs: number
  /** It has passed the filter before. */
  readonly isInside: boolean
  readonly passesFromMs: number
}

/** Maximum number of concurrent reads. */
const READS_AT_ONCE = 8

/** The streams of a selection at the last poll: finds the ones that have changed since. */
class WatchedStreams {
  readonly #streams = new ChangedStreams<WatchedState>()
  readonly #names: readonly string[]
  readonly #rows: SelectionListing
  readonly #gate: FilterGate
  readonly #signal: AbortSignal | undefined
  readonly #forgets: boolean
  readonly #nowMs: () => number
  #isFirst = true

  /** @param options `once`: there is only one poll, so that only missing names must be remembered */
  constructor(
    store: StreamStore,
    selection: Selection,
    { once = false, signal }: { readonly once?: boolean; readonly signal?: AbortSignal },
  ) {
    this.#forgets = once && selection.kind === 'filter'
    this.#names = selection.kind === 'filter' ? [] : [...new Set(selection.names)]
    this.#nowMs = () => store.nowMs()
    this.#rows = listingOf(store, selection)
    this.#gate = filterGateOf(store, selection.kind === 'filter' ? selection.filter : {}, signal)
    this.#signal = signal
  }

  /** The new and changed streams, in order of name. A stream is not repeated, even if the poll fails later. */
  async *poll(): AsyncGenerator<readonly WatchedStream[]> {
    this.#streams.begin()
    const mayPass = ({ isInside, passesFromMs }: WatchedState) => !isInside && passesFromMs <= this.#nowMs()
    const skip = (name: string, etag: string) => this.#streams.skip(name, etagHash(etag), mayPass)
    const query = { ...(this.#signal && { signal: this.#signal }), ...(this.#isFirst ? {} : { skip }) }
    for await (const page of this.#rows(query)) {
      const changed = page.filter(
        row => !this.#streams.skip(row.name, etagHash(row.etag), state => this.#passesNow(state, row)),
      )
      for (let at = 0; at < changed.length; at += READS_AT_ONCE) {
        const rows = changed.slice(at, at + READS_AT_ONCE)
        const evaluated = await Promise.all(rows.map(row => this.#gate.evaluate(row)))
        const streams = evaluated.flatMap(one => (one === undefined ? [] : this.#take(one)))
        if (streams.length > 0) yield streams
      }
    }
  }

  /** The results of a whole poll: call it once after each complete one. */
  end(): { readonly gone: readonly string[]; readonly missing: readonly string[]; readonly first: boolean } {
    const gone = this.#streams.end().flatMap(({ name, isInside }) => (isInside ? [name] : []))
    const first = this.#isFirst
    this.#isFirst = false
    return { gone, first, missing: this.#names.filter(name => this.#streams.get(name) === undefined) }
  }

  #passesNow({ isInside, passesFromMs }: WatchedState, row: StreamRow): boolean {
    return !isInside && this.#gate.isOpen(passesFromMs, row)
  }

  #take({ item, passesFromMs }: Evaluated): WatchedStream[] {
    const { listed } = item
    const state = this.#streams.get(listed.name)
    const before = state && versionIn(state)
    const isInside = state?.isInside === true || this.#gate.isOpen(passesFromMs, listed)
    const name = state?.name ?? ownText(listed.name)
    if (!this.#forgets) {
      const { version, born = '', modifiedMs = 0 } = versionOf(item, before) ?? {}
      const etag = etagHash(listed.etag)
      this.#streams.take({ name, etag, version, born, modifiedMs, isInside, passesFromMs, listing: 0 })
    }
    return isInside ? [{ ...item, listed: { ...listed, name }, before }] : []
  }
}

function versionIn({ version, born, modifiedMs }: WatchedState): StreamVersion | undefined {
  return version === undefined ? undefined : { version, born, modifiedMs }
}

/** The version of an unreadable document is the last known one. */
function versionOf({ listed, pin }: SummarizedStream, before: StreamVersion | undefined): StreamVersion | undefined {
  const { ifVersion, ifBorn } = pin
  if (ifVersion === undefined || ifBorn === undefined) return before
  const born = before?.born === ifBorn ? before.born : ownText(ifBorn)
  return { version: ifVersion, born, modifiedMs: listed.modifiedMs }
}

import { StoreUnreachable } from '../../store/errors.ts'
import type { EventStore } from '../../store/store.ts'
import { pause } from '../../util/pause.ts'
import type { Selection } from '../selection.ts'
import { Watched, type WatchedStream } from './watched.ts'

export interface WatchOptions {
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
  store: EventStore,
  selection: Selection,
  options: WatchOptions,
): AsyncGenerator<WatchItem> {
  const watched = new Watched(store, selection, options)
  let interrupted = false
  while (options.signal?.aborted !== true) {
    const startedMs = performance.now()
    try {
      for await (const streams of watched.look()) yield { kind: 'moved', streams }
      if (interrupted) yield { kind: 'resumed' }
      interrupted = false
      const { gone, first, missing } = watched.ended()
      if (gone.length > 0) yield { kind: 'gone', names: gone }
      yield { kind: 'looked', first, missing }
      if (options.once) return
    } catch (cause) {
      if (options.signal?.aborted) return
      if (options.once || !(cause instanceof StoreUnreachable)) throw cause
      if (!interrupted) yield { kind: 'interrupted', cause }
      interrupted = true
    }
    await pause(startedMs + options.intervalMs - performance.now(), options.signal)
  }
}

import type { StreamStore } from '../../store/store.ts'
import type { StreamDocument } from '../../stream/document.ts'
import { isFinal } from '../../stream/event.ts'
import { BoundedMap } from '../../util/bounded-map.ts'

/** Maximum weight of the cache per store, in events: a thousand streams of 10 events with their history, some 40 MB. */
const MAX_EVENTS = 20_000
/** Larger streams are not cached: one of them would displace all others. */
const MAX_EVENTS_OF_ONE = 500
const MAX_JOURNAL_OF_ONE = 256 * 1024
/** Characters of history that weigh as much as an event. */
const JOURNAL_OF_AN_EVENT = 2_000

/**
 * Documents that this process wrote, by ETag. Equal ETags mean equal bytes, so a worker that continues with the stream
 * it wrote last need not parse and hash it again. The read itself is never skipped.
 */
export class DocumentCache {
  readonly #written = new BoundedMap<string, Written>(MAX_EVENTS, ({ document }) => weightOf(document))

  /** The document behind these bytes, if this process wrote them. */
  find(name: string, etag: string): StreamDocument | undefined {
    const written = this.#written.get(name)
    return written?.etag === etag ? written.document : undefined
  }

  /** The last document that this process wrote, if cached. Other processes may have written since. */
  latest(name: string): StreamDocument | undefined {
    return this.#written.get(name)?.document
  }

  remember(name: string, etag: string, document: StreamDocument): void {
    this.#written.delete(name)
    if (isDone(document)) return
    if (document.events.length > MAX_EVENTS_OF_ONE || document.journal.length > MAX_JOURNAL_OF_ONE) return
    this.#written.set(name, { etag, document })
  }
}

interface Written {
  readonly etag: string
  readonly document: StreamDocument
}

/** A finished stream is not continued; cancelling a thousand would only fill the memory. */
function isDone({ events: [root] }: StreamDocument): boolean {
  return root !== undefined && isFinal(root)
}

/** In events, including the history, which may be long for few events. */
function weightOf({ events, journal }: StreamDocument): number {
  return Math.max(1, events.length + Math.floor(journal.length / JOURNAL_OF_AN_EVENT))
}

const CACHES = new WeakMap<StreamStore, DocumentCache>()

export function documentCache(store: StreamStore): DocumentCache {
  const cache = CACHES.get(store) ?? new DocumentCache()
  CACHES.set(store, cache)
  return cache
}

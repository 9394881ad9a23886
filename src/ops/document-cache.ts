import type { EventStore } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'

/** So many events of one store are remembered, in the streams written last: some 20 MB. */
const MAX_EVENTS = 10_000
/** Larger streams are not: one of them would displace all others. */
const MAX_EVENTS_OF_ONE = 500

/**
 * Documents as this process wrote them, by the ETag the store gave them. Equal ETags mean equal bytes, so a worker that
 * goes on with the stream it wrote last need not parse and sum what it reads. Reading itself is never left out.
 */
export class DocumentCache {
  readonly #written = new Map<string, { readonly etag: string; readonly document: StreamDocument }>()
  #events = 0

  /** The document behind these bytes, if this process wrote them. */
  find(name: string, etag: string): StreamDocument | undefined {
    const written = this.#written.get(name)
    return written?.etag === etag ? written.document : undefined
  }

  remember(name: string, etag: string, document: StreamDocument): void {
    this.#forget(name)
    if (document.events.length > MAX_EVENTS_OF_ONE) return
    this.#written.set(name, { etag, document })
    this.#events += document.events.length
    for (const oldest of this.#written.keys()) {
      if (this.#events <= MAX_EVENTS) return
      this.#forget(oldest)
    }
  }

  #forget(name: string): void {
    this.#events -= this.#written.get(name)?.document.events.length ?? 0
    this.#written.delete(name)
  }
}

const CACHES = new WeakMap<EventStore, DocumentCache>()

export function documentCache(store: EventStore): DocumentCache {
  const cache = CACHES.get(store) ?? new DocumentCache()
  CACHES.set(store, cache)
  return cache
}

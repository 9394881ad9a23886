import type { EventStore } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'

/** So many streams of one store are remembered, the latest ones. */
const MAX_DOCUMENTS = 64
/** Larger ones are not: together they stay below some 50 MB. */
const MAX_EVENTS = 500

/**
 * Documents as this process wrote them, by the ETag the store gave them. Equal ETags mean equal bytes, so a worker that
 * goes on with the stream it wrote last need not parse and sum what it reads. Reading itself is never left out.
 */
export class DocumentCache {
  readonly #written = new Map<string, { readonly etag: string; readonly document: StreamDocument }>()

  /** The document behind these bytes, if this process wrote them. */
  find(name: string, etag: string): StreamDocument | undefined {
    const written = this.#written.get(name)
    return written?.etag === etag ? written.document : undefined
  }

  remember(name: string, etag: string, document: StreamDocument): void {
    this.#written.delete(name)
    if (document.events.length > MAX_EVENTS) return
    this.#written.set(name, { etag, document })
    const [oldest] = this.#written.keys()
    if (this.#written.size > MAX_DOCUMENTS && oldest !== undefined) this.#written.delete(oldest)
  }
}

const CACHES = new WeakMap<EventStore, DocumentCache>()

export function documentCache(store: EventStore): DocumentCache {
  const cache = CACHES.get(store) ?? new DocumentCache()
  CACHES.set(store, cache)
  return cache
}

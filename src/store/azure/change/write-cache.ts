import type { StreamSnapshot } from '../../store.ts'
import type { BlobState, PutParts, Write } from '../blobs.ts'

const MAX_STATES = 64
const MAX_BYTES = 8 * 1024 * 1024
/** Larger bodies are not cached: one of them would displace many others. */
const MAX_BYTES_OF_ONE = 1024 * 1024

/**
 * Cache of the states that this process wrote last, for a few streams. A change that decides on one of them needs no read: if
 * another writer was faster, the ETag makes its Put fail.
 */
export class WriteCache {
  readonly #states = new Map<string, BlobState>()
  #bytes = 0

  find(name: string): BlobState | undefined {
    return this.#states.get(name)
  }

  remember(name: string, state: BlobState): void {
    this.forget(name)
    if (state.stored.size > MAX_BYTES_OF_ONE) return
    this.#states.set(name, state)
    this.#bytes += state.stored.size
    for (const oldest of this.#states.keys()) {
      if (this.#states.size <= MAX_STATES && this.#bytes <= MAX_BYTES) return
      this.forget(oldest)
    }
  }

  forget(name: string): void {
    this.#bytes -= this.#states.get(name)?.stored.size ?? 0
    this.#states.delete(name)
  }
}

/** The state that a Put wrote, as a read would return it. */
export function writtenState(
  name: string,
  { body, summary }: Write,
  { etag, modifiedMs }: { readonly etag: string; readonly modifiedMs: number },
  parts: PutParts,
): BlobState {
  const stored: StreamSnapshot = {
    name,
    etag,
    size: body.length,
    modifiedMs,
    lease: { state: 'available' },
    summary,
    body,
    versionFloor: summary.version,
  }
  return { stored, md5: parts.md5, metadata: parts.metadata, headers: parts.headers }
}

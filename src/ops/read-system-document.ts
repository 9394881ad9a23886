import { RESERVED_PREFIX } from '../store/names.ts'
import type { StreamStore } from '../store/store.ts'

/** Below these names each subscription and each inbox has a folder. */
export const SUBSCRIPTIONS = `${RESERVED_PREFIX}subscriptions/`
export const INBOXES = `${RESERVED_PREFIX}inbox/`

/** Maximum size of a system document, in bytes of UTF-8, unless a document has its own. */
export const MAX_SYSTEM_DOCUMENT_BYTES = 64 * 1024

/**
 * Reads a system document, one of leasectl's own small documents below `.leasectl/`; `undefined` if there is none.
 * Takes no lease. Never fails because of the content: invalid UTF-8 is replaced, and of a too long document (never one
 * of ours) only the beginning is returned.
 *
 * @throws the store's faults, the signal's reason
 */
export async function readSystemDocument(
  store: StreamStore,
  name: string,
  signal?: AbortSignal,
  maxBytes = MAX_SYSTEM_DOCUMENT_BYTES,
): Promise<string | undefined> {
  const stored = await store.read(name, signal)
  return stored && systemText(stored.body, maxBytes)
}

/** Whether the store has a system document whose name begins so. @throws the store's faults, the signal's reason */
export async function hasSystemDocument(store: StreamStore, prefix: string, signal: AbortSignal): Promise<boolean> {
  for await (const page of store.list({ prefix, reserved: true, limit: 1, signal })) if (page.length > 0) return true
  return false
}

/** The text of a system document: of a longer one its beginning. */
export function systemText(body: Uint8Array, maxBytes = MAX_SYSTEM_DOCUMENT_BYTES): string {
  return new TextDecoder().decode(body.subarray(0, maxBytes))
}

import { INBOXES } from '../ops/read-system-document.ts'
import type { StreamStore } from '../store/store.ts'
import { type Inbox, partitionLog } from './inbox.ts'

/** The names of all inboxes of a store, sorted. @throws the store's faults */
export async function inboxNames(store: StreamStore, signal?: AbortSignal): Promise<string[]> {
  const names: string[] = []
  const skip = (name: string) => inboxOf(name) === undefined
  const query = { reserved: true, prefix: INBOXES, skip, ...(signal && { signal }) }
  for await (const page of store.list(query)) for (const { name } of page) names.push(inboxOf(name) ?? name)
  return names.sort()
}

function inboxOf(document: string): string | undefined {
  return /^([^/]+)\/inbox\.json$/.exec(document.slice(INBOXES.length))?.[1]
}

/** `held`: a drain has a partition, and nothing was removed. After `unknown`, repeating goes on where it stopped. */
export type RemoveInboxOutcome =
  | { readonly kind: 'removed' | 'unknown' }
  | { readonly kind: 'held'; readonly by?: string }

/**
 * Removes an inbox with its records, dead letters and checkpoints; its own document last, so that a removal that was
 * interrupted can be repeated. Streams that were drained stay.
 * @throws the store's faults
 */
export async function removeInbox(store: StreamStore, inbox: Inbox, signal?: AbortSignal): Promise<RemoveInboxOutcome> {
  const folder = `${INBOXES}${inbox.name}/`
  const checkpoints: string[] = []
  const skip = (name: string) => !name.startsWith(`${folder}checkpoints/`)
  const query = { reserved: true, prefix: folder, skip, ...(signal && { signal }) }
  for await (const page of store.list(query)) {
    const held = page.find(({ lease }) => lease.state === 'leased' || lease.state === 'breaking')
    if (held !== undefined) return { kind: 'held', ...(held.lease.holder && { by: held.lease.holder.by }) }
    checkpoints.push(...page.map(({ name }) => name))
  }
  for (let partition = 0; partition < inbox.partitions; partition++)
    await partitionLog(store, inbox, partition).remove(signal)
  await store.log(`${folder}dead`).remove(signal)
  for (const name of [...checkpoints, `${folder}drain.json`, `${folder}inbox.json`]) {
    const { kind } = await store.remove(name, {})
    // The records are gone already: it cannot be said that nothing was changed.
    if (kind === 'held' || kind === 'unknown') return { kind: 'unknown' }
  }
  return { kind: 'removed' }
}

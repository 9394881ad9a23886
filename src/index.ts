/**
 * leasectl as a library: event streams in leased blobs, from TypeScript.
 *
 * ```ts
 * const store = await openStore('sqlite:orders.db')
 * await transact(store, 'orders/4711', { op: 'cancel' }, { commandId: randomUUID(), by: 'shop', why: 'paid twice' })
 * await store.close()
 * ```
 */
import { openStore as openStoreAt } from './store/open.ts'
import type { EventStore } from './store/store.ts'

/**
 * Opens a store by its address: `sqlite:PATH`, `azure:ACCOUNT/CONTAINER`, a blob endpoint's URL, `azurite:CONTAINER`,
 * `memory:`. Credentials come from `env`, with the names that the Azure command line reads.
 *
 * @throws BadAddress
 */
export function openStore(address: string, env: NodeJS.ProcessEnv = process.env): Promise<EventStore> {
  return openStoreAt(address, env)
}

export { type FollowItem, type FollowOptions, follow } from './ops/follow.ts'
export { type HeldLease, type LeaseScopeOptions, type LeaseScopeOutcome, leaseScope } from './ops/lease-scope.ts'
export { readStream, type SeenTransaction, type StreamView } from './ops/read-stream.ts'
export { transact } from './ops/transact.ts'
export type { TransactOptions, TransactOutcome } from './ops/transact-types.ts'
export * from './store/errors.ts'
export type * from './store/store.ts'
export type { StreamDocument } from './stream/document.ts'
export { BadDocument, InvalidValue, LeasectlError } from './stream/errors.ts'
export type { Status, StreamEvent } from './stream/event.ts'
export type { EventStream } from './stream/event-stream.ts'
export type { JournalChange, Transaction } from './stream/journal.ts'
export type * from './stream/operation.ts'
export type { Summary } from './stream/summary.ts'

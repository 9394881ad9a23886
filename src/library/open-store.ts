import type { EventStore } from '../store/store.ts'

/** A store that closes itself at the end of its block: `await using store = await openStore('sqlite:orders.db')`. */
export interface OpenedStore extends EventStore, AsyncDisposable {}

/** The same store, with what `await using` asks of it. */
export function disposable(store: EventStore): OpenedStore {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })
}

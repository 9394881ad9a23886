import type { EventStore, ListQuery } from '../store/store.ts'
import { callback, objectOf, signal, text, whole, word } from '../stream/values.ts'

/** A store that closes itself at the end of its block: `await using store = await openStore('sqlite:orders.db')`. */
export interface OpenedStore extends EventStore, AsyncDisposable {}

const readQuery = objectOf<ListQuery>({
  prefix: text,
  after: text,
  order: word(['name', 'due', 'any']),
  limit: whole(0),
  skip: callback,
  signal,
})

/** The same store, with what `await using` asks of it; a listing knows what it is asked for. */
export function disposable(store: EventStore): OpenedStore {
  const list = store.list.bind(store)
  return Object.assign(store, {
    list: (query: ListQuery) => list(readQuery(query, 'options')),
    [Symbol.asyncDispose]: () => store.close(),
  })
}

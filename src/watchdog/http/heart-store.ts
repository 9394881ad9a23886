import type { EventStore, ListQuery } from '../../store/store.ts'

/**
 * The same store; `touch` is called whenever a call of it comes to an end, well or not, and as a listing gets on, also
 * through streams that are skipped.
 */
export function touching(store: EventStore, touch: () => void): EventStore {
  return new Proxy(store, {
    get(target, key) {
      if (key === 'list') return (query: ListQuery) => pages(target, query, touch)
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        const answer: unknown = value.apply(target, given)
        // both ends are seen to, so that none of this promise's own is left over
        if (answer instanceof Promise) answer.then(touch, touch)
        return answer
      }
    },
  })
}

async function* pages(store: EventStore, query: ListQuery, touch: () => void): ReturnType<EventStore['list']> {
  const { skip } = query
  const touchingSkip: NonNullable<ListQuery['skip']> = (name, etag, isLeased) => {
    touch()
    return skip?.(name, etag, isLeased) ?? false
  }
  for await (const page of store.list(skip === undefined ? query : { ...query, skip: touchingSkip })) {
    touch()
    yield page
  }
}

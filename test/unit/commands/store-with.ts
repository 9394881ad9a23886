import { ContainerMissing } from '../../../src/store/errors.ts'
import type { StreamRow, StreamStore } from '../../../src/store/store.ts'

/** The store with some of its methods replaced. */
export function storeWith(store: StreamStore, replaced: Partial<StreamStore>): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      if (Object.hasOwn(replaced, key)) return Reflect.get(replaced, key)
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** The rows of a listing, each as `change` makes it. */
export function listing(store: StreamStore, change: (row: StreamRow) => StreamRow): Pick<StreamStore, 'list'> {
  return {
    async *list(query) {
      for await (const page of store.list(query)) yield page.map(change)
    },
  }
}

/** A store whose container is missing until it is created. */
export function withoutContainer(store: StreamStore, address: string): { store: StreamStore; created: () => number } {
  let created = 0
  const missing = () => Promise.reject(new ContainerMissing('no container streams'))
  const wrapped = new Proxy(store, {
    get(target, key) {
      if (key === 'address') return address
      if (key === 'createContainer') return async () => void created++
      if ((key === 'create' || key === 'update') && created === 0) return missing
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { store: wrapped, created: () => created }
}

import { BlobServiceClient } from '@azure/storage-blob'
import type { StreamSnapshot, StreamStore } from '../../../src/store/store.ts'
import { connectionStringAt } from '../../support/azurite-process.ts'
import { LIMITS } from './crew-orders.ts'

/** Reads, decides and writes without a lease id or a condition. */
export function unconditional(store: StreamStore, place: { port: number; container: string }): StreamStore {
  const container = BlobServiceClient.fromConnectionString(connectionStringAt(place.port), {
    retryOptions: { maxTries: 1 },
  }).getContainerClient(place.container)
  return withMethods(store, {
    update: async (name, decide) => {
      const current = await store.read(name)
      if (current === undefined) return { kind: 'missing' }
      const decision = decide(current, store.nowMs())
      if (decision.kind === 'leave') return { kind: 'left' }
      const { etag = '' } = await container
        .getBlockBlobClient(name)
        .upload(Buffer.from(decision.body), decision.body.length, { abortSignal: AbortSignal.timeout(LIMITS.bodyMs) })
      return { kind: 'committed', etag }
    },
  })
}

/** Reports a change before making it. */
export function hasty(store: StreamStore): StreamStore {
  return withMethods(store, {
    update: async (name, decide, options) => {
      const current = await store.read(name)
      if (current === undefined) return { kind: 'missing' }
      const decision = decide(current, store.nowMs())
      if (decision.kind === 'leave') return { kind: 'left' }
      store.update(name, decide, options).catch(() => {})
      return { kind: 'committed', etag: '' }
    },
  })
}

/** Answers each read with its first result. */
export function caching(store: StreamStore): StreamStore {
  const cache = new Map<string, StreamSnapshot>()
  return withMethods(store, {
    read: async (name, signal) => {
      const known = cache.get(name)
      if (known !== undefined) return known
      const stored = await store.read(name, signal)
      if (stored !== undefined) cache.set(name, stored)
      return stored
    },
  })
}

/** A store with some methods replaced. */
export function withMethods(store: StreamStore, methods: Partial<StreamStore>): StreamStore {
  return new Proxy(store, {
    get(target, property) {
      const replaced: unknown = Reflect.get(methods, property)
      if (replaced !== undefined) return replaced
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

import { randomUUID } from 'node:crypto'
import { download } from '../../../src/store/azure/blobs.ts'
import { ServiceError } from '../../../src/store/azure/errors.ts'
import type { PlainContainerClient } from '../../../src/store/azure/plain-requests.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Fault } from '../../support/fault-proxy.ts'
import type { Place } from './cell.ts'

const TRIES = 3
const LIMIT_MS = 10_000

/** A cell that must have another outcome if a protection is removed from the store. */
interface Control {
  readonly name: string
  readonly operation: string
  readonly fault: string
  readonly form: Fault
  /** Functions that replace the store's own. */
  readonly spoil: (container: PlainContainerClient) => Partial<StreamStore>
}

export const CONTROLS: readonly Control[] = [
  {
    name: 'Puts are repeated, and without If-Match',
    operation: 'write',
    fault: 'duplicate after the next write',
    form: { kind: 'duplicate-late' },
    spoil: repeatPutsBlindly,
  },
  {
    name: 'Puts of commands of a subscription are repeated, and without If-Match',
    operation: 'saga',
    fault: 'duplicate after the next write',
    form: { kind: 'duplicate-late' },
    spoil: repeatPutsBlindly,
  },
  {
    name: 'a release that is no longer ours counts as lost, whatever went before',
    operation: 'release',
    fault: 'answer lost',
    form: { kind: 'lose-answer' },
    spoil: container => ({
      releaseLease: (name, leaseId) =>
        untilAnswered(() => container.getBlobClient(name).getBlobLeaseClient(leaseId).releaseLease()).then(
          () => ({ kind: 'ok', leaseId }),
          error => ({ kind: 'lost', code: ServiceError.of(error).code }),
        ),
    }),
  },
  {
    name: 'each try of an acquire has an id of its own',
    operation: 'acquire',
    fault: 'answer lost',
    form: { kind: 'lose-answer' },
    spoil: container => ({
      acquireLease: (name, { leaseId, durationS }) =>
        untilAnswered(() =>
          container.getBlobClient(name).getBlobLeaseClient(randomUUID()).acquireLease(durationS),
        ).then(
          ({ etag = '' }) => ({ kind: 'acquired', leaseId, etag }),
          () => ({ kind: 'held', lease: { state: 'leased' } }),
        ),
    }),
  },
  {
    name: 'the length and the MD5 of an answer are not looked at',
    operation: 'read',
    fault: 'wrong length',
    form: { kind: 'wrong-length', claims: 'less' },
    spoil: container => ({
      read: async name => {
        const blob = container.getBlockBlobClient(name)
        return (await download(container, blob.url, name, AbortSignal.timeout(LIMIT_MS))).stored
      },
    }),
  },
]

/** The same environment, with a store in which a part is broken. */
export function spoilt(place: Place, spoil: Control['spoil']): Place {
  return {
    ...place,
    open: async (port, limits) => {
      const store = await place.open(port, limits)
      const instead: object = spoil(await place.client(port))
      const get = (_: StreamStore, name: string | symbol) => {
        const own: unknown = Reflect.get(store, name)
        return Reflect.get(instead, name) ?? (typeof own === 'function' ? own.bind(store) : own)
      }
      return new Proxy<StreamStore>(store, { get })
    },
  }
}

/** Repeats as long as there is no answer. */
async function untilAnswered<T>(send: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await send()
    } catch (error) {
      if (!ServiceError.of(error).ambiguous || tried >= TRIES) throw error
    }
  }
}

function repeatPutsBlindly(container: PlainContainerClient): Partial<StreamStore> {
  return {
    update: async (name, decide) => {
      const blob = container.getBlockBlobClient(name)
      const { stored } = await download(container, blob.url, name, AbortSignal.timeout(LIMIT_MS))
      const decision = decide(stored, Date.now())
      if (decision.kind === 'leave') return { kind: 'left' }
      const put = () => blob.upload(Buffer.from(decision.body), decision.body.length)
      const { etag = '' } = await untilAnswered(put)
      return { kind: 'committed', etag }
    },
  }
}

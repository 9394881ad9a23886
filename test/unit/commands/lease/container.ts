import type { AcquireOutcome, ContainerLease, LeaseOutcome, StreamStore } from '../../../../src/store/store.ts'
import {
  acquire,
  breakLease,
  change,
  type LeaseAnswer,
  leaseStateAt,
  NO_LEASE,
  release,
  renew,
} from '../../../../src/stream/lease.ts'
import { storeWith } from '../store-with.ts'
import type { World } from '../support.ts'

/** The world, its store in a container. */
export function containerOf(world: World): World {
  return { ...world, store: inContainer(world.store) }
}

/** The store in a container named `box` that has a lease as on Azure. */
export function inContainer(store: StreamStore): StreamStore {
  let record = NO_LEASE
  const now = () => store.nowMs()
  const view = () => {
    const state = leaseStateAt(record, now())
    return state === 'leased'
      ? { state, duration: record.durationS < 0 ? ('infinite' as const) : ('fixed' as const) }
      : { state }
  }
  const outcome = (answer: LeaseAnswer, leaseId: string): LeaseOutcome => {
    if (answer.kind === 'refused') return { kind: 'lost', code: answer.code }
    record = answer.record
    return { kind: 'ok', leaseId }
  }
  const containerLease: ContainerLease = {
    container: 'box',
    view: async () => view(),
    acquire: async ({ leaseId, durationS }): Promise<AcquireOutcome> => {
      const answer = acquire(record, leaseId, durationS, now())
      if (answer.kind === 'refused') return { kind: 'held', lease: view() }
      record = answer.record
      return { kind: 'acquired', leaseId, etag: '' }
    },
    renew: async id => outcome(renew(record, id, now()), id),
    change: async (id, to) => outcome(change(record, id, to, now()), to),
    release: async id => outcome(release(record, id), id),
    break: async periodS => {
      const answer = breakLease(record, periodS, now())
      if (answer.kind === 'refused') return { kind: 'not-leased' }
      record = answer.record
      return { kind: 'broken', remainingS: answer.remainingS }
    },
  }
  return storeWith(store, { containerLease })
}

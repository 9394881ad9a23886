import { randomUUID } from 'node:crypto'
import { type TransactOutcome, transact } from '../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../src/store/store.ts'
import type { Operation } from '../../src/stream/operations/operation.ts'

/** Ids of the events below the root of a stream made by `createStream`. */
export const WORK_IDS = Array.from({ length: 9 }, (_, at) => `0${at + 1}.00`)

/** A stream of 10 events, as in a process of moderate size: texts of usual length, some claims, some history. */
export async function createStream(store: StreamStore, name: string): Promise<void> {
  const spec = { topic: 'orders/search', key: '4711', timeout: '00:05:00' }
  await change(store, name, {
    op: 'init',
    root: { ...spec, name: 'OrderStart', trackingId: randomUUID() },
    forks: WORK_IDS.map(() => ({ ...spec, name: 'SearchStart' })),
    hold: false,
    born: randomUUID(),
  })
  for (const event of WORK_IDS.slice(0, 3))
    await change(store, name, { op: 'start', event, owner: 'w-1', claimMs: 60_000 })
}

/** One transaction that must be applied. */
export async function change(store: StreamStore, name: string, operation: Operation): Promise<void> {
  const outcome: TransactOutcome = await transact(store, name, operation, { commandId: randomUUID(), by: 'bench' })
  if (outcome.kind !== 'done' || outcome.result.outcome !== 'done') throw new Error(JSON.stringify(outcome))
}

/** A change that is always legal and always changes something. */
export function tagging(event: string): Operation {
  return { op: 'set', event, attributes: { tag: randomUUID() } }
}

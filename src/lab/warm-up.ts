import { randomUUID } from 'node:crypto'
import { removeStream } from '../ops/remove.ts'
import { transact } from '../ops/transact/transact.ts'
import { openMemoryStore } from '../store/memory.ts'
import type { StreamStore, WriteMode } from '../store/store.ts'
import { ROOT_ID } from '../stream/event-id.ts'

const EVENTS = 15
/** So often a stream as large as the lab's is worked through in memory, until its code is compiled. */
const ROUNDS = 8
/** Of larger streams no more is needed. */
const MOST_EVENTS = 100

export interface WarmUpOptions {
  readonly name: string
  readonly write: WriteMode
  /** How many events the lab's stream has. */
  readonly events: number
}

/**
 * Works through a small stream of the worker's own and removes it, and through larger ones in memory, so that connections are
 * open and code is compiled when the test begins: workers run for long, only their beginning would be measured.
 */
export async function warmUp(
  store: StreamStore,
  stream: string,
  { name: by, write, events }: WarmUpOptions,
): Promise<void> {
  const memory = openMemoryStore()
  const most = Math.min(events, MOST_EVENTS)
  for (let round = 0; round < ROUNDS; round++) await workThrough(memory, `warm${round}`, most, { by, write })
  await workThrough(store, stream, EVENTS, { by, write })
  await removeStream(store, stream, { leaseWaitMs: 10_000 })
}

async function workThrough(
  store: StreamStore,
  stream: string,
  events: number,
  { by, write }: { readonly by: string; readonly write: WriteMode },
): Promise<void> {
  const forks = Array.from({ length: events }, () => ({ name: 'Step' }))
  const init = { op: 'init', root: { name: 'Warm' }, forks, hold: false, born: randomUUID() } as const
  const created = await transact(store, stream, init, { commandId: randomUUID(), by })
  const ids = created.kind === 'done' ? created.result.added.filter(id => id !== ROOT_ID) : []
  const change = (op: 'start' | 'complete', event: string) => {
    const operation =
      op === 'start' ? ({ op, event, owner: by, claimMs: 60_000 } as const) : ({ op, event, owner: by } as const)
    return transact(store, stream, operation, { commandId: randomUUID(), by, write })
  }
  for (const event of ids.slice(0, 2)) {
    await change('start', event)
    await change('complete', event)
  }
  await Promise.all(ids.slice(2).map(event => change('start', event)))
  await Promise.all(ids.slice(2).map(event => change('complete', event)))
}

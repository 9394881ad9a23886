import { randomUUID } from 'node:crypto'
import { removeStream } from '../ops/remove.ts'
import { transact } from '../ops/transact/transact.ts'
import { openMemoryStore } from '../store/memory.ts'
import type { StreamStore, WriteMode } from '../store/store.ts'
import { ROOT_ID } from '../stream/event-id.ts'

const EVENTS = 15
/** Rounds over an in-memory stream as large as the lab's; after these the code is compiled. */
const ROUNDS = 8
/** Events per in-memory stream; more are not needed. */
const MOST_EVENTS = 100

export interface WarmUpOptions {
  readonly name: string
  readonly write: WriteMode
  /** Number of events of the lab's stream. */
  readonly events: number
}

/**
 * Works through a small stream and removes it, and through larger ones in memory. So connections are open and code is
 * compiled when the test begins. Real workers run for a long time; without this, the test would measure only their start.
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

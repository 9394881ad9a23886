import { randomUUID } from 'node:crypto'
import { removeStream } from '../ops/remove.ts'
import { transact } from '../ops/transact.ts'
import type { EventStore, WriteMode } from '../store/store.ts'

const EVENTS = 15

/**
 * Works through a small stream of the worker's own and removes it, so that connections are open and code is compiled when the
 * test begins: workers run for long, only their beginning would be measured.
 */
export async function warmUp(
  store: EventStore,
  stream: string,
  { name: by, write }: { readonly name: string; readonly write: WriteMode },
): Promise<void> {
  const forks = Array.from({ length: EVENTS }, () => ({ name: 'Step' }))
  const init = { op: 'init', root: { name: 'Warm' }, forks, hold: false, born: randomUUID() } as const
  const created = await transact(store, stream, init, { commandId: randomUUID(), by })
  const ids = created.kind === 'done' ? created.result.added : []
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
  await removeStream(store, stream, { leaseWaitMs: 10_000 })
}

import { randomUUID } from 'node:crypto'
import { type JournalEntry, readStream } from '../../src/ops/read-stream.ts'
import { transact } from '../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../src/store/store.ts'
import type { EventSpec, Operation } from '../../src/stream/operations/operation.ts'

/** Acts as another process for the dashboard. */
export const OTHER = 'worker-7'

/** A stream with a root and threads 01.00, 02.00, … */
export async function begin(
  store: StreamStore,
  name: string,
  forks: readonly EventSpec[],
  root = 'Order',
): Promise<void> {
  await act(store, name, { op: 'init', root: { name: root }, forks, hold: false, born: randomUUID() })
}

/** @throws if it was refused */
export async function act(store: StreamStore, name: string, operation: Operation, why?: string): Promise<void> {
  const authorship = { commandId: randomUUID(), by: OTHER, ...(why === undefined ? {} : { why }) }
  const { kind } = await transact(store, name, operation, authorship)
  if (kind !== 'done') throw new Error(`${operation.op} ${name}: ${kind}`)
}

/** The history of a stream, oldest first. */
export async function historyOf(store: StreamStore, name: string): Promise<readonly JournalEntry[]> {
  return (await readStream(store, name))?.transactions() ?? []
}

import { randomUUID } from 'node:crypto'
import { transact } from '../ops/transact/transact.ts'
import type { TransactOptions, TransactOutcome } from '../ops/transact/types.ts'
import type { EventStore, Holder } from '../store/store.ts'
import type { Operation } from '../stream/operations/operation.ts'
import { pause } from '../util/pause.ts'
import type { Pace } from './wait-strategy.ts'

/** Seconds; what that library asked for. */
const LEASE_S = 60

/**
 * One change as the library of 2013 made it: four calls one after the other, acquire, GET, PUT under the lease, release; where
 * the lease is held by another it sleeps between 750 and 2 500 ms and tries again, without end.
 *
 * @throws the store's faults; the signal's reason
 */
export async function referenceChange(
  store: EventStore,
  stream: string,
  operation: Operation,
  how: Pick<TransactOptions, 'by' | 'commandId'> & { readonly signal: AbortSignal; readonly pace: Pace },
): Promise<TransactOutcome> {
  const { by, commandId, signal, pace } = how
  const leaseId = randomUUID()
  const holder: Holder = { by, host: '', pid: process.pid, purpose: operation.op, sinceMs: store.nowMs() }
  for (;;) {
    signal.throwIfAborted()
    const outcome = await store.acquire(stream, { leaseId, durationS: LEASE_S, holder })
    if (outcome.kind === 'missing') return outcome
    if (outcome.kind === 'acquired') break
    await pause(pace.retryMs(0), signal)
  }
  try {
    return await transact(store, stream, operation, { by, commandId, leaseId, leaseWaitMs: 0 })
  } finally {
    await store.release(stream, leaseId)
  }
}

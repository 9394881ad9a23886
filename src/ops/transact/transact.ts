import { randomUUID } from 'node:crypto'
import type { EventStore } from '../../store/store.ts'
import type { Operation } from '../../stream/operations/operation.ts'
import { checkOperation } from './check-operation.ts'
import { authorIn, enqueue, newNonce, pinIn } from './enqueue.ts'
import type { PlannedOperation } from './plan.ts'
import type { TransactOptions, TransactOutcome } from './types.ts'

/**
 * One change of one stream: read, apply, write once, under the lease. It lands whole or not at all.
 *
 * Changes of the same stream that are asked for at the same time in this process queue up and are written together;
 * each remains a transaction with its own version and outcome, reported only after its write is committed.
 * Repeating with the same `commandId` is safe: the change is made once.
 *
 * @returns done, refused, missing, held, lost or unknown; see `TransactOutcome`
 * @throws BadDocument the document cannot be read (it stays as it is); InvalidValue a text or id that can never be
 * right; NotPermitted, ContainerMissing, StoreUnreachable, StoreDamaged, StoreFull from the store: nothing was applied
 */
export async function transact(
  store: EventStore,
  name: string,
  operation: Operation,
  options: TransactOptions,
): Promise<TransactOutcome> {
  checkOperation(name, operation, options)
  options.signal?.throwIfAborted()
  const planned: PlannedOperation = {
    operation,
    author: authorIn(options),
    pin: pinIn(options),
    nonce: newNonce(),
    born: randomUUID(),
    applied: undefined,
    sentTo: undefined,
  }
  const outcome = await enqueue(store, name, planned, options, operation.op === 'init')
  const { afterWrite } = options
  // What stood in the stream already, by whomever, was not written now.
  const isWritten = outcome.kind === 'done' && outcome.result.outcome === 'done'
  if (afterWrite !== undefined && isWritten) await afterWrite(outcome.result)
  return outcome
}

import { randomUUID } from 'node:crypto'
import { parseBody } from '../ops/transact/plan.ts'
import { transact } from '../ops/transact/transact.ts'
import type { TransactOutcome } from '../ops/transact/types.ts'
import type { EventStore, Stored } from '../store/store.ts'
import { applyOperation } from '../stream/operations/apply.ts'
import type { ChangeResult, Operation, Refusal } from '../stream/operations/operation.ts'
import { authorship } from './authorship.ts'
import type { Claim } from './claim.ts'
import type { WorkOptions } from './work-options.ts'
import type { Undone } from './work-outcome.ts'

type Done = Extract<TransactOutcome, { readonly kind: 'done' }>
type Missing = Extract<Undone, { readonly kind: 'missing' }>

/**
 * A change made under a claim. A stream that was removed and created anew may have the same fence, so a claim holds in the life
 * of the stream in which it was made: with another one that stream is `missing`.
 */
export async function underClaim(
  store: EventStore,
  { stream, born }: Claim,
  operation: Operation,
  { commandId, ...options }: WorkOptions & { readonly commandId: string },
): Promise<Done | Undone> {
  const outcome = await transact(store, stream, operation, { ...authorship(options), commandId, ...pinOf(born) })
  return outcome.kind === 'refused' && isAnotherLife(outcome.refusal) ? REPLACED : outcome
}

/** What such a change would come to. */
export type Foreseen =
  | { readonly kind: 'legal'; readonly result: ChangeResult }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | Missing

/**
 * What such a change would come to in the document as it was read: a lease that another holds keeps nobody from reading.
 *
 * @param nowMs the store's clock, epoch ms
 * @throws BadDocument
 */
export function foreseen(
  stored: Stored | undefined,
  { born }: Claim,
  operation: Operation,
  by: string,
  nowMs: number,
): Foreseen {
  if (stored === undefined) return { kind: 'missing' }
  const { body, name, versionFloor, modifiedMs: lastModifiedMs } = stored
  const document = parseBody(body, name)
  const context = { nowMs, versionFloor, lastModifiedMs, born, ...pinOf(born) }
  const applied = applyOperation(document, operation, { commandId: randomUUID(), by }, context)
  if (applied.kind !== 'refused') return { kind: 'legal', result: applied.result }
  return isAnotherLife(applied.refusal) ? REPLACED : { kind: 'refused', refusal: applied.refusal }
}

const REPLACED: Missing = { kind: 'missing', isReplaced: true }

/** A writer who knows nothing of lives may have left none. */
function pinOf(born: string): { readonly ifBorn?: string } {
  return born === '' ? {} : { ifBorn: born }
}

function isAnotherLife({ code }: Refusal): boolean {
  return code === 'changed'
}

import { transact } from '../ops/transact.ts'
import type { TransactOutcome } from '../ops/transact-types.ts'
import type { EventStore } from '../store/store.ts'
import type { Operation } from '../stream/operation.ts'
import { authorship } from './authorship.ts'
import type { Claim } from './claim.ts'
import type { WorkOptions } from './work-options.ts'
import type { Undone } from './work-outcome.ts'

type Done = Extract<TransactOutcome, { readonly kind: 'done' }>

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
  const pin = born === '' ? {} : { ifBorn: born }
  const outcome = await transact(store, stream, operation, { ...authorship(options), commandId, ...pin })
  const isAnotherLife = outcome.kind === 'refused' && outcome.refusal.code === 'changed'
  return isAnotherLife ? { kind: 'missing', isReplaced: true } : outcome
}

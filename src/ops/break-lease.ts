import type { BreakOutcome, StreamSnapshot, StreamStore } from '../store/store.ts'
import { LeasectlError, StreamFault } from '../stream/errors.ts'
import { findCommand } from '../stream/journal/journal.ts'
import type { Authorship } from '../stream/operations/operation.ts'
import { parseBody } from './transact/plan.ts'
import { type TransactOutcome, transact } from './transact/transact.ts'

export interface RecordedBreakOptions extends Authorship {
  /** Seconds until the lease ends, 0–60; 0 = at once. */
  readonly periodS: number
  /** How long the entry in the journal waits for a lease, also for the end of this one, ms; 0 = one attempt at once. */
  readonly leaseWaitMs: number
  /** Ends the wait for the lease. */
  readonly stopWaiting?: AbortSignal
  /** Aborts the break. */
  readonly signal?: AbortSignal
}

/**
 * Whether the break is an entry in the journal of its stream. `foreign`: a document that leasectl has never written, which
 * stays as it is. `unreadable`: no event stream. `held`: leased again, or still until the break period ends. `failed`: the
 * store refused or did not answer.
 */
export type JournalOfBreak = 'written' | 'foreign' | 'unreadable' | 'held' | 'failed'

/**
 * `broken`: the lease ends within `remainingS` seconds, whatever became of the journal entry. `not-leased`: there was no lease.
 * `missing`: there is no stream. `unknown`: no answer.
 */
export type BreakLeaseOutcome =
  | {
      readonly kind: 'broken'
      readonly remainingS: number
      readonly journal: JournalOfBreak
      /** The stream's version after the entry. */
      readonly version?: number
    }
  | Exclude<BreakOutcome, { readonly kind: 'broken' }>

/**
 * Breaks the lease of a stream, and records it in the journal as soon as the stream can be written. The journal is best
 * effort: the break is done whether it succeeds or not.
 *
 * @throws the store's faults, the signal's reason: the lease was not broken
 */
export async function breakAndRecord(
  store: StreamStore,
  name: string,
  options: RecordedBreakOptions,
): Promise<BreakLeaseOutcome> {
  const outcome = await store.breakLease(name, options.periodS, options.signal)
  if (outcome.kind !== 'broken') return outcome
  const entry = await recordBreak(store, name, options)
  return { ...outcome, ...entry }
}

/** Whether the journal of the stream has the break of this command. */
export function hasBroken({ name, body }: StreamSnapshot, commandId: string): boolean {
  try {
    const { journal, prefix } = parseBody(body, name)
    return findCommand(journal, prefix, commandId)?.op === 'break-lease'
  } catch (error) {
    // What cannot be read has no journal, and its lease can be broken.
    if (error instanceof StreamFault) return false
    throw error
  }
}

async function recordBreak(
  store: StreamStore,
  name: string,
  { commandId, by, why, leaseWaitMs, stopWaiting }: RecordedBreakOptions,
): Promise<{ readonly journal: JournalOfBreak; readonly version?: number }> {
  const options = {
    ...{ commandId, by, leaseWaitMs, purpose: 'lease break' },
    ...(why === undefined ? {} : { why }),
    ...(stopWaiting === undefined ? {} : { stopWaiting }),
  }
  try {
    const outcome = await transact(store, name, { op: 'break-lease' }, options)
    const journal = journalOf(outcome)
    return outcome.kind === 'done' ? { journal, version: outcome.result.version } : { journal }
  } catch (error) {
    if (!(error instanceof LeasectlError)) throw error
    return { journal: error instanceof StreamFault ? 'unreadable' : 'failed' }
  }
}

function journalOf(outcome: TransactOutcome): JournalOfBreak {
  switch (outcome.kind) {
    case 'done':
      return outcome.result.outcome === 'already' && !outcome.result.duplicate ? 'foreign' : 'written'
    case 'held':
      return 'held'
    case 'refused':
      return outcome.refusal.code === 'not-started' ? 'foreign' : 'failed'
    case 'missing':
    case 'lost':
    case 'unknown':
      return 'failed'
    default:
      return outcome satisfies never
  }
}

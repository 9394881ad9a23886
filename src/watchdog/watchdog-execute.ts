import { transact } from '../ops/transact/transact.ts'
import type { TransactOutcome } from '../ops/transact/types.ts'
import type { EventStore } from '../store/store.ts'
import { LeasectlError } from '../stream/errors.ts'
import { isFailed } from '../stream/event.ts'
import type { Refusal } from '../stream/operations/operation.ts'
import type { Carried, Decision, DecisionOutcome } from './decision.ts'

export interface ExecuteOptions {
  /** Actor in the journal. */
  readonly by: string
  /** How long to wait for a lease held by another, ms. */
  readonly leaseWaitMs: number
  /** Ends that wait; what is under way goes on to its end. */
  readonly signal: AbortSignal
}

/** The code of what failed because the store did not answer; nothing was applied. */
export const SILENT = 'store-unreachable'

/**
 * Carries out one decision in one transaction under the lease; the pure operation compares what was seen with what is
 * there. Any number of watchdogs may do it at once: the command id makes it once. Faults are outcomes too: what is wrong
 * with one stream (its document, its name, rights on it) is no reason to leave the others.
 */
export async function carryOut(
  store: EventStore,
  decision: Decision,
  { by, leaseWaitMs, signal }: ExecuteOptions,
): Promise<Carried> {
  const { operation, stream, commandId } = decision
  if (operation === undefined) return carried(store, decision, 'notified')
  try {
    const why = decision.kind === 'settle' ? {} : { why: decision.message }
    const options = { commandId, by, ...why, leaseWaitMs, purpose: 'watchdog', stopWaiting: signal }
    return outcomeOf(store, decision, await transact(store, stream, operation, options))
  } catch (error) {
    return { ...carried(store, decision, 'failed'), code: codeOf(error), message: messageOf(error) }
  }
}

/** A stable code; `unexpected` for what is no fault we know. */
export function codeOf(error: unknown): string {
  return error instanceof LeasectlError ? error.code : 'unexpected'
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function outcomeOf(store: EventStore, decision: Decision, outcome: TransactOutcome): Carried {
  switch (outcome.kind) {
    case 'done': {
      const { outcome: how, duplicate, version, changed } = outcome.result
      const isOurs = how === 'done' && !duplicate
      const done = decision.kind === 'settle' ? 'settled' : 'ended'
      const ended = changed.filter(({ from, to }) => from !== to && isFailed({ status: to }))
      return { ...carried(store, decision, isOurs ? done : 'already'), version, ended: ended.map(({ id }) => id) }
    }
    case 'refused':
      return refused(store, decision, outcome.refusal)
    case 'missing':
      return carried(store, decision, 'gone')
    case 'held':
    case 'lost':
      return { ...carried(store, decision, 'busy'), code: 'lease-held', message: 'leased by another' }
    case 'unknown':
      return { ...carried(store, decision, 'unknown'), code: 'unknown', message: 'no answer tells whether it happened' }
    default:
      return outcome satisfies never
  }
}

/** The same id with other arguments: another watchdog ended it in its own way. */
const OUTCOME_OF: { readonly [code: string]: DecisionOutcome } = {
  'showed-life': 'showed-life',
  'already-final': 'already',
  'command-id-reused': 'already',
  'event-not-found': 'gone',
  'not-started': 'gone',
}

function refused(store: EventStore, decision: Decision, { code, message }: Refusal): Carried {
  return { ...carried(store, decision, OUTCOME_OF[code] ?? 'refused'), code, message }
}

function carried(store: EventStore, decision: Decision, outcome: DecisionOutcome): Carried {
  return { decision, outcome, atMs: store.nowMs() }
}

import { transact } from '../ops/transact.ts'
import type { TransactOutcome } from '../ops/transact-types.ts'
import type { StoreUnreachable } from '../store/errors.ts'
import type { EventStore } from '../store/store.ts'
import { BadDocument, InvalidValue } from '../stream/errors.ts'
import { isFailed } from '../stream/event.ts'
import type { Refusal } from '../stream/operation.ts'
import type { Carried, Decision, DecisionOutcome } from './decision.ts'

/** A stream whose lease is held is looked at again at the next sweep: it does not keep others waiting for long. */
const LEASE_WAIT_MS = 2_000

/**
 * Carries out one decision in one transaction under the lease; the pure operation compares what was seen with what is
 * there. Any number of watchdogs may do it at once: the command id makes it once.
 *
 * @param signal ends the wait for a lease that another holds; what is under way goes on to its end
 * @throws the store's faults but those of this one stream: lost rights, a store that does not answer
 */
export async function carryOut(
  store: EventStore,
  decision: Decision,
  { by, signal }: { readonly by: string; readonly signal: AbortSignal },
): Promise<Carried> {
  const { operation, stream, commandId } = decision
  if (operation === undefined) return carried(store, decision, 'notified')
  try {
    const why = decision.kind === 'settle' ? {} : { why: decision.message }
    const options = { commandId, by, ...why, leaseWaitMs: LEASE_WAIT_MS, purpose: 'watchdog', stopWaiting: signal }
    return outcomeOf(store, decision, await transact(store, stream, operation, options))
  } catch (error) {
    if (!(error instanceof BadDocument || error instanceof InvalidValue)) throw error
    return { ...carried(store, decision, 'failed'), code: error.code, message: error.message }
  }
}

/** What a decision comes to when the store did not answer: it was not begun, or its answer is missing. */
export function unanswered(store: EventStore, decision: Decision, error: StoreUnreachable): Carried {
  return { ...carried(store, decision, 'failed'), code: error.code, message: error.message }
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

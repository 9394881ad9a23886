import type { StreamEvent } from '../stream/event.ts'
import { attemptOf } from '../stream/event.ts'
import { ROOT_ID } from '../stream/event-id.ts'
import type { Transaction } from '../stream/journal/journal.ts'

/** A completion that was confirmed to a worker. */
export interface Acknowledged {
  readonly worker: string
  readonly event: string
}

/** A violation of exactly-once. */
export interface Violation {
  readonly event: string
  readonly what: string
}

/** The result of checking the journal. */
export interface Verification {
  readonly faults: readonly Violation[]
  /** Events completed by each worker according to the journal. */
  readonly completedBy: ReadonlyMap<string, readonly string[]>
  /** Total attempts of all events. */
  readonly attempts: number
}

export interface VerificationInput {
  readonly events: readonly StreamEvent[]
  readonly transactions: readonly Pick<Transaction, 'version' | 'op' | 'on' | 'by'>[]
  readonly acknowledged: readonly Acknowledged[]
  /** Whether workers were killed: only then may an event have more than one attempt. */
  readonly killed: boolean
}

/**
 * Checks in the journal that every event had one owner at a time: it was started once per attempt and completed once, by
 * the worker that started it last. Also checks that versions have no gaps, and that every confirmed completion is there.
 */
export function verifyJournal({ events, transactions, acknowledged, killed }: VerificationInput): Verification {
  const worked = events.filter(({ id }) => id !== ROOT_ID)
  const byEvent = Map.groupBy(transactions, ({ on }) => on)
  const completions = transactions.filter(({ op, on }) => op === 'complete' && on !== ROOT_ID)
  const completedBy = new Map<string, string[]>()
  for (const { by, on } of completions) completedBy.set(by, [...(completedBy.get(by) ?? []), on])
  const faults = [
    ...gapsIn(transactions),
    ...worked.flatMap(event => faultsOf(event, byEvent.get(event.id) ?? [], killed)),
    ...acknowledged
      .filter(({ worker, event }) => !completions.some(({ by, on }) => by === worker && on === event))
      .map(({ worker, event }) => ({
        event,
        what: `its completion was confirmed to ${worker}; the journal has no such entry`,
      })),
  ]
  return { faults, completedBy, attempts: worked.reduce((sum, event) => sum + attemptOf(event), 0) }
}

function gapsIn(transactions: VerificationInput['transactions']): Violation[] {
  const at = transactions.findIndex(({ version }, index) => version !== index + 1)
  const [found] = at < 0 ? [] : transactions.slice(at)
  return found === undefined
    ? []
    : [{ event: ROOT_ID, what: `entry ${at + 1} of the journal has version ${found.version}` }]
}

function faultsOf(event: StreamEvent, entries: VerificationInput['transactions'], killed: boolean): Violation[] {
  const starts = entries.filter(({ op }) => op === 'start')
  const ends = entries.filter(({ op }) => op === 'complete')
  const owner = starts.at(-1)?.by
  const last = entries.at(-1)
  const attempts = attemptOf(event)
  const found = [
    event.status === 'completed' ? '' : `is ${event.status}`,
    ends.length === 1 ? '' : `was completed ${ends.length} times`,
    starts.length === attempts ? '' : `was started ${starts.length} times in ${attempts} attempts`,
    attempts === 1 || killed ? '' : `took ${attempts} attempts, though no process was killed`,
    ends.every(({ by }) => by === owner) ? '' : `was completed by a process other than its owner ${owner ?? ''}`,
    last === undefined || last.op === 'complete' ? '' : `was changed after its end: ${last.op}`,
  ]
  return found.filter(what => what !== '').map(what => ({ event: event.id, what }))
}

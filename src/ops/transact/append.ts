import { randomUUID } from 'node:crypto'
import type { StreamStore } from '../../store/store.ts'
import type { EventSpec, Operation } from '../../stream/operations/operation.ts'
import { defined } from '../../util/defined.ts'
import { type TransactOptions, type TransactOutcome, transact } from './transact.ts'

/** A step of a session. */
export interface Appended {
  readonly step: EventSpec
  /** The number of the step within its session, from 1: it is done after the one before it, even if that comes later. */
  readonly seq?: number
  /** No more steps follow: the session ends after this one. */
  readonly last?: boolean
  /** Drops the oldest completed steps but this many, with their history, so that the document of a long session stays small. */
  readonly keep?: number
  /** Name of the root of the session, which is made if the stream is absent; without it an absent stream is `missing`. */
  readonly create?: string
}

/**
 * Appends a step to a session. The step is appended once for a command id, whoever sends it; a process that dies between
 * making the session and appending leaves an empty session, in which the repetition appends.
 *
 * @returns as `transact`; `refused` with `no-session`, `session-ended`, `step-taken` or `bad-step`
 */
export async function appendStep(
  store: StreamStore,
  name: string,
  { step, seq, last = false, keep, create }: Appended,
  options: TransactOptions,
): Promise<TransactOutcome> {
  const operation: Operation = { op: 'append', step, ...(last ? { last } : {}), ...defined({ seq, keep }) }
  const outcome = await transact(store, name, operation, options)
  if (create === undefined || !isAbsent(outcome)) return outcome
  const made = await makeSession(store, name, create, options)
  return made ?? transact(store, name, operation, options)
}

function isAbsent(outcome: TransactOutcome): boolean {
  return outcome.kind === 'missing' || (outcome.kind === 'refused' && outcome.refusal.code === 'not-started')
}

/** `undefined` if the session is there, made by this call or by another. */
async function makeSession(
  store: StreamStore,
  name: string,
  root: string,
  { afterWrite: _, ifVersion: __, ifBorn: ___, ifSum: ____, ...options }: TransactOptions,
): Promise<TransactOutcome | undefined> {
  const init = { op: 'init', root: { name: root }, forks: [], hold: false, session: true, born: randomUUID() } as const
  const made = await transact(store, name, init, { ...options, commandId: randomUUID() })
  if (made.kind === 'done' || (made.kind === 'refused' && made.refusal.code === 'exists')) return undefined
  return 'commandId' in made ? { ...made, commandId: options.commandId } : made
}

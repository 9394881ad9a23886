import { backOff, Patience, pause } from '../backoff.ts'
import type { ChangeOptions, ChangeOutcome } from '../store.ts'
import { CommitFault, type Connection } from './connection.ts'
import type { SqliteFile } from './file.ts'
import { ChangeTransaction, type Decide, DecideFault } from './transaction.ts'

/** How often a change whose COMMIT was not confirmed is looked up and tried again. */
const COMMIT_TRIES = 4

/** What a change needs of its store. */
export interface ChangeContext {
  readonly file: SqliteFile
  readonly clock: () => number
  readonly random: () => number
}

/** One change, from waiting for another's lease to the commit that was confirmed or looked up. */
export async function changeOnceFree(
  context: ChangeContext,
  name: string,
  decide: Decide,
  options: ChangeOptions,
): Promise<ChangeOutcome> {
  const patience = new Patience({
    limitMs: options.waitMs,
    random: context.random,
    stop: options.stopWaiting,
    signal: options.signal,
  })
  for (;;) {
    const outcome = await changeResolved(context, name, decide, options)
    if (outcome.kind !== 'held') return outcome
    if (!(await patience.pause())) return { ...outcome, waitedMs: patience.waitedMs }
  }
}

/** After an unconfirmed COMMIT it runs again: `decide` finds its own change in the stream, or the stream without it. */
async function changeResolved(
  { file, clock, random }: ChangeContext,
  name: string,
  decide: Decide,
  { leaseId, signal, deadlineMs }: ChangeOptions,
): Promise<ChangeOutcome> {
  let fault: CommitFault | undefined
  const change = new ChangeTransaction({ name, decide, leaseId, clock })
  const prepare = (connection: Connection) => (fault === undefined ? change.prepare(connection) : undefined)
  const attempt = (connection: Connection) =>
    fault === undefined ? change.write(connection) : change.repeat(connection)
  for (let tries = 1; ; tries += 1) {
    try {
      if (fault) await pause(backOff(tries, random), signal)
      const outcome = await file.write(attempt, { signal, lockWaitMs: deadlineMs }, prepare)
      if (outcome !== undefined && (outcome.kind !== 'missing' || fault === undefined)) return outcome
      // Removed since: with it went what would tell whether the COMMIT was applied.
      return fault === undefined ? { kind: 'missing' } : { kind: 'unknown', cause: fault.cause }
    } catch (error) {
      if (error instanceof DecideFault) throw error.cause
      if (error instanceof CommitFault) fault = error
      if (fault === undefined) throw error
      if (error !== fault || tries === COMMIT_TRIES) return { kind: 'unknown', cause: fault.cause }
    }
  }
}

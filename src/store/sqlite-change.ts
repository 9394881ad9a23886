import { randomUUID } from 'node:crypto'
import { NO_LEASE } from '../stream/lease.ts'
import { backOff, Patience, pause } from './backoff.ts'
import { writeGate } from './lease-steps.ts'
import { CommitFault, type Connection } from './sqlite-connection.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { type Gate, gateOf, instant, leaseValues, summaryValues } from './sqlite-rows.ts'
import { SELECT_GATE, UPDATE_BODY, UPDATE_DUE, UPDATE_LEASE, UPDATE_STREAM } from './sqlite-sql.ts'
import { bodyMissing, StoredOnDemand } from './sqlite-stored.ts'
import type { ChangeOptions, ChangeOutcome, Decision, Stored } from './store.ts'

/** How often a change whose COMMIT was not confirmed is looked up and tried again. */
const COMMIT_TRIES = 4

type Decide = (current: Stored, nowMs: number) => Decision

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
  const attempt = (connection: Connection): ChangeOutcome =>
    changeInTransaction(connection, { name, decide, leaseId, nowMs: clock(), isRepeated: fault !== undefined })
  for (let tries = 1; ; tries += 1) {
    try {
      if (fault) await pause(backOff(tries, random), signal)
      const outcome = await file.write(attempt, { signal, lockWaitMs: deadlineMs })
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

/** Keeps what the caller's function throws apart from the faults of the store. */
class DecideFault extends Error {
  constructor(cause: unknown) {
    super('decide failed', { cause })
  }
}

interface ChangeTry {
  readonly name: string
  readonly decide: Decide
  readonly leaseId: string | undefined
  readonly nowMs: number
  /** A COMMIT of this change was not confirmed before. */
  readonly isRepeated: boolean
}

/**
 * Reads, checks that no other lease is live, decides and writes. From BEGIN to COMMIT nobody else writes: the
 * transaction is the lease, so no row says that one was taken.
 */
function changeInTransaction(connection: Connection, change: ChangeTry): ChangeOutcome {
  const row = connection.get(SELECT_GATE, change.name)
  if (row === undefined) return { kind: 'missing' }
  const stream = gateOf(row)
  const gate = writeGate(stream, change.leaseId, change.nowMs)
  if (gate.kind !== 'open') {
    // Only the stream itself tells whether the unanswered COMMIT was applied; the closed gate does not.
    if (change.isRepeated && decided(connection, stream, change).kind === 'leave') return { kind: 'left' }
    return gate.kind === 'held' ? { ...gate, waitedMs: 0 } : gate
  }
  const decision = decided(connection, stream, change)
  if (decision.kind === 'leave') return { kind: 'left' }
  return { kind: 'committed', etag: rewrite(connection, stream, decision, change) }
}

function decided(connection: Connection, stream: Gate, { name, decide, nowMs }: ChangeTry): Decision {
  const current = new StoredOnDemand(connection, name, stream, nowMs)
  try {
    return decide(current.stored, nowMs)
  } catch (error) {
    current.end()
    throw new DecideFault(error)
  } finally {
    current.end()
  }
}

function rewrite(connection: Connection, stream: Gate, { body, summary }: Written, change: ChangeTry): string {
  const { name, nowMs } = change
  const etag = randomUUID()
  if (connection.update(UPDATE_BODY, body, stream.bodyId) === 0) throw bodyMissing(name)
  connection.run(UPDATE_STREAM, etag, body.length, instant(nowMs), ...summaryValues(summary), name)
  if (instant(summary.dueMs) !== instant(stream.dueMs)) connection.run(UPDATE_DUE, instant(summary.dueMs), name)
  // Without a lease id the gate is open only over a lease that has ended: a write makes it history.
  const hadLease = stream.lease.record.id !== ''
  if (hadLease && change.leaseId === undefined) {
    connection.run(UPDATE_LEASE, ...leaseValues({ record: NO_LEASE, holder: undefined }), name)
  }
  return etag
}

type Written = Extract<Decision, { kind: 'put' }>

import { randomUUID } from 'node:crypto'
import { NO_LEASE } from '../../stream/lease.ts'
import { sleep } from '../../util/concurrency.ts'
import { backOff } from '../backoff.ts'
import { StoreDamaged } from '../errors.ts'
import { checkWrite } from '../local-lease.ts'
import type { ChangeOptions, ChangeOutcome, Decision, StreamRow, StreamSnapshot } from '../store.ts'
import { CommitFault, type Connection } from './connection.ts'
import type { SqliteFile } from './file.ts'
import {
  bodyOf,
  instant,
  type KeptStream,
  keptOf,
  leaseValues,
  listedOf,
  SELECT_BODY,
  SELECT_STREAM,
  type SqliteRow,
  UPDATE_BODY,
  UPDATE_DUE,
  UPDATE_LEASE,
  UPDATE_STREAM,
  writtenValues,
} from './schema.ts'

/** Maximum number of attempts of a change whose COMMIT is not confirmed. */
const COMMIT_ATTEMPTS = 4

/** The parts of the store that a change needs. */
export interface SqliteChangeContext {
  readonly file: SqliteFile
  readonly clock: () => number
  readonly random: () => number
}

/**
 * One change, without waiting for a lease held by another. After an unconfirmed COMMIT it runs again: `decide` then finds its own
 * change in the stream, or the stream without it.
 */
export async function changeStream(
  { file, clock, random }: SqliteChangeContext,
  name: string,
  decide: Decide,
  { leaseId, signal, deadlineMs }: ChangeOptions,
): Promise<ChangeOutcome> {
  let fault: CommitFault | undefined
  const change = new ChangeTransaction({ name, decide, leaseId, clock })
  const prepare = (connection: Connection) => (fault === undefined ? change.prepare(connection) : undefined)
  const work = (connection: Connection) => (fault === undefined ? change.write(connection) : change.repeat(connection))
  for (let attempts = 1; ; attempts += 1) {
    try {
      if (fault) await sleep(backOff(attempts, random), signal)
      const outcome = await file.write(work, { signal, lockWaitMs: deadlineMs }, prepare)
      if (outcome !== undefined && (outcome.kind !== 'missing' || fault === undefined)) return outcome
      // The stream was removed since, and with it the evidence whether the COMMIT was applied.
      return fault === undefined ? { kind: 'missing' } : { kind: 'unknown', cause: fault.cause }
    } catch (error) {
      if (error instanceof DecideFault) throw error.cause
      if (error instanceof CommitFault) fault = error
      if (fault === undefined) throw error
      if (error !== fault || attempts === COMMIT_ATTEMPTS) return { kind: 'unknown', cause: fault.cause }
    }
  }
}

/** Maximum age of a decision made before the transaction, ms: the decision contains its time. */
const VALID_MS = 100

type Decide = (current: StreamSnapshot, nowMs: number) => Decision

/** Separates errors of the caller's function from faults of the store. */
class DecideFault extends Error {
  constructor(cause: unknown) {
    super('decide failed', { cause })
  }
}

export interface ChangeTask {
  readonly name: string
  readonly decide: Decide
  readonly leaseId: string | undefined
  readonly clock: () => number
}

/** State of a stream, and the time of reading it. */
interface StreamState {
  readonly row: SqliteRow
  readonly stream: KeptStream
  readonly nowMs: number
}

/** A decision to write, and the state for which it was made. */
interface PreparedWrite extends StreamState {
  readonly decision: PutDecision
}

/**
 * One change of one stream: read, check that no other holds the lease, decide, write. From BEGIN to COMMIT no other program
 * can write: the transaction replaces the lease, so no lease is stored.
 */
class ChangeTransaction {
  readonly #task: ChangeTask
  #prepared: PreparedWrite | undefined
  /** The decision written in a transaction whose COMMIT is not known yet. */
  #written: PutDecision | undefined

  constructor(task: ChangeTask) {
    this.#task = task
  }

  /**
   * Decides on the state that is readable now, while another program writes. If no write is needed, this read gives the outcome.
   * A write waits for the transaction, which applies the decision unless the stream has changed.
   */
  prepare(connection: Connection): { readonly result: ChangeOutcome } | undefined {
    this.#forgetRolledBack()
    const state = this.#read(connection)
    if (!('stream' in state)) return { result: this.#without(state) }
    const refused = this.#refusal(state)
    if (refused !== undefined) return { result: this.#without(refused) }
    if (isStillValid(this.#prepared, state)) return undefined
    this.#discard()
    const decision = this.#decide(connection, state)
    if (decision.kind === 'leave') return { result: { kind: 'left' } }
    this.#prepared = { ...state, decision }
    return undefined
  }

  /** In a write transaction. If called again, the transaction before was rolled back, perhaps because of another change in it. */
  write(connection: Connection): ChangeOutcome {
    this.#forgetRolledBack()
    const state = this.#read(connection)
    if (!('stream' in state)) return this.#without(state)
    const refused = this.#refusal(state)
    if (refused !== undefined) return this.#without(refused)
    const prepared = this.#prepared
    if (isStillValid(prepared, state)) {
      this.#prepared = undefined
      return this.#rewrite(connection, prepared)
    }
    this.#discard()
    return this.#decideAndWrite(connection, state)
  }

  #without(outcome: ChangeOutcome): ChangeOutcome {
    this.#discard()
    return outcome
  }

  #forgetRolledBack(): void {
    this.#written?.discard?.()
    this.#written = undefined
  }

  /** Drops the prepared decision: another process may do the same meanwhile, under the same command id. */
  #discard(): void {
    this.#prepared?.decision.discard?.()
    this.#prepared = undefined
  }

  /**
   * In a write transaction, after an unconfirmed COMMIT. Only the stream itself shows whether that COMMIT was applied: neither a
   * refused write nor any earlier state does.
   */
  repeat(connection: Connection): ChangeOutcome {
    const state = this.#read(connection)
    if (!('stream' in state)) return state
    const refused = this.#refusal(state)
    if (refused === undefined) return this.#decideAndWrite(connection, state)
    return this.#decide(connection, state).kind === 'leave' ? { kind: 'left' } : refused
  }

  #read(connection: Connection): StreamState | { readonly kind: 'missing' } {
    const row = connection.get(SELECT_STREAM, this.#task.name)
    return row === undefined ? { kind: 'missing' } : { row, stream: keptOf(row), nowMs: this.#task.clock() }
  }

  #refusal({ stream, nowMs }: StreamState): ChangeOutcome | undefined {
    const check = checkWrite(stream, this.#task.leaseId, nowMs)
    if (check.kind === 'open') return undefined
    return check.kind === 'held' ? { ...check, waitedMs: 0 } : check
  }

  #decideAndWrite(connection: Connection, state: StreamState): ChangeOutcome {
    const decision = this.#decide(connection, state)
    return decision.kind === 'leave' ? { kind: 'left' } : this.#rewrite(connection, { ...state, decision })
  }

  #decide(connection: Connection, state: StreamState): Decision {
    const current = lazySnapshot(connection, this.#task.name, state)
    try {
      return this.#task.decide(current.snapshot, state.nowMs)
    } catch (error) {
      current.end()
      throw new DecideFault(error)
    } finally {
      current.end()
    }
  }

  #rewrite(connection: Connection, { stream, nowMs, decision }: PreparedWrite): ChangeOutcome {
    const { name, leaseId } = this.#task
    const etag = randomUUID()
    const { body, summary } = decision
    this.#written = decision
    if (connection.update(UPDATE_BODY, body, stream.bodyId) === 0) throw bodyMissing(name)
    connection.run(UPDATE_STREAM, ...writtenValues(etag, body, summary, nowMs), name)
    if (instant(summary.dueMs) !== instant(stream.dueMs)) connection.run(UPDATE_DUE, instant(summary.dueMs), name)
    // Without a lease id a write is allowed only after the end of a lease, and clears it.
    if (stream.lease.record.id !== '' && leaseId === undefined) {
      connection.run(UPDATE_LEASE, ...leaseValues({ record: NO_LEASE, holder: undefined }), name)
    }
    return { kind: 'committed', etag }
  }
}

/** Whether neither stream nor lease has changed since, and the clock has not gone back or too far. */
function isStillValid(prepared: PreparedWrite | undefined, { row, nowMs }: StreamState): prepared is PreparedWrite {
  if (prepared === undefined || nowMs < prepared.nowMs || nowMs > prepared.nowMs + VALID_MS) return false
  return row.every((value, at) => value === prepared.row[at])
}

type PutDecision = Extract<Decision, { kind: 'put' }>

/**
 * The state passed to `decide` inside the transaction. A caller that has the document cached by ETag needs neither body nor
 * summary, so they are read on demand: reading them costs more than all the rest.
 */
function lazySnapshot(connection: Connection, name: string, { row, stream, nowMs }: StreamState) {
  let body: Uint8Array | undefined
  /** A fault of the store, not of the caller. */
  let fault: { readonly error: unknown } | undefined
  let hasEnded = false
  const readBody = (): Uint8Array => {
    if (body !== undefined) return body
    if (hasEnded) throw new Error('the state can be read only while decide runs')
    try {
      const found = connection.get(SELECT_BODY, stream.bodyId)
      if (found === undefined) throw bodyMissing(name)
      body = bodyOf(found[0])
      return body
    } catch (error) {
      fault = { error }
      throw error
    }
  }
  const listed = (): StreamRow => listedOf(row, nowMs)
  const snapshot = {
    name,
    etag: stream.etag,
    modifiedMs: stream.modifiedMs,
    versionFloor: stream.version,
    get size() {
      return listed().size
    },
    get lease() {
      return listed().lease
    },
    get summary() {
      return listed().summary
    },
    get body() {
      return readBody()
    },
  } as StreamSnapshot
  /**
   * Forbids reading the body from now on: outside the transaction it may belong to another state.
   * @throws the error of reading the body, even if `decide` caught it
   */
  const end = (): void => {
    hasEnded = true
    if (fault !== undefined) throw fault.error
  }
  return { snapshot, end }
}

function bodyMissing(name: string): StoreDamaged {
  return new StoreDamaged(`the document of ${name} is missing`, { hint: 'Restore the file from a copy.' })
}

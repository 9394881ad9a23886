import { randomUUID } from 'node:crypto'
import { NO_LEASE } from '../../stream/lease.ts'
import { sleep } from '../../util/concurrency.ts'
import { backOff, RetryBudget } from '../backoff.ts'
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
  type SqliteRow,
  writtenValues,
} from './rows.ts'
import { SELECT_BODY, SELECT_STREAM, UPDATE_BODY, UPDATE_DUE, UPDATE_LEASE, UPDATE_STREAM } from './schema.ts'

/** How often a change whose COMMIT was not confirmed is looked up and tried again. */
const COMMIT_TRIES = 4

/** What a change needs of its store. */
export interface SqliteChangeContext {
  readonly file: SqliteFile
  readonly clock: () => number
  readonly random: () => number
}

/** One change, from waiting for another's lease to the commit that was confirmed or looked up. */
export async function changeOnceFree(
  context: SqliteChangeContext,
  name: string,
  decide: Decide,
  options: ChangeOptions,
): Promise<ChangeOutcome> {
  const patience = new RetryBudget({
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
  { file, clock, random }: SqliteChangeContext,
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
      if (fault) await sleep(backOff(tries, random), signal)
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

/** A decision made before the transaction stands for so long, ms: it bears the time at which it was made. */
const STANDS_MS = 100

type Decide = (current: StreamSnapshot, nowMs: number) => Decision

/** Keeps what the caller's function throws apart from the faults of the store. */
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

/** A stream as it was when it was looked at. */
interface Look {
  readonly row: SqliteRow
  readonly stream: KeptStream
  readonly nowMs: number
}

/** What is to be written over the stream that was looked at. */
interface Ahead extends Look {
  readonly decision: Written
}

/**
 * One change of one stream: read, check that no other lease is live, decide, write. From BEGIN to COMMIT nobody else
 * writes: the transaction is the lease, so no row says that one was taken.
 */
class ChangeTransaction {
  readonly #task: ChangeTask
  #ahead: Ahead | undefined
  /** What was written in a transaction of which no COMMIT is known yet. */
  #written: Written | undefined

  constructor(task: ChangeTask) {
    this.#task = task
  }

  /**
   * Decides on the state that can be read now, while another program writes. What needs no write is the outcome as of
   * this read; a write waits for the transaction, and is made there unless the stream has moved.
   */
  prepare(connection: Connection): { readonly result: ChangeOutcome } | undefined {
    this.#forgetRolledBack()
    const look = this.#look(connection)
    if (!('stream' in look)) return { result: this.#without(look) }
    const closed = this.#closed(look)
    if (closed !== undefined) return { result: this.#without(closed) }
    if (stands(this.#ahead, look)) return undefined
    this.#discard()
    const decision = this.#decided(connection, look)
    if (decision.kind === 'leave') return { result: { kind: 'left' } }
    this.#ahead = { ...look, decision }
    return undefined
  }

  /** In a write transaction. Called again, the one before was rolled back, perhaps for what another change in it met. */
  write(connection: Connection): ChangeOutcome {
    this.#forgetRolledBack()
    const look = this.#look(connection)
    if (!('stream' in look)) return this.#without(look)
    const closed = this.#closed(look)
    if (closed !== undefined) return this.#without(closed)
    const ahead = this.#ahead
    if (stands(ahead, look)) {
      this.#ahead = undefined
      return this.#rewrite(connection, ahead)
    }
    this.#discard()
    return this.#decideAndWrite(connection, look)
  }

  #without(outcome: ChangeOutcome): ChangeOutcome {
    this.#discard()
    return outcome
  }

  #forgetRolledBack(): void {
    this.#written?.discard?.()
    this.#written = undefined
  }

  /** What was decided ahead is not written: another may do the same meanwhile, under the same command id. */
  #discard(): void {
    this.#ahead?.decision.discard?.()
    this.#ahead = undefined
  }

  /**
   * In a write transaction, after a COMMIT that was not confirmed. Only the stream itself tells whether that was applied;
   * a closed gate does not, nor does what was known before.
   */
  repeat(connection: Connection): ChangeOutcome {
    const look = this.#look(connection)
    if (!('stream' in look)) return look
    const closed = this.#closed(look)
    if (closed === undefined) return this.#decideAndWrite(connection, look)
    return this.#decided(connection, look).kind === 'leave' ? { kind: 'left' } : closed
  }

  #look(connection: Connection): Look | { readonly kind: 'missing' } {
    const row = connection.get(SELECT_STREAM, this.#task.name)
    return row === undefined ? { kind: 'missing' } : { row, stream: keptOf(row), nowMs: this.#task.clock() }
  }

  #closed({ stream, nowMs }: Look): ChangeOutcome | undefined {
    const gate = checkWrite(stream, this.#task.leaseId, nowMs)
    if (gate.kind === 'open') return undefined
    return gate.kind === 'held' ? { ...gate, waitedMs: 0 } : gate
  }

  #decideAndWrite(connection: Connection, look: Look): ChangeOutcome {
    const decision = this.#decided(connection, look)
    return decision.kind === 'leave' ? { kind: 'left' } : this.#rewrite(connection, { ...look, decision })
  }

  #decided(connection: Connection, look: Look): Decision {
    const current = new LazySnapshot(connection, this.#task.name, look)
    try {
      return this.#task.decide(current.stored, look.nowMs)
    } catch (error) {
      current.end()
      throw new DecideFault(error)
    } finally {
      current.end()
    }
  }

  #rewrite(connection: Connection, { stream, nowMs, decision }: Ahead): ChangeOutcome {
    const { name, leaseId } = this.#task
    const etag = randomUUID()
    const { body, summary } = decision
    this.#written = decision
    if (connection.update(UPDATE_BODY, body, stream.bodyId) === 0) throw bodyMissing(name)
    connection.run(UPDATE_STREAM, ...writtenValues(etag, body, summary, nowMs), name)
    if (instant(summary.dueMs) !== instant(stream.dueMs)) connection.run(UPDATE_DUE, instant(summary.dueMs), name)
    // Without a lease id the gate is open only over a lease that has ended: a write makes it history.
    if (stream.lease.record.id !== '' && leaseId === undefined) {
      connection.run(UPDATE_LEASE, ...leaseValues({ record: NO_LEASE, holder: undefined }), name)
    }
    return { kind: 'committed', etag }
  }
}

/** Neither the stream nor its lease have moved since, nor has the clock gone back or far. */
function stands(ahead: Ahead | undefined, { row, nowMs }: Look): ahead is Ahead {
  if (ahead === undefined || nowMs < ahead.nowMs || nowMs > ahead.nowMs + STANDS_MS) return false
  return row.every((value, at) => value === ahead.row[at])
}

type Written = Extract<Decision, { kind: 'put' }>

/**
 * A stream as a change sees it inside its transaction. Whoever remembers the document by its ETag asks neither for the body
 * nor for the summary: those are read when they are asked for, which costs more than all the rest.
 */
class LazySnapshot {
  readonly stored: StreamSnapshot
  #body: Uint8Array | undefined
  /** A fault of the store, not of the one who asked. */
  #fault: { readonly error: unknown } | undefined
  #hasEnded = false

  constructor(connection: Connection, name: string, { row, stream, nowMs }: Look) {
    const listed = (): StreamRow => listedOf(row, nowMs)
    const body = (): Uint8Array => this.#read(connection, name, stream.bodyId)
    this.stored = {
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
        return body()
      },
    } as StreamSnapshot
  }

  /**
   * A body that was not asked for by now is not read any more: outside the transaction it may be another's.
   * @throws what reading threw, whatever was made of it
   */
  end(): void {
    this.#hasEnded = true
    if (this.#fault !== undefined) throw this.#fault.error
  }

  #read(connection: Connection, name: string, bodyId: number): Uint8Array {
    if (this.#body !== undefined) return this.#body
    if (this.#hasEnded) throw new Error('a stream can be looked at only while its change is decided')
    try {
      const row = connection.get(SELECT_BODY, bodyId)
      if (row === undefined) throw bodyMissing(name)
      this.#body = bodyOf(row[0])
      return this.#body
    } catch (error) {
      this.#fault = { error }
      throw error
    }
  }
}

function bodyMissing(name: string): StoreDamaged {
  return new StoreDamaged(`the document of ${name} is missing`, { hint: 'Restore the file from a copy.' })
}

import { randomUUID } from 'node:crypto'
import { NO_LEASE } from '../../stream/lease.ts'
import { writeGate } from '../local-lease.ts'
import type { ChangeOutcome, Decision, Stored } from '../store.ts'
import type { Connection } from './connection.ts'
import { type Gate, gateOf, instant, leaseValues, type Row, summaryValues } from './rows.ts'
import { SELECT_GATE, UPDATE_BODY, UPDATE_DUE, UPDATE_LEASE, UPDATE_STREAM } from './sql.ts'
import { bodyMissing, StoredOnDemand } from './stored.ts'

/** A decision made before the transaction stands for so long, ms: it bears the time at which it was made. */
const STANDS_MS = 100

export type Decide = (current: Stored, nowMs: number) => Decision

/** Keeps what the caller's function throws apart from the faults of the store. */
export class DecideFault extends Error {
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
  readonly row: Row
  readonly stream: Gate
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
export class ChangeTransaction {
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
    const row = connection.get(SELECT_GATE, this.#task.name)
    return row === undefined ? { kind: 'missing' } : { row, stream: gateOf(row), nowMs: this.#task.clock() }
  }

  #closed({ stream, nowMs }: Look): ChangeOutcome | undefined {
    const gate = writeGate(stream, this.#task.leaseId, nowMs)
    if (gate.kind === 'open') return undefined
    return gate.kind === 'held' ? { ...gate, waitedMs: 0 } : gate
  }

  #decideAndWrite(connection: Connection, look: Look): ChangeOutcome {
    const decision = this.#decided(connection, look)
    return decision.kind === 'leave' ? { kind: 'left' } : this.#rewrite(connection, { ...look, decision })
  }

  #decided(connection: Connection, { stream, nowMs }: Look): Decision {
    const current = new StoredOnDemand(connection, this.#task.name, stream, nowMs)
    try {
      return this.#task.decide(current.stored, nowMs)
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
    connection.run(UPDATE_STREAM, etag, body.length, instant(nowMs), ...summaryValues(summary), name)
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

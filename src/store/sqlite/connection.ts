import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { isBusy, isFull } from './errors.ts'
import type { SqliteRow } from './rows.ts'
import { checkSchemaVersion } from './schema.ts'

/** A COMMIT without a clear answer: what it should have written may be there, now or after a recovery. */
export class CommitFault extends Error {
  constructor(cause: unknown) {
    super('the commit was not confirmed', { cause })
  }
}

/** How long SQLite itself may block this thread waiting for a lock, ms, unless a call says otherwise. */
export const BUSY_TIMEOUT_MS = 20

/** One open database with its prepared statements. */
export class Connection {
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #statements = new Map<string, StatementSync>()
  #blocksMs = BUSY_TIMEOUT_MS

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
  }

  get(sql: string, ...values: SQLInputValue[]): SqliteRow | undefined {
    return this.#statement(sql).get(...values) as SqliteRow | undefined
  }

  all(sql: string, ...values: SQLInputValue[]): readonly SqliteRow[] {
    return this.#statement(sql).all(...values) as unknown as readonly SqliteRow[]
  }

  /** Returns the row id of an insert. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).lastInsertRowid)
  }

  /** Returns how many rows it changed. */
  update(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes)
  }

  /** Differs after each commit: of others by the version of the data, of this connection by the rows it has changed. */
  changes(): string {
    return `${this.get('PRAGMA data_version')?.[0]}:${this.get('SELECT total_changes()')?.[0]}`
  }

  /** Another process may have migrated the file since it was opened: throws `StoreIncompatible`. */
  checkSchema(): void {
    checkSchemaVersion(this.get('PRAGMA user_version')?.[0], this.#path)
  }

  /** Begins a write transaction if no other is under way; does not wait for it to end. */
  begin(): void {
    this.#blockAtMost(0)
    this.run('BEGIN IMMEDIATE')
  }

  /**
   * Runs `work` in the write transaction that was begun; what it throws is rolled back and passed on.
   * @throws CommitFault when the COMMIT neither succeeded nor certainly failed
   */
  finish<T>(work: () => T): T {
    const result = this.#orRollBack(() => {
      this.checkSchema()
      return work()
    })
    this.#orRollBack(() => this.#commit())
    return result
  }

  /** Runs `work` on one state of the file, whatever others write meanwhile. */
  reading<T>(work: () => T): T {
    this.run('BEGIN')
    try {
      this.checkSchema()
      return work()
    } finally {
      this.#rollBack()
    }
  }

  /** Puts all that was committed into the database file, as far as no reader is in the way. */
  checkpoint(): void {
    this.#blockAtMost(BUSY_TIMEOUT_MS)
    this.get('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  /** Runs `work` while nobody else writes; nothing is written. */
  alone(work: () => void): void {
    this.#blockAtMost(BUSY_TIMEOUT_MS)
    this.run('BEGIN IMMEDIATE')
    try {
      work()
    } finally {
      this.#rollBack()
    }
  }

  close(): void {
    this.#statements.clear()
    if (this.#db.isOpen) this.#db.close()
  }

  /** How long SQLite itself waits for a lock. */
  #blockAtMost(ms: number): void {
    if (ms === this.#blocksMs) return
    this.get(`PRAGMA busy_timeout = ${ms}`)
    this.#blocksMs = ms
  }

  #commit(): void {
    try {
      this.run('COMMIT')
    } catch (error) {
      throw isBusy(error) || isFull(error) ? error : new CommitFault(error)
    }
  }

  #orRollBack<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  /** A fault of the disk or the file ends the transaction by itself; a roll-back that fails hides no first error. */
  #rollBack(): void {
    try {
      if (this.#db.isTransaction) this.run('ROLLBACK')
    } catch {
      // The next BEGIN tells.
    }
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(true)
    this.#statements.set(sql, statement)
    return statement
  }
}

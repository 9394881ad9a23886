import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { isBusy, isFull } from './sqlite-errors.ts'
import type { Row } from './sqlite-rows.ts'
import { checkSchemaVersion } from './sqlite-schema.ts'

/** A COMMIT without a clear answer: what it should have written may be there, now or after a recovery. */
export class CommitFault extends Error {
  constructor(cause: unknown) {
    super('the commit was not confirmed', { cause })
  }
}

/** One open database with its prepared statements. */
export class Connection {
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined
  }

  all(sql: string, ...values: SQLInputValue[]): readonly Row[] {
    return this.#statement(sql).all(...values) as unknown as readonly Row[]
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

  /**
   * Runs `work` in one write transaction; what it throws is rolled back and passed on.
   * @throws CommitFault when the COMMIT neither succeeded nor certainly failed
   */
  transaction<T>(work: () => T): T {
    this.run('BEGIN IMMEDIATE')
    const result = this.#orRollBack(() => {
      this.checkSchema()
      return work()
    })
    this.#orRollBack(() => this.#commit())
    return result
  }

  /** Runs `work` while nobody else writes; nothing is written. */
  alone(work: () => void): void {
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

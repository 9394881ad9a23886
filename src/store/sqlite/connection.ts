import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { isBusy, isFull } from './errors.ts'
import { checkSchemaVersion, type SqliteRow } from './schema.ts'

/** A COMMIT without a clear answer: its writes may be applied, now or after a recovery. */
export class CommitFault extends Error {
  constructor(cause: unknown) {
    super('the commit was not confirmed', { cause })
  }
}

/** How long SQLite may block this thread waiting for a lock, ms, unless a call sets another limit. */
export const BUSY_TIMEOUT_MS = 20

/** One open database with its prepared statements. */
export class Connection {
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #statements = new Map<string, StatementSync>()
  #busyTimeoutMs = BUSY_TIMEOUT_MS

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

  /** Returns the number of changed rows. */
  update(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes)
  }

  /** A token that differs after each commit: of other connections by the data version, of this one by its changed rows. */
  changeToken(): string {
    return `${this.get('PRAGMA data_version')?.[0]}:${this.get('SELECT total_changes()')?.[0]}`
  }

  /** Another process may have migrated the file since it was opened. @throws StoreIncompatible */
  checkSchema(): void {
    checkSchemaVersion(this.get('PRAGMA user_version')?.[0], this.#path)
  }

  /** Begins a write transaction. Does not wait for another one: throws BUSY. */
  begin(): void {
    this.#setBusyTimeout(0)
    this.run('BEGIN IMMEDIATE')
  }

  /**
   * Runs `work` in the write transaction that has begun, and commits; an error of `work` is thrown after a roll-back.
   * @throws CommitFault if the COMMIT neither succeeded nor certainly failed
   */
  finish<T>(work: () => T): T {
    const result = this.#orRollBack(() => {
      this.checkSchema()
      return work()
    })
    this.#orRollBack(() => this.#commit())
    return result
  }

  /** Runs `work` in a read transaction: on one state of the file, whatever others write meanwhile. */
  reading<T>(work: () => T): T {
    this.run('BEGIN')
    try {
      this.checkSchema()
      return work()
    } finally {
      this.#rollBack()
    }
  }

  /** Moves all commits from the WAL to the database file, as far as readers allow. */
  checkpoint(): void {
    this.#setBusyTimeout(BUSY_TIMEOUT_MS)
    this.get('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  /** Runs `work` while no other connection can write; nothing is written. */
  withWriteLock(work: () => void): void {
    this.#setBusyTimeout(BUSY_TIMEOUT_MS)
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

  /** How long SQLite waits for a lock. */
  #setBusyTimeout(ms: number): void {
    if (ms === this.#busyTimeoutMs) return
    this.get(`PRAGMA busy_timeout = ${ms}`)
    this.#busyTimeoutMs = ms
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

  /** A fault of the disk or the file ends the transaction by itself. A failed roll-back must not hide the first error. */
  #rollBack(): void {
    try {
      if (this.#db.isTransaction) this.run('ROLLBACK')
    } catch {
      // The next BEGIN fails and reports it.
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

/** Maximum duration of a group's transaction, ms: it blocks this process and locks out other programs. */
const GROUP_MS = 20

/** Work inside a write transaction. */
export type TransactionWork<T> = (connection: Connection) => T

/**
 * The part of the work that can be done on a read-only state, while another program writes. It may be called several times. If
 * it returns a result, the transaction is not needed any more.
 */
export type Prepare<T> = (connection: Connection) => { readonly result: T } | undefined

interface Waiting {
  readonly work: TransactionWork<unknown>
  readonly prepare: Prepare<unknown> | undefined
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * Group commit: writes that this process requests at the same time, on any streams, share one transaction and so one disk
 * sync. Each write gets its own result after the COMMIT. If one throws, the transaction is rolled back and each write is
 * repeated alone.
 */
export class GroupCommit {
  readonly #connection: Connection
  readonly #lock: WriteLock
  #waiting: Waiting[] = []
  /** Time for which writes have blocked the event loop since its last turn, ms. */
  #blockedMs = 0

  constructor(connection: Connection, random: () => number) {
    this.#connection = connection
    this.#lock = new WriteLock(connection, random)
  }

  /** Whether a group is waiting for its turn, which comes at once: writes that join it need no checks of their own. */
  get hasPending(): boolean {
    return this.#waiting.length > 0
  }

  /** @throws errors of `work`, BUSY, and errors of `Connection.finish` */
  add<T>(work: TransactionWork<T>, prepare?: Prepare<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, prepare, resolve: result => resolve(result as T), reject })
      if (this.#waiting.length === 1) this.#schedule()
    })
  }

  #schedule(): void {
    const turn = () => this.#turn()
    // setImmediate gathers writes whose back-offs end with the same timers. And a caller that writes again on each result
    // would otherwise starve timers, sockets and signals.
    if (this.#lock.isContended || this.#blockedMs > GROUP_MS) setImmediate(turn)
    // After all pending promise callbacks, so that writes requested in the same turn join the group.
    else queueMicrotask(() => process.nextTick(turn))
  }

  /** Writes all waiting work now. */
  flush(): void {
    while (this.#waiting.length > 0) this.#writeGroup()
  }

  /** Rejects all waiting work without writing it. */
  rejectPending(reason: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(reason)
  }

  #turn(): void {
    if (this.#blockedMs === 0) setImmediate(() => this.#resetBlocked())
    const startMs = performance.now()
    if (this.#waiting.length > 0) this.#writeGroup()
    this.#blockedMs += performance.now() - startMs
    if (this.#waiting.length > 0) setImmediate(() => this.#turn())
  }

  #resetBlocked(): void {
    this.#blockedMs = 0
  }

  #writeGroup(): void {
    const group: Waiting[] = []
    const progress = { isWorking: false }
    try {
      this.#begin()
      if (this.#waiting.length === 0) return
      const results = this.#connection.finish(() => this.#workThrough(group, progress))
      for (const [at, { resolve }] of group.entries()) resolve(results[at])
    } catch (error) {
      // BEGIN failed: the file is locked or not writable. Each caller decides how long to wait.
      if (group.length === 0) group.push(...this.#waiting.splice(0))
      if (progress.isWorking && group.length > 1) for (const one of group) this.#writeAlone(one)
      else for (const { reject } of group) reject(error)
    }
  }

  /** While another program writes, the waiting time is used to prepare the work. */
  #begin(): void {
    if (!this.#lock.isContended && this.#lock.takeIfFree()) return
    this.#prepareAll()
    if (this.#waiting.length > 0) this.#lock.take()
  }

  #prepareAll(): void {
    const endMs = performance.now() + GROUP_MS
    const prepare = (one: Waiting): boolean => performance.now() > endMs || !this.#settleEarly(one)
    try {
      this.#waiting = this.#connection.reading(() => this.#waiting.filter(prepare))
    } catch {
      // Nothing is prepared; the write will report the error.
    }
  }

  /** Whether preparing settled it, so that it needs no write. */
  #settleEarly({ prepare, resolve, reject }: Waiting): boolean {
    try {
      const known = prepare?.(this.#connection)
      if (known !== undefined) resolve(known.result)
      return known !== undefined
    } catch (error) {
      if (isBusy(error)) return false
      reject(error)
      return true
    }
  }

  #workThrough(group: Waiting[], progress: { isWorking: boolean }): readonly unknown[] {
    const results: unknown[] = []
    const endMs = performance.now() + GROUP_MS
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      group.push(next)
      progress.isWorking = true
      results.push(next.work(this.#connection))
      progress.isWorking = false
      if (performance.now() > endMs) break
    }
    return results
  }

  #writeAlone({ work, resolve, reject }: Waiting): void {
    try {
      this.#lock.take()
      resolve(this.#connection.finish(() => work(this.#connection)))
    } catch (error) {
      reject(error)
    }
  }
}

/** Maximum blocking time for taking the lock, ms; longer waits are asynchronous. */
const TAKE_MS = 5
/** Mean pause between two attempts, ms: about as long as a transaction of one change holds the lock. */
const RETRY_MS = 0.25
/** How long the lock counts as contended after it was found taken, ms. */
const CONTENDED_MS = 500

/**
 * The lock under which one program at a time writes to a file. SQLite has no queue for it: the first attempt after its release
 * gets it. So waiters try often, at random intervals.
 */
class WriteLock {
  readonly #connection: Connection
  readonly #random: () => number
  #busyAtMs = Number.NEGATIVE_INFINITY

  constructor(connection: Connection, random: () => number) {
    this.#connection = connection
    this.#random = random
  }

  /** Whether other programs held it recently: then it pays to prepare work before taking it. */
  get isContended(): boolean {
    return performance.now() - this.#busyAtMs < CONTENDED_MS
  }

  /** Begins a write transaction; `false` at once if another program is in one. */
  takeIfFree(): boolean {
    try {
      this.#connection.begin()
      return true
    } catch (error) {
      this.#recordBusy(error)
      return false
    }
  }

  /** Begins a write transaction; throws the last error if the lock stays taken for a few ms. */
  take(): void {
    const endMs = performance.now() + TAKE_MS
    for (;;) {
      try {
        this.#connection.begin()
        return
      } catch (error) {
        this.#recordBusy(error)
        if (performance.now() >= endMs) throw error
      }
      block(RETRY_MS * (0.5 + this.#random()))
    }
  }

  #recordBusy(error: unknown): void {
    if (!isBusy(error)) throw error
    this.#busyAtMs = performance.now()
  }
}

const NEVER_CHANGED = new Int32Array(new SharedArrayBuffer(4))

function block(ms: number): void {
  Atomics.wait(NEVER_CHANGED, 0, 0, ms)
}

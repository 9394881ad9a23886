import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { sleep } from '../../util/concurrency.ts'
import { ContainerMissing, StoreClosed, StoreUnreachable } from '../errors.ts'
import { CommitFault, Connection, GroupCommit, type Prepare, type TransactionWork } from './connection.ts'
import { isBusy, lockedFor, storeError } from './errors.ts'
import {
  checkMayWrite,
  DatabaseFiles,
  FileReplaced,
  type OpenedDatabase,
  openExisting,
  openOrCreate,
  sqliteVersion,
} from './open.ts'

/** Default limit for waiting for the locks of other programs in one call, ms. */
const LOCK_WAIT_MS = 30_000

/** Interval at which reads check whether the file was replaced, ms: the check costs half as much as a read. */
const CHECK_MS = 200
/** The same for writes that join a group; other writes always check. */
const GROUP_CHECK_MS = 20

export interface SqliteFileOptions {
  readonly random: () => number
  /** Overrides `sqlite_version()`. For tests. */
  readonly sqliteVersion?: string
  /** A missing file is a fault (`ContainerMissing`) until something is created in it; otherwise it is an empty store. */
  readonly mustExist?: boolean
  /** Overrides `CHECK_MS`. For tests. */
  readonly checkMs?: number
  /** Called for each database that is opened. For tests. */
  readonly onOpen?: (db: DatabaseSync) => void
}

export interface SqliteCallOptions {
  readonly signal?: AbortSignal | undefined
  /** Limit for waiting for locks of other programs, ms. Default `LOCK_WAIT_MS`. */
  readonly lockWaitMs?: number | undefined
}

/** The file of a store: opens it at the first use, retries while others lock it, and converts its faults to store errors. */
export class SqliteFile {
  readonly #path: string
  readonly #options: SqliteFileOptions
  readonly #backoff: LockBackoff
  #connection: Connection | undefined
  /** Number of connections opened so far. */
  #opened = 0
  /** Writes over the current connection. */
  #groups: GroupCommit | undefined
  /** Files of the current connection, and the time of their last check. */
  #files: DatabaseFiles | undefined
  #checkedAtMs = 0
  #isClosed = false
  #mayWrite = false

  constructor(path: string, options: SqliteFileOptions) {
    this.#path = resolve(path)
    this.#options = options
    this.#backoff = new LockBackoff(options.random)
  }

  /** Runs `work` on the database; `undefined` if there is none yet. */
  read<T>(work: (connection: Connection) => T, options: SqliteCallOptions): Promise<T | undefined> {
    return this.#look(connection => {
      connection.checkSchema()
      return work(connection)
    }, options)
  }

  /** See `StreamStore.changeToken`. `undefined` without a file, and for an immutable file, which each read opens anew. */
  async changeToken(options: SqliteCallOptions): Promise<string | undefined> {
    // A migration changes the token too; the read that follows finds it.
    return this.#look(
      connection => (connection === this.#connection ? `${this.#opened}:${connection.changeToken()}` : undefined),
      options,
    )
  }

  /**
   * Runs `work` in one write transaction; `undefined` if there is no store yet.
   * @param prepare does the part that can be done before, while another program writes
   * @throws CommitFault if it is not known whether the transaction was applied
   */
  write<T>(work: TransactionWork<T>, options: SqliteCallOptions, prepare?: Prepare<T>): Promise<T | undefined> {
    return this.#retry<T | undefined>(() => {
      this.#abandonReplaced(this.#writeCheckMs)
      if (this.#groups) return this.#transact(this.#groups, work, prepare)
      const opened = this.#openExisting('write')
      return opened && this.#write(opened, work, prepare)
    }, options)
  }

  /** As `write`, but creates the store if it is missing. */
  create<T>(work: (connection: Connection) => T, options: SqliteCallOptions): Promise<T> {
    return this.#retry(() => {
      this.#abandonReplaced(this.#writeCheckMs)
      this.#checkMayWrite()
      if (this.#groups) return this.#transact(this.#groups, work)
      return this.#write(openOrCreate(this.#path), work)
    }, options)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  close(): void {
    this.#groups?.flush()
    this.#isClosed = true
    try {
      this.#abandonReplaced(0)
    } catch {
      // The next program that opens the new file gets the error.
    }
    this.#connection?.close()
    this.#forget()
  }

  #look<T>(work: (connection: Connection) => T, options: SqliteCallOptions): Promise<T | undefined> {
    return this.#retry(() => {
      this.#abandonReplaced(this.#options.checkMs ?? CHECK_MS)
      if (this.#connection) return work(this.#connection)
      const opened = this.#openExisting('read')
      return opened && this.#use(opened, work)
    }, options)
  }

  /** A write that joins a group relies on the check of its first one. */
  get #writeCheckMs(): number {
    return this.#groups?.hasPending ? GROUP_CHECK_MS : 0
  }

  #openExisting(purpose: 'read' | 'write'): OpenedDatabase | undefined {
    const opened = openExisting(this.#path, this.#version, purpose)
    if (opened === undefined && this.#options.mustExist && !existsSync(this.#path))
      throw new ContainerMissing(`there is no store at sqlite:${this.#path}: the file does not exist`, {
        hint: 'Is it the right path? Creating the first stream creates the file.',
      })
    return opened
  }

  /** @throws StoreIncompatible */
  #checkMayWrite(): void {
    if (!this.#mayWrite) checkMayWrite(this.#version)
    this.#mayWrite = true
  }

  get #version(): string {
    return this.#options.sqliteVersion ?? sqliteVersion()
  }

  /** Gives up a deleted or replaced file; the file that is there now is opened like at the first use. */
  #abandonReplaced(afterMs: number): void {
    const nowMs = performance.now()
    if (!this.#connection || !this.#files || nowMs - this.#checkedAtMs < afterMs) return
    if (this.#files.areReplaced()) {
      this.#groups?.rejectPending(new FileReplaced())
      this.#files.abandon(this.#connection)
      this.#forget()
    }
    this.#checkedAtMs = nowMs
  }

  #forget(): void {
    this.#connection = undefined
    this.#groups = undefined
    this.#files = undefined
  }

  #transact<T>(groups: GroupCommit, work: TransactionWork<T>, prepare?: Prepare<T>): Promise<T> {
    this.#checkMayWrite()
    return groups.add(work, prepare)
  }

  /** The first write of this process; an immutable file refuses it. */
  #write<T>(opened: OpenedDatabase, work: TransactionWork<T>, prepare?: Prepare<T>): Promise<T> | T {
    return this.#use(opened, connection => {
      if (this.#groups) return this.#transact(this.#groups, work, prepare)
      connection.begin()
      return connection.finish(() => work(connection))
    })
  }

  /** A shared connection stays open. An immutable one is closed at once: it would miss later writes. */
  #use<T>(opened: OpenedDatabase, work: (connection: Connection) => T): T {
    const { db, mode } = opened
    this.#options.onOpen?.(db)
    const connection = new Connection(db, this.#path)
    if (mode !== 'immutable') {
      const files = new DatabaseFiles(this.#path, opened)
      if (files.areReplaced()) {
        connection.close()
        throw new FileReplaced()
      }
      this.#connection = connection
      this.#opened++
      this.#groups = new GroupCommit(connection, this.#options.random)
      this.#files = files
      this.#checkedAtMs = performance.now()
      return work(connection)
    }
    try {
      return work(connection)
    } finally {
      connection.close()
    }
  }

  /** Retries while others lock the file. An attempt is synchronous until its transaction is queued or committed. */
  async #retry<T>(attempt: () => Promise<T> | T, { signal, lockWaitMs = LOCK_WAIT_MS }: SqliteCallOptions): Promise<T> {
    let lockedAtMs: number | undefined
    /** Time since this call first found the file locked, ms, attempts included. */
    const waited = (): number => {
      lockedAtMs ??= performance.now()
      return performance.now() - lockedAtMs
    }
    for (;;) {
      signal?.throwIfAborted()
      if (this.#isClosed) throw new StoreClosed(`${this.#path} was closed`)
      const { leftMs } = this.#backoff
      const mayWaitMs = leftMs > 0 ? lockWaitMs - waited() : 0
      if (mayWaitMs > 0) {
        await sleep(Math.min(leftMs, mayWaitMs), signal)
        continue
      }
      try {
        return await attempt()
      } catch (error) {
        if (error instanceof CommitFault) throw error
        if (!(error instanceof FileReplaced || isBusy(error))) throw storeError(error, this.#path)
        const waitedMs = waited()
        if (waitedMs >= lockWaitMs) throw waitedTooLong(this.#path, error, waitedMs)
        this.#backoff.begin(waitedMs)
      }
    }
  }
}

const SHORTEST_MS = 1
const FIRST_CAP_MS = 3
const LAST_CAP_MS = 60

/**
 * Delay before the next attempt on a locked file, ms: jitter between 1 and a cap of a quarter of the wait so far, from 3 to
 * 60. Locks of transactions last for less than a ms; during a long lock, this process blocks its thread less and less.
 */
export function lockDelay(waitedMs: number, random: () => number): number {
  const cap = Math.min(LAST_CAP_MS, Math.max(FIRST_CAP_MS, waitedMs / 4))
  return SHORTEST_MS + random() * (cap - SHORTEST_MS)
}

/** Back-off of all calls of one process on a file: they retry at the same time, so that they share the next attempt. */
export class LockBackoff {
  readonly #random: () => number
  #untilMs = 0

  constructor(random: () => number) {
    this.#random = random
  }

  get leftMs(): number {
    return this.#untilMs - performance.now()
  }

  begin(waitedMs: number): void {
    if (this.leftMs <= 0) this.#untilMs = performance.now() + lockDelay(waitedMs, this.#random)
  }
}

/** The fault at the end of the lock wait; `error` is that of the last attempt. */
function waitedTooLong(path: string, error: unknown, waitedMs: number): StoreUnreachable {
  if (!(error instanceof FileReplaced)) return lockedFor(path, error, waitedMs)
  return new StoreUnreachable(`${path} is replaced again and again`, { cause: error })
}

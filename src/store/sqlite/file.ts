import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { sleep } from '../../util/concurrency.ts'
import { StoreClosed, StoreUnreachable } from '../errors.ts'
import { CommitFault, Connection } from './connection.ts'
import { isBusy, lockedFor, storeError } from './errors.ts'
import { OpenFiles, Replaced } from './file-identity.ts'
import { GroupCommit, type Prepare, type TransactionWork } from './group-commit.ts'
import { type OpenedDatabase, openExisting, openOrCreate, SqliteVersion } from './open.ts'

/** How long one call waits for the locks of other programs, ms, if it says nothing else. */
const LOCK_WAIT_MS = 30_000

/** Reads look so often whether the file is still the one that was opened, ms; asking costs half as much as a read. */
const LOOK_MS = 200
/** Writes look always, but for those that join others. */
const LOOK_TOGETHER_MS = 20

export interface SqliteFileOptions {
  readonly random: () => number
  /** Overrides `sqlite_version()`. For tests. */
  readonly sqliteVersion?: string
  /** Overrides `LOOK_MS`. For tests. */
  readonly lookMs?: number
  /** Sees each database that is opened. For tests. */
  readonly onOpen?: (db: DatabaseSync) => void
}

export interface SqliteCallOptions {
  readonly signal?: AbortSignal | undefined
  /** Limit for waiting for locks of other programs, ms. Default `LOCK_WAIT_MS`. */
  readonly lockWaitMs?: number | undefined
}

/** The file of a store: opened at the first use, tried again while others lock it, its faults as errors of the store. */
export class SqliteFile {
  readonly #path: string
  readonly #options: SqliteFileOptions
  readonly #yieldDelay: StandBack
  readonly #version: SqliteVersion
  #connection: Connection | undefined
  /** How many there were until now. */
  #opened = 0
  /** The writes over that connection. */
  #groups: GroupCommit | undefined
  /** Its files, and when they were looked at last. */
  #files: OpenFiles | undefined
  #lookedAtMs = 0
  #isClosed = false

  constructor(path: string, options: SqliteFileOptions) {
    this.#path = resolve(path)
    this.#options = options
    this.#yieldDelay = new StandBack(options.random)
    this.#version = new SqliteVersion(options.sqliteVersion)
  }

  /** Runs `work` on the database; `undefined` where there is none yet. */
  read<T>(work: (connection: Connection) => T, options: SqliteCallOptions): Promise<T | undefined> {
    return this.#patiently(() => {
      this.#leaveReplaced(this.#options.lookMs ?? LOOK_MS)
      if (this.#connection) return read(this.#connection, work)
      const opened = openExisting(this.#path, this.#version.name, 'read')
      return opened && this.#use(opened, connection => read(connection, work))
    }, options)
  }

  /**
   * As `StreamStore.changeToken` tells it. `undefined` where there is no file, and of an immutable one, which is opened anew
   * for each read.
   */
  async mark(options: SqliteCallOptions): Promise<string | undefined> {
    return this.read(
      connection => (connection === this.#connection ? `${this.#opened}:${connection.changes()}` : undefined),
      options,
    )
  }

  /**
   * Runs `work` in one write transaction; `undefined` where there is no store yet.
   * @param prepare does what can be done before, while another program writes
   * @throws CommitFault when it cannot tell whether the transaction was applied
   */
  write<T>(work: TransactionWork<T>, options: SqliteCallOptions, prepare?: Prepare<T>): Promise<T | undefined> {
    return this.#patiently<T | undefined>(() => {
      this.#leaveReplaced(this.#groups?.areGathering ? LOOK_TOGETHER_MS : 0)
      if (this.#groups) return this.#transact(this.#groups, work, prepare)
      const opened = openExisting(this.#path, this.#version.name, 'write')
      return opened && this.#write(opened, work, prepare)
    }, options)
  }

  /** The same, creating the store where it is missing. */
  create<T>(work: (connection: Connection) => T, options: SqliteCallOptions): Promise<T> {
    return this.#patiently(() => {
      this.#version.checkMayWrite()
      this.#leaveReplaced(0)
      if (this.#groups) return this.#transact(this.#groups, work)
      return this.#write(openOrCreate(this.#path), work)
    }, options)
  }

  close(): void {
    this.#groups?.flush()
    this.#isClosed = true
    try {
      this.#leaveReplaced(0)
    } catch {
      // Who opens the new file is told.
    }
    this.#connection?.close()
    this.#forget()
  }

  /** A file that was deleted or replaced is given up; what lies there now is opened as at the first use. */
  #leaveReplaced(afterMs: number): void {
    const nowMs = performance.now()
    if (!this.#connection || !this.#files || nowMs - this.#lookedAtMs < afterMs) return
    if (this.#files.areReplaced()) {
      this.#groups?.giveUp(new Replaced())
      this.#files.leave(this.#connection)
      this.#forget()
    }
    this.#lookedAtMs = nowMs
  }

  #forget(): void {
    this.#connection = undefined
    this.#groups = undefined
    this.#files = undefined
  }

  #transact<T>(groups: GroupCommit, work: TransactionWork<T>, prepare?: Prepare<T>): Promise<T> {
    this.#version.checkMayWrite()
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

  /** A connection that can be shared stays open; one to an immutable file would miss what is written later. */
  #use<T>(opened: OpenedDatabase, work: (connection: Connection) => T): T {
    const { db, mode } = opened
    this.#options.onOpen?.(db)
    const connection = new Connection(db, this.#path)
    if (mode !== 'immutable') {
      const files = new OpenFiles(this.#path, opened)
      if (files.areReplaced()) {
        connection.close()
        throw new Replaced()
      }
      this.#connection = connection
      this.#opened++
      this.#groups = new GroupCommit(connection, this.#options.random)
      this.#files = files
      this.#lookedAtMs = performance.now()
      return work(connection)
    }
    try {
      return work(connection)
    } finally {
      connection.close()
    }
  }

  /** Each try opens, reads and commits in one go: nothing of this process comes in between. */
  async #patiently<T>(
    attempt: () => Promise<T> | T,
    { signal, lockWaitMs = LOCK_WAIT_MS }: SqliteCallOptions,
  ): Promise<T> {
    let metAtMs: number | undefined
    /** How long this call has waited since it first met a lock, tries included. */
    const waited = (): number => {
      metAtMs ??= performance.now()
      return performance.now() - metAtMs
    }
    for (;;) {
      signal?.throwIfAborted()
      if (this.#isClosed) throw new StoreClosed(`${this.#path} was closed`)
      const { leftMs } = this.#yieldDelay
      const mayWaitMs = leftMs > 0 ? lockWaitMs - waited() : 0
      if (mayWaitMs > 0) {
        await sleep(Math.min(leftMs, mayWaitMs), signal)
        continue
      }
      try {
        return await attempt()
      } catch (error) {
        if (error instanceof CommitFault) throw error
        if (!(error instanceof Replaced || isBusy(error))) throw storeError(error, this.#path)
        const waitedMs = waited()
        if (waitedMs >= lockWaitMs) throw waitedTooLong(this.#path, error, waitedMs)
        this.#yieldDelay.begin(waitedMs)
      }
    }
  }
}

function read<T>(connection: Connection, work: (connection: Connection) => T): T {
  connection.checkSchema()
  return work(connection)
}

const SHORTEST_MS = 1
const FIRST_CAP_MS = 3
const LAST_CAP_MS = 60

/**
 * How long this process stands back after a try that met a lock, ms: jitter between 1 and a cap that is a quarter of the
 * wait so far, from 3 to 60. Locks of transactions last for less than a ms; who waits for one that lasts long blocks its
 * thread less and less of the time.
 */
export function lockDelay(waitedMs: number, random: () => number): number {
  const cap = Math.min(LAST_CAP_MS, Math.max(FIRST_CAP_MS, waitedMs / 4))
  return SHORTEST_MS + random() * (cap - SHORTEST_MS)
}

/** When the calls of one process may ask for the lock of a file again: all at the same time, so that they share the next try. */
export class StandBack {
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

/** The fault when the patience of a call is over; `error` is that of the last try. */
function waitedTooLong(path: string, error: unknown, waitedMs: number): StoreUnreachable {
  if (!(error instanceof Replaced)) return lockedFor(path, error, waitedMs)
  return new StoreUnreachable(`${path} is replaced again and again`, { cause: error })
}

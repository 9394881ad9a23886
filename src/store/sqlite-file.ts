import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Patience } from './backoff.ts'
import { StoreIncompatible, StoreUnreachable } from './errors.ts'
import { CommitFault, Connection } from './sqlite-connection.ts'
import { isBusy, lockedFor, storeError } from './sqlite-errors.ts'
import { WriteGroups } from './sqlite-group.ts'
import { type OpenedDatabase, openExisting, openOrCreate, sqliteVersion } from './sqlite-open.ts'
import { OpenFiles, Replaced } from './sqlite-replaced.ts'
import { mayWriteWith } from './sqlite-schema.ts'

/** How long one call waits for the locks of other programs, ms, if it says nothing else. */
const LOCK_WAIT_MS = 30_000

/** After a try that met a lock the others of this process wait so long: each try may block the thread for 20 ms. */
const STAND_BACK_MS = 40
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

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Limit for waiting for locks of other programs, ms. Default `LOCK_WAIT_MS`. */
  readonly lockWaitMs?: number | undefined
}

/** The file of a store: opened at the first use, tried again while others lock it, its faults as errors of the store. */
export class SqliteFile {
  readonly #path: string
  readonly #options: SqliteFileOptions
  #connection: Connection | undefined
  /** How many there were until now. */
  #opened = 0
  /** The writes over that connection. */
  #groups: WriteGroups | undefined
  /** Its files, and when they were looked at last. */
  #files: OpenFiles | undefined
  #lookedAtMs = 0
  #version: string | undefined
  #standBackUntilMs = 0
  #isClosed = false

  constructor(path: string, options: SqliteFileOptions) {
    this.#path = resolve(path)
    this.#options = options
  }

  /** Runs `work` on the database; `undefined` where there is none yet. */
  read<T>(work: (connection: Connection) => T, options: CallOptions): Promise<T | undefined> {
    return this.#patiently(() => {
      this.#leaveReplaced(this.#options.lookMs ?? LOOK_MS)
      if (this.#connection) return read(this.#connection, work)
      const opened = openExisting(this.#path, this.#sqliteVersion(), 'read')
      return opened && this.#use(opened, connection => read(connection, work))
    }, options)
  }

  /**
   * As `EventStore.changeMark` tells it. `undefined` where there is no file, and of an immutable one, which is opened anew
   * for each read.
   */
  async mark(options: CallOptions): Promise<string | undefined> {
    return this.read(
      connection => (connection === this.#connection ? `${this.#opened}:${connection.changes()}` : undefined),
      options,
    )
  }

  /**
   * Runs `work` in one write transaction; `undefined` where there is no store yet.
   * @throws CommitFault when it cannot tell whether the transaction was applied
   */
  write<T>(work: (connection: Connection) => T, options: CallOptions): Promise<T | undefined> {
    return this.#patiently<T | undefined>(() => {
      this.#leaveReplaced(this.#groups?.areGathering ? LOOK_TOGETHER_MS : 0)
      if (this.#groups) return this.#transact(this.#groups, work)
      const opened = openExisting(this.#path, this.#sqliteVersion(), 'write')
      return opened && this.#write(opened, work)
    }, options)
  }

  /** The same, creating the store where it is missing. */
  create<T>(work: (connection: Connection) => T, options: CallOptions): Promise<T> {
    return this.#patiently(() => {
      this.#checkMayWrite()
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

  #transact<T>(groups: WriteGroups, work: (connection: Connection) => T): Promise<T> {
    this.#checkMayWrite()
    return groups.add(work)
  }

  /** The first write of this process; an immutable file refuses it. */
  #write<T>(opened: OpenedDatabase, work: (connection: Connection) => T): Promise<T> | T {
    return this.#use(opened, connection =>
      this.#groups ? this.#transact(this.#groups, work) : connection.transaction(() => work(connection)),
    )
  }

  /** A connection that can be shared stays open; one to an immutable file would miss what is written later. */
  #use<T>({ db, mode, identity }: OpenedDatabase, work: (connection: Connection) => T): T {
    this.#options.onOpen?.(db)
    const connection = new Connection(db, this.#path)
    if (mode !== 'immutable') {
      const files = new OpenFiles(this.#path, identity)
      if (files.areReplaced()) {
        connection.close()
        throw new Replaced()
      }
      this.#connection = connection
      this.#opened++
      this.#groups = new WriteGroups(connection)
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
  async #patiently<T>(attempt: () => Promise<T> | T, { signal, lockWaitMs = LOCK_WAIT_MS }: CallOptions): Promise<T> {
    const patience = new Patience({ limitMs: lockWaitMs, random: this.#options.random, signal })
    for (;;) {
      signal?.throwIfAborted()
      if (this.#isClosed) throw new StoreUnreachable(`${this.#path} was closed`)
      if (performance.now() < this.#standBackUntilMs && (await patience.pause())) continue
      try {
        return await attempt()
      } catch (error) {
        if (error instanceof CommitFault) throw error
        if (error instanceof Replaced) {
          if (await patience.pause()) continue
          throw new StoreUnreachable(`${this.#path} is replaced again and again`, { cause: error })
        }
        if (!isBusy(error)) throw storeError(error, this.#path)
        this.#standBackUntilMs = performance.now() + STAND_BACK_MS
        if (!(await patience.pause())) throw lockedFor(this.#path, error, patience.waitedMs)
      }
    }
  }

  #checkMayWrite(): void {
    const version = this.#sqliteVersion()
    if (mayWriteWith(version)) return
    throw new StoreIncompatible(`SQLite ${version} in this Node can damage a store that several programs write`, {
      hint: 'Use Node 22.22.3, 24.15, 26 or later. Reading works.',
    })
  }

  #sqliteVersion(): string {
    this.#version ??= this.#options.sqliteVersion ?? sqliteVersion()
    return this.#version
  }
}

function read<T>(connection: Connection, work: (connection: Connection) => T): T {
  connection.checkSchema()
  return work(connection)
}

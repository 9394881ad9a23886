import { closeSync, fsyncSync, mkdirSync, openSync, realpathSync, rmdirSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { errorCode } from '../../util/errors.ts'
import { BadAddress, StoreIncompatible } from '../errors.ts'
import { BUSY_TIMEOUT_MS } from './connection.ts'
import { isIndexFull, sqliteCode } from './errors.ts'
import { databaseIdentityOf, type OpenedFile, Replaced } from './file-identity.ts'
import { createOrMigrate, mayWriteWith, schemaState } from './schema.ts'

/**
 * FULL: a commit that was reported survives a power cut; NORMAL loses some. A commit checkpoints beyond 16 MiB of WAL,
 * rarer than by default, because a change spreads over more pages than a bare update; a WAL that a long reader let grow
 * is cut back to 64 MiB. The cache of 16 MB holds the inner pages of large stores.
 */
const SETTINGS = `
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA journal_size_limit = ${64 * 1024 * 1024};
  PRAGMA cache_size = -16000;
`

export interface OpenedDatabase extends OpenedFile {
  readonly db: DatabaseSync
  /** `immutable`: reads a file that cannot be locked as it was when opened. */
  readonly mode: 'read-write' | 'read-only' | 'immutable'
}

/** The SQLite in this Node, as `major.minor.patch`. */
export function sqliteVersion(): string {
  const db = new (loadSqlite().DatabaseSync)(':memory:')
  try {
    return String(db.prepare('SELECT sqlite_version() AS version').get()?.version)
  } finally {
    db.close()
  }
}

/** Opens a store that may not exist yet: then `undefined`, and nothing is created. */
export function openExisting(path: string, version: string, purpose: 'read' | 'write'): OpenedDatabase | undefined {
  if (!isFile(path)) return undefined
  // An old SQLite must not even checkpoint.
  const opened = mayWriteWith(version) ? openShared(path, purpose) : openAs(path, 'read-only')
  return ready(opened, path) ? opened : undefined
}

/** Opens a store to write, creating folder, file and tables where they are missing, readable by nobody else. */
export function openOrCreate(path: string): OpenedDatabase {
  if (!isFile(path)) createFile(path)
  const opened = openAs(path, 'read-write')
  if (!ready(opened, path, 'create')) throw new BadAddress(`${path} could not be made a store`)
  return opened
}

/** Whether it is a store by now, migrated if it had to be; otherwise it is closed. */
function ready({ db, mode, identity }: OpenedDatabase, path: string, purpose?: 'create'): boolean {
  try {
    const state = schemaState(db, path)
    if (state === 'empty' ? purpose === 'create' : state === 'older' && mode === 'read-write') createOrMigrate(db, path)
    const isReady = schemaState(db, path) !== 'empty'
    if (isReady && mode === 'read-write') db.exec(SETTINGS)
    // Database and WAL are opened one after the other, both by name: they may be those of different files.
    if (databaseIdentityOf(path) !== identity) throw new Replaced()
    if (!isReady) db.close()
    return isReady
  } catch (error) {
    db.close()
    throw error
  }
}

/** For reading: beside writers where the file can be shared, as it stands where nothing can be written beside it. */
function openShared(path: string, purpose: 'read' | 'write'): OpenedDatabase {
  const opened = openAs(path, 'read-write')
  try {
    opened.db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return opened
  } catch (error) {
    opened.db.close()
    const withoutIndex = cannotShare(error) || (purpose === 'read' && isIndexFull(error))
    if (!withoutIndex || hasContent(`${opened.realPath}-wal`)) throw error
    return openAs(path, 'immutable')
  }
}

/** In a folder without write rights the index of the WAL cannot be made: CANTOPEN or READONLY. */
function cannotShare(error: unknown): boolean {
  const code = (sqliteCode(error) ?? 0) & 0xff
  return code === 14 || code === 8
}

function openAs(path: string, mode: OpenedDatabase['mode']): OpenedDatabase {
  const { DatabaseSync } = loadSqlite()
  const identity = databaseIdentityOf(path)
  if (identity === '') throw new Replaced()
  const realPath = realpathSync(path)
  const location = pathToFileURL(realPath)
  if (mode === 'immutable') location.searchParams.set('immutable', '1')
  const db = new DatabaseSync(location, { timeout: BUSY_TIMEOUT_MS, readOnly: mode !== 'read-write' })
  return { db, mode, identity, realPath }
}

/** SQLite gives -wal and -shm the rights of the database file, so the file must have its own before it is opened. */
function createFile(path: string): void {
  createFolder(dirname(path))
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!isFile(path)) throw error
  }
}

function isFile(path: string): boolean {
  const stats = statusOf(path)
  if (stats?.isDirectory()) throw new BadAddress(`${path} is a folder`, { hint: 'Name a file: sqlite:PATH.' })
  return stats !== undefined
}

function hasContent(path: string): boolean {
  return (statusOf(path)?.size ?? 0) > 0
}

function statusOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

type SqliteModule = typeof import('node:sqlite')

let loaded: SqliteModule | undefined

/**
 * `node:sqlite`, loaded at the first use. Node 22 prints an ExperimentalWarning for it while it loads: that one warning
 * is dropped, every other one passes.
 */
export function loadSqlite(): SqliteModule {
  loaded ??= withoutSqliteWarning(() => process.getBuiltinModule('node:sqlite'))
  return loaded
}

/** Loading is synchronous, so nothing else runs while the function stands in for Node's. */
function withoutSqliteWarning<T>(load: () => T): T {
  const { emitWarning } = process
  const filtered = (...args: unknown[]): void => {
    if (!isSqliteWarning(args)) Reflect.apply(emitWarning, process, args)
  }
  process.emitWarning = filtered
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}

function isSqliteWarning([message, type]: unknown[]): boolean {
  return type === 'ExperimentalWarning' && /sqlite/i.test(String(message))
}

/**
 * Makes a folder and those above it that are missing, for their owner only, and has their names on the disk: SQLite
 * syncs what lies in the folder, but not that there is one. One after the other: `recursive` never ends where a file
 * system takes no folders at all, as /proc does.
 */
function createFolder(path: string): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) createFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder(path)) throw error
  }
  try {
    syncFolder(parent)
  } catch (error) {
    // Who tries again must not take it for one that lasts.
    removeEmpty(path)
    throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Faults of the disk. Others say that folders cannot be synced here: by this user, or on this system at all. */
const FAULTS: readonly unknown[] = ['EIO', 'ENOSPC', 'EDQUOT']

function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  } catch (error) {
    if (FAULTS.includes(errorCode(error))) throw error
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // Another process uses it already.
  }
}

/** Which SQLite this process has, asked when it is first needed. */
export class SqliteVersion {
  #name: string | undefined

  /** @param name overrides `sqlite_version()`. For tests. */
  constructor(name: string | undefined) {
    this.#name = name
  }

  get name(): string {
    this.#name ??= sqliteVersion()
    return this.#name
  }

  /** @throws StoreIncompatible if it may only read */
  checkMayWrite(): void {
    if (mayWriteWith(this.name)) return
    throw new StoreIncompatible(`SQLite ${this.name} in this Node can damage a store that several programs write`, {
      hint: 'Use Node 22.22.3, 24.15, 26 or later. Reading works.',
    })
  }
}

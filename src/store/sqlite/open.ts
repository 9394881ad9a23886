import {
  type BigIntStats,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { errorCode } from '../../util/errors.ts'
import { createFolders } from '../../util/folders.ts'
import { BadAddress, StoreIncompatible, StoreUnreachable } from '../errors.ts'
import { BUSY_TIMEOUT_MS, type Connection } from './connection.ts'
import { isBusy, isIndexFull, sqliteCode } from './errors.ts'
import { createOrMigrate, mayWriteWith, schemaState } from './schema.ts'

/**
 * FULL: a reported commit survives a power cut; NORMAL loses some. Commits checkpoint beyond 16 MiB of WAL, less often than by
 * default, because a change spreads over more pages than a bare update; a WAL that a long reader let grow is truncated
 * to 64 MiB. The cache of 16 MB holds the inner pages of large stores.
 */
const SETTINGS = `
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 2000;
  PRAGMA journal_size_limit = ${64 * 1024 * 1024};
  PRAGMA cache_size = -16000;
`

export interface OpenedDatabase {
  readonly db: DatabaseSync
  /** `immutable`: reads a file that cannot be locked, in its state at opening. */
  readonly mode: 'read-write' | 'read-only' | 'immutable'
  /** Identity of the file at the path just before opening, see `databaseIdentity`: a later replacement is always noticed. */
  readonly identity: string
  /** The path without symbolic links: the WAL and its index are beside it. */
  readonly realPath: string
}

/** Opens an existing store; `undefined`, without creating anything, if there is none. */
export function openExisting(path: string, version: string, purpose: 'read' | 'write'): OpenedDatabase | undefined {
  if (!isFile(path)) return undefined
  // An old SQLite must not even checkpoint.
  const opened = mayWriteWith(version) ? openShared(path, purpose) : openAs(path, 'read-only')
  return ready(opened, path) ? opened : undefined
}

/** Opens a store for writing, and creates missing folders, file and tables, readable by the user only. */
export function openOrCreate(path: string): OpenedDatabase {
  if (!isFile(path)) createFile(path)
  const opened = openAs(path, 'read-write')
  if (!ready(opened, path, 'create')) throw new BadAddress(`${path} could not be made a store`)
  return opened
}

/** Whether the file is a store now, migrated if necessary; otherwise it is closed. */
function ready({ db, mode, identity }: OpenedDatabase, path: string, purpose?: 'create'): boolean {
  try {
    const state = schemaState(db, path)
    if (state === 'empty' ? purpose === 'create' : state === 'older' && mode === 'read-write') createOrMigrate(db, path)
    const isReady = schemaState(db, path) !== 'empty'
    if (isReady && mode === 'read-write') db.exec(SETTINGS)
    // Database and WAL are opened one after the other, by name: they may belong to different files.
    if (databaseIdentity(path) !== identity) throw new FileReplaced()
    if (!isReady) db.close()
    return isReady
  } catch (error) {
    db.close()
    throw error
  }
}

/** Opens for reading beside writers if the file can be shared, otherwise as an immutable file. */
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

/** In a folder without write permission the index of the WAL cannot be created: CANTOPEN or READONLY. */
function cannotShare(error: unknown): boolean {
  const code = (sqliteCode(error) ?? 0) & 0xff
  return code === 14 || code === 8
}

function openAs(path: string, mode: OpenedDatabase['mode']): OpenedDatabase {
  const { DatabaseSync } = loadSqlite()
  const identity = databaseIdentity(path)
  if (identity === '') throw new FileReplaced()
  const realPath = realpathSync(path)
  const location = pathToFileURL(realPath)
  if (mode === 'immutable') location.searchParams.set('immutable', '1')
  const db = new DatabaseSync(location, { timeout: BUSY_TIMEOUT_MS, readOnly: mode !== 'read-write' })
  return { db, mode, identity, realPath }
}

/** SQLite gives -wal and -shm the permissions of the database file, which are therefore set before it is opened. */
function createFile(path: string): void {
  createFolders(dirname(path), { mode: 0o700, onCreated: makeDurable })
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

/**
 * Syncs the parent of a new folder: SQLite syncs the files in the folder, but not the folder's own entry. A folder whose entry
 * could not be synced is removed: a retry must not take it for a durable one.
 */
function makeDurable(folder: string): void {
  try {
    syncFolder(dirname(folder))
  } catch (error) {
    removeEmpty(folder)
    throw error
  }
}

/** Faults of the disk. Other codes mean that folders cannot be synced by this user or on this system. */
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

/** Another file has replaced the database. Nothing was done with either file: retry. */
export class FileReplaced extends Error {
  constructor() {
    super('the file was replaced')
  }
}

/** Device and inode of the file at a path; '' if there is none. On Windows an open file cannot be replaced. */
function identityOf(path: string): string {
  return identity(preciseStatusOf(path))
}

/**
 * The identity of a database file.
 * @throws StoreIncompatible if it has a second name (hard link): SQLite derives the name of the WAL from it, so programs
 * with different names have different WALs, and each overwrites the other's commits
 */
function databaseIdentity(path: string): string {
  const stats = preciseStatusOf(path)
  requireOneName(path, stats)
  return identity(stats)
}

type PreciseStatus = BigIntStats | undefined

function preciseStatusOf(path: string): PreciseStatus {
  return statSync(path, { throwIfNoEntry: false, bigint: true })
}

function identity(stats: PreciseStatus): string {
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}`
}

function requireOneName(path: string, stats: PreciseStatus): void {
  if (stats === undefined || stats.nlink <= 1n) return
  throw new StoreIncompatible(
    `${path} has ${stats.nlink} names (hard links): programs that use different ones would lose each other's changes`,
    { hint: 'Remove all names but one: find / -xdev -samefile FILE lists them. A symbolic link is not a second name.' },
  )
}

/**
 * The files of an open database. SQLite does not notice when its file is replaced or deleted: it continues with the old one,
 * which no other program can reach any more.
 */
export class DatabaseFiles {
  readonly #path: string
  readonly #identity: string
  /** The WAL and its index: they keep the old name, and would be taken for those of the new file. */
  readonly #sidecars: readonly (readonly [path: string, identity: string])[]

  constructor(path: string, { identity, realPath }: OpenedDatabase) {
    this.#path = path
    this.#identity = identity
    this.#sidecars = [`${realPath}-wal`, `${realPath}-shm`].map(sidecar => [sidecar, identityOf(sidecar)])
  }

  /**
   * Whether another file, or none, has the name of the database now.
   * @throws StoreIncompatible if the file has got a second name
   */
  areReplaced(): boolean {
    const stats = preciseStatusOf(this.#path)
    if (identity(stats) !== this.#identity) return true
    requireOneName(this.#path, stats)
    return false
  }

  /**
   * Closes the connection after a replacement. First it moves all commits into the old file, which may have been moved rather
   * than deleted; then it removes the old WAL and index, unless others have replaced them. Other programs with the old file
   * open do so under the same lock, and an inode is not reused while its file is open: new files are never removed.
   * @throws StoreUnreachable if the WAL cannot be emptied: the new file must not be opened beside it
   */
  abandon(connection: Connection): void {
    try {
      connection.checkpoint()
      if (this.#oldSidecars().length > 0) connection.withWriteLock(() => this.#removeSidecars())
    } catch (error) {
      if (isBusy(error)) throw error
      if (this.#oldSidecars().length > 0) throw oldWal(this.#path, error)
    }
    connection.close()
  }

  #oldSidecars(): readonly string[] {
    const old = this.#sidecars.filter(([path, identity]) => identity !== '' && identityOf(path) === identity)
    return old.map(([path]) => path)
  }

  #removeSidecars(): void {
    const old = this.#oldSidecars()
    if (old.some(path => path.endsWith('-wal') && hasContent(path))) throw oldWal(this.#path)
    for (const path of old) rmSync(path, { force: true })
  }
}

function oldWal(path: string, cause?: unknown): StoreUnreachable {
  return new StoreUnreachable(`${path} was replaced while it was open, and ${path}-wal still belongs to the old file`, {
    cause,
    hint: 'Stop the programs that use it, and remove the -wal and -shm files beside it.',
  })
}

type SqliteModule = typeof import('node:sqlite')

let loaded: SqliteModule | undefined

/**
 * `node:sqlite`, loaded at the first use. Loading it prints an ExperimentalWarning on Node 22: this one warning is suppressed.
 */
export function loadSqlite(): SqliteModule {
  loaded ??= withoutSqliteWarning(() => process.getBuiltinModule('node:sqlite'))
  return loaded
}

/** Loading is synchronous, so no other code runs while `emitWarning` is replaced. */
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

let cachedVersion: string | undefined

/** The SQLite version of this Node, `major.minor.patch`. */
export function sqliteVersion(): string {
  if (cachedVersion !== undefined) return cachedVersion
  const db = new (loadSqlite().DatabaseSync)(':memory:')
  try {
    cachedVersion = String(db.prepare('SELECT sqlite_version() AS version').get()?.version)
    return cachedVersion
  } finally {
    db.close()
  }
}

/** @throws StoreIncompatible if this SQLite version may only read */
export function checkMayWrite(version: string): void {
  if (mayWriteWith(version)) return
  throw new StoreIncompatible(`SQLite ${version} in this Node can damage a store that several programs write`, {
    hint: 'Use Node 22.22.3, 24.15, 26 or later. Reading works.',
  })
}

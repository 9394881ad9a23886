import { closeSync, openSync, realpathSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { BadAddress } from '../errors.ts'
import { BUSY_TIMEOUT_MS } from './connection.ts'
import { isIndexFull, sqliteCode } from './errors.ts'
import { databaseIdentityOf, type OpenedFile, Replaced } from './file-identity.ts'
import { createFolder } from './folder.ts'
import { loadSqlite } from './load.ts'
import { createSchema, mayWriteWith, schemaState } from './schema.ts'

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
  if (!ready(opened, path, db => createSchema(db, path))) throw new BadAddress(`${path} could not be made a store`)
  return opened
}

/** Whether it is a store by now; otherwise it is closed. */
function ready({ db, mode, identity }: OpenedDatabase, path: string, create?: (db: DatabaseSync) => void): boolean {
  try {
    if (schemaState(db, path) === 'empty') create?.(db)
    const isReady = schemaState(db, path) === 'ready'
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

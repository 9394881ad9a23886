import type { DatabaseSync } from 'node:sqlite'
import { StoreDamaged, StoreIncompatible } from '../errors.ts'

/** `LsCt` in the header of the file: says that it is a store of leasectl. */
const APPLICATION_ID = 0x4c734374

/** In the header as `user_version`. A release that changes the tables raises it and migrates those of the version before. */
const SCHEMA_VERSION = 2

/** Earlier versions can corrupt a WAL that two processes write and checkpoint (sqlite.org/wal.html, "WAL-reset bug"). */
const OLDEST_WRITER = [3, 51, 3] as const

/**
 * The columns of `streams`, in the order in which a row is read; a listing leaves out the last. What SQL never asks for is
 * JSON: the holder of the lease, and the summary without `due_ms` and `version`.
 */
const COLUMNS = {
  name: 'TEXT NOT NULL PRIMARY KEY',
  etag: 'TEXT NOT NULL',
  size: 'INTEGER NOT NULL',
  modified_ms: 'INTEGER NOT NULL',
  lease_id: 'TEXT',
  lease_duration_s: 'INTEGER',
  lease_until_ms: 'INTEGER',
  lease_break_at_ms: 'INTEGER',
  lease_holder: 'TEXT',
  due_ms: 'INTEGER',
  version: 'INTEGER NOT NULL',
  summary: 'TEXT NOT NULL',
  body_id: 'INTEGER NOT NULL',
}

/**
 * `streams` is clustered by name and holds no bodies, so a listing reads neither bodies nor a second copy of its
 * columns. The due index is narrow: it changes only with the due time, and a page of it looks up only the rows shown.
 */
const STREAMS = `
  CREATE TABLE streams (${Object.entries(COLUMNS).map(column => column.join(' '))}) STRICT, WITHOUT ROWID;
  CREATE INDEX streams_due ON streams (due_ms, name) WHERE due_ms IS NOT NULL;
  PRAGMA user_version = ${SCHEMA_VERSION};
`

const TABLES = `
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  ${STREAMS}
`

/** Version 1 had a column for each field of the holder and the summary. Until its next change a stream is without summary: its document is read. */
const FROM_VERSION_1 = `
  DROP INDEX streams_due;
  ALTER TABLE streams RENAME TO streams_1;
  ${STREAMS}
  INSERT INTO streams SELECT
    name, etag, size, modified_ms, lease_id, lease_duration_s, lease_until_ms, lease_break_at_ms,
    iif(holder_by IS NULL, NULL, json_object('by', holder_by, 'host', holder_host, 'pid', holder_pid,
      'purpose', holder_purpose, 'sinceMs', holder_since_ms)),
    due_ms, version,
    'null',
    body_id
  FROM streams_1;
  DROP TABLE streams_1;
`

/** In one statement, so of one moment: another process may be creating the tables meanwhile. */
const STATE = `
  SELECT application_id AS application, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables
  FROM pragma_application_id, pragma_user_version
`

/** Whether this SQLite, `major.minor.patch`, may write a store without risk. */
export function mayWriteWith(version: string): boolean {
  const parts = version.split('.').map(Number)
  for (const [i, least] of OLDEST_WRITER.entries()) {
    const part = parts[i] ?? 0
    if (part !== least) return part > least
  }
  return true
}

/** `empty`: a file without any table, such as the one a creation that was interrupted left behind. `older`: to be migrated. */
export type SchemaState = 'empty' | 'older' | 'ready'

/**
 * What the file is.
 * @throws StoreDamaged if it belongs to another program
 * @throws StoreIncompatible if a newer leasectl wrote it
 */
export function schemaState(db: DatabaseSync, path: string): SchemaState {
  const { application, version, tables } = db.prepare(STATE).get() ?? {}
  if (application === APPLICATION_ID && Number(version) > 0) {
    if (Number(version) < SCHEMA_VERSION) return 'older'
    checkSchemaVersion(version, path)
    return 'ready'
  }
  if (application === 0 && version === 0 && tables === 0) return 'empty'
  throw new StoreDamaged(`${path} is a database, but not a store of leasectl`, {
    hint: 'Name another file with --store sqlite:PATH. This one is left as it is.',
  })
}

/** Throws `StoreIncompatible` for a version of the tables that this leasectl cannot use. */
export function checkSchemaVersion(version: unknown, path: string): void {
  if (version === SCHEMA_VERSION) return
  const tables = `(tables ${version}, known ${SCHEMA_VERSION})`
  if (Number(version) > SCHEMA_VERSION)
    throw new StoreIncompatible(`${path} was written by a newer leasectl ${tables}`, {
      hint: 'Use that leasectl, or a newer one.',
    })
  throw new StoreIncompatible(`${path} was written by an older leasectl ${tables} and cannot be migrated here`, {
    hint: 'Use it once where it may be written: that migrates it.',
  })
}

/**
 * Makes an empty file a store and migrates older tables, in one transaction. Safe against another process that does the
 * same. May end in BUSY: then again.
 */
export function createOrMigrate(db: DatabaseSync, path: string): void {
  // Readers beside a writer, and one sync per commit. Kept in the file.
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('BEGIN IMMEDIATE')
  try {
    const state = schemaState(db, path)
    if (state === 'empty') db.exec(TABLES)
    if (state === 'older') migrate(db)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function migrate(db: DatabaseSync): void {
  db.exec(FROM_VERSION_1)
}

const COLUMN_NAMES = Object.keys(COLUMNS)

/** Where a column is in a row of `SELECT_STREAM`, and of a listing. */
export const columnAt = (name: keyof typeof COLUMNS): number => COLUMN_NAMES.indexOf(name)

/** The columns a listing shows; none of them leads to a body. */
export const LISTED_COLUMNS = COLUMN_NAMES.filter(name => name !== 'body_id').join(', ')

export const SELECT_STREAM = `SELECT ${COLUMN_NAMES} FROM streams WHERE name = ?`
export const SELECT_WITH_BODY = `SELECT ${COLUMN_NAMES}, body FROM streams JOIN bodies ON id = body_id WHERE name = ?`

/** Those of a range of names that have or had a lease, with what tells whether it is held. */
export const SELECT_LEASED =
  'SELECT name, lease_id, lease_until_ms, lease_break_at_ms FROM streams ' +
  'WHERE name >= ? AND name <= ? AND lease_id IS NOT NULL'

export const SELECT_BODY = 'SELECT body FROM bodies WHERE id = ?'
export const INSERT_BODY = 'INSERT INTO bodies (body) VALUES (?)'
export const UPDATE_BODY = 'UPDATE bodies SET body = ? WHERE id = ?'
export const DELETE_BODY = 'DELETE FROM bodies WHERE id = ?'

/** What each write sets. Not the due time: a write that keeps it leaves its index alone. */
const WRITTEN = ['etag', 'size', 'modified_ms', 'version', 'summary'] as const
const LEASE = ['lease_id', 'lease_duration_s', 'lease_until_ms', 'lease_break_at_ms', 'lease_holder'] as const
const assigned = (columns: readonly (keyof typeof COLUMNS)[]): string => columns.map(name => `${name} = ?`).join(', ')

export const INSERT_STREAM = `INSERT INTO streams (${WRITTEN}, name, body_id, due_ms) VALUES (${WRITTEN.map(() => '?')}, ?, ?, ?)`
export const UPDATE_STREAM = `UPDATE streams SET ${assigned(WRITTEN)} WHERE name = ?`
export const UPDATE_DUE = 'UPDATE streams SET due_ms = ? WHERE name = ?'
export const UPDATE_LEASE = `UPDATE streams SET ${assigned(LEASE)} WHERE name = ?`
export const DELETE_STREAM = 'DELETE FROM streams WHERE name = ?'

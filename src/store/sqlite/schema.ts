import type { DatabaseSync } from 'node:sqlite'
import { StoreDamaged, StoreIncompatible } from '../errors.ts'

/** `LsCt` in the header of the file: says that it is a store of leasectl. */
const APPLICATION_ID = 0x4c734374

/** In the header as `user_version`. A release that changes the tables raises it. */
const SCHEMA_VERSION = 1

/** Earlier versions can corrupt a WAL that two processes write and checkpoint (sqlite.org/wal.html, "WAL-reset bug"). */
const OLDEST_WRITER = [3, 51, 3] as const

/**
 * `streams` is clustered by name and holds no bodies, so a listing reads neither bodies nor a second copy of its
 * columns. The due index is narrow: it changes only with the due time, and a page of it looks up only the rows shown.
 */
const TABLES = `
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
  CREATE TABLE streams (
    name TEXT NOT NULL PRIMARY KEY,
    body_id INTEGER NOT NULL,
    etag TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified_ms INTEGER NOT NULL,
    lease_id TEXT,
    lease_duration_s INTEGER,
    lease_until_ms INTEGER,
    lease_break_at_ms INTEGER,
    holder_by TEXT,
    holder_host TEXT,
    holder_pid INTEGER,
    holder_purpose TEXT,
    holder_since_ms INTEGER,
    due_ms INTEGER,
    version INTEGER NOT NULL,
    born TEXT NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT NOT NULL,
    last_by TEXT NOT NULL,
    root TEXT NOT NULL,
    created_ms INTEGER,
    key TEXT NOT NULL,
    topic TEXT NOT NULL,
    tag TEXT NOT NULL,
    tracking_id TEXT NOT NULL,
    failed_at_ms INTEGER,
    failed_id TEXT NOT NULL,
    failure TEXT NOT NULL,
    open INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    total INTEGER NOT NULL,
    waiting_on TEXT NOT NULL,
    ready TEXT NOT NULL,
    claim_end_ms INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX streams_due ON streams (due_ms, name) WHERE due_ms IS NOT NULL;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
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

/** `empty`: a file without any table, such as the one a creation that was interrupted left behind. */
export type SchemaState = 'empty' | 'ready'

/**
 * What the file is.
 * @throws StoreDamaged if it belongs to another program
 * @throws StoreIncompatible if a newer leasectl wrote it
 */
export function schemaState(db: DatabaseSync, path: string): SchemaState {
  const { application, version, tables } = db.prepare(STATE).get() ?? {}
  if (application === APPLICATION_ID && Number(version) > 0) {
    checkSchemaVersion(version, path)
    return 'ready'
  }
  if (application === 0 && version === 0 && tables === 0) return 'empty'
  throw new StoreDamaged(`${path} is a database, but not a store of leasectl`, {
    hint: 'Name another file with --store sqlite:PATH. This one is left as it is.',
  })
}

/** Throws `StoreIncompatible` for a version of the tables that this leasectl does not know. */
export function checkSchemaVersion(version: unknown, path: string): void {
  if (version === SCHEMA_VERSION) return
  throw new StoreIncompatible(`${path} was written by a newer leasectl (tables ${version}, known ${SCHEMA_VERSION})`, {
    hint: 'Use that leasectl, or a newer one.',
  })
}

/** Makes an empty file a store. Safe against another process that does the same. May end in BUSY: then again. */
export function createSchema(db: DatabaseSync, path: string): void {
  // Readers beside a writer, and one sync per commit. Kept in the file.
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('BEGIN IMMEDIATE')
  try {
    if (schemaState(db, path) === 'empty') db.exec(TABLES)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

const SUMMARY_COLUMNS =
  'due_ms, version, born, status, outcome, last_by, root, created_ms, key, topic, tag, tracking_id, failed_at_ms, ' +
  'failed_id, failure, open, failed, total, waiting_on, ready, claim_end_ms'

const LEASE_COLUMNS =
  'lease_id, lease_duration_s, lease_until_ms, lease_break_at_ms, ' +
  'holder_by, holder_host, holder_pid, holder_purpose, holder_since_ms'

/** The columns a listing shows; none of them is a body. */
export const LISTED_COLUMNS = `name, etag, size, modified_ms, ${LEASE_COLUMNS}, ${SUMMARY_COLUMNS}`

export const SELECT_STORED = `SELECT ${LISTED_COLUMNS}, body_id, body FROM streams JOIN bodies ON bodies.id = body_id WHERE name = ?`

/** What a change asks of its stream itself; the rest only where it wants to know. */
export const SELECT_GATE = `SELECT etag, body_id, due_ms, version, modified_ms, last_by, ${LEASE_COLUMNS} FROM streams WHERE name = ?`

/** For operations that need no body. */
export const SELECT_LISTED = `SELECT ${LISTED_COLUMNS}, body_id FROM streams WHERE name = ?`

/** Those of a range of names that have or had a lease, with what tells whether it is held. */
export const SELECT_LEASED =
  'SELECT name, lease_id, lease_until_ms, lease_break_at_ms FROM streams ' +
  'WHERE name >= ? AND name <= ? AND lease_id IS NOT NULL'

export const INSERT_BODY = 'INSERT INTO bodies (body) VALUES (?)'
export const UPDATE_BODY = 'UPDATE bodies SET body = ? WHERE id = ?'
export const DELETE_BODY = 'DELETE FROM bodies WHERE id = ?'

export const INSERT_STREAM =
  `INSERT INTO streams (name, body_id, etag, size, modified_ms, ${SUMMARY_COLUMNS}) ` +
  `VALUES (?, ?, ?, ?, ?${', ?'.repeat(21)})`

/** The due time leads the columns of a summary so that a write which keeps it can leave it, and its index, alone. */
const KEEPING_DUE = SUMMARY_COLUMNS.slice(SUMMARY_COLUMNS.indexOf(' ') + 1)
const assigned = (columns: string): string => columns.replaceAll(/\w+/g, '$& = ?')
export const UPDATE_STREAM = `UPDATE streams SET etag = ?, size = ?, modified_ms = ?, ${assigned(KEEPING_DUE)} WHERE name = ?`
export const UPDATE_DUE = 'UPDATE streams SET due_ms = ? WHERE name = ?'
export const UPDATE_LEASE = `UPDATE streams SET ${assigned(LEASE_COLUMNS)} WHERE name = ?`
export const DELETE_STREAM = 'DELETE FROM streams WHERE name = ?'

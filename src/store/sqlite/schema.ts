import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { isHeld, leaseStateAt, NO_LEASE } from '../../stream/lease.ts'
import type { Summary } from '../../stream/summary.ts'
import { StoreDamaged, StoreIncompatible } from '../errors.ts'
import { type KeptLease, type LeasedStream, leaseView } from '../local-lease.ts'
import { isStoredName } from '../names.ts'
import type { Holder, StreamRow, StreamSnapshot } from '../store.ts'

/** `LsCt` in the header of the file: marks it as a store of leasectl. */
const APPLICATION_ID = 0x4c734374

/** `user_version` in the header. A release that changes the tables increments it and migrates the version before. */
const SCHEMA_VERSION = 3

/** Earlier versions can corrupt a WAL that two processes write and checkpoint (sqlite.org/wal.html, "WAL-reset bug"). */
const OLDEST_WRITER = [3, 51, 3] as const

/**
 * The columns of `streams` in the order of a row; a listing leaves out the last. Data that no SQL statement needs is JSON: the
 * holder of the lease, and the summary without `due_ms` and `version`.
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
 * `streams` is clustered by name and holds no bodies, so a listing reads neither bodies nor a second copy of its columns. The
 * due index is narrow: it changes only with the due time, and a page by due time looks up only the rows it returns.
 */
const STREAMS = `
  CREATE TABLE streams (${Object.entries(COLUMNS).map(column => column.join(' '))}) STRICT, WITHOUT ROWID;
  CREATE INDEX streams_due ON streams (due_ms, name) WHERE due_ms IS NOT NULL;
`

/** Blocks of lines, see `block-log.ts`. An id is never used again: readers keep it as a position. */
const BLOCKS = `
  CREATE TABLE blocks (id INTEGER PRIMARY KEY AUTOINCREMENT, log TEXT NOT NULL, lines BLOB NOT NULL) STRICT;
  CREATE INDEX blocks_log ON blocks (log);
`

const TABLES = `
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  ${STREAMS}
  ${BLOCKS}
  PRAGMA user_version = ${SCHEMA_VERSION};
`

/** Version 1 had a column for each field of the holder and the summary. Its summaries are dropped: until the next change of a stream its document is read. */
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

/** One statement, so one consistent state: another process may be creating the tables at the same time. */
const STATE = `
  SELECT application_id AS application, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables
  FROM pragma_application_id, pragma_user_version
`

/** Whether this SQLite version, `major.minor.patch`, can write a store safely. */
export function mayWriteWith(version: string): boolean {
  const parts = version.split('.').map(Number)
  for (const [i, least] of OLDEST_WRITER.entries()) {
    const part = parts[i] ?? 0
    if (part !== least) return part > least
  }
  return true
}

/** `empty`: a file without tables, such as an interrupted creation leaves behind. `older`: must be migrated. */
export type SchemaState = 'empty' | 'older' | 'ready'

/**
 * The state of the file's schema.
 * @throws StoreDamaged if the file belongs to another program
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
    hint: 'Name another file with --store sqlite:PATH. This file is left unchanged.',
  })
}

/** @throws StoreIncompatible if this leasectl cannot use the version of the tables */
export function checkSchemaVersion(version: unknown, path: string): void {
  if (version === SCHEMA_VERSION) return
  const tables = `(tables ${version}, known ${SCHEMA_VERSION})`
  if (Number(version) > SCHEMA_VERSION)
    throw new StoreIncompatible(`${path} was written by a newer leasectl ${tables}`, {
      hint: 'Use that leasectl, or a newer one.',
    })
  throw new StoreIncompatible(`${path} was written by an older leasectl ${tables} and cannot be migrated here`, {
    hint: 'Use it once with permission to write: that migrates it.',
  })
}

/**
 * Creates the tables in an empty file, or migrates older tables, in one transaction. Safe against another process doing the
 * same. It may fail with BUSY; then retry.
 */
export function createOrMigrate(db: DatabaseSync, path: string): void {
  // Both stay in the file. Pages of 8 KiB take several documents each; WAL allows readers beside a writer, and one sync per commit.
  db.exec('PRAGMA page_size = 8192; PRAGMA journal_mode = WAL')
  db.exec('BEGIN IMMEDIATE')
  try {
    const state = schemaState(db, path)
    if (state === 'empty') db.exec(TABLES)
    if (state === 'older') migrate(db, Number(db.prepare('PRAGMA user_version').get()?.user_version))
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function migrate(db: DatabaseSync, version: number): void {
  if (version === 1) db.exec(FROM_VERSION_1)
  // Version 2 had no blocks.
  db.exec(`${BLOCKS} PRAGMA user_version = ${SCHEMA_VERSION};`)
}

const COLUMN_NAMES = Object.keys(COLUMNS)

/** The columns of a listing; they do not lead to a body. */
export const LISTED_COLUMNS = COLUMN_NAMES.filter(name => name !== 'body_id').join(', ')

export const SELECT_STREAM = `SELECT ${COLUMN_NAMES} FROM streams WHERE name = ?`
export const SELECT_WITH_BODY = `SELECT ${COLUMN_NAMES}, body FROM streams JOIN bodies ON id = body_id WHERE name = ?`

/** The streams in a range of names that have or had a lease, with the columns that `isLeasedRow` needs. */
export const SELECT_LEASED =
  'SELECT name, lease_id, lease_until_ms, lease_break_at_ms FROM streams ' +
  'WHERE name >= ? AND name <= ? AND lease_id IS NOT NULL'

export const SELECT_BODY = 'SELECT body FROM bodies WHERE id = ?'
export const INSERT_BODY = 'INSERT INTO bodies (body) VALUES (?)'
export const UPDATE_BODY = 'UPDATE bodies SET body = ? WHERE id = ?'
export const DELETE_BODY = 'DELETE FROM bodies WHERE id = ?'

/** The columns that every write sets. Without the due time: a write that keeps it does not touch its index. */
const WRITTEN = ['etag', 'size', 'modified_ms', 'version', 'summary'] as const
const LEASE = ['lease_id', 'lease_duration_s', 'lease_until_ms', 'lease_break_at_ms', 'lease_holder'] as const
const assigned = (columns: readonly (keyof typeof COLUMNS)[]): string => columns.map(name => `${name} = ?`).join(', ')

export const INSERT_STREAM = `INSERT INTO streams (${WRITTEN}, name, body_id, due_ms) VALUES (${WRITTEN.map(() => '?')}, ?, ?, ?)`
export const UPDATE_STREAM = `UPDATE streams SET ${assigned(WRITTEN)} WHERE name = ?`
export const UPDATE_DUE = 'UPDATE streams SET due_ms = ? WHERE name = ?'
export const UPDATE_LEASE = `UPDATE streams SET ${assigned(LEASE)} WHERE name = ?`
export const DELETE_STREAM = 'DELETE FROM streams WHERE name = ?'

/** A row as an array in the order of its columns: the fastest form that `node:sqlite` returns. */
export type SqliteRow = readonly SQLOutputValue[]

const columnAt = (name: keyof typeof COLUMNS): number => COLUMN_NAMES.indexOf(name)

// Rows are not destructured: a listing takes thousands apart in its first milliseconds, when that is slow.
const NAME_AT = columnAt('name')
const ETAG_AT = columnAt('etag')
const SIZE_AT = columnAt('size')
const MODIFIED_AT = columnAt('modified_ms')
const LEASE_AT = columnAt('lease_id')
const DUE_AT = columnAt('due_ms')
const VERSION_AT = columnAt('version')
const SUMMARY_AT = columnAt('summary')
const BODY_ID_AT = columnAt('body_id')
/** In `SELECT_WITH_BODY`. */
const BODY_AT = BODY_ID_AT + 1

/** From the columns of a listing. A name that is not valid for a stream gets no summary: reading it reports the reason. */
export function listedOf(row: SqliteRow, nowMs: number): StreamRow {
  const listed: Mutable<StreamRow> = {
    name: text(row[NAME_AT]),
    etag: text(row[ETAG_AT]),
    size: whole(row[SIZE_AT]),
    modifiedMs: whole(row[MODIFIED_AT]),
    lease: leaseView(leaseOf(row), nowMs),
  }
  const summary = isStoredName(listed.name) ? summaryOf(row) : undefined
  if (summary !== undefined) listed.summary = summary
  return listed
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** The first deadline of the stream, epoch ms. */
export function dueOf(row: SqliteRow): number | undefined {
  return optional(row[DUE_AT])
}

/** From the columns of `SELECT_WITH_BODY`. */
export function snapshotOf(row: SqliteRow, nowMs: number): StreamSnapshot {
  return { ...listedOf(row, nowMs), body: bodyOf(row[BODY_AT]), versionFloor: whole(row[VERSION_AT]) }
}

export function bodyOf(value: SQLOutputValue | undefined): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}

/** Whether a lease is held now, from its columns in `SELECT_LEASED`. */
export function isLeasedRow([id, untilMs, breakAtMs]: SqliteRow, nowMs: number): boolean {
  if (typeof id !== 'string') return false
  const record = { id, durationS: 0, untilMs: optional(untilMs), breakAtMs: optional(breakAtMs) }
  return isHeld({ state: leaseStateAt(record, nowMs) })
}

/** The fields of a stream that writes and lease operations need. */
export interface KeptStream extends LeasedStream {
  readonly bodyId: number
  readonly dueMs: number | undefined
  readonly version: number
  readonly modifiedMs: number
}

/** From the columns of `SELECT_STREAM`. */
export function keptOf(row: SqliteRow): KeptStream {
  return {
    etag: text(row[ETAG_AT]),
    lease: leaseOf(row),
    get lastBy() {
      return summaryOf(row)?.lastBy ?? ''
    },
    dueMs: dueOf(row),
    version: whole(row[VERSION_AT]),
    modifiedMs: whole(row[MODIFIED_AT]),
    bodyId: whole(row[BODY_ID_AT]),
  }
}

/** Values for the columns of `LEASE`. */
export function leaseValues({ record, holder }: KeptLease): SQLInputValue[] {
  if (record.id === '') return [null, null, null, null, null]
  const { id, durationS, untilMs, breakAtMs } = record
  return [id, durationS, instant(untilMs), instant(breakAtMs), holder === undefined ? null : JSON.stringify(holder)]
}

/** Values for the columns of `WRITTEN`. The JSON leaves out the fields that have their own columns. */
export function writtenValues(etag: string, body: Uint8Array, summary: Summary, nowMs: number): SQLInputValue[] {
  const { version, dueMs, ...rest } = summary
  return [etag, body.length, instant(nowMs), version, JSON.stringify(rest)]
}

/** An INTEGER column of a strict table accepts whole numbers only. */
export function instant(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms)
}

const FREE: KeptLease = { record: NO_LEASE, holder: undefined }

export function leaseOf(row: SqliteRow): KeptLease {
  const id = row[LEASE_AT]
  if (typeof id !== 'string') return FREE
  const [durationS, untilMs, breakAtMs, holder] = row.slice(LEASE_AT + 1)
  const record = { id, durationS: whole(durationS), untilMs: optional(untilMs), breakAtMs: optional(breakAtMs) }
  return { record, holder: parsed<Holder>(holder) }
}

/** `undefined` if the summary is not readable: callers then read the document. */
function summaryOf(row: SqliteRow): Summary | undefined {
  const kept = parsed<Mutable<Summary>>(row[SUMMARY_AT])
  // Earlier versions did not write `running`.
  if (!Array.isArray(kept?.running)) return undefined
  // JSON drops fields that are `undefined`, and earlier versions did not write the last three. The parsed object itself is
  // completed: a copy of its thirty fields takes a third as long as parsing them.
  kept.createdMs ??= undefined
  kept.failedAtMs ??= undefined
  kept.ackMs ??= undefined
  kept.claimEndMs ??= undefined
  kept.readySinceMs ??= undefined
  kept.wakeMs ??= undefined
  kept.suspendedMs ??= undefined
  kept.gated ??= []
  kept.suspendedBy ??= ''
  kept.suspendedWhy ??= ''
  kept.version = whole(row[VERSION_AT])
  kept.dueMs = dueOf(row)
  return kept
}

/** JSON that this driver wrote; `undefined` for NULL and for anything that another program put there. */
function parsed<T extends object>(json: SQLOutputValue | undefined): T | undefined {
  try {
    const value = typeof json === 'string' ? JSON.parse(json) : undefined
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function text(value: SQLOutputValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function whole(value: SQLOutputValue | undefined): number {
  return typeof value === 'number' ? value : 0
}

function optional(value: SQLOutputValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { isHeld, leaseStateAt, NO_LEASE } from '../../stream/lease.ts'
import type { Summary } from '../../stream/summary.ts'
import { type KeptLease, type LeasedStream, leaseView } from '../local-lease.ts'
import { isStoredName } from '../names.ts'
import type { Holder, StreamRow, StreamSnapshot } from '../store.ts'
import { columnAt } from './schema.ts'

/** A row as an array, in the order of its column list: the cheapest form in which `node:sqlite` gives it. */
export type SqliteRow = readonly SQLOutputValue[]

const DUE_AT = columnAt('due_ms')
const VERSION_AT = columnAt('version')
const SUMMARY_AT = columnAt('summary')
const BODY_ID_AT = columnAt('body_id')
/** In `SELECT_WITH_BODY`. */
const BODY_AT = BODY_ID_AT + 1

/** By the columns of a listing. A name that no stream can have comes without a summary: whoever reads it learns why. */
export function listedOf(row: SqliteRow, nowMs: number): StreamRow {
  const [name, etag, size, modifiedMs] = row
  const listed = {
    name: text(name),
    etag: text(etag),
    size: whole(size),
    modifiedMs: whole(modifiedMs),
    lease: leaseView(leaseOf(row), nowMs),
  }
  const summary = isStoredName(listed.name) ? summaryOf(row) : undefined
  return summary === undefined ? listed : { ...listed, summary }
}

/** When the first limit of the stream ends, epoch ms. */
export function dueOf(row: SqliteRow): number | undefined {
  return optional(row[DUE_AT])
}

/** By the columns of `SELECT_WITH_BODY`. */
export function storedOf(row: SqliteRow, nowMs: number): StreamSnapshot {
  return { ...listedOf(row, nowMs), body: bodyOf(row[BODY_AT]), versionFloor: whole(row[VERSION_AT]) }
}

export function bodyOf(value: SQLOutputValue | undefined): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}

/** Whether a lease is held now, by its columns in `SELECT_LEASED`. */
export function isLeasedRow([id, untilMs, breakAtMs]: SqliteRow, nowMs: number): boolean {
  if (typeof id !== 'string') return false
  const record = { id, durationS: 0, untilMs: optional(untilMs), breakAtMs: optional(breakAtMs) }
  return isHeld({ state: leaseStateAt(record, nowMs) })
}

/** What a write or a lease operation asks of its stream. */
export interface KeptStream extends LeasedStream {
  readonly bodyId: number
  readonly dueMs: number | undefined
  readonly version: number
  readonly modifiedMs: number
}

/** By the columns of `SELECT_STREAM`. */
export function keptOf(row: SqliteRow): KeptStream {
  return {
    etag: text(row[1]),
    lease: leaseOf(row),
    get lastBy() {
      return summaryOf(row)?.lastBy ?? ''
    },
    dueMs: dueOf(row),
    version: whole(row[VERSION_AT]),
    modifiedMs: whole(row[3]),
    bodyId: whole(row[BODY_ID_AT]),
  }
}

/** In the order of `LEASE`. */
export function leaseValues({ record, holder }: KeptLease): SQLInputValue[] {
  if (record.id === '') return [null, null, null, null, null]
  const { id, durationS, untilMs, breakAtMs } = record
  return [id, durationS, instant(untilMs), instant(breakAtMs), holder === undefined ? null : JSON.stringify(holder)]
}

/** In the order of `WRITTEN`. What has a column of its own is not in the JSON. */
export function writtenValues(etag: string, body: Uint8Array, summary: Summary, nowMs: number): SQLInputValue[] {
  const { version, dueMs, ...rest } = summary
  return [etag, body.length, instant(nowMs), version, JSON.stringify(rest)]
}

/** An INTEGER column of a strict table takes whole numbers only. */
export function instant(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms)
}

const FREE: KeptLease = { record: NO_LEASE, holder: undefined }

function leaseOf(row: SqliteRow): KeptLease {
  const [, , , , id, durationS, untilMs, breakAtMs, holder] = row
  if (typeof id !== 'string') return FREE
  const record = { id, durationS: whole(durationS), untilMs: optional(untilMs), breakAtMs: optional(breakAtMs) }
  return { record, holder: parsed<Holder>(holder) }
}

/** The fields that JSON leaves out where they are `undefined`. */
const NO_TIMES = { createdMs: undefined, failedAtMs: undefined, ackMs: undefined, claimEndMs: undefined }

/** Without one that can be read, whoever wants to know reads the document. */
function summaryOf(row: SqliteRow): Summary | undefined {
  const rest = parsed<Omit<Summary, 'dueMs' | 'version'>>(row[SUMMARY_AT])
  // An earlier version wrote no `running`.
  if (!Array.isArray(rest?.running)) return undefined
  return { ...NO_TIMES, ...rest, version: whole(row[VERSION_AT]), dueMs: dueOf(row) }
}

/** JSON that this driver wrote; `undefined` where there is none, or what a stranger put there. */
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

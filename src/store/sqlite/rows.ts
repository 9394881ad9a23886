import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { isHeld, leaseStateAt, NO_LEASE } from '../../stream/lease.ts'
import type { Summary } from '../../stream/summary.ts'
import { type KeptLease, type LeasedStream, leaseView } from '../local-lease.ts'
import { isStoredName } from '../names.ts'
import type { Holder, Listed, Stored } from '../store.ts'

/** A row as an array, in the order of its column list: the cheapest form in which `node:sqlite` gives it. */
export type Row = readonly SQLOutputValue[]

// Where the parts of a row begin, in the order of `SELECT_STORED`.
const LEASE_AT = 4
const SUMMARY_AT = 13
const BODY_ID_AT = 34
const BODY_AT = 35
// And in that of `SELECT_GATE`.
const GATE_LEASE_AT = 6

/** What no stream can be called has no summary: whoever reads it learns why. */
export function listedOf(row: Row, nowMs: number): Listed {
  const name = text(row[0])
  return {
    name,
    etag: text(row[1]),
    size: whole(row[2]),
    modifiedMs: whole(row[3]),
    lease: leaseView(leaseOf(row, LEASE_AT), nowMs),
    ...(isStoredName(name) ? { summary: summaryOf(row) } : {}),
  }
}

/** When the first limit of the stream ends, epoch ms. */
export function dueOf(row: Row): number | undefined {
  return optional(row[SUMMARY_AT])
}

export function storedOf(row: Row, nowMs: number): Stored {
  const body = row[BODY_AT]
  const listed = listedOf(row, nowMs)
  return {
    ...listed,
    body: body instanceof Uint8Array ? body : new Uint8Array(0),
    versionFloor: listed.summary?.version ?? 0,
  }
}

/** Whether a lease is held now, by its columns in `SELECT_LEASED`. */
export function isLeasedRow([id, untilMs, breakAtMs]: Row, nowMs: number): boolean {
  if (typeof id !== 'string') return false
  const record = { id, durationS: 0, untilMs: optional(untilMs), breakAtMs: optional(breakAtMs) }
  return isHeld({ state: leaseStateAt(record, nowMs) })
}

export function leasedOf(row: Row): LeasedStream {
  return { etag: text(row[1]), lease: leaseOf(row, LEASE_AT), lastBy: text(row[SUMMARY_AT + 5]) }
}

/** What a change asks of its stream itself. */
export interface Gate extends LeasedStream {
  readonly bodyId: number
  readonly dueMs: number | undefined
  readonly version: number
  readonly modifiedMs: number
}

/** By the columns of `SELECT_GATE`. */
export function gateOf(row: Row): Gate {
  return {
    etag: text(row[0]),
    bodyId: whole(row[1]),
    dueMs: optional(row[2]),
    version: whole(row[3]),
    modifiedMs: whole(row[4]),
    lastBy: text(row[5]),
    lease: leaseOf(row, GATE_LEASE_AT),
  }
}

export function bodyIdOf(row: Row): number {
  return whole(row[BODY_ID_AT])
}

/** In the order of `LEASE_COLUMNS`. */
export function leaseValues({ record, holder }: KeptLease): SQLInputValue[] {
  if (record.id === '') return Array.from({ length: SUMMARY_AT - LEASE_AT }, () => null)
  return [
    record.id,
    record.durationS,
    instant(record.untilMs),
    instant(record.breakAtMs),
    holder?.by ?? null,
    holder?.host ?? null,
    holder?.pid ?? null,
    holder?.purpose ?? null,
    instant(holder?.sinceMs),
  ]
}

/** In the order of `SUMMARY_COLUMNS` without the due time. */
export function summaryValues(summary: Summary): SQLInputValue[] {
  return [
    summary.version,
    summary.born,
    summary.status,
    summary.outcome,
    summary.lastBy,
    summary.root,
    instant(summary.createdMs),
    summary.key,
    summary.topic,
    summary.tag,
    summary.trackingId,
    instant(summary.failedAtMs),
    summary.failedId,
    summary.failure,
    summary.open,
    summary.failed,
    summary.total,
    summary.waitingOn.join('\n'),
    summary.ready.join('\n'),
    instant(summary.claimEndMs),
  ]
}

/** An INTEGER column of a strict table takes whole numbers only. */
export function instant(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms)
}

const FREE: KeptLease = { record: NO_LEASE, holder: undefined }

function leaseOf(row: Row, at: number): KeptLease {
  const id = row[at]
  if (typeof id !== 'string') return FREE
  const record = {
    id,
    durationS: whole(row[at + 1]),
    untilMs: optional(row[at + 2]),
    breakAtMs: optional(row[at + 3]),
  }
  return { record, holder: holderOf(row.slice(at + 4)) }
}

function holderOf([by, host, pid, purpose, sinceMs]: Row): Holder | undefined {
  if (typeof by !== 'string') return undefined
  return { by, host: text(host), pid: whole(pid), purpose: text(purpose), sinceMs: whole(sinceMs) }
}

function summaryOf(row: Row): Summary {
  const at = SUMMARY_AT
  return {
    version: whole(row[at + 1]),
    born: text(row[at + 2]),
    status: text(row[at + 3]),
    outcome: row[at + 4] === 'errors' ? 'errors' : '',
    lastBy: text(row[at + 5]),
    root: text(row[at + 6]),
    createdMs: optional(row[at + 7]),
    key: text(row[at + 8]),
    topic: text(row[at + 9]),
    tag: text(row[at + 10]),
    trackingId: text(row[at + 11]),
    failedAtMs: optional(row[at + 12]),
    failedId: text(row[at + 13]),
    failure: text(row[at + 14]),
    open: whole(row[at + 15]),
    failed: whole(row[at + 16]),
    total: whole(row[at + 17]),
    dueMs: optional(row[at]),
    waitingOn: items(row[at + 18]),
    ready: items(row[at + 19]),
    claimEndMs: optional(row[at + 20]),
  }
}

/** Ids and percent-encoded parts: no item has a line break, none is empty. */
function items(value: SQLOutputValue | undefined): readonly string[] {
  return typeof value === 'string' && value !== '' ? value.split('\n') : []
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

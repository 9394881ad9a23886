import { InvalidValue } from './errors.ts'
import { isFarAhead } from './time/dates.ts'

/**
 * The lease of one stream as a value, with the answers of Azure Blob to each lease and blob operation in each state
 * (https://learn.microsoft.com/rest/api/storageservices/lease-blob). The memory and SQLite drivers keep it.
 */
export interface LeaseRecord {
  /** `''` without a lease. Kept after the end until the next write or acquire, so that a late renew can succeed. */
  readonly id: string
  /** 15–60, or -1 for an infinite lease. */
  readonly durationS: number
  /** When a finite lease ends, epoch ms; `undefined` for an infinite one. */
  readonly untilMs: number | undefined
  /** When a broken lease ends, epoch ms; `undefined` for a lease that was not broken. */
  readonly breakAtMs: number | undefined
}

export type LeaseState = 'available' | 'leased' | 'breaking' | 'broken' | 'expired'

/** The service's error codes, in the `x-ms-error-code` header on Azure. */
export type LeaseErrorCode =
  | 'BlobAlreadyExists'
  | 'LeaseAlreadyPresent'
  | 'LeaseIdMismatchWithBlobOperation'
  | 'LeaseIdMismatchWithLeaseOperation'
  | 'LeaseIdMissing'
  | 'LeaseIsBreakingAndCannotBeAcquired'
  | 'LeaseIsBreakingAndCannotBeChanged'
  | 'LeaseIsBrokenAndCannotBeRenewed'
  | 'LeaseLost'
  | 'LeaseNotPresentWithBlobOperation'
  | 'LeaseNotPresentWithLeaseOperation'

export interface LeaseRefusal {
  readonly kind: 'refused'
  readonly code: LeaseErrorCode
}

/** The record after an operation that succeeded. */
export type LeaseAnswer = { readonly kind: 'ok'; readonly record: LeaseRecord } | LeaseRefusal

/** No lease: the initial record, and the record after a write that follows the end of a lease. */
export const NO_LEASE: LeaseRecord = Object.freeze({ id: '', durationS: 0, untilMs: undefined, breakAtMs: undefined })

export function leaseStateAt(record: LeaseRecord, nowMs: number): LeaseState {
  if (record.id === '') return 'available'
  if (record.breakAtMs !== undefined) return isToCome(record.breakAtMs, nowMs) ? 'breaking' : 'broken'
  return record.untilMs === undefined || isToCome(record.untilMs, nowMs) ? 'leased' : 'expired'
}

/** A finite lease ends within a minute: an end far ahead comes from a wrong clock and is ignored. */
function isToCome(endMs: number, nowMs: number): boolean {
  return nowMs < endMs && !isFarAhead(endMs, nowMs)
}

/** Whether the lease excludes other writers. */
export function isHeld({ state }: { readonly state: LeaseState }): boolean {
  return state === 'leased' || state === 'breaking'
}

/**
 * Acquires the lease. A repetition with the holder's id restarts its duration.
 * @throws InvalidValue for an empty id and for a duration other than 15–60 s or -1
 */
export function acquire(record: LeaseRecord, leaseId: string, durationS: number, nowMs: number): LeaseAnswer {
  if (leaseId === '') throw new InvalidValue('a lease needs an id')
  if (durationS !== -1 && !(Number.isInteger(durationS) && durationS >= 15 && durationS <= 60)) {
    throw new InvalidValue(`a lease lasts 15 to 60 seconds or is infinite (-1), not ${durationS}`)
  }
  const state = leaseStateAt(record, nowMs)
  if (state === 'breaking') {
    return refused(isHolder(record, leaseId) ? 'LeaseIsBreakingAndCannotBeAcquired' : 'LeaseAlreadyPresent')
  }
  if (state === 'leased' && !isHolder(record, leaseId)) return refused('LeaseAlreadyPresent')
  return ok(running(leaseId, durationS, nowMs))
}

/** Restarts the lease with the same duration, also after its end if no write or acquire followed. */
export function renew(record: LeaseRecord, leaseId: string, nowMs: number): LeaseAnswer {
  if (!isHolder(record, leaseId)) return refused('LeaseIdMismatchWithLeaseOperation')
  if (record.breakAtMs !== undefined) return refused('LeaseIsBrokenAndCannotBeRenewed')
  return ok(running(record.id, record.durationS, nowMs))
}

/** Releases the lease in any state. */
export function release(record: LeaseRecord, leaseId: string): LeaseAnswer {
  return isHolder(record, leaseId) ? ok(NO_LEASE) : refused('LeaseIdMismatchWithLeaseOperation')
}

/** Replaces the id; the end stays. A repetition after a lost answer succeeds, as the proposed id then holds the lease. */
export function change(record: LeaseRecord, leaseId: string, proposedId: string, nowMs: number): LeaseAnswer {
  if (proposedId === '') throw new InvalidValue('a lease needs an id')
  const state = leaseStateAt(record, nowMs)
  if (!isHeld({ state })) return refused('LeaseNotPresentWithLeaseOperation')
  if (state === 'breaking' && isHolder(record, leaseId)) return refused('LeaseIsBreakingAndCannotBeChanged')
  if (state === 'breaking' || !(isHolder(record, leaseId) || isHolder(record, proposedId))) {
    return refused('LeaseIdMismatchWithLeaseOperation')
  }
  return ok({ ...record, id: proposedId })
}

/**
 * Ends the lease of another holder after `periodS` seconds or at its normal end, whichever is first; a second break can
 * only shorten it. Without a period a finite lease runs out and an infinite one ends at once. `remainingS`: whole
 * seconds, rounded up, until a new lease can be acquired.
 * @throws InvalidValue for a period other than 0–60 s
 */
export function breakLease(
  record: LeaseRecord,
  periodS: number | undefined,
  nowMs: number,
): { readonly kind: 'ok'; readonly record: LeaseRecord; readonly remainingS: number } | LeaseRefusal {
  if (periodS !== undefined && !(Number.isInteger(periodS) && periodS >= 0 && periodS <= 60)) {
    throw new InvalidValue(`a break period is 0 to 60 seconds, not ${periodS}`)
  }
  if (record.id === '') return refused('LeaseNotPresentWithLeaseOperation')
  const known = record.breakAtMs ?? record.untilMs
  const end = isFarAhead(known, nowMs) ? nowMs : known
  const wanted = periodS === undefined ? (end ?? nowMs) : nowMs + periodS * 1000
  const breakAtMs = end === undefined ? wanted : Math.min(end, wanted)
  const remainingS = Math.max(0, Math.ceil((breakAtMs - nowMs) / 1000))
  return { kind: 'ok', record: { ...record, breakAtMs }, remainingS }
}

/**
 * Whether a write or delete is allowed, with this lease id or without one.
 * @param record `undefined` for a blob that does not exist
 */
export function mayWrite(
  record: LeaseRecord | undefined,
  leaseId: string | undefined,
  nowMs: number,
): { readonly kind: 'ok' } | LeaseRefusal {
  const state = record === undefined ? 'available' : leaseStateAt(record, nowMs)
  const locked = state === 'leased' || state === 'breaking'
  if (leaseId === undefined) return locked ? refused('LeaseIdMissing') : { kind: 'ok' }
  const holds = record !== undefined && isHolder(record, leaseId)
  if (locked) return holds ? { kind: 'ok' } : refused('LeaseIdMismatchWithBlobOperation')
  return refused(holds && state === 'expired' ? 'LeaseLost' : 'LeaseNotPresentWithBlobOperation')
}

/** The record after a write: kept while the lease runs, cleared when it has ended. */
export function afterWrite(record: LeaseRecord, leaseId: string | undefined, nowMs: number): LeaseAnswer {
  const answer = mayWrite(record, leaseId, nowMs)
  if (answer.kind === 'refused') return answer
  return ok(leaseId === undefined ? NO_LEASE : record)
}

/** Reading needs no lease; with an id, the read succeeds only while that id holds the lease. */
export function mayRead(
  record: LeaseRecord,
  leaseId: string | undefined,
  nowMs: number,
): { readonly kind: 'ok' } | LeaseRefusal {
  return leaseId === undefined ? { kind: 'ok' } : mayWrite(record, leaseId, nowMs)
}

/**
 * Whether a create that must not replace (`If-None-Match: *`) is allowed. @param record `undefined` for a blob that
 * does not exist
 */
export function mayCreate(record: LeaseRecord | undefined, nowMs: number): { readonly kind: 'ok' } | LeaseRefusal {
  if (record === undefined) return { kind: 'ok' }
  const answer = mayWrite(record, undefined, nowMs)
  return answer.kind === 'refused' ? answer : refused('BlobAlreadyExists')
}

function running(id: string, durationS: number, nowMs: number): LeaseRecord {
  return { id, durationS, untilMs: durationS === -1 ? undefined : nowMs + durationS * 1000, breakAtMs: undefined }
}

/** Lease ids are GUIDs: letter case does not matter. */
function isHolder(record: LeaseRecord, leaseId: string): boolean {
  return record.id !== '' && record.id.toLowerCase() === leaseId.toLowerCase()
}

function ok(record: LeaseRecord): LeaseAnswer {
  return { kind: 'ok', record }
}

function refused(code: LeaseErrorCode): LeaseRefusal {
  return { kind: 'refused', code }
}

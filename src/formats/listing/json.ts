import { isAcknowledged } from '../../ops/filter.ts'
import { gatedEvents, isAbandoned, runningClaims } from '../../ops/open-events.ts'
import type { SummarizedStream, Unreadable } from '../../ops/summaries.ts'
import { isSuspended, stateOfStream } from '../../stream/state.ts'
import type { Summary } from '../../stream/summary.ts'
import type { RunningEvent } from '../../stream/summary-items.ts'
import { waitsForJson } from '../gate.ts'
import { jsonTime, orNull } from '../json.ts'
import { leaseJson } from '../lease.ts'
import type { ListingChoice, ListingField } from './fields.ts'

/** A stream as one item of `ls -o json` and one line of `-o ndjson`; fields are only ever added. */
export function listingJson({ listed, summary, fault }: SummarizedStream, nowMs: number) {
  return {
    name: listed.name,
    status: orNull(summary?.status),
    state: summary === undefined ? null : orNull(stateOfStream(summary, nowMs)),
    suspended: suspendedJson(summary),
    version: summary?.version ?? null,
    root: orNull(summary?.root),
    created: jsonTime(summary?.createdMs),
    key: orNull(summary?.key),
    topic: orNull(summary?.topic),
    tag: orNull(summary?.tag),
    trackingId: orNull(summary?.trackingId),
    outcome: orNull(summary?.outcome),
    open: summary?.open ?? null,
    done: summary?.done ?? null,
    failed: summary?.failed ?? null,
    canceled: summary?.canceled ?? null,
    total: summary?.total ?? null,
    due: jsonTime(summary?.dueMs),
    waitingOn: summary?.waitingOn ?? [],
    wakes: jsonTime(summary?.wakeMs),
    waiting: gatedEvents(summary).map(({ id, name, waitsFor }) => ({ id, name, waitsFor: waitsForJson(waitsFor) })),
    readySince: jsonTime(summary?.readySinceMs),
    abandoned: summary === undefined ? null : isAbandoned(summary, nowMs),
    running: runningClaims(summary).map(claim => ({
      id: claim.id,
      ...claimJson(claim, nowMs, summary !== undefined && isSuspended(summary)),
    })),
    failedAt: jsonTime(summary?.failedAtMs),
    failedId: orNull(summary?.failedId),
    failedName: orNull(summary?.failedName),
    failure: orNull(summary?.failure),
    acknowledged: summary === undefined ? null : summary.failed > 0 && isAcknowledged(summary),
    lastBy: orNull(summary?.lastBy),
    lease: leaseJson(listed.lease),
    modified: jsonTime(listed.modifiedMs),
    error: errorJson(fault),
  } satisfies { readonly [Field in ListingField]?: unknown }
}

function suspendedJson(summary: Summary | undefined) {
  if (summary === undefined || !isSuspended(summary)) return null
  const { suspendedMs, suspendedBy, suspendedWhy } = summary
  return { at: jsonTime(suspendedMs), by: orNull(suspendedBy), why: orNull(suspendedWhy) }
}

/**
 * A claim without the id of its event; fields are only ever added.
 *
 * @param suspended its stream is: nobody can take it over
 */
export function claimJson(claim: RunningEvent, nowMs: number, suspended = false) {
  const { name, owner, attempt, sinceMs, lastSeenMs, claimEndMs } = claim
  return {
    name,
    owner: orNull(owner),
    attempt,
    since: jsonTime(sinceMs),
    lastSeen: jsonTime(lastSeenMs),
    until: jsonTime(claimEndMs),
    abandoned: !suspended && isAbandoned(claim, nowMs),
  }
}

/** The given fields only, in their order. An unreadable stream always gets its error. */
export function pickedJson(item: SummarizedStream, fields: readonly ListingChoice[], nowMs: number): object {
  const all: { readonly [Field in ListingField]?: unknown } = listingJson(item, nowMs)
  const picked = Object.fromEntries(fields.map(fieldOf).map(field => [field, all[field] ?? null]))
  return item.fault === undefined ? picked : { ...picked, error: errorJson(item.fault) }
}

/** The field of the JSON: `created` for the column `age`. */
export function fieldOf(choice: ListingChoice): ListingField {
  return choice === 'age' ? 'created' : choice
}

function errorJson(fault: Unreadable | undefined) {
  return fault === undefined ? null : { code: fault.code, message: fault.message }
}

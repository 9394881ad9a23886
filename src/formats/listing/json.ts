import type { SummarizedStream, Unreadable } from '../../ops/summaries.ts'
import { jsonTime, orNull } from '../json.ts'
import { leaseJson } from '../lease.ts'
import type { ListingChoice, ListingField } from './fields.ts'

/** A stream as one item of `ls -o json` and one line of `-o ndjson`; fields are only ever added. */
export function listingJson({ listed, summary, fault }: SummarizedStream) {
  return {
    name: listed.name,
    status: orNull(summary?.status),
    version: summary?.version ?? null,
    root: orNull(summary?.root),
    created: jsonTime(summary?.createdMs),
    key: orNull(summary?.key),
    topic: orNull(summary?.topic),
    tag: orNull(summary?.tag),
    trackingId: orNull(summary?.trackingId),
    outcome: orNull(summary?.outcome),
    open: summary?.open ?? null,
    failed: summary?.failed ?? null,
    total: summary?.total ?? null,
    due: jsonTime(summary?.dueMs),
    waitingOn: summary?.waitingOn ?? [],
    failedAt: jsonTime(summary?.failedAtMs),
    failedId: orNull(summary?.failedId),
    failure: orNull(summary?.failure),
    lastBy: orNull(summary?.lastBy),
    lease: leaseJson(listed.lease),
    modified: jsonTime(listed.modifiedMs),
    error: errorJson(fault),
  } satisfies { readonly [Field in ListingField]?: unknown }
}

/** The given fields only, in their order. An unreadable stream always gets its error. */
export function pickedJson(item: SummarizedStream, fields: readonly ListingChoice[]): object {
  const all: { readonly [Field in ListingField]?: unknown } = listingJson(item)
  const picked = Object.fromEntries(
    fields.map(choice => (choice === 'age' ? 'created' : choice)).map(field => [field, all[field] ?? null]),
  )
  return item.fault === undefined ? picked : { ...picked, error: errorJson(item.fault) }
}

function errorJson(fault: Unreadable | undefined) {
  return fault === undefined ? null : { code: fault.code, message: fault.message }
}

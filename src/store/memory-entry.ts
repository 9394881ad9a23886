import type { Summary } from '../stream/summary.ts'
import { isHeld, type KeptLease, leaseView } from './local-lease.ts'
import { compareNames, isReservedName } from './names.ts'
import type { Listed, ListQuery, Stored } from './store.ts'

/** A stream as the memory driver keeps it. Never changed, only replaced. */
export interface Entry {
  readonly name: string
  readonly etag: string
  readonly body: Uint8Array
  readonly summary: Summary
  readonly modifiedMs: number
  readonly lease: KeptLease
  readonly lastBy: string
}

/** What the query asks for, in its order. */
export function selected(
  entries: readonly Entry[],
  { prefix = '', after, order = 'name', limit, skip }: ListQuery,
  nowMs: number,
): Entry[] {
  const rows = entries.filter(
    ({ name, etag, summary, lease }) =>
      name.startsWith(prefix) &&
      !isReservedName(name) &&
      (after === undefined || compareNames(name, after) > 0) &&
      (order !== 'due' || summary.dueMs !== undefined) &&
      skip?.(name, etag, () => isHeld(leaseView(lease, nowMs))) !== true,
  )
  const byName = (a: Entry, b: Entry): number => compareNames(a.name, b.name)
  const byDue = (a: Entry, b: Entry): number => (a.summary.dueMs ?? 0) - (b.summary.dueMs ?? 0) || byName(a, b)
  return rows.sort(order === 'due' ? byDue : byName).slice(0, limit)
}

export function listed({ name, etag, body, summary, modifiedMs, lease }: Entry, nowMs: number): Listed {
  return { name, etag, size: body.length, modifiedMs, lease: leaseView(lease, nowMs), summary }
}

export function stored(entry: Entry, nowMs: number): Stored {
  return { ...listed(entry, nowMs), body: Uint8Array.from(entry.body), versionFloor: entry.summary.version }
}

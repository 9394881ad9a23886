import { stateOfStream } from '../stream/state.ts'
import type { Summary } from '../stream/summary.ts'
import { defined } from '../util/defined.ts'
import { normalizeFailure } from './failure-text.ts'
import { hasFailure, isOverdue, type StreamFilter } from './filter.ts'
import { isAbandoned, type OpenState, openEvents, passesEvent } from './open-events.ts'
import type { SummarizedStream } from './summaries.ts'

/** The values that all streams of a group share; a field is absent if it differs, is unknown, or does not apply. */
export interface GroupName {
  /** The status, the failure without its numbers, the awaited event, or the value, as one text. */
  readonly group: string
  /** Name of the root event: the kind of stream. */
  readonly root?: string
  /** Id of an event. */
  readonly event?: string
  /** Name of an event. */
  readonly name?: string
  readonly topic?: string
  readonly owner?: string
  readonly state?: OpenState
}

export interface StreamGroup extends GroupName, Totals {
  /** The streams of all groups beyond the limit. */
  readonly others?: true
}

export interface Groups {
  /** @param context the context of their store, if there are several */
  add(items: readonly SummarizedStream[], nowMs: number, context?: string): void
  /** Number of streams added, of those in a group, and of unreadable ones. */
  readonly counts: { readonly streams: number; readonly grouped: number; readonly unreadable: number }
  /** The largest first. */
  sorted(): StreamGroup[]
}

/** Maximum number of groups; streams of further ones are counted together, which bounds the memory. */
const MAX_GROUPS = 2_000

/**
 * Groups streams as they are listed. A stream that waits on several events is in a group for each of them, and in one for
 * each of their owners.
 * @param filter the filter of the listing: only events that pass it make groups
 */
export function groupsOf(by: GroupBy, filter: StreamFilter = {}): Groups {
  const groups = new Map<string, StreamGroup>()
  let others: Totals | undefined
  const counts = { streams: 0, grouped: 0, unreadable: 0 }
  const put = (name: GroupName, totals: Totals): void => {
    const key = keyOf(name, by)
    const known = groups.get(key)
    if (known === undefined && groups.size >= MAX_GROUPS) others = addTotals(others, totals, by)
    else groups.set(key, { ...(known === undefined ? name : commonName(known, name)), ...addTotals(known, totals, by) })
  }
  return {
    add(items, nowMs, context) {
      for (const item of items) {
        const names = new Map(namesOf(item, by, filter, nowMs).map(name => [keyOf(name, by), name]))
        for (const name of names.values()) put(name, { ...totalsOf(item, by, nowMs), ...defined({ context }) })
        counts.streams++
        if (names.size > 0) counts.grouped++
        if (item.fault !== undefined) counts.unreadable++
      }
    },
    counts,
    sorted() {
      const largest = [...groups.values()].sort((a, b) => b.count - a.count || (a.group < b.group ? -1 : 1))
      return others === undefined ? largest : [...largest, { group: 'others', ...others, others: true }]
    },
  }
}

/** The groups of a stream. */
function namesOf(item: SummarizedStream, by: GroupBy, filter: StreamFilter, nowMs: number): readonly GroupName[] {
  const { summary } = item
  if (by === 'status') return [statusOf(item)]
  if (summary === undefined) return by === 'state' ? [statusOf(item)] : []
  switch (by) {
    case 'state':
      return [{ group: stateOfStream(summary, nowMs) || 'no status' }]
    case 'failure':
      return hasFailure(summary, filter) ? [failureOf(summary)] : []
    case 'waiting-on':
      return awaited(summary, filter, nowMs)
    case 'owner':
      return owners(summary, filter, nowMs)
    case 'root':
    case 'topic':
      return [{ group: summary[by] || `no ${by}`, [by]: summary[by] }]
    default:
      return by satisfies never
  }
}

/** Failures are compared without case, as filters do. */
function keyOf({ group, root, name, owner, topic }: GroupName, by: GroupBy): string {
  if (by === 'failure') return group.toLowerCase()
  return JSON.stringify(by === 'waiting-on' ? [group, root, name] : [group, root, owner, topic])
}

/** Failures with the same text may be of several events. */
function commonName({ group, root, event, ...rest }: GroupName, other: GroupName): GroupName {
  const { name, topic, owner, state } = rest
  return {
    group,
    ...(root !== undefined && root === other.root ? { root } : {}),
    ...(event !== undefined && event === other.event ? { event } : {}),
    ...defined({ name, topic, owner, state }),
  }
}

function statusOf({ summary, fault }: SummarizedStream): GroupName {
  if (summary === undefined) return { group: fault === undefined ? 'not started' : 'unreadable' }
  if (summary.status === 'completed' && summary.outcome === 'errors') return { group: 'completed (errors)' }
  const { status, outcome } = summary
  const isSpecial = outcome !== '' && outcome !== 'errors'
  return { group: status === '' ? 'no status' : isSpecial ? `${status} (${outcome})` : status }
}

function failureOf({ root, failedId: event, failure }: Summary): GroupName {
  return { group: normalizeFailure(failure) || 'no message', root, event }
}

function awaited(summary: Summary, filter: StreamFilter, nowMs: number): GroupName[] {
  const { root } = summary
  return openEvents(summary, nowMs)
    .filter(event => passesEvent(event, filter))
    .map(({ name, state }) =>
      state === 'held'
        ? { group: `${root}: held`, root, state }
        : { group: `${root}: ${name} ${state}`, root, name, state },
    )
}

function owners(summary: Summary, filter: StreamFilter, nowMs: number): GroupName[] {
  return openEvents(summary, nowMs)
    .filter(event => passesEvent(event, filter))
    .flatMap(({ claim }) => (claim === undefined ? [] : [{ group: claim.owner || 'no owner', owner: claim.owner }]))
}

/** The criterion of groups: the status, the state, the text of the first failure, the awaited events, or a value. */
export type GroupBy = 'status' | 'state' | 'failure' | 'waiting-on' | 'root' | 'topic' | 'owner'

/** The time that decides which stream is the oldest or newest of its group. */
export const TIME_OF = {
  status: 'created',
  state: 'created',
  failure: 'failedAt',
  'waiting-on': 'modified',
  root: 'created',
  topic: 'created',
  owner: 'modified',
} as const satisfies { readonly [By in GroupBy]: string }

/** Totals of streams. */
interface Totals {
  readonly count: number
  /** Number of these with an overdue event. */
  readonly overdue: number
  /** Number of these with an abandoned event. */
  readonly abandoned: number
  /** Number of these with an aborted event. */
  readonly failed: number
  /** Epoch ms, of the time in `TIME_OF`; `undefined` if none is known. */
  readonly oldestMs: number | undefined
  readonly newestMs: number | undefined
  /** Name of one stream: with `failure` the one that failed last, else the oldest. */
  readonly example: string
  /** The context of its store, if there are several. */
  readonly context?: string
}

/** The totals of one stream. */
function totalsOf(item: SummarizedStream, by: GroupBy, nowMs: number): Totals {
  const { listed, summary } = item
  const ms = timeOf(item, by)
  return {
    count: 1,
    overdue: summary !== undefined && isOverdue(summary, nowMs) ? 1 : 0,
    abandoned: summary !== undefined && isAbandoned(summary, nowMs) ? 1 : 0,
    failed: summary !== undefined && summary.failed > 0 ? 1 : 0,
    oldestMs: ms,
    newestMs: ms,
    example: listed.name,
  }
}

/** The sum of both. */
function addTotals(a: Totals | undefined, b: Totals, by: GroupBy): Totals {
  if (a === undefined) return b
  const oldestMs = outerTime(Math.min, a.oldestMs, b.oldestMs)
  const newestMs = outerTime(Math.max, a.newestMs, b.newestMs)
  const isOlder = by === 'failure' ? newestMs === a.newestMs : oldestMs === a.oldestMs
  const { example, context } = isOlder ? a : b
  return {
    count: a.count + b.count,
    overdue: a.overdue + b.overdue,
    abandoned: a.abandoned + b.abandoned,
    failed: a.failed + b.failed,
    oldestMs,
    newestMs,
    example,
    ...defined({ context }),
  }
}

/** The earlier or later of two times; either may be unknown. */
function outerTime(
  of: (a: number, b: number) => number,
  aMs: number | undefined,
  bMs: number | undefined,
): number | undefined {
  return aMs === undefined || bMs === undefined ? (aMs ?? bMs) : of(aMs, bMs)
}

function timeOf({ listed, summary }: SummarizedStream, by: GroupBy): number | undefined {
  switch (TIME_OF[by]) {
    case 'modified':
      return listed.modifiedMs
    case 'failedAt':
      return summary?.failedAtMs
    case 'created':
      return summary?.createdMs
    default:
      return TIME_OF[by] satisfies never
  }
}

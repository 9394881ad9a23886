import { failureShape } from './failure-shape.ts'
import { type GroupBy, type Totals, together, totalsOf } from './group-totals.ts'
import type { SummarizedStream } from './summaries.ts'
import { type AwaitedEvent, namesOfWaits, waitsOf } from './waits.ts'

/** What all streams of a group have in common; absent: it differs, is not known, or does not matter here. */
export interface GroupName extends Partial<AwaitedEvent> {
  /** The status, the failure without its numbers, or what is waited on, in one text. */
  readonly group: string
}

export interface StreamGroup extends GroupName, Totals {
  /** These are the streams of all groups beyond those that are told apart. */
  readonly others?: true
}

export interface Groups {
  add(items: readonly SummarizedStream[], nowMs: number): void
  /** How many streams were added, how many of them are in a group, and how many could not be read. */
  readonly counts: { readonly streams: number; readonly grouped: number; readonly unreadable: number }
  /** The largest first. */
  sorted(): StreamGroup[]
}

/** So many kinds of streams are told apart; further ones are counted together. What is held is bounded by it. */
const MAX_BUCKETS = 2_000

/** Puts streams into groups as they are listed. A stream that waits on several events is in a group for each of them. */
export function groupsOf(by: GroupBy): Groups {
  switch (by) {
    case 'status':
      return collecting(by, statusOf, () => name => [name])
    case 'failure':
      return collecting(by, failureOf, () => name => [name])
    case 'waiting-on':
      return collecting(by, waitsOf, namesOfWaits)
    default:
      return by satisfies never
  }
}

/**
 * Streams with the same facts are added up; which groups they are in is worked out once for all of them, at the end.
 * @param namesIn given all facts there are
 */
function collecting<Facts extends object>(
  by: GroupBy,
  factsOf: (item: SummarizedStream) => Facts | undefined,
  namesIn: (all: readonly Facts[]) => (facts: Facts) => readonly GroupName[],
): Groups {
  const buckets = new Map<string, { readonly facts: Facts; readonly totals: Totals }>()
  let others: Totals | undefined
  const counts = { streams: 0, grouped: 0, unreadable: 0 }
  const put = (facts: Facts, totals: Totals): void => {
    const key = JSON.stringify(facts)
    const known = buckets.get(key)
    if (known === undefined && buckets.size >= MAX_BUCKETS) others = together(others, totals, by)
    else buckets.set(key, { facts, totals: together(known?.totals, totals, by) })
  }
  return {
    add(items, nowMs) {
      for (const item of items) {
        const facts = factsOf(item)
        if (facts !== undefined) put(facts, totalsOf(item, by, nowMs))
        counts.streams++
        if (facts !== undefined) counts.grouped++
        if (item.fault !== undefined) counts.unreadable++
      }
    },
    counts,
    sorted() {
      const names = namesIn([...buckets.values()].map(({ facts }) => facts))
      const groups = new Map<string, StreamGroup>()
      for (const { facts, totals } of buckets.values()) {
        for (const name of names(facts)) join(groups, name, totals, by)
      }
      const largest = [...groups.values()].sort((a, b) => b.count - a.count || (a.group < b.group ? -1 : 1))
      return others === undefined ? largest : [...largest, { group: 'others', ...others, others: true }]
    },
  }
}

function join(groups: Map<string, StreamGroup>, name: GroupName, totals: Totals, by: GroupBy): void {
  const key = JSON.stringify([name.group, name.topic])
  const known = groups.get(key)
  groups.set(key, { ...(known === undefined ? name : common(known, name)), ...together(known, totals, by) })
}

/** Failures with the same text may be of several events. */
function common({ group, root, event, ...rest }: GroupName, other: GroupName): GroupName {
  const { name, topic, state } = rest
  return {
    group,
    ...(root !== undefined && root === other.root ? { root } : {}),
    ...(event !== undefined && event === other.event ? { event } : {}),
    ...(name === undefined ? {} : { name }),
    ...(topic === undefined ? {} : { topic }),
    ...(state === undefined ? {} : { state }),
  }
}

function statusOf({ summary, fault }: SummarizedStream): GroupName {
  if (summary === undefined) return { group: fault === undefined ? 'not started' : 'unreadable' }
  if (summary.status === 'completed' && summary.outcome === 'errors') return { group: 'completed (errors)' }
  return { group: summary.status === '' ? 'no status' : summary.status }
}

function failureOf({ summary }: SummarizedStream): GroupName | undefined {
  if (summary === undefined || summary.failed === 0) return undefined
  const { root, failedId: event, failure } = summary
  return { group: failureShape(failure) || 'no message', root, event }
}

import type { Summary } from '../stream/summary.ts'
import { defined } from '../util/defined.ts'
import type { SummarizedStream } from './summaries.ts'

/** The values that all streams of a group share; a field is absent if it differs, is unknown, or does not apply. */
export interface GroupName extends Partial<AwaitedEvent> {
  /** The status, the failure without its numbers, or the awaited event, as one text. */
  readonly group: string
}

export interface StreamGroup extends GroupName, Totals {
  /** The streams of all groups beyond the limit. */
  readonly others?: true
}

export interface Groups {
  add(items: readonly SummarizedStream[], nowMs: number): void
  /** Number of streams added, of those in a group, and of unreadable ones. */
  readonly counts: { readonly streams: number; readonly grouped: number; readonly unreadable: number }
  /** The largest first. */
  sorted(): StreamGroup[]
}

/** Maximum number of kinds of streams; further ones are counted together, which bounds the memory. */
const MAX_BUCKETS = 2_000

/** Groups streams as they are listed. A stream that waits on several events is in a group for each of them. */
export function groupsOf(by: GroupBy): Groups {
  switch (by) {
    case 'status':
      return collectGroups(by, statusOf, () => name => [name])
    case 'failure':
      return collectGroups(by, failureOf, () => name => [name])
    case 'waiting-on':
      return collectGroups(by, waitsOf, namesOfWaits)
    default:
      return by satisfies never
  }
}

/**
 * Adds up streams with the same facts; their groups are determined once, at the end.
 * @param namesIn gets all facts
 */
function collectGroups<Facts extends object>(
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
    if (known === undefined && buckets.size >= MAX_BUCKETS) others = addTotals(others, totals, by)
    else buckets.set(key, { facts, totals: addTotals(known?.totals, totals, by) })
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
        for (const name of names(facts)) addToGroup(groups, name, totals, by)
      }
      const largest = [...groups.values()].sort((a, b) => b.count - a.count || (a.group < b.group ? -1 : 1))
      return others === undefined ? largest : [...largest, { group: 'others', ...others, others: true }]
    },
  }
}

function addToGroup(groups: Map<string, StreamGroup>, name: GroupName, totals: Totals, by: GroupBy): void {
  const key = JSON.stringify([name.group, name.topic])
  const known = groups.get(key)
  groups.set(key, { ...(known === undefined ? name : commonName(known, name)), ...addTotals(known, totals, by) })
}

/** Failures with the same text may be of several events. */
function commonName({ group, root, event, ...rest }: GroupName, other: GroupName): GroupName {
  const { name, topic, state } = rest
  return {
    group,
    ...(root !== undefined && root === other.root ? { root } : {}),
    ...(event !== undefined && event === other.event ? { event } : {}),
    ...defined({ name, topic, state }),
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
  return { group: normalizeFailure(failure) || 'no message', root, event }
}

/** The criterion of groups: the status, the text of the last failure, or the awaited events. */
export type GroupBy = 'status' | 'failure' | 'waiting-on'

/** The time that decides which stream is the oldest or newest of its group. */
export const TIME_OF = { status: 'created', failure: 'failedAt', 'waiting-on': 'modified' } as const

/** Totals of streams. */
interface Totals {
  readonly count: number
  /** Number of these with an overdue event. */
  readonly overdue: number
  /** Number of these with an aborted or canceled event. */
  readonly failed: number
  /** Epoch ms, of the time in `TIME_OF`; `undefined` if none is known. */
  readonly oldestMs: number | undefined
  readonly newestMs: number | undefined
  /** Name of one stream: with `failure` the one that failed last, else the oldest. */
  readonly example: string
}

/** The totals of one stream. */
function totalsOf(item: SummarizedStream, by: GroupBy, nowMs: number): Totals {
  const { listed, summary } = item
  const ms = timeOf(item, by)
  return {
    count: 1,
    overdue: summary?.dueMs !== undefined && summary.dueMs <= nowMs ? 1 : 0,
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
  return {
    count: a.count + b.count,
    overdue: a.overdue + b.overdue,
    failed: a.failed + b.failed,
    oldestMs,
    newestMs,
    example: isOlder ? a.example : b.example,
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
  if (by === 'waiting-on') return listed.modifiedMs
  return by === 'failure' ? summary?.failedAtMs : summary?.createdMs
}

/** The parts of a failure text that vary between occurrences: ids, times, addresses, numbers. */
const VARYING = new RegExp(
  [
    String.raw`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`,
    String.raw`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b`,
    String.raw`\b0x[0-9a-f]+\b`,
    String.raw`\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b`,
    // codes are kept: HTTP 503 is not HTTP 404, exit code 137 is not exit code 2
    String.raw`(?<![\d.])(?<!\b(?:http|status|code|exit|errno|signal)(?:/\d(?:\.\d)?)?[\s:=(/]{1,2})\d+(?:[.,:/-]\d+)*`,
  ].join('|'),
  'gi',
)

/**
 * The text of a failure without the parts that vary between streams: `order 4711: timeout` becomes `order #: timeout`.
 * Codes are kept: numbers behind `HTTP`, `status`, `code`, `exit`, `errno` and `signal`.
 */
export function normalizeFailure(text: string): string {
  return text.replace(VARYING, '#').replace(/\s+/g, ' ').trim()
}

/** The events that a stream waits on, from its summary. */
export type WaitingOn = Pick<Summary, 'root' | 'waitingOn' | 'ready'> & { readonly held?: true }

/** An awaited event: by name and topic if known, else by id. */
interface AwaitedEvent {
  /** Name of the root event: the kind of stream. */
  readonly root: string
  readonly event?: string
  readonly name?: string
  readonly topic?: string
  /** `held`: the whole stream waits for its release. Absent if unknown. */
  readonly state?: 'not started' | 'started' | 'held'
}

/** `undefined` for a stream that waits on nothing or has no summary. */
function waitsOf({ summary }: SummarizedStream): WaitingOn | undefined {
  if (summary === undefined || summary.waitingOn.length === 0) return undefined
  const { root, waitingOn, ready, status } = summary
  return { root, waitingOn, ready, ...(status === 'init' && ready.length === 0 ? { held: true } : {}) }
}

/**
 * Names the awaited events. A summary has the ids of all open leaves, and names and topics of the ready ones, but does
 * not connect them. If all leaves are ready, both lists have the same order: this gives the names of ids for other
 * streams with the same root event.
 */
export function namesOfWaits(
  all: readonly WaitingOn[],
): (waits: WaitingOn) => readonly (AwaitedEvent & { group: string })[] {
  const known = new Map<string, string>()
  for (const { root, waitingOn, ready } of all) {
    if (sizeOf(ready) !== sizeOf(waitingOn)) continue
    for (const [at, item] of ready.entries()) if (isItem(item)) known.set(keyOf(root, waitingOn[at] ?? ''), item)
  }
  return waits => distinct(eventsOf(waits, known)).map(event => ({ group: textOf(event), ...event }))
}

function eventsOf({ root, waitingOn, ready, held }: WaitingOn, known: ReadonlyMap<string, string>): AwaitedEvent[] {
  if (held) return waitingOn.map(event => ({ root, event, state: 'held' }))
  const startable = ready.filter(isItem)
  const events: AwaitedEvent[] = []
  const nameless: AwaitedEvent[] = []
  for (const event of waitingOn.filter(isItem)) {
    const item = known.get(keyOf(root, event))
    const at = item === undefined ? -1 : startable.indexOf(item)
    if (item === undefined) nameless.push({ root, event })
    else events.push(named(root, item, at >= 0 ? 'not started' : 'started'))
    if (at >= 0) startable.splice(at, 1)
  }
  const rest = startable.map(item => named(root, item, 'not started'))
  // the numbers of remaining ids and names match: they are the same events
  if (nameless.length <= rest.length) return [...events, ...rest]
  const state = ready.length === 0 ? { state: 'started' as const } : {}
  return [...events, ...rest, ...nameless.map(event => ({ ...event, ...state }))]
}

function named(root: string, item: string, state: 'not started' | 'started'): AwaitedEvent {
  const [name = '', topic = ''] = item.split('|').map(decoded)
  return { root, name, ...(topic === '' ? {} : { topic }), state }
}

/** Without duplicates: a stream counts once for events of the same name. */
function distinct(events: readonly AwaitedEvent[]): AwaitedEvent[] {
  return [...new Map(events.map(event => [JSON.stringify(event), event])).values()]
}

function textOf({ root, event, name, state }: AwaitedEvent): string {
  if (state === 'held') return `${root}: held`
  const what = name === undefined ? `${root} ${event ?? ''}` : `${root}: ${name}`
  return state === undefined ? what : `${what} ${state}`
}

function keyOf(root: string, event: string): string {
  return JSON.stringify([root, event])
}

/** The number of items of a list, including those that its last item `+N` counts. */
function sizeOf(items: readonly string[]): number {
  return items.reduce((sum, item) => sum + (isItem(item) ? 1 : Number(item)), 0)
}

function isItem(item: string): boolean {
  return !/^\+\d+$/.test(item)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

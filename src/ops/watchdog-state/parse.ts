import * as v from 'valibot'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { readSystemDocument } from '../read-system-document.ts'

/** Limits above anything a watchdog writes: more was written by another program. */
const MOST = { entries: 64, items: 20, shards: 1_024, outcomes: 20, count: 1e15 } as const
/** The last millisecond of the year 9999; later times are invalid. */
const LAST_MS = Date.UTC(10_000, 0) - 1

const cutText = (longest = 200) =>
  v.pipe(
    v.string(),
    v.transform(text => text.slice(0, longest)),
  )
const streamName = v.pipe(cutText(1_024), v.nonEmpty())
/** Non-negative whole numbers; measured fractions are rounded. */
const whole = (most: number) => v.pipe(v.number(), v.minValue(0), v.maxValue(most), v.transform(Math.round))
const time = whole(LAST_MS)

// Invalid values that are not essential are replaced: the rest of the document is still useful.
const count = v.fallback(whole(MOST.count), 0)
const share = v.fallback(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 0)
const text = (longest?: number) => v.fallback(cutText(longest), '')
const optional = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.fallback(v.undefinedable(schema), () => undefined)
const withDefaults = <Schema extends v.GenericSchema>(schema: Schema) => v.fallback(schema, v.parse(schema, {}))

/** The first valid items of a list; none without a list. */
function list<Schema extends v.GenericSchema>(item: Schema) {
  const valid = (value: unknown): v.InferOutput<Schema>[] => {
    const result = v.safeParse(item, value)
    return result.success ? [result.output] : []
  }
  const items = v.transform((values: unknown[]) => values.slice(0, MOST.items).flatMap(valid))
  return v.fallback(v.pipe(v.array(v.unknown()), items), () => [])
}

const settings = v.object({
  /** Glob of the watched names; `undefined` for all. */
  match: optional(cutText(1_024)),
  /** Applies to events without their own setting. */
  onDue: text(),
  maxPerPass: count,
  /** 0 to 1. */
  maxShare: share,
})

const outcomes = v.transform((given: Record<string, unknown>): Readonly<Record<string, number>> => {
  const words = Object.entries(given).filter(([word]) => /^[a-z-]{1,40}$/.test(word))
  return Object.fromEntries(words.slice(0, MOST.outcomes).map(([word, times]) => [word, v.parse(count, times)]))
})

const lastPass = v.object({
  kind: v.fallback(v.picklist(['sweep', 'appointment']), 'sweep'),
  startedMs: time,
  tookMs: count,
  /** All streams, and those of its own shards. */
  total: count,
  watched: count,
  openEvents: count,
  overdue: count,
  /** Documents that were read, and those that were unreadable. */
  documents: count,
  unreadable: count,
  endedEvents: count,
  deferred: count,
  /** Number of decisions by outcome. */
  outcomes: v.fallback(v.pipe(v.record(v.string(), v.unknown()), outcomes), {}),
  /** The store's clock minus that of its machine, ms. */
  skewMs: v.fallback(v.pipe(v.number(), v.gtValue(-MOST.count), v.ltValue(MOST.count)), 0),
})

const decision = v.object({
  stream: streamName,
  /** `abort-event`, `abort-stream`, `notify` or `settle`; a newer watchdog may write others. */
  kind: text(),
  /** `undefined` for `settle`, like the two below. */
  event: optional(cutText()),
  /** Kind of the expired deadline, and its time. */
  limit: optional(cutText()),
  dueMs: optional(time),
  /** `ended`, `already`, `showed-life` and others. */
  outcome: text(),
  atMs: time,
})

const breaker = v.object({
  /** It stopped the pass: no event was ended. */
  isOpen: v.fallback(v.boolean(), false),
  wouldEnd: count,
  openEvents: count,
  /** 0 to 1. */
  maxShare: share,
})

const shards = v.pipe(
  v.object({ total: v.pipe(whole(MOST.shards), v.minValue(1)), held: v.fallback(v.array(v.unknown()), []) }),
  v.transform(({ total, held }): { readonly held: readonly number[]; readonly total: number } => {
    const valid = held
      .slice(0, MOST.shards)
      .filter(shard => Number.isInteger(shard))
      .map(Number)
    return { held: [...new Set(valid)].filter(shard => shard >= 0 && shard < total).sort((a, b) => a - b), total }
  }),
)

const failure = v.pipe(
  v.object({ startedMs: time, sinceMs: optional(time), code: text(64), message: text(1_000) }),
  /** `sinceMs`: since when passes have failed. */
  v.transform(({ sinceMs, ...given }) => ({ ...given, sinceMs: sinceMs ?? given.startedMs })),
)

const watchdog = v.object({
  /** A new UUID for each start. */
  id: v.pipe(cutText(64), v.nonEmpty()),
  host: text(),
  pid: count,
  /** Version of leasectl. */
  version: text(),
  /** Its actor in journals. */
  by: text(),
  startedMs: time,
  /** When this state was written. */
  writtenMs: time,
  /** When it stopped properly. */
  stoppedMs: optional(time),
  /** Interval between sweeps, ms. */
  intervalMs: whole(MOST.count),
  settings: withDefaults(settings),
  /** End of its last sweep; `undefined` before the first. */
  lastSweepMs: optional(time),
  /** Duration of that sweep, ms; 0 before the first. */
  tookMs: count,
  /** The last completed pass. */
  lastPass: optional(lastPass),
  /** The last passes, the latest first. */
  passes: list(v.object({ startedMs: time, tookMs: count, ended: count, overdue: count })),
  /** The last executed decisions, the latest first. */
  decisions: list(decision),
  /** Circuit breaker in its last pass. */
  breaker: optional(breaker),
  /** The next deadlines, the soonest first. */
  next: list(v.object({ stream: streamName, dueMs: time })),
  /** The shards it holds, and their total number; `undefined` if it watches all streams. */
  shards: optional(shards),
  /** Why its last pass failed; `undefined` if it succeeded. */
  failure: optional(failure),
  /** Its last failed pass, even if others succeeded since. */
  lastFailure: optional(failure),
  /** Since its start: completed passes, failed passes, and ended events. */
  totals: withDefaults(v.object({ passes: count, failed: count, ended: count })),
})

/** The state of one watchdog, that is, of one process. All times are the store's clock, epoch ms. */
export type WatchdogEntry = Readonly<v.InferOutput<typeof watchdog>>
export type LastPass = NonNullable<WatchdogEntry['lastPass']>
export type RecordedDecision = WatchdogEntry['decisions'][number]
export type PassFailure = NonNullable<WatchdogEntry['failure']>

/** States last written by the watchdogs of a store. */
export interface WatchdogState {
  /** In the order in which they started. */
  readonly watchdogs: readonly WatchdogEntry[]
  /** Parts of the document were unreadable and are left out. */
  readonly damaged: boolean
  /** Why the whole document cannot be read, if so. */
  readonly fault?: string
}

const document = v.pipe(v.string(), v.parseJson(), v.object({ watchdogs: v.array(v.unknown()) }))

/**
 * Parses the document. It never throws, whatever the text is, and returns only values that can be printed and calculated
 * with.
 */
export function parseWatchdogState(text: string | undefined): WatchdogState {
  if (text === undefined) return { watchdogs: [], damaged: false }
  const parsed = v.safeParse(document, text)
  if (!parsed.success) return { watchdogs: [], damaged: true }
  const given = parsed.output.watchdogs
  const entries = given.slice(0, MOST.entries).map(value => v.safeParse(watchdog, value))
  const found = new Map(entries.flatMap(({ success, output }) => (success ? [[output.id, output]] : [])))
  const watchdogs = [...found.values()].sort(byStart)
  return { watchdogs, damaged: watchdogs.length < given.length }
}

/** Sorts states by start, and by id if they started at the same time. */
export function byStart(a: WatchdogEntry, b: WatchdogEntry): number {
  return a.startedMs - b.startedMs || (a.id < b.id ? -1 : 1)
}

/** The document in which watchdogs store their states. */
export const WATCHDOG_STATE = '.leasectl/watchdog/state.json'

/**
 * Reads the states that the watchdogs of a store last wrote; without a document there are none. Takes no lease. A
 * damaged document is not a fault: unreadable parts are left out, and the result says so.
 *
 * @throws the store's faults, the signal's reason
 */
export async function readWatchdogState(store: StreamStore, signal?: AbortSignal): Promise<WatchdogState> {
  try {
    return parseWatchdogState(await readSystemDocument(store, WATCHDOG_STATE, signal))
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    return { watchdogs: [], damaged: true, fault: error.what }
  }
}

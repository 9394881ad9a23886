import type { LeaseView } from '../../store/store.ts'
import { isHeld } from '../../stream/lease.ts'
import { Latest } from '../../util/top-n.ts'
import { type StaleReason, type StaleRule, staleReasons } from '../stale-lease.ts'
import type { SummarizedStream } from '../summaries.ts'

/** So many examples of each kind are kept. */
export const MAX_EXAMPLES = 20

/** What counts when streams are looked at. */
export interface LookRule extends Pick<StaleRule, 'host' | 'isRunning'> {
  /** A limit that has ended, and what waits to be settled, counts once so much time has passed, ms: a watchdog needs a moment. */
  readonly overdueForMs: number
  /** A lease held for longer than this counts as stuck, ms. */
  readonly stuckAfterMs: number
  /** Whether a watchdog looks after streams of that name; not asked where it is not given. */
  readonly isWatched?: (name: string) => boolean
}

/** A stream with an event that stands under a limit. */
export interface LimitedStream {
  readonly stream: string
  /** When the first of its limits ends, or ended, epoch ms. */
  readonly dueMs: number
}

/** A stream whose lease looks left behind. */
export interface StuckLease {
  readonly stream: string
  readonly lease: LeaseView
  readonly reasons: readonly StaleReason[]
}

/** A document that cannot be read. */
export interface UnreadableStream {
  readonly stream: string
  readonly message: string
}

/** A stream that foreign writers left to be settled. */
export interface UnsettledStream {
  readonly stream: string
  /** When it was last written, epoch ms. */
  readonly sinceMs: number
}

/** How many there are of a kind, and some of them, the oldest first. */
export interface Findings<Example> {
  readonly count: number
  /** At most `MAX_EXAMPLES`. */
  readonly examples: readonly Example[]
}

/** What one look at all streams found. Its size does not grow with their number. */
export interface StoreScan {
  /** The store's clock at its end, epoch ms. */
  readonly nowMs: number
  readonly streams: number
  /** How many streams have which status. */
  readonly byStatus: Readonly<Record<StatusKind, number>>
  readonly openEvents: number
  /** Streams with an open event that stands under a limit, ended or not. */
  readonly withLimit: number
  /** Those of them that no watchdog looks after. */
  readonly unwatched: Findings<LimitedStream>
  /** Leases that are held. */
  readonly leased: number
  /** What has outlived its limit for `overdueForMs`. */
  readonly overdue: Findings<LimitedStream>
  readonly overdueForMs: number
  readonly stuck: Findings<StuckLease>
  readonly unreadable: Findings<UnreadableStream>
  /** What has waited to be settled for `overdueForMs`: events to be closed, joins to be released. */
  readonly unsettled: Findings<UnsettledStream>
}

/** A status of ours, `other` for one of somebody else's, and what has none. */
export const STATUS_KINDS = [
  'init',
  'inprocess',
  'completed',
  'aborted',
  'canceled',
  'other',
  'not-started',
  'unreadable',
] as const
export type StatusKind = (typeof STATUS_KINDS)[number]

/** Collects, page by page, what a check asks of the streams of a store. */
export class StoreScanner {
  readonly #rule: LookRule
  readonly #byStatus = Object.fromEntries(STATUS_KINDS.map(kind => [kind, 0])) as Record<StatusKind, number>
  readonly #overdue = new Tally<LimitedStream>()
  readonly #unwatched = new Tally<LimitedStream>()
  readonly #stuck = new Tally<StuckLease>()
  readonly #unreadable = new Tally<UnreadableStream>()
  readonly #unsettled = new Tally<UnsettledStream>()
  #streams = 0
  #openEvents = 0
  #withLimit = 0
  #leased = 0

  constructor(rule: LookRule) {
    this.#rule = rule
  }

  /** How many streams were added so far. */
  get streams(): number {
    return this.#streams
  }

  /** @param nowMs the store's clock, epoch ms */
  add(page: readonly SummarizedStream[], nowMs: number): void {
    for (const item of page) {
      this.#streams++
      this.#byStatus[kindOf(item)]++
      this.#addProgress(item, nowMs)
      this.#addLease(item, nowMs)
      if (item.fault === undefined) continue
      const { name, modifiedMs } = item.listed
      this.#unreadable.add({ stream: name, message: withoutName(item.fault.message, name) }, modifiedMs)
    }
  }

  found(nowMs: number): StoreScan {
    return {
      nowMs,
      streams: this.#streams,
      byStatus: this.#byStatus,
      openEvents: this.#openEvents,
      withLimit: this.#withLimit,
      unwatched: this.#unwatched.found(),
      leased: this.#leased,
      overdue: this.#overdue.found(),
      overdueForMs: this.#rule.overdueForMs,
      stuck: this.#stuck.found(),
      unreadable: this.#unreadable.found(),
      unsettled: this.#unsettled.found(),
    }
  }

  #addProgress({ listed, summary, isUnsettled }: SummarizedStream, nowMs: number): void {
    if (summary === undefined) return
    const { overdueForMs, isWatched } = this.#rule
    const { name: stream, modifiedMs: sinceMs } = listed
    if (isUnsettled && nowMs - sinceMs >= overdueForMs) this.#unsettled.add({ stream, sinceMs }, sinceMs)
    this.#openEvents += summary.open
    const { dueMs } = summary
    if (dueMs === undefined) return
    this.#withLimit++
    if (isWatched?.(stream) === false) this.#unwatched.add({ stream, dueMs }, dueMs)
    if (nowMs - dueMs >= overdueForMs) this.#overdue.add({ stream, dueMs }, dueMs)
  }

  #addLease({ listed: { name, lease, modifiedMs } }: SummarizedStream, nowMs: number): void {
    if (!isHeld(lease)) return
    this.#leased++
    const { host, isRunning, stuckAfterMs: longerThanMs } = this.#rule
    const reasons = staleReasons(lease, { nowMs, longerThanMs, host, isRunning })
    // A lease taken by hand has no process soon: that alone is no reason to call somebody.
    if (!reasons.some(reason => reason !== 'process-gone')) return
    this.#stuck.add({ stream: name, lease, reasons }, lease.holder?.sinceMs ?? modifiedMs)
  }
}

/** Whoever prints it says the name beside it. */
function withoutName(message: string, name: string): string {
  return message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message
}

const KNOWN: readonly string[] = STATUS_KINDS.slice(0, 5)

function kindOf({ summary, fault }: SummarizedStream): StatusKind {
  if (summary === undefined) return fault === undefined ? 'not-started' : 'unreadable'
  return KNOWN.includes(summary.status) ? (summary.status as StatusKind) : 'other'
}

/** Counts all and keeps the oldest. */
class Tally<Example> {
  /** By time the other way round: the latest of these are the oldest. */
  readonly #oldest = new Latest<Example>(MAX_EXAMPLES)
  #count = 0

  add(example: Example, sinceMs: number): void {
    this.#count++
    this.#oldest.add(-sinceMs, example)
  }

  found(): Findings<Example> {
    return { count: this.#count, examples: this.#oldest.items().toReversed() }
  }
}

import type { LeaseView } from '../../store/store.ts'
import { isHeld } from '../../stream/lease.ts'
import { isSuspended } from '../../stream/state.ts'
import type { Summary } from '../../stream/summary.ts'
import { type RunningEvent, runningEvent } from '../../stream/summary-items.ts'
import { Latest } from '../../util/top-n.ts'
import { hasUnacknowledgedFailure } from '../filter.ts'
import { isAbandoned, openEvents } from '../open-events.ts'
import { type StaleReason, type StaleRule, staleReasons } from '../stale-lease.ts'
import { type StepWork, StepWorkTally } from '../steps.ts'
import type { SummarizedStream } from '../summaries.ts'

/** Maximum number of examples of each kind. */
export const MAX_EXAMPLES = 20

/** The rules of a scan. */
export interface ScanRule extends Pick<StaleRule, 'host' | 'isRunning'> {
  /**
   * Grace period for overdue and abandoned events and for streams to settle, ms: a watchdog, or the next worker, needs
   * some time.
   */
  readonly overdueForMs: number
  /** Failures of this time count, ms. */
  readonly failedSinceMs: number
  /** An event that has been ready for this time waits too long, ms. */
  readonly waitingForMs: number
  /** A lease held for longer than this counts as stuck, ms. */
  readonly stuckAfterMs: number
  /** Whether a watchdog covers streams of that name; absent: not checked. */
  readonly isWatched?: (name: string) => boolean
}

/** A stream with an event that has a deadline. */
export interface LimitedStream {
  readonly stream: string
  /** Its first deadline, epoch ms. */
  readonly dueMs: number
}

/** A stream with a failure that nobody has acknowledged. */
export interface FailedStream {
  readonly stream: string
  /** Its last failure, epoch ms. */
  readonly failedAtMs: number
  /** Name and message of the event that failed first. */
  readonly event: string
  readonly failure: string
}

/** A stream with a running event whose claim has ended. */
export interface AbandonedStream {
  readonly stream: string
  /** The first end of a claim, epoch ms. */
  readonly claimEndMs: number
  /** The event with that claim, if the summary has it. */
  readonly event: Pick<RunningEvent, 'name' | 'owner'> | undefined
}

/** A stream with an event that no worker has started. */
export interface WaitingStream {
  readonly stream: string
  readonly readySinceMs: number
}

/** A stream whose lease looks abandoned. */
export interface StuckLease {
  readonly stream: string
  readonly lease: LeaseView
  readonly reasons: readonly StaleReason[]
}

/** A stream with an unreadable document. */
export interface UnreadableStream {
  readonly stream: string
  readonly message: string
}

/** A stream that foreign writers left to settle. */
export interface UnsettledStream {
  readonly stream: string
  /** When it was last written, epoch ms. */
  readonly sinceMs: number
}

/** The number of findings of a kind, and some of them, oldest first. */
export interface Findings<Example> {
  readonly count: number
  /** At most `MAX_EXAMPLES`. */
  readonly examples: readonly Example[]
}

/** The result of a scan of all streams. Its size does not grow with their number. */
export interface StoreScan {
  /** The store's clock at the end of the scan, epoch ms. */
  readonly nowMs: number
  readonly streams: number
  /** Number of streams by status. */
  readonly byStatus: Readonly<Record<StatusKind, number>>
  readonly openEvents: number
  /** Number of streams with an open event that has a deadline, past or not. */
  readonly withLimit: number
  /** Those of them that no watchdog covers. */
  readonly unwatched: Findings<LimitedStream>
  /** Number of held leases. */
  readonly leased: number
  /** Streams with an event that has been overdue for `overdueForMs`. */
  readonly overdue: Findings<LimitedStream>
  readonly overdueForMs: number
  /** Streams with an unacknowledged failure, the last one within `failedSinceMs`. */
  readonly failed: Findings<FailedStream>
  readonly failedSinceMs: number
  /** Streams that an unacknowledged failure blocks, however old. */
  readonly blocked: Findings<FailedStream>
  /** Streams that could not undo what they did, unacknowledged, however old. */
  readonly notUndone: Findings<FailedStream>
  /** Number of streams with an unacknowledged failure, however old. */
  readonly unacknowledged: number
  /** Number of suspended streams: nothing of them is overdue, abandoned or waiting. */
  readonly suspended: number
  /** Streams with an event that has been abandoned for `overdueForMs`. */
  readonly abandoned: Findings<AbandonedStream>
  /** Streams with an event that has been ready for `waitingForMs`. */
  readonly waiting: Findings<WaitingStream>
  /** Since when the oldest ready event of all streams is ready, epoch ms; `undefined` without ready events. */
  readonly readySinceMs: number | undefined
  /** What there is to do in each step. */
  readonly steps: readonly StepWork[]
  readonly stuck: Findings<StuckLease>
  readonly unreadable: Findings<UnreadableStream>
  /** Streams that have waited to be settled for `overdueForMs`: events to close, joins to release. */
  readonly unsettled: Findings<UnsettledStream>
}

/** Our statuses, `other` for unknown ones, and streams without a status. */
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

/** Collects the facts for a check from pages of streams. */
export class StoreScanner {
  readonly #rule: ScanRule
  readonly #byStatus = Object.fromEntries(STATUS_KINDS.map(kind => [kind, 0])) as Record<StatusKind, number>
  readonly #overdue = new Tally<LimitedStream>()
  readonly #failed = new Tally<FailedStream>()
  readonly #blocked = new Tally<FailedStream>()
  readonly #notUndone = new Tally<FailedStream>()
  readonly #abandoned = new Tally<{ readonly stream: string; readonly summary: Summary }>()
  readonly #waiting = new Tally<WaitingStream>()
  readonly #steps = new StepWorkTally()
  readonly #unwatched = new Tally<LimitedStream>()
  readonly #stuck = new Tally<StuckLease>()
  readonly #unreadable = new Tally<UnreadableStream>()
  readonly #unsettled = new Tally<UnsettledStream>()
  #streams = 0
  #unacknowledged = 0
  #suspended = 0
  #readySinceMs: number | undefined
  #openEvents = 0
  #withLimit = 0
  #leased = 0

  constructor(rule: ScanRule) {
    this.#rule = rule
  }

  /** Number of streams added so far. */
  get streams(): number {
    return this.#streams
  }

  /** @param nowMs the store's clock, epoch ms */
  add(page: readonly SummarizedStream[], nowMs: number): void {
    for (const item of page) {
      this.#streams++
      this.#byStatus[kindOf(item)]++
      this.#addProgress(item, nowMs)
      this.#addFailure(item, nowMs)
      this.#addWork(item, nowMs)
      this.#addLease(item, nowMs)
      if (item.fault === undefined) continue
      const { name, modifiedMs } = item.listed
      this.#unreadable.add({ stream: name, message: withoutName(item.fault.message, name) }, modifiedMs)
    }
  }

  result(nowMs: number): StoreScan {
    return {
      nowMs,
      streams: this.#streams,
      byStatus: this.#byStatus,
      openEvents: this.#openEvents,
      withLimit: this.#withLimit,
      unwatched: this.#unwatched.result(),
      leased: this.#leased,
      overdue: this.#overdue.result(),
      overdueForMs: this.#rule.overdueForMs,
      failed: this.#failed.result(),
      failedSinceMs: this.#rule.failedSinceMs,
      blocked: this.#blocked.result(),
      notUndone: this.#notUndone.result(),
      unacknowledged: this.#unacknowledged,
      suspended: this.#suspended,
      abandoned: abandonedStreams(this.#abandoned.result()),
      waiting: this.#waiting.result(),
      readySinceMs: this.#readySinceMs,
      steps: this.#steps.largest(),
      stuck: this.#stuck.result(),
      unreadable: this.#unreadable.result(),
      unsettled: this.#unsettled.result(),
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

  #addFailure({ listed, summary }: SummarizedStream, nowMs: number): void {
    if (summary === undefined || !hasUnacknowledgedFailure(summary)) return
    const { failedAtMs = listed.modifiedMs, failedName, failedId, failure } = summary
    this.#unacknowledged++
    this.#steps.addFailed(failedName)
    const found = { stream: listed.name, failedAtMs, event: failedName || failedId, failure }
    if (summary.outcome === 'blocked') this.#blocked.add(found, failedAtMs)
    if (summary.outcome === 'compensation-failed') this.#notUndone.add(found, failedAtMs)
    if (nowMs - failedAtMs <= this.#rule.failedSinceMs) this.#failed.add(found, failedAtMs)
  }

  #addWork({ listed: { name: stream }, summary }: SummarizedStream, nowMs: number): void {
    if (summary === undefined) return
    const { overdueForMs, waitingForMs } = this.#rule
    if (isSuspended(summary)) this.#suspended++
    this.#steps.add(openEvents(summary, nowMs).filter(({ state }) => state !== 'held' && state !== 'suspended'))
    this.#steps.addCut(summary)
    const { claimEndMs, readySinceMs } = summary
    if (claimEndMs !== undefined && isAbandoned({ claimEndMs }, nowMs - overdueForMs)) {
      this.#abandoned.add({ stream, summary }, claimEndMs)
    }
    if (readySinceMs === undefined) return
    this.#readySinceMs = Math.min(this.#readySinceMs ?? readySinceMs, readySinceMs)
    if (nowMs - readySinceMs >= waitingForMs) this.#waiting.add({ stream, readySinceMs }, readySinceMs)
  }

  #addLease({ listed: { name, lease, modifiedMs } }: SummarizedStream, nowMs: number): void {
    if (!isHeld(lease)) return
    this.#leased++
    const { host, isRunning, stuckAfterMs: longerThanMs } = this.#rule
    const reasons = staleReasons(lease, { nowMs, longerThanMs, host, isRunning })
    // A lease acquired from the command line soon has no process: that alone is no reason for an alarm.
    if (!reasons.some(reason => reason !== 'process-gone')) return
    this.#stuck.add({ stream: name, lease, reasons }, lease.holder?.sinceMs ?? modifiedMs)
  }
}

function abandonedStreams({
  count,
  examples,
}: Findings<{ stream: string; summary: Summary }>): Findings<AbandonedStream> {
  const named = examples.map(({ stream, summary }) => {
    const { claimEndMs = 0 } = summary
    return { stream, claimEndMs, event: firstToEnd(summary) }
  })
  return { count, examples: named }
}

/** The running event whose claim ends first. The stream's own time is rounded as an item's is. */
function firstToEnd({ running, claimEndMs = 0 }: Summary): RunningEvent | undefined {
  return running.map(runningEvent).find(event => event?.claimEndMs === Math.round(claimEndMs))
}

/** The message without the name, which output shows beside it. */
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
  /** By negated time: the latest of these are the oldest. */
  readonly #oldest = new Latest<Example>(MAX_EXAMPLES)
  #count = 0

  add(example: Example, sinceMs: number): void {
    this.#count++
    this.#oldest.add(-sinceMs, example)
  }

  result(): Findings<Example> {
    return { count: this.#count, examples: this.#oldest.items().toReversed() }
  }
}

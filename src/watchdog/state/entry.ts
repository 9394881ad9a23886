import { MAX_SYSTEM_DOCUMENT_BYTES } from '../../ops/read-system-document.ts'
import { byStart, parseWatchdogState } from '../../ops/watchdog-state/parse.ts'
import {
  type LastPass,
  livenessOf,
  type PassFailure,
  type RecordedDecision,
  type WatchdogEntry,
} from '../../ops/watchdog-state/state.ts'
import type { ExecutedDecision } from '../decision.ts'
import type { FailedPass, PassReport } from '../report.ts'

/** Data of a watchdog known at its start. */
export type StateIdentity = Pick<
  WatchdogEntry,
  'id' | 'host' | 'pid' | 'version' | 'by' | 'intervalMs' | 'settings' | 'startedMs'
>

const MOST_PASSES = 10
const MOST_DECISIONS = 20
const MOST_UPCOMING = 20
const LONGEST_MESSAGE = 300
/** Deadlines may be after the year 9999, which timestamps cannot express. */
const LAST_MS = Date.UTC(10_000, 0) - 1

/** The state of a new watchdog. */
export function newEntry(identity: StateIdentity): WatchdogEntry {
  return {
    ...identity,
    writtenMs: identity.startedMs,
    stoppedMs: undefined,
    lastSweepMs: undefined,
    tookMs: 0,
    lastPass: undefined,
    passes: [],
    decisions: [],
    breaker: undefined,
    next: [],
    shards: undefined,
    failure: undefined,
    lastFailure: undefined,
    totals: { passes: 0, failed: 0, ended: 0 },
  }
}

/** The state after a completed pass. */
export function withPass(entry: WatchdogEntry, report: PassReport): WatchdogEntry {
  const { breaker, endedEvents } = report
  const tookMs = Math.round(report.tookMs)
  const sweep = report.kind === 'sweep' ? { lastSweepMs: report.startedMs + tookMs, tookMs } : {}
  const { passes, ended, failed } = entry.totals
  return {
    ...entry,
    ...sweep,
    lastPass: lastPassOf(report),
    passes: [figuresOf(report), ...entry.passes].slice(0, MOST_PASSES),
    breaker,
    next: report.next.slice(0, MOST_UPCOMING).map(({ stream, dueMs }) => ({ stream, dueMs: bounded(dueMs) })),
    failure: undefined,
    totals: { passes: passes + 1, failed, ended: ended + endedEvents },
  }
}

/** The state after a failed pass. */
export function withFailure(entry: WatchdogEntry, { startedMs, sinceMs, code, message }: FailedPass): WatchdogEntry {
  const failure: PassFailure = { startedMs, sinceMs, code, message: message.slice(0, LONGEST_MESSAGE) }
  const { passes, ended, failed } = entry.totals
  return { ...entry, failure, lastFailure: failure, totals: { passes, ended, failed: failed + 1 } }
}

/** The state after an executed decision. */
export function withDecision(entry: WatchdogEntry, carried: ExecutedDecision): WatchdogEntry {
  return { ...entry, decisions: [decisionOf(carried), ...entry.decisions].slice(0, MOST_DECISIONS) }
}

function lastPassOf({
  breaker: _,
  next: __,
  streams: ___,
  listedMs: ____,
  work: _____,
  ...report
}: PassReport): LastPass {
  return {
    ...report,
    tookMs: Math.round(report.tookMs),
    unreadable: report.unreadable.length,
    skewMs: Math.round(report.skewMs),
  }
}

function figuresOf({ startedMs, tookMs, endedEvents: ended, overdue }: PassReport): WatchdogEntry['passes'][number] {
  return { startedMs, tookMs: Math.round(tookMs), ended, overdue }
}

function decisionOf({ decision, outcome, atMs }: ExecutedDecision): RecordedDecision {
  const { kind, stream } = decision
  if (decision.kind === 'settle') {
    return { stream, kind, event: undefined, limit: undefined, dueMs: undefined, outcome, atMs }
  }
  const { event, limit, dueMs } = decision
  return { stream, kind, event, limit, dueMs: bounded(dueMs), outcome, atMs }
}

function bounded(ms: number): number {
  return Math.min(Math.max(0, ms), LAST_MS)
}

/** How long states of watchdogs that are gone are kept, ms. */
const KEPT_MS = 24 * 60 * 60_000
const MOST_ENTRIES = 32

/**
 * The text of the document with the state added or replaced. Readable states of others are kept; they are dropped a day
 * after their watchdogs are gone, or if their times are more than a day in the future. The text never exceeds the size
 * limit.
 *
 * @param nowMs the store's clock, epoch ms
 */
export function withEntry(text: string | undefined, entry: WatchdogEntry, nowMs: number): string {
  const others = parseWatchdogState(text).watchdogs.filter(({ id }) => id !== entry.id)
  const [gone = [], running = []] = [true, false].map(wanted => others.filter(other => isGone(other, nowMs) === wanted))
  const late = gone.filter(({ writtenMs }) => Math.abs(nowMs - writtenMs) <= KEPT_MS)
  const ranked = [entry, ...running.sort(latestFirst), ...late.sort(latestFirst)].slice(0, MOST_ENTRIES)
  return fitting(ranked, 1 + running.length)
}

/** Lengths of the lists for running watchdogs and for those that are gone, tried in turn until the text fits. */
const CUTS: readonly (readonly [running: number, gone: number])[] = [
  [20, 20],
  [20, 5],
  [20, 0],
  [10, 0],
  [5, 0],
  [2, 0],
  [0, 0],
]

/** @param ranked most important first; the first `running` belong to running watchdogs */
function fitting(ranked: readonly WatchdogEntry[], running: number): string {
  for (const [most, ofGone] of CUTS) {
    const text = textOf(ranked.map((entry, rank) => cut(entry, rank < running ? most : ofGone)))
    if (Buffer.byteLength(text) <= MAX_SYSTEM_DOCUMENT_BYTES) return text
  }
  return fitting(ranked.slice(0, -1), running)
}

function cut(entry: WatchdogEntry, most: number): WatchdogEntry {
  const { decisions, next, passes } = entry
  return { ...entry, decisions: decisions.slice(0, most), next: next.slice(0, most), passes: passes.slice(0, most) }
}

function textOf(ranked: readonly WatchdogEntry[]): string {
  const watchdogs = [...ranked].sort(byStart)
  return `${JSON.stringify({ apiVersion: 'leasectl/v1', kind: 'watchdog-state', watchdogs })}\n`
}

function isGone(entry: WatchdogEntry, nowMs: number): boolean {
  return ['silent', 'stopped'].includes(livenessOf(entry, nowMs))
}

function latestFirst(a: WatchdogEntry, b: WatchdogEntry): number {
  return b.writtenMs - a.writtenMs
}

import { jsonTime } from '../../../formats/json.ts'
import { counted } from '../../../formats/terminal/numbers.ts'
import type { Style } from '../../../formats/terminal/style.ts'
import { LeasectlError } from '../../../stream/errors.ts'
import { isoTime } from '../../../stream/time/dates.ts'
import { formatDuration } from '../../../stream/time/durations.ts'
import type { DecisionOutcome, ExecutedDecision } from '../../../watchdog/decision.ts'
import type { DeliveryReport } from '../../../watchdog/hooks/attempt.ts'
import { type HookPace, paceText } from '../../../watchdog/hooks/lag.ts'
import type { PurgeReport } from '../../../watchdog/purge.ts'
import type { FailedPass, PassReport } from '../../../watchdog/report.ts'

/** From least to most important. */
export const LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof LEVELS)[number]

/** A log entry. */
export interface Entry {
  readonly level: Level
  /** The kind of happening as one stable word: `ended`, `outage`. */
  readonly kind: string
  /** A sentence. Times in it are RFC 3339 in UTC. */
  readonly text: string
  readonly stream?: string
  /** Id of the event, and its name. */
  readonly event?: string
  readonly name?: string
  /** Further data under stable names. Never an error object: those of SDKs contain addresses with secrets. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** Colour of the kind; by default that of the level. */
  readonly style?: Style
}

/** The first entry of the log. */
export function startEntry(about: {
  readonly version: string
  readonly store: string
  readonly pid: number
  readonly settings: Readonly<Record<string, unknown>>
}): Entry {
  const { version, store, pid, settings } = about
  return {
    level: 'info',
    kind: 'start',
    text: `leasectl ${version} watches ${store}`,
    fields: { version, store, node: process.version, pid, ...settings },
  }
}

/** Old streams were removed. */
export function purgeEntry({ streams, left, hasMore }: PurgeReport): Entry {
  const rest = left === 0 ? '' : `, ${left} left: leased or changed meanwhile, or not answered`
  return {
    level: left === 0 ? 'info' : 'warn',
    kind: 'purge',
    text: `${counted(streams.length, 'old stream')} removed${rest}${hasMore ? '; there are more' : ''}`,
    fields: { removed: streams.length, left, more: hasMore },
  }
}

/** The address of probes and metrics. A warning if other machines can reach it, since everyone there can read them. */
export function listeningEntry({ address, isLoopback }: { address: string; isLoopback: boolean }): Entry {
  const what = `/livez, /readyz and /metrics are on http://${address}`
  return {
    level: isLoopback ? 'info' : 'warn',
    kind: 'listen',
    text: isLoopback ? what : `${what}: anyone who can reach this address can read them without authentication`,
    fields: { address, loopback: isLoopback },
  }
}

/** A signal arrived; operations in flight are completed. */
export function stoppingEntry(signal: string): Entry {
  return { level: 'info', kind: 'stopping', text: `received ${signal}`, fields: { signal } }
}

/** The last entry. @param tookMs since the signal */
export function stopEntry(tookMs: number): Entry {
  return {
    level: 'info',
    kind: 'stop',
    text: `stopped after ${shortTime(tookMs)}`,
    fields: { tookMs: Math.round(tookMs) },
  }
}

/** A fault beside the passes that is retried: shards, state, hooks. */
export function faultEntry(kind: string, text: string, error: unknown): Entry {
  const { code, message } = faultOf(error)
  return { level: 'warn', kind, text: `${text}: ${message} [${code}]`, fields: { code, error: message } }
}

/** The end of such a fault. */
export function recoveryEntry(kind: string, text: string): Entry {
  return { level: 'info', kind, text }
}

/** Outcomes of a change that are not errors. */
const OUTCOMES: ReadonlyMap<unknown, { readonly code: string; readonly message: string }> = new Map([
  ['busy', { code: 'lease-held', message: 'another process holds its lease' }],
  ['unknown', { code: 'unknown', message: 'no answer; it may have been written' }],
])

/** An operation aborted by its time limit counts as a store that did not answer. */
function faultOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof LeasectlError) return error
  const outcome = OUTCOMES.get(error)
  if (outcome !== undefined) return outcome
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return { code: 'store-unreachable', message: 'the store did not answer in time' }
  }
  return { code: 'unexpected', message: error instanceof Error ? error.message : String(error) }
}

/** Level of the first report of an outcome, and its colour. */
const OUTCOME_STYLES: { readonly [Of in DecisionOutcome]: readonly [level: Level, style?: Style] } = {
  ended: ['info', 'warn'],
  settled: ['info', 'good'],
  notified: ['info', 'warn'],
  already: ['debug'],
  'showed-life': ['info', 'good'],
  busy: ['info'],
  gone: ['debug'],
  refused: ['warn'],
  failed: ['error'],
  unknown: ['warn'],
}

/** Limit for the ids of ended events in an entry. */
const MAX_IDS = 20

/** The outcome of a decision. */
export function decisionEntry(carried: ExecutedDecision): Entry {
  const { decision, outcome, atMs, version, ended = [], code } = carried
  const [level, style] = OUTCOME_STYLES[outcome]
  const expiry = decision.kind === 'settle' ? undefined : decision
  return {
    level,
    kind: outcome,
    text: textOf(carried),
    stream: decision.stream,
    ...(expiry === undefined ? {} : { event: expiry.event, name: expiry.name }),
    ...(style === undefined ? {} : { style }),
    fields: {
      action: decision.kind,
      outcome,
      commandId: decision.commandId,
      ...(expiry === undefined ? {} : { limit: expiry.limit, due: jsonTime(expiry.dueMs) }),
      ...(expiry === undefined || !isEnd(outcome) ? {} : { latencyMs: latenessOf(expiry.dueMs, atMs) }),
      ...(version === undefined ? {} : { version }),
      ...(ended.length === 0 ? {} : { ended: ended.slice(0, MAX_IDS), endedEvents: ended.length }),
      ...(code === undefined ? {} : { code }),
    },
  }
}

/** A decision of a dry run. It is also printed as the result, so it is logged at `debug`. */
export function plannedEntry(decision: ExecutedDecision['decision']): Entry {
  const { message, ...more } = { message: 'what events had waited for has come', event: '', name: '', ...decision }
  const { kind: action, stream, commandId, event, name } = more
  const text = `planned: ${withoutOutset(message)}`
  return { level: 'debug', kind: action, text, stream, event, name, fields: { action, commandId, dryRun: true } }
}

function textOf({ decision, outcome, atMs, message, code, ended = [] }: ExecutedDecision): string {
  if (decision.kind === 'settle') return message ?? 'what events had waited for has come'
  const why = withoutOutset(decision.message)
  if (!isEnd(outcome)) return `${message ?? why}${code === undefined || code === outcome ? '' : ` [${code}]`}`
  const others = ended.length > 1 ? `, ${counted(ended.length, 'event')} ended` : ''
  return `${why}, ${shortTime(latenessOf(decision.dueMs, atMs))} late${others}`
}

/** Drops the prefix that repeats the outcome. */
function withoutOutset(message: string): string {
  return message.replace(/^timed out: /, '')
}

function isEnd(outcome: DecisionOutcome): boolean {
  return outcome === 'ended' || outcome === 'notified'
}

function latenessOf(dueMs: number, atMs: number): number {
  return Math.max(0, Math.round(atMs - dueMs))
}

const HOOK_LEVELS: { readonly [Of in DeliveryReport['outcome']]: Level } = {
  delivered: 'debug',
  retrying: 'warn',
  'given-up': 'error',
  left: 'info',
}

/** An attempt to deliver to a hook. */
export function deliveryEntry(report: DeliveryReport): Entry {
  const { kind: hook, stream, deliveryId, target, outcome, tries, tookMs, code, output } = report
  const tried = outcome === 'delivered' ? '' : ` [${code}]${output === '' ? '' : `: ${output}`}`
  return {
    level: HOOK_LEVELS[outcome],
    kind: 'hook',
    stream,
    text: `on-${hook} ${target}: ${WORDS[outcome]}, attempt ${tries} took ${shortTime(tookMs)}${tried}`,
    fields: { hook, target, outcome, deliveryId, tries, tookMs: Math.round(tookMs), code, output },
  }
}

const WORDS: { readonly [Of in DeliveryReport['outcome']]: string } = {
  delivered: 'delivered',
  retrying: 'failed, will be retried',
  'given-up': 'failed for good, will not be delivered',
  left: 'left to the next watchdog',
}

/** Hooks fell behind, or caught up. */
export function lagEntry(pace: HookPace): Entry {
  const level = pace.kind === 'caught-up' ? 'info' : 'warn'
  return { level, kind: 'hooks', text: paceText(pace), fields: 'waiting' in pace ? { waiting: pace.waiting } : {} }
}

/** A completed pass. */
export function passEntry(report: PassReport, level: Level): Entry {
  const { kind, startedMs, tookMs, listedMs, total, watched, documents, openEvents, overdue } = report
  const { outcomes, endedEvents, deferred, skewMs } = report
  const what = kind === 'sweep' ? `sweep of ${counted(total, 'stream')}` : 'appointment'
  const found = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`)
  if (deferred > 0) found.push(`${deferred} deferred`)
  if (report.breaker.isOpen)
    found.push(`held back by the circuit breaker: ${counted(report.breaker.wouldEnd, 'event')}`)
  return {
    level,
    kind: 'pass',
    text: `${what} in ${shortTime(tookMs)}: ${found.length === 0 ? 'nothing to do' : found.join(', ')}`,
    fields: {
      pass: kind,
      started: jsonTime(startedMs),
      tookMs: Math.round(tookMs),
      ...(listedMs === undefined ? {} : { listedMs: Math.round(listedMs) }),
      ...{ total, watched, documents, openEvents, overdue, outcomes, endedEvents, deferred },
      skewMs: Math.round(skewMs),
    },
  }
}

/** Totals of the passes since the last summary. */
export interface PassTotals {
  readonly sinceMs: number
  readonly passes: number
  readonly failed: number
  readonly endedEvents: number
}

/** Shows that the watchdog is alive while nothing happens. @param report the last completed pass */
export function summaryEntry(
  { sinceMs, passes, failed, endedEvents }: PassTotals,
  report: PassReport,
  nowMs: number,
): Entry {
  const { watched, openEvents, overdue, next } = report
  const soonest = next[0]
  const parts = [
    `watching ${counted(watched, 'stream')} with ${counted(openEvents, 'open event')}`,
    `${counted(endedEvents, 'event')} ended in ${shortTime(nowMs - sinceMs)}`,
    ...(overdue === 0 ? [] : [`${counted(overdue, 'stream')} overdue`]),
    ...(failed === 0 ? [] : [`${failed} of ${counted(passes, 'pass', 'passes')} failed`]),
    ...(soonest === undefined ? [] : [`next is ${soonest.stream}, due ${isoTime(soonest.dueMs)}`]),
  ]
  return {
    level: 'info',
    kind: 'summary',
    text: parts.join('; '),
    fields: {
      ...{ since: jsonTime(sinceMs), passes, failed, endedEvents, watched, openEvents, overdue },
      ...(soonest === undefined ? {} : { next: { stream: soonest.stream, due: jsonTime(soonest.dueMs) } }),
    },
  }
}

/** A failed pass. */
export function failedEntry({ code, message, sinceMs, tookMs }: FailedPass, level: Level): Entry {
  return {
    level,
    kind: 'outage',
    text: `passes fail, so no event is ended: ${message} [${code}]`,
    fields: { code, error: message, since: jsonTime(sinceMs), tookMs: Math.round(tookMs) },
  }
}

/** At the level of the outage itself, but good news. */
export function recoveredEntry(sinceMs: number, nowMs: number): Entry {
  return {
    level: 'warn',
    kind: 'recovered',
    style: 'good',
    text: `passes succeed again, after ${shortTime(nowMs - sinceMs)}`,
    fields: { since: jsonTime(sinceMs), lastedMs: nowMs - sinceMs },
  }
}

/** The circuit breaker opened or closed. @param overrule the command that ends all overdue events nevertheless */
export function breakerEntry(breaker: PassReport['breaker'], overrule: string): Entry {
  const { isOpen, wouldEnd, openEvents, maxShare } = breaker
  const share = Math.round(maxShare * 1000) / 10
  return {
    level: isOpen ? 'error' : 'warn',
    kind: 'breaker',
    ...(isOpen ? {} : { style: 'good' }),
    text: isOpen
      ? `open: ${wouldEnd} of ${openEvents} open events would be ended, more than --max-share ${share}%; no event is ended. Check workers and clocks first. To end all of them: ${overrule}`
      : 'closed: overdue events are ended again',
    fields: { open: isOpen, wouldEnd, openEvents, maxShare },
  }
}

/** A duration as precise as needed: `5ms`, `0.4s`, `9.9s`, `2m14s`. */
export function shortTime(ms: number): string {
  const size = Math.max(0, ms)
  if (size < 100) return `${Math.round(size)}ms`
  return size < 10_000 ? `${(size / 1000).toFixed(1)}s` : formatDuration(size)
}

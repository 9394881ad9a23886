import { jsonTime } from '../../../formats/json.ts'
import { counted } from '../../../formats/terminal/numbers.ts'
import type { Style } from '../../../formats/terminal/style.ts'
import { LeasectlError } from '../../../stream/errors.ts'
import { isoTime } from '../../../stream/time/dates.ts'
import { formatDuration } from '../../../stream/time/durations.ts'
import type { Carried, DecisionOutcome } from '../../../watchdog/decision.ts'
import type { DeliveryReport } from '../../../watchdog/hooks/delivery.ts'
import { type HookPace, paceText } from '../../../watchdog/hooks/lag.ts'
import type { FailedPass, PassReport } from '../../../watchdog/report.ts'

/** From the least to the most important. */
export const LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof LEVELS)[number]

/** One line of the log. */
export interface Entry {
  readonly level: Level
  /** What happened, one stable word: `ended`, `outage`. */
  readonly kind: string
  /** The sentence. Times in it are RFC 3339 in UTC. */
  readonly text: string
  readonly stream?: string
  /** Id of the event, and its name. */
  readonly event?: string
  readonly name?: string
  /** What else a program may want to know, under stable names. Never an error itself: an SDK's carries addresses with secrets. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** How the kind is painted; by level unless given. */
  readonly style?: Style
}

/** The begin of the log. */
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

/** Where probes and metrics are answered. Anybody in the network can read what other machines can reach. */
export function listeningEntry({ address, isLoopback }: { address: string; isLoopback: boolean }): Entry {
  const what = `/livez, /readyz and /metrics are on http://${address}`
  return {
    level: isLoopback ? 'info' : 'warn',
    kind: 'listen',
    text: isLoopback ? what : `${what}: whoever reaches this address reads them, without signing in`,
    fields: { address, loopback: isLoopback },
  }
}

/** The signal came: what is in flight goes on to its end. */
export function stoppingEntry(signal: string): Entry {
  return { level: 'info', kind: 'stopping', text: `asked to by ${signal}`, fields: { signal } }
}

/** The last line. @param tookMs from the signal on */
export function stopEntry(tookMs: number): Entry {
  return {
    level: 'info',
    kind: 'stop',
    text: `stopped after ${shortTime(tookMs)}`,
    fields: { tookMs: Math.round(tookMs) },
  }
}

/** Something goes wrong beside the passes, and is tried again: shards, state, hooks. */
export function troubleEntry(kind: string, text: string, error: unknown): Entry {
  const { code, message } = faultOf(error)
  return { level: 'warn', kind, text: `${text}: ${message} [${code}]`, fields: { code, error: message } }
}

/** What went wrong so goes well again. */
export function easedEntry(kind: string, text: string): Entry {
  return { level: 'info', kind, text }
}

/** Outcomes of a change that are no error, in words. */
const OUTCOMES: ReadonlyMap<unknown, { readonly code: string; readonly message: string }> = new Map([
  ['busy', { code: 'lease-held', message: 'another holds its lease' }],
  ['unknown', { code: 'unknown', message: 'no answer tells whether it was written' }],
])

/** What is given up for having taken too long is a store that did not answer. */
function faultOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof LeasectlError) return error
  const outcome = OUTCOMES.get(error)
  if (outcome !== undefined) return outcome
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return { code: 'store-unreachable', message: 'the store did not answer in time' }
  }
  return { code: 'unexpected', message: error instanceof Error ? error.message : String(error) }
}

/** How loud an outcome is told the first time, and in which colour. */
const LOOKS: { readonly [Of in DecisionOutcome]: readonly [level: Level, style?: Style] } = {
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

/** So many ids of ended events stand in a line. */
const MAX_IDS = 20

/** What became of a decision. */
export function carriedEntry(carried: Carried): Entry {
  const { decision, outcome, atMs, version, ended = [], code } = carried
  const [level, style] = LOOKS[outcome]
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

/** What a dry run would do: that is its output, and no news here. */
export function plannedEntry(decision: Carried['decision']): Entry {
  const { message, ...more } = { message: 'a foreign writer left something to close', event: '', name: '', ...decision }
  const { kind: action, stream, commandId, event, name } = more
  const text = `would be done: ${withoutOutset(message)}`
  return { level: 'debug', kind: action, text, stream, event, name, fields: { action, commandId, dryRun: true } }
}

function textOf({ decision, outcome, atMs, message, code, ended = [] }: Carried): string {
  if (decision.kind === 'settle') return message ?? 'what a foreign writer left to close is closed'
  const why = withoutOutset(decision.message)
  if (!isEnd(outcome)) return `${message ?? why}${code === undefined || code === outcome ? '' : ` [${code}]`}`
  const others = ended.length > 1 ? `, ${counted(ended.length, 'event')} ended` : ''
  return `${why}, ${shortTime(latenessOf(decision.dueMs, atMs))} late${others}`
}

/** The word before it says so already. */
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

/** A try to deliver to a hook. */
export function deliveryEntry(report: DeliveryReport): Entry {
  const { kind: hook, stream, deliveryId, target, outcome, tries, tookMs, code, output } = report
  const tried = outcome === 'delivered' ? '' : ` [${code}]${output === '' ? '' : `: ${output}`}`
  return {
    level: HOOK_LEVELS[outcome],
    kind: 'hook',
    stream,
    text: `on-${hook} ${target}: ${WORDS[outcome]}, try ${tries} took ${shortTime(tookMs)}${tried}`,
    fields: { hook, target, outcome, deliveryId, tries, tookMs: Math.round(tookMs), code, output },
  }
}

const WORDS: { readonly [Of in DeliveryReport['outcome']]: string } = {
  delivered: 'delivered',
  retrying: 'failed, is tried again',
  'given-up': 'failed for good, nothing delivers it any more',
  left: 'left to the next watchdog',
}

/** Hooks fell behind, or have caught up. */
export function paceEntry(pace: HookPace): Entry {
  const level = pace.kind === 'caught-up' ? 'info' : 'warn'
  return { level, kind: 'hooks', text: paceText(pace), fields: 'waiting' in pace ? { waiting: pace.waiting } : {} }
}

/** One pass. */
export function passEntry(report: PassReport, level: Level): Entry {
  const { kind, startedMs, tookMs, listedMs, total, watched, documents, openEvents, overdue } = report
  const { outcomes, endedEvents, deferred, skewMs } = report
  const what = kind === 'sweep' ? `sweep of ${counted(total, 'stream')}` : 'appointment'
  const found = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`)
  if (deferred > 0) found.push(`${deferred} left for later`)
  if (report.breaker.isOpen) found.push(`the breaker holds back ${counted(report.breaker.wouldEnd, 'event')}`)
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

/** What passes came to since the last such line. */
export interface PassTotals {
  readonly sinceMs: number
  readonly passes: number
  readonly failed: number
  readonly endedEvents: number
}

/** Shows that the watchdog lives although nothing happens. @param report the last pass that came to its end */
export function summaryEntry(
  { sinceMs, passes, failed, endedEvents }: PassTotals,
  report: PassReport,
  nowMs: number,
): Entry {
  const { watched, openEvents, overdue, next } = report
  const soonest = next[0]
  const told = [
    `watching ${counted(watched, 'stream')} with ${counted(openEvents, 'open event')}`,
    `${counted(endedEvents, 'event')} ended in ${shortTime(nowMs - sinceMs)}`,
    ...(overdue === 0 ? [] : [`${counted(overdue, 'stream')} overdue`]),
    ...(failed === 0 ? [] : [`${failed} of ${counted(passes, 'pass', 'passes')} came to no end`]),
    ...(soonest === undefined ? [] : [`next is ${soonest.stream}, due ${isoTime(soonest.dueMs)}`]),
  ]
  return {
    level: 'info',
    kind: 'summary',
    text: told.join('; '),
    fields: {
      ...{ since: jsonTime(sinceMs), passes, failed, endedEvents, watched, openEvents, overdue },
      ...(soonest === undefined ? {} : { next: { stream: soonest.stream, due: jsonTime(soonest.dueMs) } }),
    },
  }
}

/** A pass came to no end. */
export function failedEntry({ code, message, sinceMs, tookMs }: FailedPass, level: Level): Entry {
  return {
    level,
    kind: 'outage',
    text: `no pass comes to its end, so nothing is ended: ${message} [${code}]`,
    fields: { code, error: message, since: jsonTime(sinceMs), tookMs: Math.round(tookMs) },
  }
}

/** As loud as the outage itself was, but for being good news. */
export function recoveredEntry(sinceMs: number, nowMs: number): Entry {
  return {
    level: 'warn',
    kind: 'recovered',
    style: 'good',
    text: `passes come to their end again, after ${shortTime(nowMs - sinceMs)}`,
    fields: { since: jsonTime(sinceMs), lastedMs: nowMs - sinceMs },
  }
}

/** The breaker opened, or closed. @param overrule the command that ends all that is due nevertheless */
export function breakerEntry(breaker: PassReport['breaker'], overrule: string): Entry {
  const { isOpen, wouldEnd, openEvents, maxShare } = breaker
  const share = Math.round(maxShare * 1000) / 10
  return {
    level: isOpen ? 'error' : 'warn',
    kind: 'breaker',
    ...(isOpen ? {} : { style: 'good' }),
    text: isOpen
      ? `open: ${wouldEnd} of ${openEvents} open events would be ended, more than --max-share ${share}%; nothing is ended. Are the workers or the clocks at fault? If all of them are to end: ${overrule}`
      : 'closed: what is due is ended again',
    fields: { open: isOpen, wouldEnd, openEvents, maxShare },
  }
}

/** A length of time as finely as it matters: `5ms`, `0.4s`, `9.9s`, `2m14s`. */
export function shortTime(ms: number): string {
  const size = Math.max(0, ms)
  if (size < 100) return `${Math.round(size)}ms`
  return size < 10_000 ? `${(size / 1000).toFixed(1)}s` : formatDuration(size)
}

import type { Check, CheckResult } from '../../ops/check/check.ts'
import { STATUS_KINDS, type StoreScan } from '../../ops/check/scan.ts'
import type { WatchdogSeen } from '../../ops/check/watchdogs.ts'
import type { StepWork } from '../../ops/steps.ts'
import { jsonTime } from '../json.ts'
import { abandonedText, checkMessage, checkSentence, failedText, stuckText } from './text.ts'

/** Where and when a check ran. */
export interface CheckContext {
  /** Name of the context, in a check of several stores. */
  readonly name?: string
  /** Address of the store; `undefined` where none was opened. */
  readonly store: string | undefined
  /** Pattern of the checked names. */
  readonly match: string | undefined
  /** Epoch ms. */
  readonly atMs: number
  /** `undefined` for a check that did not complete. */
  readonly tookMs: number | undefined
}

/** The result of a check; fields are only ever added. */
export function checkJson(result: CheckResult, context: CheckContext) {
  const { status, checks, look, watchdogs } = result
  return {
    status,
    exit: EXITS[status],
    message: checkSentence(result),
    ...contextJson(context),
    checks: checks.map(check => oneJson(check, look)),
    streams: streamsJson(look),
    steps: look.steps.map(stepJson),
    watchdogs: watchdogs.map(watchdog => watchdogJson(watchdog, look.nowMs)),
    error: null,
  }
}

/** The JSON of a check that did not complete. @param error the error in its JSON form */
export function unknownJson(message: string, error: object, context: CheckContext) {
  const nothing = { checks: [], streams: null, steps: [], watchdogs: [] }
  return { status: 'unknown', exit: EXITS.unknown, message, ...contextJson(context), ...nothing, error }
}

/** Exit codes of Nagios plugins. */
export const EXITS = { ok: 0, warning: 1, critical: 2, unknown: 3 } as const

function contextJson({ store, match, atMs, tookMs }: CheckContext) {
  return { store: store ?? null, match: match ?? null, at: jsonTime(atMs), tookMs: tookMs ?? null }
}

function oneJson(check: Check, look: StoreScan) {
  const { name, status } = check
  const head = { name, status, message: checkMessage(check, look) }
  if (check.name === 'watchdog') {
    const { lagMs, warnMs, critMs, faults } = check.verdict
    const limits = { value: lagMs ?? null, unit: UNITS[name], warning: warnMs ?? null, critical: critMs ?? null }
    return { ...head, ...limits, faults: faults.map(fault => fault.kind), examples: [] }
  }
  if (check.name === 'waiting') {
    const { warnMs: warning, critMs: critical = null } = check.limits
    const limits = { value: check.oldestMs ?? null, unit: UNITS[name], warning, critical }
    return { ...head, ...limits, faults: [], examples: examplesJson(check, look.nowMs) }
  }
  const { warn, crit } = check.limits
  const limits = { value: check.found.count, unit: UNITS[name], warning: warn, critical: crit ?? null }
  return { ...head, ...limits, faults: [], examples: examplesJson(check, look.nowMs) }
}

const UNITS: { readonly [Name in Check['name']]: string } = {
  overdue: 'streams',
  failed: 'streams',
  blocked: 'streams',
  undo: 'streams',
  abandoned: 'streams',
  waiting: 'ms',
  stuck: 'leases',
  unreadable: 'streams',
  subscriptions: 'subscriptions',
  inboxes: 'inboxes',
  watchdog: 'ms',
}

function examplesJson(check: Exclude<Check, { name: 'watchdog' }>, nowMs: number) {
  switch (check.name) {
    case 'overdue':
      return check.found.examples.map(({ stream, dueMs }) => ({ stream, since: jsonTime(dueMs), message: null }))
    case 'failed':
    case 'blocked':
    case 'undo':
      return check.found.examples.map(failed => ({
        stream: failed.stream,
        since: jsonTime(failed.failedAtMs),
        message: failedText(failed),
      }))
    case 'abandoned':
      return check.found.examples.map(abandoned => ({
        stream: abandoned.stream,
        since: jsonTime(abandoned.claimEndMs),
        message: abandonedText(abandoned) || null,
      }))
    case 'waiting':
      return check.found.examples.map(({ stream, readySinceMs }) => ({
        stream,
        since: jsonTime(readySinceMs),
        message: null,
      }))
    case 'stuck':
      return check.found.examples.map(stuck => ({
        stream: stuck.stream,
        since: jsonTime(stuck.lease.holder?.sinceMs),
        message: stuckText(stuck, nowMs),
      }))
    case 'unreadable':
      return check.found.examples.map(({ stream, message }) => ({ stream, since: null, message }))
    case 'subscriptions':
    case 'inboxes':
      return check.found.examples.map(({ name, why }) => ({ stream: name, since: null, message: why }))
    default:
      return check satisfies never
  }
}

function streamsJson({ streams, byStatus, openEvents, withLimit, leased, unacknowledged, suspended }: StoreScan) {
  const counts = Object.fromEntries(STATUS_KINDS.map(kind => [kind, byStatus[kind]]))
  return { total: streams, byStatus: counts, openEvents, withLimit, leased, unacknowledged, suspended }
}

function stepJson({ step, ready, running, abandoned, failed }: StepWork) {
  return { step, ready, running, abandoned, failed }
}

function watchdogJson(watchdog: WatchdogSeen, nowMs: number) {
  const { id, host, pid, startedMs, stoppedMs, lastSweepMs, intervalMs, settings, breaker, shards, failure } = watchdog
  return {
    id,
    host,
    pid,
    match: settings.match ?? null,
    started: jsonTime(startedMs),
    stopped: jsonTime(stoppedMs),
    lastSweep: jsonTime(lastSweepMs),
    lagMs: Math.max(0, nowMs - (lastSweepMs ?? startedMs)),
    intervalMs,
    breakerOpen: breaker?.isOpen ?? false,
    shards: shards ?? null,
    failure: failure === undefined ? null : { code: failure.code, message: failure.message },
  }
}

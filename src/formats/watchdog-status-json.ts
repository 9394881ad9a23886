import { type LastPass, livenessOf, type PassFailure, type WatchdogEntry } from '../ops/watchdog-state/state.ts'
import { jsonTime, orNull } from './json.ts'

/** A watchdog as JSON shows it; fields are only ever added. @param nowMs the store's clock, epoch ms */
export function watchdogJson(entry: WatchdogEntry, nowMs: number) {
  const { id, host, pid, version, by, intervalMs, tookMs, settings, breaker, shards, totals } = entry
  return {
    id,
    state: livenessOf(entry, nowMs),
    host,
    pid,
    version,
    by,
    started: jsonTime(entry.startedMs),
    written: jsonTime(entry.writtenMs),
    stopped: jsonTime(entry.stoppedMs),
    intervalMs,
    settings: { ...settings, match: orNull(settings.match) },
    lastSweep: jsonTime(entry.lastSweepMs),
    tookMs,
    lastPass: entry.lastPass === undefined ? null : lastPassJson(entry.lastPass),
    passes: entry.passes.map(({ startedMs, ...figures }) => ({ started: jsonTime(startedMs), ...figures })),
    decisions: entry.decisions.map(({ stream, kind, event, limit, dueMs, outcome, atMs }) => ({
      stream,
      action: kind,
      event: orNull(event),
      limit: orNull(limit),
      due: jsonTime(dueMs),
      outcome,
      at: jsonTime(atMs),
    })),
    breaker: breaker === undefined ? null : breakerJson(breaker),
    next: entry.next.map(({ stream, dueMs }) => ({ stream, due: jsonTime(dueMs) })),
    shards: shards ?? null,
    failure: failureJson(entry.failure),
    lastFailure: failureJson(entry.lastFailure),
    totals,
  }
}

function lastPassJson({ startedMs, kind, ...figures }: LastPass) {
  return { kind, started: jsonTime(startedMs), ...figures }
}

function breakerJson({ isOpen, ...figures }: NonNullable<WatchdogEntry['breaker']>) {
  return { open: isOpen, ...figures }
}

function failureJson(failure: PassFailure | undefined) {
  if (failure === undefined) return null
  const { startedMs, sinceMs, code, message } = failure
  return { started: jsonTime(startedMs), since: jsonTime(sinceMs), code, message }
}

import type { Runtime } from '../../../cli/runtime.ts'
import { jsonTime } from '../../../formats/json.ts'
import { counted } from '../../../formats/terminal/numbers.ts'
import { isoTime } from '../../../stream/time/dates.ts'
import { BoundedMap } from '../../../util/bounded-map.ts'
import type { ExecutedDecision } from '../../../watchdog/decision.ts'
import type { FailedPass, Observer, PassReport } from '../../../watchdog/report.ts'
import { overruleCommand } from '../overrule.ts'
import type { WatchdogCommandOptions } from '../settings.ts'
import {
  breakerEntry,
  decisionEntry,
  type Entry,
  failedEntry,
  faultEntry,
  type PassTotals,
  passEntry,
  plannedEntry,
  recoveredEntry,
  summaryEntry,
} from './entries.ts'
import { type LogSink, openSink } from './sink.ts'

/** The log of a watchdog on stderr. */
export interface WatchdogLog extends Observer {
  /** Logs an entry of another part: hooks, shards, systemd. Its texts may come from untrusted sources. */
  note(entry: Entry): void
}

/**
 * Writes JSON lines, or text on a terminal unless JSON is requested. `-q` leaves warnings and errors, `-v` adds every
 * pass.
 */
export async function openLog(options: WatchdogCommandOptions, runtime: Runtime): Promise<WatchdogLog> {
  const sink = await openSink(options, runtime)
  const overrule = () => overruleCommand(options, runtime)
  return { ...logObserver(sink, () => runtime.nowMs(), overrule), note: sink }
}

/** Interval of the entries that show that the watchdog is alive. */
const SUMMARY_EVERY_MS = 10 * 60_000
/** Number of reported outcomes that are remembered. */
const MAX_REPORTED = 1_000

/**
 * Reports each outcome once; repetitions in later passes are logged at `debug`.
 * @param overrule the command that ends the events that the circuit breaker holds back
 */
function logObserver(log: LogSink, nowMs: () => number, overrule: () => string): Observer {
  const passes = new PassLog(log, nowMs, overrule)
  const reported = new BoundedMap<string, true>(MAX_REPORTED)
  let held: readonly number[] = []
  return {
    planned: decision => log(plannedEntry(decision)),
    executed: carried => log(withRepeats(decisionEntry(carried), isNew(reported, keyOf(carried)))),
    passed: report => passes.passed(report),
    failed: failure => passes.failed(failure),
    unreadable: (stream, message) =>
      log({
        level: 'warn',
        kind: 'unreadable',
        stream,
        text: `${message}; it is never aborted`,
        fields: { error: message },
      }),
    gap: (fromMs, toMs, why) => log(blindEntry(fromMs, toMs, why)),
    faulty: error => log(faultEntry('observer', 'an observer of passes failed; passes continue', error)),
    shards(now, total) {
      log(shardsEntry(held, now, total))
      held = [...now]
    },
  }
}

function keyOf({ decision, outcome, code = '' }: ExecutedDecision): string {
  return [decision.stream, decision.commandId, outcome, code].join('\0')
}

function withRepeats(entry: Entry, isNew: boolean): Entry {
  return isNew ? entry : { ...entry, level: 'debug' }
}

class PassLog {
  readonly #log: LogSink
  readonly #nowMs: () => number
  readonly #overrule: () => string
  /** The code that passes fail with now. */
  #outage: { readonly code: string; readonly sinceMs: number } | undefined
  #wasOpen = false
  #last: PassReport | undefined
  #totals: PassTotals

  constructor(log: LogSink, nowMs: () => number, overrule: () => string) {
    this.#log = log
    this.#nowMs = nowMs
    this.#overrule = overrule
    this.#totals = { sinceMs: nowMs(), passes: 0, failed: 0, endedEvents: 0 }
  }

  passed(report: PassReport): void {
    if (this.#outage !== undefined) this.#log(recoveredEntry(this.#outage.sinceMs, this.#nowMs()))
    this.#outage = undefined
    if (report.breaker.isOpen !== this.#wasOpen) this.#log(breakerEntry(report.breaker, this.#overrule()))
    this.#wasOpen = report.breaker.isOpen
    const { ended, settled, notified } = report.outcomes
    const isNews = this.#last === undefined || (ended ?? settled ?? notified) !== undefined
    this.#log(passEntry(report, isNews ? 'info' : 'debug'))
    this.#last = report
    this.#count({ failed: 0, endedEvents: report.endedEvents })
  }

  failed(failure: FailedPass): void {
    const isNews = this.#outage?.code !== failure.code
    this.#log(failedEntry(failure, isNews ? 'error' : 'debug'))
    this.#outage = { code: failure.code, sinceMs: failure.sinceMs }
    this.#count({ failed: 1, endedEvents: 0 })
  }

  #count({ failed, endedEvents }: Pick<PassTotals, 'failed' | 'endedEvents'>): void {
    const before = this.#totals
    this.#totals = {
      sinceMs: before.sinceMs,
      passes: before.passes + 1,
      failed: before.failed + failed,
      endedEvents: before.endedEvents + endedEvents,
    }
    const nowMs = this.#nowMs()
    if (this.#last === undefined || nowMs - before.sinceMs < SUMMARY_EVERY_MS) return
    this.#log(summaryEntry(this.#totals, this.#last, nowMs))
    this.#totals = { sinceMs: nowMs, passes: 0, failed: 0, endedEvents: 0 }
  }
}

function blindEntry(fromMs: number, toMs: number, why: string): Entry {
  const since = fromMs > 0 ? isoTime(fromMs) : 'an unknown time'
  const spot = `saw nothing from ${since} to ${isoTime(toMs)} (${why})`
  return {
    level: 'warn',
    kind: 'blind',
    text: `${spot}: earlier observations are discarded, events get new time to send heartbeats`,
    fields: { from: jsonTime(fromMs), to: jsonTime(toMs), why },
  }
}

function shardsEntry(before: readonly number[], held: readonly number[], total: number): Entry {
  const taken = held.filter(shard => !before.includes(shard))
  const left = before.filter(shard => !held.includes(shard))
  const moves = [
    ...(taken.length > 0 ? [`took ${taken.join(' ')}`] : []),
    ...(left.length > 0 ? [`released ${left.join(' ')}`] : []),
  ]
  const holds =
    held.length === 0 ? `standby: holds none of ${total}` : `holds ${held.length} of ${counted(total, 'shard')}`
  return {
    level: 'info',
    kind: 'shards',
    text: [holds, ...moves].join('; '),
    fields: { held: [...held], taken, left, total },
  }
}

/** The key then becomes the newest. */
function isNew(known: Map<string, true>, key: string): boolean {
  const isNew = !known.has(key)
  known.set(key, true)
  return isNew
}

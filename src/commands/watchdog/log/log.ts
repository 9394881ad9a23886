import { commandLine } from '../../../cli/command-line.ts'
import type { GlobalOptions } from '../../../cli/options.ts'
import type { Runtime } from '../../../cli/runtime.ts'
import { jsonTime } from '../../../formats/json.ts'
import { counted } from '../../../formats/terminal/numbers.ts'
import { hasColour, paintFor } from '../../../formats/terminal/style.ts'
import { isoTime } from '../../../stream/time/dates.ts'
import type { Carried } from '../../../watchdog/decision.ts'
import { DeliveredIds } from '../../../watchdog/hooks/watermarks.ts'
import type { FailedPass, Observer, PassReport } from '../../../watchdog/report.ts'
import {
  breakerEntry,
  carriedEntry,
  type Entry,
  failedEntry,
  type Level,
  type PassTotals,
  passEntry,
  plannedEntry,
  recoveredEntry,
  summaryEntry,
  troubleEntry,
} from './entries.ts'
import { jsonSink, type LogSink, prettySink } from './sink.ts'

/** What a watchdog says about itself, on stderr. */
export interface WatchdogLog extends Observer {
  /** A line of whoever else has something to say: hooks, shards, systemd. Texts may come from strangers. */
  note(entry: Entry): void
}

/**
 * JSON lines, or lines for people where stderr is a terminal and no JSON was asked for. `-q` leaves warnings and errors,
 * `-v` tells each pass too.
 */
export async function openLog(options: GlobalOptions, runtime: Runtime): Promise<WatchdogLog> {
  const sink = await sinkFor(options, runtime)
  const overrule = () => commandLine(runtime, ['watchdog', '--once', '--max-share', '100%'])
  return { ...logObserver(sink, () => runtime.nowMs(), overrule), note: sink }
}

async function sinkFor(options: GlobalOptions, runtime: Runtime): Promise<LogSink> {
  const { stderr, env } = runtime
  const setting = { stderr, level: levelOf(options), nowMs: () => runtime.nowMs() }
  const asJson = options.output === 'json' || options.output === 'ndjson'
  if (asJson || !stderr.isTty) return jsonSink(setting)
  const paint = await paintFor(hasColour(options.color ?? 'auto', env, true))
  const time = options.time === 'utc' || options.time === 'iso' ? options.time : 'local'
  return prettySink({ ...setting, paint, time })
}

function levelOf({ quiet, verbose, debug }: GlobalOptions): Level {
  if (quiet) return 'warn'
  return verbose || debug ? 'debug' : 'info'
}

/** So often the log shows that the watchdog lives. */
const SUMMARY_EVERY_MS = 10 * 60_000
/** Of so many things that are not done and tried again it is known that they were told. */
const MAX_TOLD = 1_000

/**
 * Tells each thing once: what is the same pass after pass is told at `debug` from then on.
 * @param overrule the command that ends what the breaker keeps from being ended
 */
function logObserver(log: LogSink, nowMs: () => number, overrule: () => string): Observer {
  const passes = new PassLog(log, nowMs, overrule)
  const told = new DeliveredIds(MAX_TOLD)
  let held: readonly number[] = []
  return {
    planned: decision => log(plannedEntry(decision)),
    carried: carried => log(withRepeats(carriedEntry(carried), told.add(keyOf(carried)))),
    passed: report => passes.passed(report),
    failed: failure => passes.failed(failure),
    unreadable: (stream, message) =>
      log({
        level: 'warn',
        kind: 'unreadable',
        stream,
        text: `${message}; it is never ended`,
        fields: { error: message },
      }),
    blind: (fromMs, toMs, why) => log(blindEntry(fromMs, toMs, why)),
    faulty: error => log(troubleEntry('observer', 'a part that is told of passes failed; passes go on', error)),
    shards(now, total) {
      log(shardsEntry(held, now, total))
      held = [...now]
    },
  }
}

function keyOf({ decision, outcome, code = '' }: Carried): string {
  return [decision.stream, decision.commandId, outcome, code].join('\0')
}

function withRepeats(entry: Entry, isNew: boolean): Entry {
  return isNew ? entry : { ...entry, level: 'debug' }
}

class PassLog {
  readonly #log: LogSink
  readonly #nowMs: () => number
  readonly #overrule: () => string
  /** The code for which passes fail now. */
  #outage: { readonly code: string; readonly sinceMs: number } | undefined
  #wasOpen = false
  #last: PassReport | undefined
  #tally: PassTotals

  constructor(log: LogSink, nowMs: () => number, overrule: () => string) {
    this.#log = log
    this.#nowMs = nowMs
    this.#overrule = overrule
    this.#tally = { sinceMs: nowMs(), passes: 0, failed: 0, endedEvents: 0 }
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
    const before = this.#tally
    this.#tally = {
      sinceMs: before.sinceMs,
      passes: before.passes + 1,
      failed: before.failed + failed,
      endedEvents: before.endedEvents + endedEvents,
    }
    const nowMs = this.#nowMs()
    if (this.#last === undefined || nowMs - before.sinceMs < SUMMARY_EVERY_MS) return
    this.#log(summaryEntry(this.#tally, this.#last, nowMs))
    this.#tally = { sinceMs: nowMs, passes: 0, failed: 0, endedEvents: 0 }
  }
}

function blindEntry(fromMs: number, toMs: number, why: string): Entry {
  const since = fromMs > 0 ? isoTime(fromMs) : 'who knows when'
  const spot = `saw nothing from ${since} to ${isoTime(toMs)} (${why})`
  return {
    level: 'warn',
    kind: 'blind',
    text: `${spot}: what was seen before counts no more, silent events get time to show life`,
    fields: { from: jsonTime(fromMs), to: jsonTime(toMs), why },
  }
}

function shardsEntry(before: readonly number[], held: readonly number[], total: number): Entry {
  const taken = held.filter(shard => !before.includes(shard))
  const left = before.filter(shard => !held.includes(shard))
  const moves = [
    ...(taken.length > 0 ? [`took ${taken.join(' ')}`] : []),
    ...(left.length > 0 ? [`let go of ${left.join(' ')}`] : []),
  ]
  const holds =
    held.length === 0 ? `stands by: holds none of ${total}` : `holds ${held.length} of ${counted(total, 'shard')}`
  return {
    level: 'info',
    kind: 'shards',
    text: [holds, ...moves].join('; '),
    fields: { held: [...held], taken, left, total },
  }
}

import { withoutSecrets } from '../../../cli/error-problem.ts'
import type { GlobalOptions } from '../../../cli/options.ts'
import type { Runtime, Terminal } from '../../../cli/runtime.ts'
import { escapeHostile } from '../../../formats/json.ts'
import { clock } from '../../../formats/terminal/numbers.ts'
import { hasColour, type Paint, paintFor, type Style } from '../../../formats/terminal/style.ts'
import { formatDuration, parseTimeout } from '../../../stream/time/durations.ts'
import { visibleText } from '../../../util/visible-text.ts'
import { type Entry, LEVELS, type Level } from './entries.ts'

/** Writes log entries. Never throws, never waits. */
export type LogSink = (entry: Entry) => void

interface SinkOptions {
  readonly stderr: Terminal
  /** The least important level that is written. */
  readonly level: Level
  nowMs(): number
}

/**
 * Limit for lines that wait for a slow reader of stderr: the log must neither delay the watchdog nor fill its memory.
 */
const MAX_WAITING = 10_000

/**
 * The log of a daemon on stderr: JSON lines, or text on a terminal unless JSON is requested. `-q` leaves warnings and
 * errors, `-v` adds what is only of interest when one looks for a fault.
 */
export async function openSink(options: GlobalOptions, runtime: Runtime): Promise<LogSink> {
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

/** One JSON object a line: `level`, `time`, `kind`, then the data, then `msg`. */
export function jsonSink(options: SinkOptions): LogSink {
  return lines(options, ({ level, kind, text, stream, event, name, fields }) => {
    const time = new Date(options.nowMs()).toISOString()
    const line = JSON.stringify({ level, time, kind, stream, event, name, ...fields, msg: text })
    return withoutSecrets(escapeHostile(`${line}\n`))
  })
}

/** One line of text for each entry. */
function prettySink(options: SinkOptions & { readonly paint: Paint; readonly time: PrettyOptions['time'] }): LogSink {
  return lines(options, entry => `${prettyLine(entry, { ...options, nowMs: options.nowMs() })}\n`)
}

function lines({ stderr, level }: SinkOptions, lineOf: (entry: Entry) => string): LogSink {
  const least = LEVELS.indexOf(level)
  let waiting = 0
  return entry => {
    if (LEVELS.indexOf(entry.level) < least || waiting >= MAX_WAITING) return
    waiting += 1
    void stderr.write(lineOf(entry)).finally(() => {
      waiting -= 1
    })
  }
}

interface PrettyOptions {
  readonly nowMs: number
  readonly paint: Paint
  readonly time: 'local' | 'utc' | 'iso'
}

const KIND_WIDTH = 8
const STYLES: { readonly [Of in Level]: Style } = { debug: 'dim', info: 'plain', warn: 'warn', error: 'bad' }

/** `14:02:11 ended    orders/4711 01.02.00 Search: no sign of life since 14:00:11 (timeout 2m), 0.4s late` */
function prettyLine(entry: Entry, options: PrettyOptions): string {
  const { nowMs, paint, time } = options
  const { level, kind, text, stream, event, name } = entry
  const about = [stream, event, name].filter(part => part !== undefined && part !== '').join(' ')
  const what = about === '' ? text : `${about}: ${text}`
  const shown = visibleText(withoutSecrets(forPeople(what, options)))
  const word = paint(entry.style ?? STYLES[level], visibleText(kind).padEnd(KIND_WIDTH))
  return `${paint('dim', clock(nowMs, nowMs, time))} ${word} ${shown}`
}

const ISO = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g
const TIMEOUT = /\(timeout ([^()]{1,40})\)/g

/** Shows times in the chosen time zone and timeouts in short form. */
function forPeople(text: string, { nowMs, time }: PrettyOptions): string {
  return text
    .replace(ISO, iso => {
      const ms = Date.parse(iso)
      return Number.isNaN(ms) ? iso : clock(ms, nowMs, time)
    })
    .replace(TIMEOUT, (whole, written: string) => {
      const timeout = parseTimeout(written)
      return timeout.kind === 'after' ? `(timeout ${formatDuration(timeout.ms)})` : whole
    })
}

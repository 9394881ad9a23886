import type { Terminal } from '../../../cli/runtime.ts'
import { withoutSecrets } from '../../../cli/without-secrets.ts'
import { escapeHostile } from '../../../formats/json.ts'
import type { Paint } from '../../../formats/terminal/style.ts'
import { type Entry, LEVELS, type Level } from './entries.ts'
import { type PrettyOptions, prettyLine } from './pretty.ts'

/** Takes lines of the log. Never throws, never waits. */
export type Sink = (entry: Entry) => void

interface SinkOptions {
  readonly stderr: Terminal
  /** The least important that is written. */
  readonly level: Level
  nowMs(): number
}

/** So many lines may wait for a reader of stderr that takes none: a log must not hold the watchdog up, nor fill its memory. */
const MAX_WAITING = 10_000

/** One JSON object a line: `level`, `time`, `kind`, then what is told, then `msg`. */
export function jsonSink(options: SinkOptions): Sink {
  return lines(options, ({ level, kind, text, stream, event, name, fields }) => {
    const time = new Date(options.nowMs()).toISOString()
    const line = JSON.stringify({ level, time, kind, stream, event, name, ...fields, msg: text })
    return withoutSecrets(escapeHostile(`${line}\n`))
  })
}

/** A line for people each. */
export function prettySink(
  options: SinkOptions & { readonly paint: Paint; readonly time: PrettyOptions['time'] },
): Sink {
  return lines(options, entry => `${prettyLine(entry, { ...options, nowMs: options.nowMs() })}\n`)
}

function lines({ stderr, level }: SinkOptions, lineOf: (entry: Entry) => string): Sink {
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

import { escapeHostile } from '../../formats/json.ts'
import type { Paint } from '../../formats/paint.ts'
import type { Terminal } from '../runtime.ts'
import { withoutSecrets } from '../without-secrets.ts'
import { type Entry, LEVELS, type Level } from './log-entry.ts'
import { type PrettyOptions, prettyLine } from './log-pretty.ts'

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

/** One JSON object a line, by pino: `level`, `time`, `kind`, then what is told, then `msg`. */
export async function jsonSink(options: SinkOptions): Promise<Sink> {
  const { pino } = await import('pino')
  const { level, nowMs } = options
  const write = lineWriter(options.stderr)
  const log = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(nowMs()).toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
    },
    { write: line => write(withoutSecrets(escapeHostile(line))) },
  )
  return ({ level, kind, text, stream, event, name, fields }) => {
    log[level]({ kind, stream, event, name, ...fields }, text)
  }
}

/** A line for people each. */
export function prettySink(
  options: SinkOptions & { readonly paint: Paint; readonly time: PrettyOptions['time'] },
): Sink {
  const least = LEVELS.indexOf(options.level)
  const write = lineWriter(options.stderr)
  return entry => {
    if (LEVELS.indexOf(entry.level) < least) return
    write(`${prettyLine(entry, { ...options, nowMs: options.nowMs() })}\n`)
  }
}

function lineWriter(stderr: Terminal): (line: string) => void {
  let waiting = 0
  return line => {
    if (waiting >= MAX_WAITING) return
    waiting += 1
    void stderr.write(line).finally(() => {
      waiting -= 1
    })
  }
}

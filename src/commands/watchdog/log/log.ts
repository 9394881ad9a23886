import { hasColour, paintFor } from '../../../cli/color.ts'
import { commandLine } from '../../../cli/command-line.ts'
import type { GlobalOptions } from '../../../cli/options.ts'
import type { Runtime } from '../../../cli/runtime.ts'
import type { Observer } from '../../../watchdog/report.ts'
import type { Entry, Level } from './entries.ts'
import { logObserver } from './observer.ts'
import { jsonSink, prettySink, type Sink } from './sink.ts'

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

async function sinkFor(options: GlobalOptions, runtime: Runtime): Promise<Sink> {
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

import { setImmediate as otherWork } from 'node:timers/promises'
import { errorProblem } from '../../cli/error-problem.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { missingProblem } from '../../cli/outcome-problem.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import { openProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import { readSelection } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import { atMs, type PointInTime } from '../../cli/time-points.ts'
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import type { Glob } from '../../ops/glob.ts'
import { type LogQuery, readLogs, type StreamLog } from '../../ops/log.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { defined } from '../../util/defined.ts'
import { visibleName } from '../../util/visible-text.ts'
import { type LogOutput, sortedLog, streamedLog } from './output.ts'

/** Here, `since` filters transactions, not streams. */
export interface LogCommandOptions extends GlobalOptions, SelectionOptions {
  readonly until?: PointInTime
  readonly by?: Glob
  readonly op?: readonly string[]
  /** Number of latest transactions; `Infinity` for all. */
  readonly lines?: number
}

/** Sorting keeps all entries in memory, so a log of many streams keeps only the latest. */
const MOST_SORTED = 20_000
const PROGRESS_EVERY = 500
/** An embedded store answers synchronously, so the loop yields now and then to let signals through. */
const TURN_EVERY = 50

/** Shows the transactions of one or many streams. Unreadable streams are reported, and the others still shown. */
export async function showLog(options: LogCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  const query = queryOf(options, runtime.nowMs())
  const selection = await selectionOf(options, runtime)
  const output = await openOutput(options, runtime, 'local')
  const store = await openStoreFor(options, runtime, output)
  if (selection.kind !== 'names') await keepHeapSmall()
  const log = logFor(selection, options, store, output)
  const floorMs = () => Math.max(query.sinceMs ?? Number.NEGATIVE_INFINITY, log.floorMs)
  const logs = readLogs(store, selection, query, { floorMs, signal: runtime.signal })
  const collected = await collect(logs, log, selection, options, runtime)
  if (collected.fatal !== undefined) return collected.fatal
  const { shown, truncated } = await log.end()
  if (shown === 0) {
    await output.say('no transactions')
  }
  if (truncated && options.lines === undefined)
    await output.say(`only the last ${shown} are shown; -n all and -o ndjson show all`)
  return incomplete(collected)
}

function queryOf({ since, until, by, op }: LogCommandOptions, nowMs: number): LogQuery {
  const sinceMs = since && atMs(since, nowMs)
  const untilMs = until && atMs(until, nowMs)
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs) {
    throw new UsageError('--since is later than --until', { hint: 'Swap them.' })
  }
  return defined({ sinceMs, untilMs, by, ops: op })
}

async function selectionOf({ since, ...which }: LogCommandOptions, runtime: Runtime): Promise<Selection> {
  const selection = await readSelection(which, runtime)
  if (selection !== undefined) return selection
  if (since !== undefined) return { kind: 'filter', filter: {} }
  throw new UsageError('log needs streams', {
    hint: 'Give stream names, --since 1h, or a filter such as --match; --all selects the whole store.',
  })
}

function logFor(selection: Selection, options: LogCommandOptions, store: StreamStore, output: Output): LogOutput {
  const named = selection.kind === 'names'
  if (options.output === 'ndjson' && options.lines === undefined && !named) return streamedLog(output)
  const keep = options.lines ?? (named ? Number.POSITIVE_INFINITY : MOST_SORTED)
  return sortedLog(options.output, keep, () => store.nowMs(), output)
}

interface Collected {
  readonly streams: number
  /** Names of the unreadable streams. */
  readonly failed: readonly string[]
  /** Ends the command before anything is printed. */
  readonly fatal: Problem | undefined
}

async function collect(
  logs: AsyncIterable<StreamLog>,
  log: LogOutput,
  selection: Selection,
  options: LogCommandOptions,
  runtime: Runtime,
): Promise<Collected> {
  const progress = openProgressLine(options, runtime, options.output !== 'ndjson' || !runtime.stdout.isTty)
  const failed: string[] = []
  const missing: Problem[] = []
  let streams = 0
  for await (const item of logs) {
    runtime.signal.throwIfAborted()
    // A stream removed between the listing and the read no longer belongs to the selection.
    if (item.kind === 'missing' && selection.kind === 'filter') continue
    if (++streams % PROGRESS_EVERY === 0) await progress.show(`${streams} streams read`)
    if (streams % TURN_EVERY === 0) await otherWork()
    if (item.kind === 'read') {
      await log.add(item.entries)
    } else if (item.kind === 'missing' && selection.kind === 'names') {
      missing.push(missingProblem(item.stream))
    } else {
      const fault = faultOf(item, runtime)
      if (selection.kind === 'names' && selection.names.length === 1) return { streams, failed, fatal: fault }
      await progress.clear()
      await tellProblem(fault, options, runtime)
      failed.push(item.stream)
    }
  }
  await progress.clear()
  return { streams, failed, fatal: allMissing(missing) }
}

/** As in `show`, each given name must exist; the problem names all that do not. */
function allMissing([first, ...others]: readonly Problem[]): Problem | undefined {
  if (first === undefined || others.length === 0) return first
  return { ...first, facts: others.map(({ message }) => ['also', message] as const) }
}

function faultOf(item: Exclude<StreamLog, { kind: 'read' }>, runtime: Runtime): Problem {
  return item.kind === 'missing' ? missingProblem(item.stream) : errorProblem(item.cause, runtime)
}

const NAMED = 5

function incomplete({ streams, failed }: Collected): Problem | undefined {
  if (failed.length === 0) return undefined
  const more = failed.length > NAMED ? ` +${failed.length - NAMED}` : ''
  return problem('batch-incomplete', `${failed.length} of ${streams} streams could not be read`, {
    facts: [['streams', failed.slice(0, NAMED).map(visibleName).join(' ') + more]],
    hint: 'The transactions of all other streams were shown.',
  })
}

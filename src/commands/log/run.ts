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
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import { atMs, type PointInTime } from '../../cli/values.ts'
import type { Glob } from '../../ops/glob.ts'
import { type LogQuery, readLogs, type StreamLog } from '../../ops/log.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { defined } from '../../util/defined.ts'
import { visibleName } from '../../util/visible-text.ts'
import { type LogOutput, sortedLog, streamedLog } from './output.ts'

/** `since` is about transactions here, not about streams. */
export interface LogCommandOptions extends GlobalOptions, SelectionOptions {
  readonly until?: PointInTime
  readonly by?: Glob
  readonly op?: readonly string[]
  /** How many of the last transactions; `Infinity` for all. */
  readonly lines?: number
}

/** What is sorted has to be held: of a whole store the last so many. */
const MOST_SORTED = 20_000
const PROGRESS_EVERY = 500
/** An embedded store answers without a pause: signals have to get their turn. */
const TURN_EVERY = 50

/** The transactions of one or many streams. What cannot be read is told; the rest goes on. */
export async function showLog(options: LogCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  const query = queryOf(options, runtime.nowMs())
  const selection = await selectionOf(options, runtime)
  const output = await openOutput(options, runtime, 'local')
  const store = await openStoreFor(options, runtime, output)
  if (selection.kind !== 'names') await keepHeapSmall()
  const log = logFor(selection, options, store, output)
  const floorMs = () => Math.max(query.sinceMs ?? Number.NEGATIVE_INFINITY, log.floorMs)
  const logs = readLogs(store, selection, query, { floorMs, signal: runtime.signal })
  const seen = await collect(logs, log, selection, options, runtime)
  if (seen.fatal !== undefined) return seen.fatal
  const { shown, truncated } = await log.end()
  if (shown === 0) {
    await output.say('no transactions')
  }
  if (truncated && options.lines === undefined)
    await output.say(`only the last ${shown} are shown; -n all and -o ndjson show all`)
  return incomplete(seen)
}

function queryOf({ since, until, by, op }: LogCommandOptions, nowMs: number): LogQuery {
  const sinceMs = since && atMs(since, nowMs)
  const untilMs = until && atMs(until, nowMs)
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs) {
    throw new UsageError('--since is later than --until', { hint: 'Nothing can be between them; swap them.' })
  }
  return defined({ sinceMs, untilMs, by, ops: op })
}

async function selectionOf({ since, ...which }: LogCommandOptions, runtime: Runtime): Promise<Selection> {
  const selection = await readSelection(which, runtime)
  if (selection !== undefined) return selection
  if (since !== undefined) return { kind: 'filter', filter: {} }
  throw new UsageError('the log of which streams?', {
    hint: 'Name them, or say --since 1h, or use a filter such as --match; --all is the whole store.',
  })
}

function logFor(selection: Selection, options: LogCommandOptions, store: StreamStore, output: Output): LogOutput {
  const named = selection.kind === 'names'
  if (options.output === 'ndjson' && options.lines === undefined && !named) return streamedLog(output)
  const keep = options.lines ?? (named ? Number.POSITIVE_INFINITY : MOST_SORTED)
  return sortedLog(options.output, keep, () => store.nowMs(), output)
}

interface Seen {
  readonly streams: number
  /** Those of them that could not be read. */
  readonly failed: readonly string[]
  /** Nothing is printed then. */
  readonly fatal: Problem | undefined
}

async function collect(
  logs: AsyncIterable<StreamLog>,
  log: LogOutput,
  selection: Selection,
  options: LogCommandOptions,
  runtime: Runtime,
): Promise<Seen> {
  const progress = openProgressLine(options, runtime, options.output !== 'ndjson' || !runtime.stdout.isTty)
  const failed: string[] = []
  const missing: Problem[] = []
  let streams = 0
  for await (const item of logs) {
    runtime.signal.throwIfAborted()
    // what vanished between listing and reading is no longer one of those that were asked for
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

/** As `show` does: of names that were typed each has to exist, and all that do not are told. */
function allMissing([first, ...others]: readonly Problem[]): Problem | undefined {
  if (first === undefined || others.length === 0) return first
  return { ...first, facts: others.map(({ message }) => ['also', message] as const) }
}

function faultOf(item: Exclude<StreamLog, { kind: 'read' }>, runtime: Runtime): Problem {
  return item.kind === 'missing' ? missingProblem(item.stream) : errorProblem(item.cause, runtime)
}

const NAMED = 5

function incomplete({ streams, failed }: Seen): Problem | undefined {
  if (failed.length === 0) return undefined
  const more = failed.length > NAMED ? ` +${failed.length - NAMED}` : ''
  return problem('batch-incomplete', `${failed.length} of ${streams} streams could not be read`, {
    facts: [['streams', failed.slice(0, NAMED).map(visibleName).join(' ') + more]],
    hint: 'The transactions of the others were all shown.',
  })
}

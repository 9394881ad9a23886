import type { GlobalOptions } from '../../cli/options.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { collect, incompleteProblem, selectionSince } from '../../cli/selection/collect.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import { openStoreFor } from '../../cli/store.ts'
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import { atMs, type PointInTime, sinceMsOf } from '../../cli/values.ts'
import type { Glob } from '../../ops/glob.ts'
import { type LogEntry, type LogQuery, readLogs } from '../../ops/log.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { defined } from '../../util/defined.ts'
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

/** Shows the transactions of one or many streams. Unreadable streams are reported, and the others still shown. */
export async function showLog(options: LogCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  const query = queryOf(options, runtime.nowMs())
  const selection = await selectionSince(options, 'log', runtime)
  const output = await openOutput(options, runtime, 'local')
  const store = await openStoreFor(options, runtime, output)
  if (selection.kind !== 'names') await keepHeapSmall()
  const log = logFor(selection, options, store, output)
  const floorMs = () => Math.max(query.sinceMs ?? Number.NEGATIVE_INFINITY, log.floorMs)
  const logs = readLogs(store, selection, query, { floorMs, signal: runtime.signal })
  const showsProgress = options.output !== 'ndjson' || !runtime.stdout.isTty
  const add = ({ entries }: { readonly entries: readonly LogEntry[] }) => log.add(entries)
  const collected = await collect(logs, add, selection, options, runtime, { showsProgress })
  if (collected.fatal !== undefined) return collected.fatal
  const { shown, truncated } = await log.end()
  if (shown === 0) {
    await output.say('no transactions')
  }
  if (truncated && options.lines === undefined)
    await output.say(`only the last ${shown} are shown; -n all and -o ndjson show all`)
  return incompleteProblem(collected, 'The transactions of all other streams were shown.')
}

function queryOf({ since, until, by, op }: LogCommandOptions, nowMs: number): LogQuery {
  const sinceMs = since && sinceMsOf(since, nowMs)
  const untilMs = until && atMs(until, nowMs)
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs) {
    throw new UsageError('--since is later than --until', { hint: 'Swap them.' })
  }
  return defined({ sinceMs, untilMs, by, ops: op })
}

function logFor(selection: Selection, options: LogCommandOptions, store: StreamStore, output: Output): LogOutput {
  const named = selection.kind === 'names'
  if (options.output === 'ndjson' && options.lines === undefined && !named) return streamedLog(output)
  const keep = options.lines ?? (named ? Number.POSITIVE_INFINITY : MOST_SORTED)
  return sortedLog(options.output, keep, () => store.nowMs(), output)
}

import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { collect, incompleteProblem, selectionSince } from '../../cli/selection/collect.ts'
import { openStoreFor } from '../../cli/store.ts'
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import { AUDITED } from '../../ops/audit-log.ts'
import { type LogEntry, readLogs } from '../../ops/log.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { type LogCommandOptions, queryOf } from './options.ts'
import { type LogOutput, sortedLog, streamedLog } from './output.ts'

/** Sorting keeps all entries in memory, so a log of many streams keeps only the latest. */
const MOST_SORTED = 20_000

/** Shows the transactions of one or many streams. Unreadable streams are reported, and the others still shown. */
export async function showLog(options: LogCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  if (options.audit) return (await import('./audit.ts')).showAuditLog(options, runtime)
  checkOperations(options)
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

/** @throws UsageError for an operation that only the audit log has */
function checkOperations({ op }: LogCommandOptions): void {
  const audited = op?.find(word => word !== 'break-lease' && AUDITED.some(other => other === word))
  if (audited !== undefined) {
    throw new UsageError(`--op ${audited}: no journal has it`, {
      hint: 'It is in the audit log of the store: --audit.',
    })
  }
}

function logFor(selection: Selection, options: LogCommandOptions, store: StreamStore, output: Output): LogOutput {
  const named = selection.kind === 'names'
  if (options.output === 'ndjson' && options.lines === undefined && !named) return streamedLog(output)
  const keep = options.lines ?? (named ? Number.POSITIVE_INFINITY : MOST_SORTED)
  return sortedLog(options.output, keep, () => store.nowMs(), output)
}

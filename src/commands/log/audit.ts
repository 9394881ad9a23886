import { isListFormat, openOutput, tableWriter, writeList } from '../../cli/output.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { filterOf } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import { AUDIT_COLUMNS, AUDIT_FIELDS, auditJson, auditRow } from '../../formats/audit.ts'
import { AUDITED, readAuditLog } from '../../ops/audit-log.ts'
import { type LogCommandOptions, queryOf } from './options.ts'

/** Shows the audit log of the store: removals, imports and broken leases. */
export async function showAuditLog(options: LogCommandOptions, runtime: Runtime): Promise<undefined> {
  checkOptions(options, runtime.nowMs())
  const query = queryOf(options, runtime.nowMs())
  const output = await openOutput(options, runtime, 'local')
  const store = await openStoreFor(options, runtime, output)
  const found = await readAuditLog(store, query, runtime.signal)
  const { lines = Number.POSITIVE_INFINITY } = options
  const entries = lines < found.length ? found.slice(found.length - lines) : found
  if (isListFormat(options.output)) {
    const rest = { total: found.length, truncated: entries.length < found.length }
    await writeList(options.output, entries.map(auditJson), { fields: AUDIT_FIELDS, rest }, output)
  } else {
    const table = tableWriter(AUDIT_COLUMNS, output)
    if (entries.length > 0) await table.write(entries.map(entry => auditRow(entry, store.nowMs(), output.time)))
    await table.end()
  }
  if (entries.length === 0) await output.say('no entries in the audit log')
}

/** @throws UsageError for streams, which the audit log is not about */
function checkOptions(
  { names, streams, all, since: _, until: __, ...options }: LogCommandOptions,
  nowMs: number,
): void {
  if (names.length > 0 || streams !== undefined || all || filterOf(options, nowMs) !== undefined) {
    throw new UsageError('--audit takes no selection of streams', {
      hint: 'It shows the log of the whole store; --since, --until, --by and --op limit it.',
    })
  }
  const other = options.op?.find(op => !AUDITED.some(audited => audited === op))
  if (other !== undefined) {
    throw new UsageError(`--op ${other}: not in the audit log`, { hint: `It has ${AUDITED.join(', ')}.` })
  }
}

import { missingProblem } from '../../cli/outcome-problem.ts'
import { openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument, orNull } from '../../formats/json.ts'
import { leaseJson, leaseText } from '../../formats/lease.ts'
import type { EventStore, Stored } from '../../store/store.ts'
import { visibleName } from '../../stream/text.ts'
import type { LeaseOptions } from './flags.ts'

export async function showLease(options: LeaseOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const stored = await store.read(options.stream, runtime.signal)
  if (stored === undefined) return missingProblem(options.stream)
  if (options.output === 'json') await output.text(jsonDocument(leaseState(stored)))
  else await output.lines([leaseLine(stored, store)])
  return undefined
}

/** The lease of a stream in one line, with the holder or who wrote last. */
export function leaseLine(stored: Pick<Stored, 'name' | 'lease' | 'summary'>, store: EventStore): string {
  return `${visibleName(stored.name)}  ${leaseText(stored.lease, store.nowMs(), stored.summary?.lastBy)}`
}

/** The same as JSON; fields are only ever added. Nobody but its holder learns the lease's id. */
export function leaseState({ name, lease, summary }: Pick<Stored, 'name' | 'lease' | 'summary'>, leaseId?: string) {
  const { state, duration, until, holder } = leaseJson(lease)
  return { stream: name, state, leaseId: orNull(leaseId), duration, until, holder, lastBy: orNull(summary?.lastBy) }
}

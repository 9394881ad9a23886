import { confirmByTyping } from '../../cli/confirm.ts'
import { openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { filterOf } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument } from '../../formats/json.ts'
import type { LeaseView } from '../../store/store.ts'
import { isHeld } from '../../stream/lease.ts'
import { openAudit } from '../batch/audit.ts'
import type { BatchCommandOptions } from '../batch/options.ts'
import { containerLeaseOf, leaseFields, subjectOf } from './subject.ts'

/** Breaks the lease of the store's container, asks first, and records it in the audit log. */
export async function breakContainerLease(
  options: BatchCommandOptions,
  runtime: Runtime,
): Promise<Problem | undefined> {
  refuseSelection(options, runtime)
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const lease = containerLeaseOf(store)
  const subject = subjectOf({ ofContainer: true }, store, runtime)
  const print = async (outcome: 'done' | 'already', seen: LeaseView, words: string) => {
    if (options.output === 'json' || options.output === 'ndjson')
      await output.text(jsonDocument({ ...leaseFields(subject.fields, { lease: seen }), outcome }))
    else await output.say(`${subject.label}: ${words}`)
    return undefined
  }
  const before = await lease.view(runtime.signal)
  if (!isHeld(before)) return print('already', before, 'no lease to break')
  if (options.dryRun) return print('already', before, `${before.state}; a dry run: nothing was changed`)
  if (!options.yes) {
    const question = `This breaks the lease of ${subject.label}: anyone with the right can then delete it`
    const declined = await confirmByTyping(lease.container, question, '--yes', runtime)
    if (declined !== undefined) return declined
  }
  const { by = runtime.actor, reason: why, period = 0 } = options
  const commandId = options.commandId ?? runtime.newId()
  const audit = openAudit(
    { op: 'break-container-lease', isRequired: false },
    { store, by, why, commandId, streams: 0, source: `container ${lease.container}` },
    runtime,
    sentence => void output.say(sentence),
  )
  const refused = await audit.begin()
  if (refused !== undefined) return refused
  const outcome = await lease.break(period)
  await audit.end([outcome.kind === 'broken' ? 'done' : outcome.kind])
  switch (outcome.kind) {
    case 'broken': {
      const { remainingS } = outcome
      if (remainingS === 0) return print('done', { state: 'broken' }, 'lease broken')
      const breaking: LeaseView = { state: 'breaking', untilMs: store.nowMs() + remainingS * 1_000 }
      return print('done', breaking, `lease ends within ${remainingS}s`)
    }
    case 'not-leased':
      return print('already', { state: 'available' }, 'no lease to break')
    case 'missing':
      return subject.missing()
    case 'unknown':
      return { ...subject.unknown(outcome.cause), hint: 'Check it with lease show --of-container.' }
    default:
      return outcome satisfies never
  }
}

/** There is one container: nothing is to be selected. */
function refuseSelection(options: BatchCommandOptions, runtime: Runtime): void {
  const { names, streams, all, stale, rerun, event } = options
  const selects = names.length > 0 || all || filterOf(options, runtime.nowMs()) !== undefined
  if (!selects && (streams ?? stale ?? rerun ?? event) === undefined) return
  throw new UsageError('--of-container is the lease of the container, not of streams', {
    hint: 'Leave out the names and filters of streams.',
  })
}

import { jsonDocument } from '../../formats/json.ts'
import type { EventStore, Stored } from '../../store/store.ts'
import { visibleText } from '../../stream/texts.ts'
import { confirmByTyping } from '../confirm.ts'
import { missingProblem, unknownProblem } from '../outcome-problem.ts'
import { type Output, openOutput } from '../output.ts'
import type { Problem } from '../problem.ts'
import type { Runtime } from '../runtime.ts'
import { openStoreFor } from '../store.ts'
import type { LeaseOptions } from './flags.ts'
import { leaseLine, leaseState } from './run-show.ts'

export interface BreakLeaseOptions extends LeaseOptions {
  /** Seconds until the lease ends. */
  readonly period?: number
  readonly yes?: boolean
}

/** Shows the lease, asks, breaks it, shows it again. */
export async function breakLease(options: BreakLeaseOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { stream } = options
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const before = await store.read(stream, runtime.signal)
  if (before === undefined) return missingProblem(stream)
  if (options.output !== 'json') await output.say(`before  ${leaseLine(before, store)}`)
  if (!options.yes && before.lease.state === 'leased') {
    const no = await confirmByTyping(stream, `This breaks the lease of ${visibleText(stream)}`, '--yes', runtime)
    if (no !== undefined) return { ...no, stream }
  }
  const outcome = await store.break(stream, options.period ?? 0)
  switch (outcome.kind) {
    case 'broken':
    case 'not-leased':
      await report(outcome.kind === 'broken' ? 'done' : 'already', before, store, options, output)
      return undefined
    case 'missing':
      return missingProblem(stream)
    case 'unknown':
      return { ...unknownProblem(stream, undefined, outcome.cause, runtime), hint: 'Look at it: lease show.' }
    default:
      return outcome satisfies never
  }
}

async function report(
  what: 'done' | 'already',
  before: Stored,
  store: EventStore,
  options: BreakLeaseOptions,
  output: Output,
): Promise<void> {
  const after = (await store.read(options.stream)) ?? before
  if (options.output === 'json') {
    await output.text(jsonDocument({ ...leaseState(after), outcome: what, before: leaseState(before) }))
    return
  }
  await output.lines([
    what === 'already'
      ? `${leaseLine(after, store)}; there was no lease to break`
      : `after   ${leaseLine(after, store)}`,
  ])
}

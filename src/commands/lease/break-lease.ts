import { confirmByTyping } from '../../cli/confirm.ts'
import { missingProblem } from '../../cli/outcome-problem.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument } from '../../formats/json.ts'
import type { EventStore, LeaseView, Stored } from '../../store/store.ts'
import { visibleName } from '../../stream/text.ts'
import type { LeaseOptions } from './flags.ts'
import { breakNow, isHeld, otherLease } from './lease-break-lease.ts'
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
  // One that is taken meanwhile is not the one that was looked at.
  if (before.lease.state === 'available') {
    await report('already', before, 'available', store, options, output)
    return undefined
  }
  if (!options.yes && isHeld(before)) {
    const no = await ask(before, store, runtime)
    if (no !== undefined) return { ...no, stream }
  }
  const broken = await breakNow(stream, options.period ?? 0, store, runtime)
  if ('exit' in broken) return broken
  await report(broken.kind, before, broken.kind === 'done' ? broken.state : 'available', store, options, output)
  return undefined
}

/** Why the lease is not to be broken, if so: the answer was no, or it is no longer the lease that was asked about. */
async function ask(before: Stored, store: EventStore, runtime: Runtime): Promise<Problem | undefined> {
  const { name } = before
  const no = await confirmByTyping(name, `This breaks the lease of ${visibleName(name)}`, '--yes', runtime)
  return no ?? otherLease(before, store, runtime)
}

async function report(
  what: 'done' | 'already',
  before: Stored,
  state: LeaseView['state'],
  store: EventStore,
  options: BreakLeaseOptions,
  output: Output,
): Promise<void> {
  // it is done: that it cannot be looked at any more does not undo it
  const seen = await store.read(options.stream).catch(() => undefined)
  const after = seen ?? { ...before, lease: { state } }
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

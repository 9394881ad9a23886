import { jsonDocument } from '../../formats/json.ts'
import { leaseText } from '../../formats/lease-text.ts'
import type { EventStore, LeaseView, Stored } from '../../store/store.ts'
import { visibleText } from '../../stream/texts.ts'
import { confirmByTyping } from '../confirm.ts'
import { exitOfRefusal } from '../exit-codes.ts'
import { missingProblem, unknownProblem } from '../outcome-problem.ts'
import { type Output, openOutput } from '../output.ts'
import { type Problem, problem } from '../problem.ts'
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
  // One that is taken meanwhile is not the one that was looked at.
  if (before.lease.state === 'available') {
    await report('already', before, 'available', store, options, output)
    return undefined
  }
  if (!options.yes && isHeld(before)) {
    const no = await ask(before, store, runtime)
    if (no !== undefined) return { ...no, stream }
  }
  const outcome = await store.break(stream, options.period ?? 0)
  switch (outcome.kind) {
    case 'broken':
      await report('done', before, outcome.remainingS > 0 ? 'breaking' : 'broken', store, options, output)
      return undefined
    case 'not-leased':
      await report('already', before, 'available', store, options, output)
      return undefined
    case 'missing':
      return missingProblem(stream)
    case 'unknown':
      return { ...unknownProblem(stream, undefined, outcome.cause, runtime), hint: 'Look at it: lease show.' }
    default:
      return outcome satisfies never
  }
}

/** Why the lease is not to be broken, if so: the answer was no, or it is no longer the lease that was asked about. */
async function ask(before: Stored, store: EventStore, runtime: Runtime): Promise<Problem | undefined> {
  const { name } = before
  const no = await confirmByTyping(name, `This breaks the lease of ${visibleText(name)}`, '--yes', runtime)
  if (no !== undefined) return no
  const now = await store.read(name, runtime.signal)
  if (now === undefined) return missingProblem(name)
  if (!isHeld(now) || isSameLease(before, now)) return undefined
  return problem('changed', `the lease of ${name} changed hands while you were asked; it was not broken`, {
    exit: exitOfRefusal('changed'),
    ...(now.lease.holder === undefined
      ? { facts: [['now', leaseText(now.lease, store.nowMs(), now.summary?.lastBy)]] }
      : { holder: now.lease.holder }),
    hint: 'Look who holds it now; break it again if it still has to go.',
  })
}

function isHeld({ lease }: Stored): boolean {
  return lease.state === 'leased' || lease.state === 'breaking'
}

/** Where no holder is known, a write tells that somebody works under the lease, the same holder or another. */
function isSameLease(before: Stored, now: Stored): boolean {
  const [was, is] = [before.lease.holder, now.lease.holder]
  if (was === undefined || is === undefined) return was === is && before.etag === now.etag
  return was.by === is.by && was.host === is.host && was.pid === is.pid && was.sinceMs === is.sinceMs
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

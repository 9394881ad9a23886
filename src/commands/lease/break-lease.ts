import { confirmByTyping } from '../../cli/confirm.ts'
import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { missingProblem, unknownProblem } from '../../cli/outcome-problem.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument } from '../../formats/json.ts'
import { leaseText } from '../../formats/lease.ts'
import type { LeaseView, StreamSnapshot, StreamStore } from '../../store/store.ts'
import { isHeld } from '../../stream/lease.ts'
import { visibleName } from '../../util/visible-text.ts'
import type { LeaseOptions } from './flags.ts'
import { leaseLine, leaseState } from './run.ts'

export interface BreakCommandOptions extends LeaseOptions {
  /** Break period, seconds. */
  readonly period?: number
  readonly yes?: boolean
}

/** Shows the lease, asks for confirmation, breaks the lease and shows it again. */
export async function breakLease(options: BreakCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { stream } = options
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const before = await store.read(stream, runtime.signal)
  if (before === undefined) return missingProblem(stream)
  if (options.output !== 'json') await output.say(`before  ${leaseLine(before, store)}`)
  // A lease acquired from now on is not the one that was shown.
  if (before.lease.state === 'available') {
    await report('already', before, 'available', store, options, output)
    return undefined
  }
  if (!options.yes && isHeld(before.lease)) {
    const no = await confirmBreak(before, store, runtime)
    if (no !== undefined) return { ...no, stream }
  }
  const broken = await breakNow(stream, options.period ?? 0, store, runtime)
  if ('exit' in broken) return broken
  await report(broken.kind, before, broken.kind === 'done' ? broken.state : 'available', store, options, output)
  return undefined
}

/** Why not to break the lease: the user declined, or the lease changed hands in the meantime. */
async function confirmBreak(
  before: StreamSnapshot,
  store: StreamStore,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { name } = before
  const no = await confirmByTyping(name, `This breaks the lease of ${visibleName(name)}`, '--yes', runtime)
  return no ?? changedHands(before, store, runtime)
}

async function report(
  what: 'done' | 'already',
  before: StreamSnapshot,
  state: LeaseView['state'],
  store: StreamStore,
  options: BreakCommandOptions,
  output: Output,
): Promise<void> {
  // The break is done; a failed read does not undo it.
  const stored = await store.read(options.stream).catch(() => undefined)
  const after = stored ?? { ...before, lease: { state } }
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

/** The outcome of breaking a lease. `already`: the stream was not leased any more. */
export type BreakResult =
  | { readonly kind: 'done'; readonly state: Extract<LeaseView['state'], 'breaking' | 'broken'> }
  | { readonly kind: 'already' }

/** The lease of a stream as it was shown. */
export type ShownLease = Pick<StreamSnapshot, 'name' | 'etag' | 'lease'>

/** Breaks the lease of a stream, at once (0) or after `periodS` seconds. */
export async function breakNow(
  stream: string,
  periodS: number,
  store: StreamStore,
  runtime: Runtime,
): Promise<BreakResult | Problem> {
  const outcome = await store.breakLease(stream, periodS)
  switch (outcome.kind) {
    case 'broken':
      return { kind: 'done', state: outcome.remainingS > 0 ? 'breaking' : 'broken' }
    case 'not-leased':
      return { kind: 'already' }
    case 'missing':
      return missingProblem(stream)
    case 'unknown':
      return { ...unknownProblem(stream, undefined, outcome.cause, runtime), hint: 'Check it with lease show.' }
    default:
      return outcome satisfies never
  }
}

/** The problem if the stream now has another lease than the one confirmed; `undefined` if it has not. */
export async function changedHands(
  before: ShownLease,
  store: StreamStore,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { name } = before
  const now = await store.read(name, runtime.signal)
  if (now === undefined) return missingProblem(name)
  if (!isHeld(now.lease) || isSameLease(before, now)) return undefined
  return problem('changed', `the lease of ${name} changed hands before you confirmed; it was not broken`, {
    exit: exitOfRefusal('changed'),
    stream: name,
    ...(now.lease.holder === undefined
      ? { facts: [['now', leaseText(now.lease, store.nowMs(), now.summary?.lastBy)]] }
      : { holder: now.lease.holder }),
    hint: 'Check who holds it now, and repeat the break if it is still needed.',
  })
}

/** Without a known holder, the etag decides: a write means that some process works under the lease. */
function isSameLease(before: ShownLease, now: ShownLease): boolean {
  const [was, is] = [before.lease.holder, now.lease.holder]
  if (was === undefined || is === undefined) return was === is && before.etag === now.etag
  return was.by === is.by && was.host === is.host && was.pid === is.pid && was.sinceMs === is.sinceMs
}

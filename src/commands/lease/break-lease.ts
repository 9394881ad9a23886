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
  /** Seconds until the lease ends. */
  readonly period?: number
  readonly yes?: boolean
}

/** Shows the lease, asks, breaks it, shows it again. */
export async function breakLease(options: BreakCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
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
  if (!options.yes && isHeld(before.lease)) {
    const no = await ask(before, store, runtime)
    if (no !== undefined) return { ...no, stream }
  }
  const broken = await breakNow(stream, options.period ?? 0, store, runtime)
  if ('exit' in broken) return broken
  await report(broken.kind, before, broken.kind === 'done' ? broken.state : 'available', store, options, output)
  return undefined
}

/** Why the lease is not to be broken, if so: the answer was no, or it is no longer the lease that was asked about. */
async function ask(before: StreamSnapshot, store: StreamStore, runtime: Runtime): Promise<Problem | undefined> {
  const { name } = before
  const no = await confirmByTyping(name, `This breaks the lease of ${visibleName(name)}`, '--yes', runtime)
  return no ?? otherLease(before, store, runtime)
}

async function report(
  what: 'done' | 'already',
  before: StreamSnapshot,
  state: LeaseView['state'],
  store: StreamStore,
  options: BreakCommandOptions,
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

/** What became of a lease that was to be broken. `already`: there was none any more. */
export type Broken =
  | { readonly kind: 'done'; readonly state: Extract<LeaseView['state'], 'breaking' | 'broken'> }
  | { readonly kind: 'already' }

/** What of a stream was looked at. */
export type SeenLease = Pick<StreamSnapshot, 'name' | 'etag' | 'lease'>

/** Ends the lease of a stream, at once (0) or after so many seconds. */
export async function breakNow(
  stream: string,
  periodS: number,
  store: StreamStore,
  runtime: Runtime,
): Promise<Broken | Problem> {
  const outcome = await store.breakLease(stream, periodS)
  switch (outcome.kind) {
    case 'broken':
      return { kind: 'done', state: outcome.remainingS > 0 ? 'breaking' : 'broken' }
    case 'not-leased':
      return { kind: 'already' }
    case 'missing':
      return missingProblem(stream)
    case 'unknown':
      return { ...unknownProblem(stream, undefined, outcome.cause, runtime), hint: 'Look at it: lease show.' }
    default:
      return outcome satisfies never
  }
}

/** Why the lease must not be broken on the word that was given: it is no longer the one that was asked about. */
export async function otherLease(
  before: SeenLease,
  store: StreamStore,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { name } = before
  const now = await store.read(name, runtime.signal)
  if (now === undefined) return missingProblem(name)
  if (!isHeld(now.lease) || isSameLease(before, now)) return undefined
  return problem('changed', `the lease of ${name} changed hands while you were asked; it was not broken`, {
    exit: exitOfRefusal('changed'),
    stream: name,
    ...(now.lease.holder === undefined
      ? { facts: [['now', leaseText(now.lease, store.nowMs(), now.summary?.lastBy)]] }
      : { holder: now.lease.holder }),
    hint: 'Look who holds it now; break it again if it still has to go.',
  })
}

/** Where no holder is known, a write tells that somebody works under the lease, the same holder or another. */
function isSameLease(before: SeenLease, now: SeenLease): boolean {
  const [was, is] = [before.lease.holder, now.lease.holder]
  if (was === undefined || is === undefined) return was === is && before.etag === now.etag
  return was.by === is.by && was.host === is.host && was.pid === is.pid && was.sinceMs === is.sinceMs
}

import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { missingProblem, unknownProblem } from '../../cli/outcome-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { leaseText } from '../../formats/lease.ts'
import type { EventStore, LeaseView, Stored } from '../../store/store.ts'

/** What became of a lease that was to be broken. `already`: there was none any more. */
export type Broken =
  | { readonly kind: 'done'; readonly state: Extract<LeaseView['state'], 'breaking' | 'broken'> }
  | { readonly kind: 'already' }

/** What of a stream was looked at. */
export type SeenLease = Pick<Stored, 'name' | 'etag' | 'lease'>

/** Ends the lease of a stream, at once (0) or after so many seconds. */
export async function breakNow(
  stream: string,
  periodS: number,
  store: EventStore,
  runtime: Runtime,
): Promise<Broken | Problem> {
  const outcome = await store.break(stream, periodS)
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
export async function otherLease(before: SeenLease, store: EventStore, runtime: Runtime): Promise<Problem | undefined> {
  const { name } = before
  const now = await store.read(name, runtime.signal)
  if (now === undefined) return missingProblem(name)
  if (!isHeld(now) || isSameLease(before, now)) return undefined
  return problem('changed', `the lease of ${name} changed hands while you were asked; it was not broken`, {
    exit: exitOfRefusal('changed'),
    stream: name,
    ...(now.lease.holder === undefined
      ? { facts: [['now', leaseText(now.lease, store.nowMs(), now.summary?.lastBy)]] }
      : { holder: now.lease.holder }),
    hint: 'Look who holds it now; break it again if it still has to go.',
  })
}

/** Somebody has it now. */
export function isHeld({ lease }: Pick<Stored, 'lease'>): boolean {
  return lease.state === 'leased' || lease.state === 'breaking'
}

/** Where no holder is known, a write tells that somebody works under the lease, the same holder or another. */
function isSameLease(before: SeenLease, now: SeenLease): boolean {
  const [was, is] = [before.lease.holder, now.lease.holder]
  if (was === undefined || is === undefined) return was === is && before.etag === now.etag
  return was.by === is.by && was.host === is.host && was.pid === is.pid && was.sinceMs === is.sinceMs
}

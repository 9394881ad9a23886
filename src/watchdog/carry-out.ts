import { runBatch } from '../ops/batch.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { EventStore } from '../store/store.ts'
import type { Breaker } from './breaker.ts'
import type { Carried, Decision } from './decision.ts'
import { carryOut, unanswered } from './execute.ts'
import type { WatchdogOptions } from './options.ts'
import type { Roll } from './roll.ts'
import type { Tolerance } from './tolerance.ts'

/** What showed life between look and lease is looked at again so soon, ms. */
const LOOK_AGAIN_MS = 1_000

export interface CarryRules
  extends Pick<WatchdogOptions, 'by' | 'concurrency' | 'intervalMs' | 'maxPerPass' | 'ownership'> {
  readonly signal: AbortSignal
  readonly tolerance: Tolerance
  /** The breaker is open: nothing is ended. */
  readonly endsNothing: boolean
  monotonicMs(): number
  told(carried: Carried): Promise<void>
}

/**
 * Carries out the decisions of a pass, the soonest due first, those of one stream together: they share one write. What is
 * not done is put on the roll to be looked at again.
 *
 * @returns how many were left for later by `maxPerPass`
 * @throws the store's faults, when it does not answer for more than a few of them
 */
export async function carryOutAll(
  store: EventStore,
  roll: Roll,
  breaker: Breaker,
  decisions: readonly Decision[],
  rules: CarryRules,
): Promise<number> {
  const later = (decision: Decision, ms: number) =>
    roll.postpone(decision.stream, dueMsOf(decision), store.nowMs() + ms)
  const allowed = decisions.filter(decision => !(rules.endsNothing && isEnding(decision)))
  const { now, deferred } = firstOf(allowed, rules.maxPerPass)
  for (const decision of [...decisions.filter(decision => !allowed.includes(decision)), ...deferred])
    later(decision, rules.intervalMs)

  const one = async (decision: Decision) => {
    if (rules.ownership?.owns(decision.stream) === false) return later(decision, rules.intervalMs)
    const carried = await attempt(store, decision, rules)
    keep(carried)
    await rules.told(carried)
  }
  const keep = ({ decision, outcome }: Carried) => {
    switch (outcome) {
      case 'ended':
        breaker.ended(endsOf(decision), rules.monotonicMs())
        return roll.changed(decision.stream, endsOf(decision))
      case 'settled':
      case 'already':
      case 'gone':
        return roll.changed(decision.stream, 0)
      case 'notified':
        if (decision.kind !== 'settle') roll.told(decision.stream, decision.event)
        return later(decision, Number.POSITIVE_INFINITY)
      case 'showed-life':
        return later(decision, LOOK_AGAIN_MS)
      case 'busy':
      case 'refused':
      case 'failed':
      case 'unknown':
        return later(decision, rules.intervalMs)
      default:
        return outcome satisfies never
    }
  }
  await runBatch(now, { concurrency: rules.concurrency, stop: rules.signal }, async ofOneStream => {
    await Promise.all(ofOneStream.map(one))
  })
  return deferred.length
}

async function attempt(store: EventStore, decision: Decision, rules: CarryRules): Promise<Carried> {
  try {
    return await carryOut(store, decision, rules)
  } catch (error) {
    if (!(error instanceof StoreUnreachable)) throw error
    rules.tolerance.count(error)
    return unanswered(store, decision, error)
  }
}

/** The first decisions by due time, put together by stream. */
function firstOf(decisions: readonly Decision[], count: number) {
  const sorted = [...decisions].sort((a, b) => dueMsOf(a) - dueMsOf(b))
  const byStream = Map.groupBy(sorted.slice(0, count), ({ stream }) => stream)
  return { now: [...byStream.values()], deferred: sorted.slice(count) }
}

function isEnding(decision: Decision): boolean {
  return decision.kind === 'abort-event' || decision.kind === 'abort-stream'
}

export function endsOf(decision: Decision): number {
  return decision.kind === 'settle' ? 0 : decision.ends
}

/** What a foreign writer left is written first: others wait for it. */
function dueMsOf(decision: Decision): number {
  return decision.kind === 'settle' ? 0 : decision.dueMs
}

import type { EventStore } from '../store/store.ts'
import { runBatch } from '../util/concurrency.ts'
import type { Breaker } from './breaker.ts'
import { type Carried, type Decision, type DecisionOutcome, dueMsOf, endsOf } from './decision.ts'
import { Tolerance } from './failure-budget.ts'
import type { WatchdogOptions } from './options.ts'
import type { Roll } from './registry/registry.ts'
import { inTurn } from './turns.ts'
import { carryOut, SILENT } from './watchdog-execute.ts'

/** What showed life between look and lease is looked at again so soon, ms. */
const LOOK_AGAIN_MS = 1_000
/** The same for what another has leased: no lease is shorter. */
const LEASED_AGAIN_MS = 15_000
const NEVER = Number.POSITIVE_INFINITY
/** So many decisions of one stream are asked for at a time: what was asked for goes on, also when it is to end. */
const PORTION = 20

export interface CarryRules
  extends Pick<WatchdogOptions, 'by' | 'concurrency' | 'intervalMs' | 'maxPerPass' | 'ownership'> {
  readonly signal: AbortSignal
  /** From when on, by `monotonicMs`, no second portion of any stream is begun: others may be due meanwhile. */
  readonly untilMs: number
  /** The breaker is open: nothing is ended. */
  readonly endsNothing: boolean
  monotonicMs(): number
  /** It is done with, or put off: nobody has to think of it any more. */
  dealt(decision: Decision): void
  told(carried: Carried): Promise<void>
}

/**
 * Carries out the decisions of a pass in their turn, those of one stream together, some at a time: they share a write. What
 * is not done is put on the roll to be looked at again. What is not even begun, because the signal aborts, the store went
 * silent or the time is over, is not `dealt` with: that is for the caller to put off.
 *
 * @returns how many were left for later by `maxPerPass`, for the time, or because others of their stream could not be done
 */
export async function carryOutAll(
  store: EventStore,
  roll: Roll,
  breaker: Breaker,
  decisions: readonly Decision[],
  rules: CarryRules,
): Promise<number> {
  return new Hands(store, roll, breaker, rules).all(decisions)
}

/** What became of a try; `undefined`: it was left to others. */
type Tried = DecisionOutcome | 'silent' | undefined

/** The next try may well come to the same. */
const SETBACKS: readonly Tried[] = ['busy', 'refused', 'failed', 'unknown', 'silent']

class Hands {
  readonly #store: EventStore
  readonly #roll: Roll
  readonly #breaker: Breaker
  readonly #rules: CarryRules
  readonly #tolerance = new Tolerance()

  constructor(store: EventStore, roll: Roll, breaker: Breaker, rules: CarryRules) {
    this.#store = store
    this.#roll = roll
    this.#breaker = breaker
    this.#rules = rules
  }

  async all(decisions: readonly Decision[]): Promise<number> {
    const { concurrency, endsNothing, intervalMs, maxPerPass, signal } = this.#rules
    const { true: held = [], false: allowed = [] } = Object.groupBy(decisions, decision =>
      String(endsNothing && isEnding(decision)),
    )
    const { setbacks } = this.#roll
    const sorted = inTurn(allowed, stream => setbacks.lastPassOf(stream))
    setbacks.beginPass()
    const deferred = sorted.slice(maxPerPass)
    for (const decision of deferred) this.#putOff(decision, intervalMs)
    for (const decision of held) this.#holdBack(decision)
    const byStream = Map.groupBy(sorted.slice(0, maxPerPass), ({ stream }) => stream)
    let left = deferred.length
    await runBatch([...byStream], { concurrency, stop: this.#tolerance.stop }, async ([stream, ofOne]) => {
      if (!signal.aborted) left += await this.#ofOne(stream, ofOne)
    })
    return left
  }

  /** @returns how many were left for later */
  async #ofOne(stream: string, decisions: readonly Decision[]): Promise<number> {
    const { intervalMs, monotonicMs, signal, untilMs } = this.#rules
    for (let at = 0; at < decisions.length; at += PORTION) {
      const rest = decisions.slice(at + PORTION)
      const outcomes = await this.#together(stream, decisions.slice(at, at + PORTION))
      if (outcomes.every(outcome => SETBACKS.includes(outcome))) {
        // What kept all of these from being done would keep each of the others waiting too.
        for (const decision of rest) this.#putOff(decision, Math.min(intervalMs, LEASED_AGAIN_MS))
        return rest.length
      }
      if (signal.aborted || this.#tolerance.stop.aborted || monotonicMs() >= untilMs) return rest.length
    }
    return 0
  }

  /** Asked for at the same time, they share a write. */
  async #together(stream: string, decisions: readonly Decision[]): Promise<readonly Tried[]> {
    const { leaseWaitMs } = this.#tolerance
    const outcomes = await Promise.all(decisions.map(decision => this.#one(decision, leaseWaitMs)))
    if (outcomes.some(outcome => SETBACKS.includes(outcome))) this.#roll.setbacks.note(stream)
    else this.#roll.setbacks.clear(stream)
    if (outcomes.includes('busy')) this.#tolerance.busy()
    if (outcomes.includes('silent')) this.#tolerance.silent(stream)
    else this.#tolerance.answered()
    return outcomes
  }

  async #one(decision: Decision, leaseWaitMs: number): Promise<Tried> {
    const { by, intervalMs, ownership, signal, told } = this.#rules
    if (ownership?.owns(decision.stream) === false) {
      this.#putOff(decision, intervalMs)
      return undefined
    }
    const carried = await carryOut(this.#store, decision, { by, leaseWaitMs, signal })
    this.#keep(carried)
    await told(carried)
    const { outcome, code } = carried
    return outcome === 'unknown' || code === SILENT ? 'silent' : outcome
  }

  #keep({ decision, outcome, ended }: Carried): void {
    const events = outcome === 'ended' ? (ended?.length ?? endsOf(decision)) : 0
    if (events > 0) this.#breaker.ended(events, this.#rules.monotonicMs())
    if (outcome === 'notified' && decision.kind !== 'settle') this.#roll.told(decision.stream, decision.event)
    const againMs = this.#againMs(outcome)
    if (againMs !== undefined) this.#putOff(decision, againMs)
    else this.#roll.changed(decision.stream, events)
    this.#rules.dealt(decision)
  }

  /** After how long the stream is looked at again, ms; `undefined`: when the next sweep finds that it moved. */
  #againMs(outcome: DecisionOutcome): number | undefined {
    const { intervalMs } = this.#rules
    switch (outcome) {
      case 'ended':
      case 'settled':
      case 'already':
      case 'gone':
        return undefined
      case 'notified':
        return NEVER
      case 'showed-life':
        return LOOK_AGAIN_MS
      case 'busy':
        return Math.min(intervalMs, LEASED_AGAIN_MS)
      case 'refused':
      case 'failed':
      case 'unknown':
        return intervalMs
      default:
        return outcome satisfies never
    }
  }

  #holdBack(decision: Decision): void {
    this.#rules.dealt(decision)
    this.#roll.agenda.holdBack(decision.stream, dueMsOf(decision) ?? NEVER, endsOf(decision))
  }

  #putOff(decision: Decision, ms: number): void {
    this.#rules.dealt(decision)
    this.#roll.agenda.postpone(decision.stream, dueMsOf(decision) ?? NEVER, this.#store.nowMs() + ms)
  }
}

function isEnding(decision: Decision): boolean {
  return decision.kind === 'abort-event' || decision.kind === 'abort-stream'
}

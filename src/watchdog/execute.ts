import { type TransactOutcome, transact } from '../ops/transact/transact.ts'
import type { StreamStore } from '../store/store.ts'
import { LeasectlError } from '../stream/errors.ts'
import { isFailed } from '../stream/event.ts'
import type { Refusal } from '../stream/operations/operation.ts'
import { runBatch } from '../util/concurrency.ts'
import type { Breaker } from './breaker.ts'
import { type Carried, type DecisionOutcome, dueMsOf, endsOf, type WatchdogDecision } from './decision.ts'
import { FailureBudget } from './failure-budget.ts'
import type { WatchdogOptions } from './options.ts'
import type { StreamRegistry } from './registry/registry.ts'

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
  dealt(decision: WatchdogDecision): void
  told(carried: Carried): Promise<void>
}

/**
 * Carries out the decisions of a pass in their turn, those of one stream together, some at a time: they share a write. What
 * is not done is put into the registry to be looked at again. What is not even begun, because the signal aborts, the store went
 * silent or the time is over, is not `dealt` with: that is for the caller to put off.
 *
 * @returns how many were left for later by `maxPerPass`, for the time, or because others of their stream could not be done
 */
export async function carryOutAll(
  store: StreamStore,
  registry: StreamRegistry,
  breaker: Breaker,
  decisions: readonly WatchdogDecision[],
  rules: CarryRules,
): Promise<number> {
  return new Executor(store, registry, breaker, rules).all(decisions)
}

/** What became of a try; `undefined`: it was left to others. */
type Tried = DecisionOutcome | 'silent' | undefined

/** The next try may well come to the same. */
const SETBACKS: readonly Tried[] = ['busy', 'refused', 'failed', 'unknown', 'silent']

class Executor {
  readonly #store: StreamStore
  readonly #registry: StreamRegistry
  readonly #breaker: Breaker
  readonly #rules: CarryRules
  readonly #tolerance = new FailureBudget()

  constructor(store: StreamStore, registry: StreamRegistry, breaker: Breaker, rules: CarryRules) {
    this.#store = store
    this.#registry = registry
    this.#breaker = breaker
    this.#rules = rules
  }

  async all(decisions: readonly WatchdogDecision[]): Promise<number> {
    const { concurrency, endsNothing, intervalMs, maxPerPass, signal } = this.#rules
    const { true: held = [], false: allowed = [] } = Object.groupBy(decisions, decision =>
      String(endsNothing && isEnding(decision)),
    )
    const sorted = fairOrder(allowed, stream => this.#registry.get(stream)?.failedInPass ?? 0)
    this.#registry.beginPass()
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
  async #ofOne(stream: string, decisions: readonly WatchdogDecision[]): Promise<number> {
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
  async #together(stream: string, decisions: readonly WatchdogDecision[]): Promise<readonly Tried[]> {
    const { leaseWaitMs } = this.#tolerance
    const outcomes = await Promise.all(decisions.map(decision => this.#one(decision, leaseWaitMs)))
    const hasFailed = outcomes.some(outcome => SETBACKS.includes(outcome))
    this.#registry.recordOutcome(stream, hasFailed)
    if (outcomes.includes('busy')) this.#tolerance.busy()
    if (outcomes.includes('silent')) this.#tolerance.silent(stream)
    else this.#tolerance.answered()
    return outcomes
  }

  async #one(decision: WatchdogDecision, leaseWaitMs: number): Promise<Tried> {
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
    const stream = this.#registry.get(decision.stream)
    if (outcome === 'notified' && decision.kind !== 'settle') stream?.markNotified(decision.event)
    const againMs = this.#againMs(outcome)
    if (againMs !== undefined) this.#putOff(decision, againMs)
    else stream?.recordChange(events)
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

  #holdBack(decision: WatchdogDecision): void {
    this.#rules.dealt(decision)
    this.#registry.get(decision.stream)?.holdBack(dueMsOf(decision) ?? NEVER, endsOf(decision))
  }

  #putOff(decision: WatchdogDecision, ms: number): void {
    this.#rules.dealt(decision)
    this.#registry.get(decision.stream)?.postpone(dueMsOf(decision) ?? NEVER, this.#store.nowMs() + ms)
  }
}

function isEnding(decision: WatchdogDecision): boolean {
  return decision.kind === 'abort-event' || decision.kind === 'abort-stream'
}

export interface ExecuteOptions {
  /** Actor in the journal. */
  readonly by: string
  /** How long to wait for a lease held by another, ms. */
  readonly leaseWaitMs: number
  /** Ends that wait; what is under way goes on to its end. */
  readonly signal: AbortSignal
}

/** The code of what failed because the store did not answer; nothing was applied. */
const SILENT = 'store-unreachable'

/**
 * Carries out one decision in one transaction under the lease; the pure operation compares what was seen with what is
 * there. Any number of watchdogs may do it at once: the command id makes it once. Faults are outcomes too: what is wrong
 * with one stream (its document, its name, rights on it) is no reason to leave the others.
 */
async function carryOut(
  store: StreamStore,
  decision: WatchdogDecision,
  { by, leaseWaitMs, signal }: ExecuteOptions,
): Promise<Carried> {
  const { operation, stream, commandId } = decision
  if (operation === undefined) return carried(store, decision, 'notified')
  try {
    const why = decision.kind === 'settle' ? {} : { why: decision.message }
    const options = { commandId, by, ...why, leaseWaitMs, purpose: 'watchdog', stopWaiting: signal }
    return outcomeOf(store, decision, await transact(store, stream, operation, options))
  } catch (error) {
    return { ...carried(store, decision, 'failed'), code: codeOf(error), message: messageOf(error) }
  }
}

/** A stable code; `unexpected` for what is no fault we know. */
export function codeOf(error: unknown): string {
  return error instanceof LeasectlError ? error.code : 'unexpected'
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function outcomeOf(store: StreamStore, decision: WatchdogDecision, outcome: TransactOutcome): Carried {
  switch (outcome.kind) {
    case 'done': {
      const { outcome: how, duplicate, version, changed } = outcome.result
      const isOurs = how === 'done' && !duplicate
      const done = decision.kind === 'settle' ? 'settled' : 'ended'
      const ended = changed.filter(({ from, to }) => from !== to && isFailed({ status: to }))
      return { ...carried(store, decision, isOurs ? done : 'already'), version, ended: ended.map(({ id }) => id) }
    }
    case 'refused':
      return refused(store, decision, outcome.refusal)
    case 'missing':
      return carried(store, decision, 'gone')
    case 'held':
    case 'lost':
      return { ...carried(store, decision, 'busy'), code: 'lease-held', message: 'leased by another' }
    case 'unknown':
      return { ...carried(store, decision, 'unknown'), code: 'unknown', message: 'no answer tells whether it happened' }
    default:
      return outcome satisfies never
  }
}

/** The same id with other arguments: another watchdog ended it in its own way. */
const OUTCOME_OF: { readonly [code: string]: DecisionOutcome } = {
  'showed-life': 'showed-life',
  'already-final': 'already',
  'command-id-reused': 'already',
  'event-not-found': 'gone',
  'not-started': 'gone',
}

function refused(store: StreamStore, decision: WatchdogDecision, { code, message }: Refusal): Carried {
  return { ...carried(store, decision, OUTCOME_OF[code] ?? 'refused'), code, message }
}

function carried(store: StreamStore, decision: WatchdogDecision, outcome: DecisionOutcome): Carried {
  return { decision, outcome, atMs: store.nowMs() }
}

/**
 * The order in which decisions are carried out, of which a pass may do the first ones only: the soonest due first, and from
 * each stream one before a second from any, or one that has very many would keep all others waiting. Streams that could not
 * be changed when that was tried last come after the others: what is in their way may stay for ever. Among themselves those
 * come first that have waited longest, so each is tried again and again.
 *
 * @param lastSetback in which pass a stream could not be changed, the later the higher; 0: nothing is known to be in its way
 */
function fairOrder(
  decisions: readonly WatchdogDecision[],
  lastSetback: (stream: string) => number,
): WatchdogDecision[] {
  const soonestFirst = decisions.toSorted((a, b) => dueOrder(a) - dueOrder(b))
  const turns = [...Map.groupBy(soonestFirst, ({ stream }) => stream)].flatMap(([stream, ofOne]) => {
    const setback = lastSetback(stream)
    return ofOne.map((decision, turn) => ({ decision, setback, turn }))
  })
  return turns
    .sort((a, b) => a.setback - b.setback || a.turn - b.turn || dueOrder(a.decision) - dueOrder(b.decision))
    .map(({ decision }) => decision)
}

/** Where no limit ended there is nothing to wait for. */
function dueOrder(decision: WatchdogDecision): number {
  return dueMsOf(decision) ?? 0
}

import { documentCache } from '../ops/transact/commit.ts'
import { type TransactOutcome, transactAsFound } from '../ops/transact/transact.ts'
import { etagHash } from '../ops/watch/changed-streams.ts'
import type { StreamSnapshot, StreamStore } from '../store/store.ts'
import { LeasectlError } from '../stream/errors.ts'
import { isFailed } from '../stream/event.ts'
import type { Refusal } from '../stream/operations/operation.ts'
import { summarize } from '../stream/summarize.ts'
import { runBatch } from '../util/concurrency.ts'
import { messageOf } from '../util/errors.ts'
import type { Breaker } from './breaker.ts'
import { type DecisionOutcome, dueMsOf, type ExecutedDecision, endsOf, type WatchdogDecision } from './decision.ts'
import { FailureBudget } from './failure-budget.ts'
import type { WatchdogOptions } from './options.ts'
import type { StreamRegistry } from './registry/registry.ts'

/** Delay before a stream that changed between inspection and lease is inspected again, ms. */
const CHANGED_AGAIN_MS = 1_000
/** The same for a stream leased by another process: the shortest possible lease. */
const LEASED_AGAIN_MS = 15_000
const NEVER = Number.POSITIVE_INFINITY
/** Decisions of a stream that are submitted together: submitted operations are completed even if the watchdog stops. */
const PORTION = 20

export interface ExecutionRules
  extends Pick<
    WatchdogOptions,
    'by' | 'changeConcurrency' | 'concurrency' | 'intervalMs' | 'maxPerPass' | 'ownership'
  > {
  readonly signal: AbortSignal
  /** Deadline by `monotonicMs` for further portions of any stream: other streams may be due meanwhile. */
  readonly untilMs: number
  /** The circuit breaker is open: no event is ended. */
  readonly endsNothing: boolean
  monotonicMs(): number
  /** The decision is executed or postponed; the caller need not keep it. */
  handled(decision: WatchdogDecision): void
  report(carried: ExecutedDecision): Promise<void>
}

/**
 * Executes the decisions of a pass in a fair order. Decisions of a stream are submitted in portions and share a write.
 * Streams of postponed decisions are scheduled for another inspection. Decisions that are not even started, because the
 * signal aborts, the store stops answering or the time is over, are not reported to `dealt`: the caller has to postpone
 * them.
 *
 * @returns number of decisions deferred by `maxPerPass`, for lack of time, or because others of their stream failed
 */
export async function executeAll(
  store: StreamStore,
  registry: StreamRegistry,
  breaker: Breaker,
  decisions: readonly WatchdogDecision[],
  rules: ExecutionRules,
): Promise<number> {
  return new Executor(store, registry, breaker, rules).all(decisions)
}

/** Outcome of an attempt; `undefined` if the stream belongs to another watchdog. */
type AttemptOutcome = DecisionOutcome | 'silent' | undefined

/** Outcomes that another attempt would probably repeat. */
const FAILURES: readonly AttemptOutcome[] = ['busy', 'refused', 'failed', 'unknown', 'silent']

class Executor {
  readonly #store: StreamStore
  readonly #registry: StreamRegistry
  readonly #breaker: Breaker
  readonly #rules: ExecutionRules
  readonly #budget = new FailureBudget()

  constructor(store: StreamStore, registry: StreamRegistry, breaker: Breaker, rules: ExecutionRules) {
    this.#store = store
    this.#registry = registry
    this.#breaker = breaker
    this.#rules = rules
  }

  async all(decisions: readonly WatchdogDecision[]): Promise<number> {
    const { changeConcurrency, endsNothing, intervalMs, maxPerPass, signal } = this.#rules
    const { true: held = [], false: allowed = [] } = Object.groupBy(decisions, decision =>
      String(endsNothing && isEnding(decision)),
    )
    const sorted = fairOrder(allowed, stream => this.#registry.get(stream)?.failedInPass ?? 0)
    this.#registry.beginPass()
    let limited = 0
    // A settlement ends nothing, and timers are not to be late because many are due at once.
    const { now = [], later: deferred = [] } = Object.groupBy(sorted, ({ kind }) =>
      kind === 'settle' || limited++ < maxPerPass ? 'now' : 'later',
    )
    for (const decision of deferred) this.#postpone(decision, intervalMs)
    for (const decision of held) this.#holdBack(decision)
    const byStream = Map.groupBy(now, ({ stream }) => stream)
    let left = deferred.length
    const concurrency = changeConcurrency ?? this.#rules.concurrency
    await runBatch([...byStream], { concurrency, stop: this.#budget.stop }, async ([stream, ofOne]) => {
      if (!signal.aborted) left += await this.#executeStream(stream, ofOne)
    })
    return left
  }

  /** @returns number of deferred decisions */
  async #executeStream(stream: string, decisions: readonly WatchdogDecision[]): Promise<number> {
    const { intervalMs, monotonicMs, signal, untilMs } = this.#rules
    for (let at = 0; at < decisions.length; at += PORTION) {
      const rest = decisions.slice(at + PORTION)
      const outcomes = await this.#submit(stream, decisions.slice(at, at + PORTION))
      if (outcomes.every(outcome => FAILURES.includes(outcome))) {
        // The same obstacle would delay each of the others too.
        for (const decision of rest) this.#postpone(decision, Math.min(intervalMs, LEASED_AGAIN_MS))
        return rest.length
      }
      if (signal.aborted || this.#budget.stop.aborted || monotonicMs() >= untilMs) return rest.length
    }
    return 0
  }

  /** Operations submitted at the same time share a write. */
  async #submit(stream: string, decisions: readonly WatchdogDecision[]): Promise<readonly AttemptOutcome[]> {
    const { leaseWaitMs } = this.#budget
    const outcomes = await Promise.all(decisions.map(decision => this.#execute(decision, leaseWaitMs)))
    const hasFailed = outcomes.some(outcome => FAILURES.includes(outcome))
    this.#registry.recordOutcome(stream, hasFailed)
    if (outcomes.includes('busy')) this.#budget.busy()
    if (outcomes.includes('silent')) this.#budget.silent(stream)
    else this.#budget.answered()
    return outcomes
  }

  async #execute(decision: WatchdogDecision, leaseWaitMs: number): Promise<AttemptOutcome> {
    const { by, intervalMs, ownership, signal, report } = this.#rules
    if (ownership?.owns(decision.stream) === false) {
      this.#postpone(decision, intervalMs)
      return undefined
    }
    const carried = await execute(this.#store, decision, { by, leaseWaitMs, signal })
    this.#record(carried)
    await report(carried)
    const { outcome, code } = carried
    return outcome === 'unknown' || code === UNREACHABLE ? 'silent' : outcome
  }

  #record({ decision, outcome, ended }: ExecutedDecision): void {
    const events = outcome === 'ended' ? (ended?.length ?? endsOf(decision)) : 0
    if (events > 0) this.#breaker.ended(events, this.#rules.monotonicMs())
    const stream = this.#registry.get(decision.stream)
    const againMs = this.#retryAfterMs(outcome)
    if (outcome === 'notified' && decision.kind !== 'settle') stream?.markNotified(decision.event)
    else if (againMs !== undefined) this.#postpone(decision, againMs)
    else stream?.recordChange(events)
    // A further timer of the stream may come before the next sweep.
    if (outcome === 'settled') stream?.postpone(NEVER, nextWakeMs(this.#store, decision.stream))
    this.#rules.handled(decision)
  }

  /** Delay before the stream is inspected again, ms; `undefined`: the next sweep finds the change. */
  #retryAfterMs(outcome: DecisionOutcome): number | undefined {
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
        return CHANGED_AGAIN_MS
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
    this.#rules.handled(decision)
    this.#registry.get(decision.stream)?.holdBack(dueMsOf(decision) ?? NEVER, endsOf(decision))
  }

  #postpone(decision: WatchdogDecision, ms: number): void {
    this.#rules.handled(decision)
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
  /** Aborts the wait for a lease; operations in flight are completed. */
  readonly signal: AbortSignal
}

/** The code of failures because the store did not answer; nothing was applied. */
const UNREACHABLE = 'store-unreachable'

/**
 * Executes one decision as one transaction under the lease; the pure operation compares the observed state with the
 * current one. Several watchdogs may do so concurrently: the command id makes it idempotent. Faults are returned as
 * outcomes, since a fault of one stream (its document, name or access rights) must not affect the others.
 */
async function execute(
  store: StreamStore,
  decision: WatchdogDecision,
  { by, leaseWaitMs, signal }: ExecuteOptions,
): Promise<ExecutedDecision> {
  const { operation, stream, commandId } = decision
  if (operation === undefined) return executed(store, decision, 'notified')
  try {
    const why = decision.kind === 'settle' ? {} : { why: decision.message }
    // Another watchdog may have opened them since they were listed: then the document need not be read.
    const opensIn = decision.kind === 'settle' ? decision.opensIn : undefined
    const isIdle = (current: StreamSnapshot) => etagHash(current.etag) !== opensIn && !isWakeDue(current, store.nowMs())
    const asFound = opensIn === undefined ? {} : { isIdle }
    const options = { commandId, by, ...why, leaseWaitMs, purpose: 'watchdog', stopWaiting: signal }
    return outcomeOf(store, decision, await transactAsFound(store, stream, operation, options, asFound))
  } catch (error) {
    return { ...executed(store, decision, 'failed'), code: codeOf(error), message: messageOf(error) }
  }
}

/** When the first gate of a stream that was just written opens; `Infinity` for never, or if its document is not at hand. */
function nextWakeMs(store: StreamStore, name: string): number {
  const document = documentCache(store).latest(name)
  return (document && summarize(document, { nowMs: store.nowMs(), lastBy: '' }).wakeMs) ?? NEVER
}

function isWakeDue({ summary }: StreamSnapshot, nowMs: number): boolean {
  return summary === undefined || (summary.wakeMs !== undefined && summary.wakeMs <= nowMs)
}

/** A stable code; `unexpected` for unknown errors. */
export function codeOf(error: unknown): string {
  return error instanceof LeasectlError ? error.code : 'unexpected'
}

function outcomeOf(store: StreamStore, decision: WatchdogDecision, outcome: TransactOutcome): ExecutedDecision {
  switch (outcome.kind) {
    case 'done': {
      const { outcome: how, duplicate, version, changed } = outcome.result
      const isOurs = how === 'done' && !duplicate
      const done = decision.kind === 'settle' ? 'settled' : 'ended'
      const ended = changed.filter(({ from, to }) => from !== to && isFailed({ status: to }))
      return { ...executed(store, decision, isOurs ? done : 'already'), version, ended: ended.map(({ id }) => id) }
    }
    case 'refused':
      return refused(store, decision, outcome.refusal)
    case 'missing':
      return executed(store, decision, 'gone')
    case 'held':
    case 'lost':
      return { ...executed(store, decision, 'busy'), code: 'lease-held', message: 'another process holds the lease' }
    case 'unknown':
      return {
        ...executed(store, decision, 'unknown'),
        code: 'unknown',
        message: 'no answer; it may have been applied',
      }
    default:
      return outcome satisfies never
  }
}

/** `command-id-reused`, the same id with other arguments: another watchdog ended the event in its own way. */
const OUTCOME_OF: { readonly [code: string]: DecisionOutcome } = {
  'showed-life': 'showed-life',
  'already-final': 'already',
  'command-id-reused': 'already',
  'event-not-found': 'gone',
  'not-started': 'gone',
}

function refused(store: StreamStore, decision: WatchdogDecision, { code, message }: Refusal): ExecutedDecision {
  return { ...executed(store, decision, OUTCOME_OF[code] ?? 'refused'), code, message }
}

function executed(store: StreamStore, decision: WatchdogDecision, outcome: DecisionOutcome): ExecutedDecision {
  return { decision, outcome, atMs: store.nowMs() }
}

/**
 * Sorts decisions for execution, since a pass may execute only the first ones: the soonest due first, and one of each
 * stream before a second of any, so that a stream with many decisions does not delay all others. Streams whose last
 * change failed come last, since the obstacle may be permanent; among them, those that waited longest come first, so
 * that each is retried.
 *
 * @param lastSetback number of the pass in which the stream last failed to change; 0 if its last change succeeded
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

/** A settlement has no deadline to wait for. */
function dueOrder(decision: WatchdogDecision): number {
  return dueMsOf(decision) ?? 0
}

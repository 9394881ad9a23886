import type { ChooseEvent } from '../ops/transact/plan.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import type { Refusal } from '../stream/operations/operation.ts'
import { DEFAULT_ATTEMPTS } from '../stream/retry-policy.ts'
import type { WorkerTiming } from '../util/clock.ts'
import { defined } from '../util/defined.ts'
import { type ClaimOutcome, claimNext } from './claim.ts'
import type { Finder, FoundEvent } from './finder.ts'
import type { PollBackoff } from './poll-backoff.ts'
import { type AfterLoss, aftermathOf } from './self-reported.ts'
import type {
  Job,
  LoopOptions,
  LoopReport,
  NotCommitted,
  SelfReported,
  Work,
  WorkerEvent,
  WorkOutcome,
  WorkResult,
} from './types.ts'
import { isAgain, RELEASE, workEvent } from './work-event.ts'

type Target = Extract<FoundEvent, { readonly kind: 'found' }>

interface RunnerContext {
  readonly finder: Finder
  readonly counters: WorkerCounters
  readonly outages: OutageReporter
  readonly backoff: PollBackoff
  readonly timing: WorkerTiming
  readonly observe: (event: WorkerEvent) => void
  /** Aborts when the loop must not begin anything more. */
  readonly over: AbortSignal
}

/** Exclusion, ms: after a refusal without an apparent reason, of a leased stream, of a released event, after a fault. */
const REST_MS = { refused: 500, leased: 5_000, released: 5_000, fault: 30_000 } as const

/** How long a slot stays with one stream while it has events, ms: then the other streams have their turns. */
const TURN_MS = 1_000

/** The time of one slot with one stream. */
interface Turn {
  readonly sinceMs: number
  /** Frees the slot; only the first call counts. */
  readonly leave: () => void
}

interface Attempt {
  isBegun: boolean
  /** The slot stays with the stream: its next event is claimed with the end of this one. */
  goesOn: boolean
}

/** Claims, runs and reports the events that a loop has found. */
export class EventRunner {
  readonly #store: StreamStore
  readonly #options: LoopOptions
  readonly #work: Work
  readonly #at: RunnerContext
  #started = 0

  constructor(store: StreamStore, options: LoopOptions, work: Work, context: RunnerContext) {
    this.#store = store
    this.#options = options
    this.#work = work
    this.#at = context
  }

  /** Number of events on which work has started. */
  get started(): number {
    return this.#started
  }

  /**
   * Claims the event, works on it and reports the result; never throws.
   * @param leave called when the work itself is over: the next event may begin
   */
  async run(target: Target, leave: () => void): Promise<void> {
    return this.#run(target, { leave, sinceMs: this.#at.timing.monotonicMs() })
  }

  async #run(target: Target, turn: Turn, claiming?: Promise<ClaimOutcome>): Promise<void> {
    const { finder, counters, outages, over } = this.#at
    const state: Attempt = { isBegun: false, goesOn: false }
    const isOver = Promise.withResolvers<void>()
    let next: Promise<void> | undefined
    const reporting = () => {
      if (state.goesOn) next = this.#next(target.stream, turn, isOver.promise)
    }
    finder.begin(target)
    try {
      const steps = { reporting, claimUntil: over, ...defined({ claiming }) }
      const outcome = await workEvent(
        this.#store,
        target,
        this.#claimOptions,
        job => this.#workOn(job, state, turn),
        steps,
      )
      const usedUp = outcome.kind === 'not-claimed' ? usedUpOf(outcome.undone) : undefined
      outages.answered('change')
      const after = await aftermathOf(this.#store, outcome)
      if (usedUp === undefined) counters.ended(outcome, after.ownEnd)
      this.#follow(target, outcome, after)
      this.#emit(target, outcome, after, usedUp)
    } catch (error) {
      if (state.isBegun) counters.threw()
      else if (!(error instanceof StoreUnreachable)) counters.fault()
      if (!over.aborted || state.isBegun) await this.#failed(target, error)
    } finally {
      finder.end(target)
      isOver.resolve()
      await next
    }
  }

  get #claimOptions() {
    return { maxAttempts: DEFAULT_ATTEMPTS, ...this.#options }
  }

  /**
   * Claims another event of the stream in the write that ends the one before, and runs it in the same slot.
   * @param before resolves once the one before has been reported: its outcome is told before the next start
   */
  async #next(stream: string, turn: Turn, before: Promise<void>): Promise<void> {
    const { finder, timing, over } = this.#at
    let chosen: Target | undefined
    let isOver = false
    const choose: ChooseEvent = (document, made) => {
      const earlier = chosen
      if (chosen !== undefined) finder.end(chosen)
      if (made !== undefined) chosen = { kind: 'found', stream, event: made }
      else chosen = isOver || over.aborted ? undefined : finder.choose(stream, document)
      if (chosen !== undefined) finder.begin(chosen)
      else if (earlier === undefined) {
        // Nothing was sent: another stream has its turn while the end is written.
        isOver = true
        turn.leave()
      }
      return chosen?.event
    }
    const claiming = claimNext(this.#store, stream, choose, { ...this.#claimOptions, signal: over }, timing)
    await claiming.catch(() => {})
    await before
    if (chosen === undefined) turn.leave()
    else await this.#run(chosen, turn, claiming)
  }

  /** Whether the slot stays with the stream after this result. */
  #staysAfter(ending: WorkResult | undefined, { sinceMs }: Turn): boolean {
    const { over, backoff, timing } = this.#at
    if (ending !== undefined && ending.op !== 'complete' && ending.op !== 'advance') return false
    if (over.aborted || this.#options.until === 'once' || backoff.setbackMs() > 0) return false
    return timing.monotonicMs() - sinceMs < TURN_MS
  }

  async #workOn(job: Job, state: Attempt, turn: Turn) {
    // The loop was drained during the claim.
    if (this.#at.over.aborted) return RELEASE
    state.isBegun = true
    this.#started += 1
    this.#at.observe({ kind: 'started', job })
    try {
      const ending = await this.#work(job)
      state.goesOn = this.#staysAfter(ending, turn)
      return ending
    } finally {
      if (!state.goesOn) turn.leave()
      // Reports of this moment then share a commit, and with a claim in this stream by another slot even a write.
      await this.#at.timing.tick()
    }
  }

  #follow(target: Target, outcome: WorkOutcome, { ownEnd, isBack }: AfterLoss): void {
    const { finder, backoff } = this.#at
    if (outcome.kind === 'not-claimed') this.#notClaimed(target, outcome.undone)
    else if (outcome.kind === 'reported') {
      if (outcome.ending.op === 'release') this.#setback(target, REST_MS.released)
      else backoff.success()
      finder.wrote(target.stream)
    } else {
      // Ready again, often as the same attempt: without a pause it would be claimed over and over.
      if (isBack) this.#setback(target, REST_MS.released)
      else if (ownEnd !== undefined) backoff.success()
      finder.invalidate(target.stream)
    }
  }

  /** With `until` each such event is tried once; other loops retry it with growing pauses. */
  #setback(target: Target, restMs: number): void {
    if (this.#options.until === undefined) this.#at.backoff.setback()
    this.#rest(target, this.#options.until === undefined ? restMs : Number.POSITIVE_INFINITY)
  }

  #notClaimed({ stream, event }: Target, undone: NotCommitted): void {
    if (usedUpOf(undone) !== undefined) this.#at.finder.wrote(stream)
    else if (undone.kind === 'held') this.#rest({ stream }, REST_MS.leased)
    else {
      this.#rest({ stream, event }, REST_MS.refused)
      this.#at.finder.invalidate(stream)
    }
  }

  async #failed(target: Target, error: unknown): Promise<void> {
    const { outages, finder, timing, over } = this.#at
    const { stream, event } = target
    outages.failed('change', error, { stream, event })
    finder.invalidate(stream)
    if (error instanceof StoreUnreachable) {
      this.#rest({ stream, event }, REST_MS.refused)
      // The slot stays occupied during the pause, so that an outage is not hammered with one event after another.
      await timing.pause(REST_MS.refused * (1 + timing.random()), over)
    } else this.#setback(target, REST_MS.fault)
  }

  /** Excludes for `ms` up to twice that, at random, because other workers wait for the same. */
  #rest({ stream, event }: { readonly stream: string; readonly event?: string }, ms: number): void {
    const target = event === undefined ? { stream } : { stream, event }
    this.#at.finder.rest(target, ms * (1 + this.#at.timing.random()))
  }

  #emit(
    { stream, event, expiredClaim }: Target,
    outcome: WorkOutcome,
    { ownEnd }: AfterLoss,
    usedUp: Refusal | undefined,
  ): void {
    const { observe, counters } = this.#at
    if (usedUp !== undefined) {
      counters.gaveUp()
      const { name = '', attempt = 1 } = expiredClaim ?? {}
      observe({ kind: 'given-up', stream, event, name, attempt, message: usedUp.message })
    } else observe({ kind: 'outcome', outcome, ...defined({ ownEnd }) })
  }
}

/** The refusal, if the event had no attempts left: it was failed instead of claimed. */
function usedUpOf(undone: NotCommitted): Refusal | undefined {
  return undone.kind === 'refused' && undone.refusal.code === 'no-attempts' ? undone.refusal : undefined
}

/** Counters for the report of a loop. */
export class WorkerCounters {
  readonly #counts = {
    claimed: 0,
    completed: 0,
    failed: 0,
    again: 0,
    released: 0,
    lost: 0,
    racesLost: 0,
    givenUp: 0,
    faults: 0,
  }

  get counts(): Omit<LoopReport, 'locked'> {
    return { ...this.#counts }
  }

  fault(): void {
    this.#counts.faults += 1
  }

  gaveUp(): void {
    this.#counts.givenUp += 1
  }

  /** An event was claimed, and its outcome is not known. */
  threw(): void {
    this.#counts.claimed += 1
    this.#counts.lost += 1
  }

  /** @param ownEnd result that the work itself wrote, if the loop could not report */
  ended(outcome: WorkOutcome, ownEnd?: SelfReported): void {
    const counts = this.#counts
    if (outcome.kind === 'not-claimed') {
      counts.racesLost += outcome.undone.kind === 'refused' ? 1 : 0
      return
    }
    counts.claimed += 1
    const op = outcome.kind === 'reported' ? outcome.ending.op : ownEnd?.op
    if (op === undefined) counts.lost += 1
    else if (op === 'fail') counts[isTriedAgain(outcome, ownEnd) ? 'again' : 'failed'] += 1
    else if (op === 'release') counts.released += 1
    else counts.completed += 1
  }
}

function isTriedAgain(outcome: WorkOutcome, ownEnd: SelfReported | undefined): boolean {
  return outcome.kind === 'reported' ? isAgain(outcome.result) : ownEnd?.isAgain === true
}

/** Kind of a request: to find events, or to change them. */
type RequestKind = 'find' | 'change'

/** Emits the begin and end of an outage once each, and a repeated fault of finding events once. */
export class OutageReporter {
  readonly #emit: (event: WorkerEvent) => void
  readonly #unanswered = new Set<RequestKind>()
  #findFault: string | undefined

  constructor(emit: (event: WorkerEvent) => void) {
    this.#emit = emit
  }

  /** An answer to one kind of request proves nothing for the other: a store may be readable but not writable. */
  answered(kind: RequestKind): void {
    if (kind === 'find') this.#findFault = undefined
    if (this.#unanswered.delete(kind) && this.#unanswered.size === 0) this.#emit({ kind: 'resumed' })
  }

  /** A request to the store failed. */
  failed(kind: RequestKind, error: unknown, where: { readonly stream?: string; readonly event?: string } = {}): void {
    if (!(error instanceof StoreUnreachable)) {
      const fault = kind === 'find' ? String(error) : undefined
      if (fault === undefined || fault !== this.#findFault) this.#emit({ kind: 'fault', ...where, error })
      this.#findFault = fault ?? this.#findFault
    } else {
      if (this.#unanswered.size === 0) this.#emit({ kind: 'interrupted', cause: error })
      this.#unanswered.add(kind)
    }
  }
}

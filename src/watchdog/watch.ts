import { runBatch } from '../ops/batch.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { EventStore } from '../store/store.ts'
import { type BlindSpot, withSpot } from './blind-spots.ts'
import { Breaker } from './breaker.ts'
import { carryOutAll, endsOf } from './carry-out.ts'
import type { Carried, Decision, DecisionOutcome } from './decision.ts'
import { look } from './look.ts'
import type { Timing, WatchdogOptions } from './options.ts'
import type { LookRules } from './plan.ts'
import type { BreakerState, MovedStream, Observer, PassReport } from './report.ts'
import { Roll } from './roll.ts'
import { surveyOf } from './survey.ts'
import { sweep } from './sweep.ts'
import { Tolerance } from './tolerance.ts'

/** So many documents that cannot be read are named. */
const MAX_UNREADABLE = 20

export interface PassSettings {
  /** The clock alone decides: one look is enough. */
  readonly trustsClock: boolean
  /** Nothing is changed; what would be is told to the observers. */
  readonly isDryRun: boolean
  readonly timing: Timing
}

/** What a pass has come to so far. */
interface Progress {
  readonly startedMs: number
  readonly atMs: number
  listedMs?: number
  documents: number
  readonly decisions: Decision[]
  readonly outcomes: Partial<Record<DecisionOutcome, number>>
  endedEvents: number
  readonly tolerance: Tolerance
}

/**
 * What a watchdog does again and again: list, look, plan, judge, carry out, report. A pass takes no input but what it sees
 * and repeats nothing inside; one that is cut short has changed nothing but what it told of.
 */
export class Watch {
  readonly #store: EventStore
  readonly #options: WatchdogOptions
  readonly #settings: PassSettings
  readonly #roll = new Roll()
  readonly #breaker: Breaker
  readonly #unreadable = new Map<string, string>()
  #blindSpots: readonly BlindSpot[] = []
  #epochMs = Number.NEGATIVE_INFINITY

  constructor(store: EventStore, options: WatchdogOptions, settings: PassSettings) {
    this.#store = store
    this.#options = options
    this.#settings = settings
    this.#breaker = new Breaker(options)
  }

  /** When a stream has to be looked at, epoch ms by the store's clock; `Infinity` for never. */
  soonestLookMs(): number {
    return this.#roll.soonestLookMs()
  }

  /** Nothing was seen for a while: what was seen before counts no more. @param atMs now, by the clock that only goes forward */
  wasBlind(spot: BlindSpot, atMs: number): void {
    this.#blindSpots = withSpot(this.#blindSpots, spot)
    this.#epochMs = atMs
  }

  /** @throws the store's faults: then the pass came to no end, and the next one sees all that this one missed */
  async pass(kind: PassReport['kind'], signal: AbortSignal): Promise<PassReport> {
    const progress = begin(this.#store.nowMs(), this.#settings.timing.monotonicMs())
    await this.#tell(observer => observer.began?.(kind, progress.startedMs))
    const unread = kind === 'sweep' ? await this.#sweep(progress, signal) : new Set<string>()
    await this.#look(progress, unread, signal)
    const breaker = this.#judge(progress)
    const deferred = await this.#carryOut(progress, breaker, signal)
    const report = this.#report(kind, progress, breaker, deferred)
    await this.#tell(observer => observer.passed?.(report))
    return report
  }

  async #sweep(progress: Progress, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { names, wantsMoved = false } = this.#options
    const rules = {
      wantsMoved,
      owns: this.#owns,
      signal,
      moved: (streams: readonly MovedStream[]) => this.#tell(observer => observer.moved?.(streams)),
      ...(names === undefined ? {} : { names }),
    }
    const { unread } = await sweep(this.#store, this.#roll, rules, progress.atMs)
    progress.listedMs = this.#settings.timing.monotonicMs() - progress.atMs
    return unread
  }

  /** Reads what is due, and what the listing could not tell. */
  async #look(progress: Progress, unread: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const names = this.#roll.toLookAt(this.#store.nowMs())
    const own = names.filter(this.#owns)
    if (own.length < names.length) this.#leaveToOthers(names)
    await runBatch(own, { concurrency: this.#options.concurrency, stop: signal }, async name => {
      progress.decisions.push(...(await this.#lookAt(name, progress, unread.has(name), signal)))
    })
    signal.throwIfAborted()
  }

  /** They are looked at again in time for a shard that changes hands. */
  #leaveToOthers(names: readonly string[]): void {
    const nextLookMs = this.#store.nowMs() + this.#options.intervalMs
    for (const name of names) if (!this.#owns(name)) this.#roll.leave(name, nextLookMs)
  }

  async #lookAt(name: string, progress: Progress, isNews: boolean, signal: AbortSignal): Promise<readonly Decision[]> {
    const before = this.#roll.versionOf(name)
    try {
      const looked = await look(this.#store, this.#roll, name, this.#rules(), signal)
      if (looked === undefined) return []
      progress.documents += 1
      await this.#tellFault(name, looked.fault)
      if (isNews && this.#options.wantsMoved) await this.#tell(each => each.moved?.([{ ...looked.item, before }]))
      return looked.decisions
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
      progress.tolerance.count(error)
      return []
    }
  }

  async #tellFault(name: string, fault: string | undefined): Promise<void> {
    this.#unreadable.delete(name)
    if (fault === undefined) return
    if (this.#unreadable.size < MAX_UNREADABLE) this.#unreadable.set(name, fault)
    await this.#tell(observer => observer.unreadable?.(name, fault))
  }

  #rules(): LookRules {
    const { trustsClock, timing } = this.#settings
    return {
      nowMs: this.#store.nowMs(),
      atMs: timing.monotonicMs(),
      onDue: this.#options.onDue,
      apartMs: trustsClock ? 0 : this.#options.intervalMs,
      epochMs: this.#epochMs,
      blindSpots: this.#blindSpots,
    }
  }

  #judge({ decisions, atMs }: Progress): BreakerState {
    const planned = decisions.reduce((sum, decision) => sum + endsOf(decision), 0)
    const { openEvents } = surveyOf(this.#roll, this.#store.nowMs(), this.#owns)
    return this.#breaker.judge(planned, openEvents, atMs)
  }

  async #carryOut(progress: Progress, { isOpen }: BreakerState, signal: AbortSignal): Promise<number> {
    const { decisions, tolerance } = progress
    if (this.#settings.isDryRun) {
      for (const decision of decisions) await this.#tell(observer => observer.planned?.(decision))
      return 0
    }
    const { monotonicMs } = this.#settings.timing
    const told = async (carried: Carried) => {
      const { outcome, decision } = carried
      progress.outcomes[outcome] = (progress.outcomes[outcome] ?? 0) + 1
      if (outcome === 'ended') progress.endedEvents += carried.ended?.length ?? endsOf(decision)
      await this.#tell(observer => observer.carried?.(carried))
    }
    const rules = { ...this.#options, signal, tolerance, endsNothing: isOpen, monotonicMs, told }
    return carryOutAll(this.#store, this.#roll, this.#breaker, decisions, rules)
  }

  #report(kind: PassReport['kind'], progress: Progress, breaker: BreakerState, deferred: number): PassReport {
    const { startedMs, atMs, listedMs, documents, outcomes, endedEvents } = progress
    const nowMs = this.#store.nowMs()
    for (const name of this.#unreadable.keys()) {
      if (this.#roll.statusOf(name) !== 'unreadable') this.#unreadable.delete(name)
    }
    return {
      kind,
      startedMs,
      tookMs: this.#settings.timing.monotonicMs() - atMs,
      ...(listedMs === undefined ? {} : { listedMs }),
      ...surveyOf(this.#roll, nowMs, this.#owns),
      documents,
      outcomes,
      endedEvents,
      deferred,
      breaker,
      unreadable: [...this.#unreadable].map(([stream, message]) => ({ stream, message })),
      skewMs: nowMs - this.#settings.timing.wallMs(),
    }
  }

  readonly #owns = (name: string): boolean => this.#options.ownership?.owns(name) ?? true

  async #tell(what: (observer: Observer) => void | Promise<void>): Promise<void> {
    for (const observer of this.#options.observers) await what(observer)
  }
}

function begin(startedMs: number, atMs: number): Progress {
  return {
    startedMs,
    atMs,
    documents: 0,
    decisions: [],
    outcomes: {},
    endedEvents: 0,
    tolerance: new Tolerance(),
  }
}

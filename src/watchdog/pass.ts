import type { StreamStore } from '../store/store.ts'
import { machineTiming } from '../util/clock.ts'
import { Breaker } from './breaker.ts'
import { type Carried, dueMsOf, endsOf } from './decision.ts'
import { carryOutAll } from './execute.ts'
import type { WatchdogOptions } from './options.ts'
import { begin, type PassProgress, reportOf, totalsOf } from './pass-report.ts'
import { StreamRegistry } from './registry/registry.ts'
import { type BreakerState, PassObservers, type PassReport } from './report.ts'
import { type LookoutSettings, Scanner } from './scan/scanner.ts'

export interface PassSettings extends LookoutSettings {
  /** Changes nothing; planned decisions are reported to the observers. */
  readonly isDryRun: boolean
  /** Time for executing more than the first portion of a stream's decisions, ms; default: until all are done. */
  readonly carryOutMs?: number
  /** Receivers of reports; default: the observers of the options. */
  readonly audience?: PassObservers
}

/**
 * One pass of the watchdog: list, inspect, plan, check the circuit breaker, execute, report. A pass takes no input but
 * what it observes and retries nothing; an aborted pass has changed nothing beyond its reports, and its knowledge is
 * kept.
 */
export class Pass {
  readonly #store: StreamStore
  readonly #options: WatchdogOptions
  readonly #settings: PassSettings
  readonly #audience: PassObservers
  readonly #registry = new StreamRegistry()
  readonly #breaker: Breaker
  readonly #lookout: Scanner

  constructor(store: StreamStore, options: WatchdogOptions, settings: PassSettings) {
    const { audience = new PassObservers(options.observers) } = settings
    this.#store = store
    this.#options = options
    this.#settings = settings
    this.#audience = audience
    this.#breaker = new Breaker(options)
    this.#lookout = new Scanner(store, this.#registry, options, { ...settings, audience })
  }

  /** When the next stream has to be inspected, by the store's clock, epoch ms; `Infinity` for never. */
  soonestLookMs(): number {
    return this.#registry.nextInspectionMs()
  }

  /** The process is running. */
  ticked(): void {
    this.#lookout.ticked()
  }

  /** @throws the store's faults: the pass has failed, and the next one finds everything that this one missed */
  async pass(kind: PassReport['kind'], signal: AbortSignal): Promise<PassReport> {
    const progress = begin(kind, this.#lookout.now())
    await this.#audience.tell(observer => observer.began?.(kind, progress.started.nowMs))
    const breaker = await this.#work(progress, signal)
    const report = this.#report(progress, breaker)
    await this.#audience.tell(observer => observer.passed?.(report))
    return report
  }

  async #work(progress: PassProgress, signal: AbortSignal): Promise<BreakerState> {
    let isGood = false
    try {
      if (progress.kind === 'sweep') await this.#lookout.sweep(progress, signal)
      await this.#lookout.look(progress, signal)
      const breaker = await this.#judgeAll(progress, signal)
      await this.#carryOut(progress, breaker, signal)
      isGood = true
      return breaker
    } finally {
      this.#lookout.ended(isGood)
      this.#putOff(progress)
    }
  }

  /** Postpones decisions that were planned but not executed: the streams may never change again by themselves. */
  #putOff({ undone }: PassProgress): void {
    const nowMs = this.#store.nowMs()
    for (const decision of undone) {
      this.#registry.get(decision.stream)?.postpone(dueMsOf(decision) ?? Number.POSITIVE_INFINITY, nowMs)
    }
  }

  /**
   * Once the breaker closes, streams with events that it held back are inspected again before any decision is executed.
   */
  async #judgeAll(progress: PassProgress, signal: AbortSignal): Promise<BreakerState> {
    const breaker = this.#judge(progress)
    if (breaker.isOpen || this.#registry.heldEvents(this.#lookout.owns) === 0) return breaker
    for (const stream of this.#registry.values()) stream.letGo()
    await this.#lookout.look(progress, signal)
    return this.#judge(progress)
  }

  #judge({ decisions, started }: PassProgress): BreakerState {
    const held = this.#registry.heldEvents(this.#lookout.owns)
    const planned = decisions.reduce((sum, decision) => sum + endsOf(decision), held)
    const { openEvents } = totalsOf(this.#registry, this.#store.nowMs(), this.#lookout.owns)
    return this.#breaker.judge(planned, openEvents, started.atMs)
  }

  async #carryOut(progress: PassProgress, { isOpen }: BreakerState, signal: AbortSignal): Promise<void> {
    const { decisions, undone } = progress
    const { carryOutMs = Number.POSITIVE_INFINITY, timing } = this.#settings
    if (this.#settings.isDryRun) {
      for (const decision of decisions) await this.#audience.tell(observer => observer.planned?.(decision))
      return
    }
    progress.deferred = await carryOutAll(this.#store, this.#registry, this.#breaker, decisions, {
      ...this.#options,
      signal,
      endsNothing: isOpen,
      untilMs: timing.monotonicMs() + carryOutMs,
      monotonicMs: () => timing.monotonicMs(),
      dealt: decision => undone.delete(decision),
      told: carried => this.#told(progress, carried),
    })
  }

  async #told(progress: PassProgress, carried: Carried): Promise<void> {
    const { outcome, decision, ended } = carried
    progress.outcomes[outcome] = (progress.outcomes[outcome] ?? 0) + 1
    if (outcome === 'ended') progress.endedEvents += ended?.length ?? endsOf(decision)
    await this.#audience.tell(observer => observer.carried?.(carried))
  }

  #report(progress: PassProgress, breaker: BreakerState): PassReport {
    const now = { ...this.#lookout.now(), wallMs: this.#settings.timing.wallMs() }
    const totals = totalsOf(this.#registry, now.nowMs, this.#lookout.owns)
    return reportOf(progress, now, { ...totals, breaker, unreadable: this.#lookout.unreadable() })
  }
}

/**
 * Runs one sweep and executes its decisions. There is no second observation, so the clock alone decides; an event that
 * sends a heartbeat between inspection and lease is still spared. A dry run changes nothing and reports its decisions.
 *
 * @throws the store's faults
 */
export async function runOnce(
  store: StreamStore,
  options: WatchdogOptions,
  { isDryRun, signal }: { readonly isDryRun: boolean; readonly signal: AbortSignal },
): Promise<PassReport> {
  const timing = options.timing ?? machineTiming
  return new Pass(store, options, { trustsClock: true, isDryRun, timing }).pass('sweep', signal)
}

import type { StreamStore } from '../store/store.ts'
import { machineTiming } from '../util/clock.ts'
import { Breaker } from './breaker.ts'
import { dueMsOf, type ExecutedDecision, endsOf } from './decision.ts'
import { executeAll } from './execute.ts'
import type { WatchdogOptions } from './options.ts'
import { begin, type PassProgress, reportOf, totalsOf } from './pass-report.ts'
import { StreamRegistry } from './registry/registry.ts'
import { type BreakerState, PassObservers, type PassReport } from './report.ts'
import { Scanner, type ScanSettings } from './scan/scanner.ts'

export interface PassSettings extends ScanSettings {
  /** Changes nothing; planned decisions are reported to the observers. */
  readonly isDryRun: boolean
  /** Time for executing more than the first portion of a stream's decisions, ms; default: until all are done. */
  readonly executeMs?: number
  /** Receivers of reports; default: the observers of the options. */
  readonly observers?: PassObservers
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
  readonly #observers: PassObservers
  readonly #registry = new StreamRegistry()
  readonly #breaker: Breaker
  readonly #scanner: Scanner

  constructor(store: StreamStore, options: WatchdogOptions, settings: PassSettings) {
    const { observers = new PassObservers(options.observers) } = settings
    this.#store = store
    this.#options = options
    this.#settings = settings
    this.#observers = observers
    this.#breaker = new Breaker(options)
    this.#scanner = new Scanner(store, this.#registry, options, { ...settings, observers })
  }

  /** When the next stream has to be inspected, by the store's clock, epoch ms; `Infinity` for never. */
  nextInspectionMs(): number {
    return this.#registry.nextInspectionMs()
  }

  /** The process is running. */
  ticked(): void {
    this.#scanner.ticked()
  }

  /** @throws the store's faults: the pass has failed, and the next one finds everything that this one missed */
  async pass(kind: PassReport['kind'], signal: AbortSignal): Promise<PassReport> {
    const progress = begin(kind, this.#scanner.now())
    await this.#observers.notify(observer => observer.began?.(kind, progress.started.nowMs))
    const breaker = await this.#work(progress, signal)
    const report = this.#report(progress, breaker)
    await this.#observers.notify(observer => observer.passed?.(report))
    return report
  }

  async #work(progress: PassProgress, signal: AbortSignal): Promise<BreakerState> {
    let isGood = false
    try {
      if (progress.kind === 'sweep') await this.#scanner.sweep(progress, signal)
      await this.#scanner.inspectDue(progress, signal)
      const breaker = await this.#judgeAll(progress, signal)
      await this.#execute(progress, breaker, signal)
      isGood = true
      return breaker
    } finally {
      this.#scanner.ended(isGood)
      this.#postpone(progress)
    }
  }

  /** Postpones decisions that were planned but not executed: the streams may never change again by themselves. */
  #postpone({ undone }: PassProgress): void {
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
    if (breaker.isOpen || this.#registry.heldEvents(this.#scanner.owns) === 0) return breaker
    for (const stream of this.#registry.values()) stream.letGo()
    await this.#scanner.inspectDue(progress, signal)
    return this.#judge(progress)
  }

  #judge({ decisions, started }: PassProgress): BreakerState {
    const held = this.#registry.heldEvents(this.#scanner.owns)
    const planned = decisions.reduce((sum, decision) => sum + endsOf(decision), held)
    const { openEvents } = totalsOf(this.#registry, this.#store.nowMs(), this.#scanner.owns)
    return this.#breaker.judge(planned, openEvents, started.atMs)
  }

  async #execute(progress: PassProgress, { isOpen }: BreakerState, signal: AbortSignal): Promise<void> {
    const { decisions, undone } = progress
    const { executeMs = Number.POSITIVE_INFINITY, timing } = this.#settings
    if (this.#settings.isDryRun) {
      for (const decision of decisions) await this.#observers.notify(observer => observer.planned?.(decision))
      return
    }
    progress.deferred = await executeAll(this.#store, this.#registry, this.#breaker, decisions, {
      ...this.#options,
      signal,
      endsNothing: isOpen,
      untilMs: timing.monotonicMs() + executeMs,
      monotonicMs: () => timing.monotonicMs(),
      handled: decision => undone.delete(decision),
      report: carried => this.#record(progress, carried),
    })
  }

  async #record(progress: PassProgress, carried: ExecutedDecision): Promise<void> {
    const { outcome, decision, ended } = carried
    progress.outcomes[outcome] = (progress.outcomes[outcome] ?? 0) + 1
    if (outcome === 'ended') progress.endedEvents += ended?.length ?? endsOf(decision)
    await this.#observers.notify(observer => observer.executed?.(carried))
  }

  #report(progress: PassProgress, breaker: BreakerState): PassReport {
    const now = { ...this.#scanner.now(), wallMs: this.#settings.timing.wallMs() }
    const totals = totalsOf(this.#registry, now.nowMs, this.#scanner.owns)
    return reportOf(progress, now, { ...totals, breaker, unreadable: this.#scanner.unreadable() })
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

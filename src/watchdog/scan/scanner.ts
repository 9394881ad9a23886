import { summarizeStored } from '../../ops/read-summary.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import type { Timing } from '../../util/clock.ts'
import { runBatch } from '../../util/concurrency.ts'
import { messageOf } from '../../util/errors.ts'
import type { WatchdogDecision } from '../decision.ts'
import { FailureBudget } from '../failure-budget.ts'
import { ObservationGaps, type ObservationTime } from '../observation-gaps.ts'
import type { WatchdogOptions } from '../options.ts'
import type { PassProgress } from '../pass-report.ts'
import type { InspectionRules } from '../plan.ts'
import type { KnownStream } from '../registry/known-stream.ts'
import type { StreamRegistry } from '../registry/registry.ts'
import type { MovedStream, PassObservers, PassReport } from '../report.ts'
import { type Inspection, inspectStream, settlementOf, UNREADABLE } from './inspect.ts'
import { movedFrom, sweep } from './sweep.ts'

export interface ScanSettings {
  /** The clock alone decides: one observation suffices. */
  readonly trustsClock: boolean
  readonly timing: Timing
  /** Interval at which `ticked` is called, ms; absent without ticks. */
  readonly tickMs?: number
}

/** The observing half of a watchdog: lists, reads due or new streams, and plans. It changes only the registry. */
export class Scanner {
  readonly #store: StreamStore
  readonly #registry: StreamRegistry
  readonly #options: WatchdogOptions
  readonly #settings: ScanSettings
  readonly #observers: PassObservers
  readonly #gaps: ObservationGaps
  readonly #faults = new FaultList()

  constructor(
    store: StreamStore,
    registry: StreamRegistry,
    options: WatchdogOptions,
    settings: ScanSettings & { readonly observers: PassObservers },
  ) {
    this.#store = store
    this.#registry = registry
    this.#options = options
    this.#settings = settings
    this.#observers = settings.observers
    const { tickMs = Number.POSITIVE_INFINITY } = settings
    const { intervalMs, lastSeenMs } = options
    this.#gaps = new ObservationGaps({ intervalMs, tickMs, lastSeenMs }, this.now())
  }

  now(): ObservationTime {
    return { nowMs: this.#store.nowMs(), atMs: this.#settings.timing.monotonicMs() }
  }

  /** The process is running. */
  ticked(): void {
    this.#gaps.ticked(this.now())
  }

  /** A pass was completed, or failed: then the next answer ends an outage. */
  ended(isGood: boolean): void {
    if (isGood) this.#gaps.passed()
    else this.#gaps.failed()
  }

  /** Some of the unreadable documents. */
  unreadable(): PassReport['unreadable'] {
    return this.#faults.list(name => this.#registry.get(name)?.status === UNREADABLE)
  }

  readonly owns = (name: string): boolean => this.#options.ownership?.owns(name) ?? true

  /** @throws the store's faults; the registry has then forgotten nothing */
  async sweep(progress: PassProgress, signal: AbortSignal): Promise<void> {
    const { names, wantsMoved = false, wantsAll } = this.#options
    if (wantsAll?.()) for (const stream of this.#registry.values()) stream.reportAgain()
    this.#gaps.beginRequest(this.now())
    await sweep(this.#store, this.#registry, {
      wantsMoved,
      owns: this.owns,
      signal,
      beginRequest: () => this.#gaps.beginRequest(this.now()),
      answered: this.#answered,
      moved: (streams: readonly MovedStream[]) => this.#observers.notify(observer => observer.moved?.(streams)),
      ...(names === undefined ? {} : { names }),
    })
    progress.listedMs = this.#settings.timing.monotonicMs() - progress.started.atMs
    await this.#reportGaps()
  }

  /**
   * Reads streams that are due or whose rows did not suffice; those with nothing but gates to open are not read. A fault
   * of one stream does not affect the others.
   *
   * @throws StoreUnreachable the store answers no request; the signal's reason
   */
  async inspectDue(progress: PassProgress, signal: AbortSignal): Promise<void> {
    const { concurrency } = this.#options
    const budget = new FailureBudget()
    this.#gaps.beginRequest(this.now())
    if (this.#gaps.takeSetBack()) this.#clockSetBack()
    const nowMs = this.#store.nowMs()
    const due = this.#registry.dueForInspection(nowMs)
    const { true: own = [], false: others = [] } = Object.groupBy(due, ({ name }) => String(this.owns(name)))
    // They are inspected again within an interval, in case the shard changes hands.
    for (const stream of others) stream.leaveUntil(this.#inAnInterval())
    const { true: opening = [], false: read = [] } = Object.groupBy(own, stream => String(stream.takeOpening(nowMs)))
    for (const { name, etag } of inRandomRuns(opening, this.#settings.timing.random)) {
      plan(progress, { ...settlementOf(name, `etag-${etag.toString(36)}`), opensIn: etag })
    }
    await runBatch(read, { concurrency, stop: budget.stop }, async stream => {
      if (!signal.aborted) await this.#inspect(stream, progress, budget, signal)
    })
    if (budget.isDoubtful) await this.#probe(budget.silentStreams, signal)
    signal.throwIfAborted()
  }

  #clockSetBack(): void {
    const nowMs = this.#store.nowMs()
    for (const stream of this.#registry.values()) stream.clockSetBack(nowMs)
  }

  async #inspect(
    stream: KnownStream,
    progress: PassProgress,
    budget: FailureBudget,
    signal: AbortSignal,
  ): Promise<void> {
    const { status: before, name } = stream
    try {
      const inspection = await inspectStream(this.#store, this.#registry, stream, this.#rules, signal)
      budget.answered()
      if (inspection !== undefined) await this.#keep(stream, inspection, progress)
    } catch (error) {
      signal.throwIfAborted()
      const isSilent = error instanceof StoreUnreachable
      stream.status = isSilent ? before : UNREADABLE
      stream.leaveUntil(this.#inAnInterval())
      if (isSilent) stream.beginUnreachable(this.#gaps.goodMs)
      if (isSilent) budget.silent(name)
      else if (before !== UNREADABLE) await this.#reportFault(name, messageOf(error))
    }
  }

  /**
   * Some streams do not answer: reads another one to find out whether the store is to blame.
   *
   * @throws StoreUnreachable it is
   */
  async #probe(silent: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const other = this.#registry.another(silent, this.#settings.timing.random())
    if (other === undefined) throw new StoreUnreachable('no document can be read')
    try {
      await this.#store.read(other, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof StoreUnreachable) throw error
    }
  }

  async #keep(
    stream: KnownStream,
    { stored, decisions, isNews, fault }: Inspection,
    progress: PassProgress,
  ): Promise<void> {
    progress.documents += 1
    for (const decision of decisions) plan(progress, decision)
    await this.#reportGaps()
    if (fault === undefined) this.#faults.remove(stream.name)
    else await this.#reportFault(stream.name, fault)
    if (!isNews || this.#options.wantsMoved !== true) return
    const item = summarizeStored(stored, this.#store.nowMs())
    await this.#observers.notify(observer => observer.moved?.([movedFrom(stream, item)]))
    this.#gaps.beginRequest(this.now())
    stream.markReported(item.summary)
  }

  async #reportFault(name: string, message: string): Promise<void> {
    // Observers show the name beside the message.
    const text = message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message
    this.#faults.add(name, text)
    await this.#observers.notify(observer => observer.unreadable?.(name, text))
  }

  async #reportGaps(): Promise<void> {
    for (const { fromMs, toMs, why } of this.#gaps.takeReports()) {
      await this.#observers.notify(observer => observer.gap?.(fromMs, toMs, why))
    }
  }

  readonly #answered = (): ObservationTime => {
    const now = this.now()
    this.#gaps.answered(now)
    return now
  }

  readonly #rules = (): InspectionRules => {
    const now = this.#answered()
    const { onDue, intervalMs } = this.#options
    const { gaps, epochMs } = this.#gaps
    return { ...now, onDue, apartMs: this.#settings.trustsClock ? 0 : intervalMs, epochMs, gaps }
  }

  #inAnInterval(): number {
    return this.#store.nowMs() + this.#options.intervalMs
  }
}

function plan({ decisions, undone }: PassProgress, decision: WatchdogDecision): void {
  decisions.push(decision)
  undone.add(decision)
}

/** Streams in a run: neighbours in a store are written together for less. */
const RUN = 100

/** In runs, whose order is random: several watchdogs with the same work meet less often. */
function inRandomRuns<Item>(items: readonly Item[], random: () => number): Item[] {
  const runs: { readonly place: number; readonly items: readonly Item[] }[] = []
  for (let at = 0; at < items.length; at += RUN) runs.push({ place: random(), items: items.slice(at, at + RUN) })
  return runs.sort((a, b) => a.place - b.place).flatMap(run => run.items)
}

/** Limit for the reported unreadable documents. */
const MAX_NAMED = 20

/** Some of the unreadable documents, with reasons. */
class FaultList {
  readonly #messages = new Map<string, string>()

  add(stream: string, message: string): void {
    this.#messages.delete(stream)
    if (this.#messages.size < MAX_NAMED) this.#messages.set(stream, message)
  }

  remove(stream: string): void {
    this.#messages.delete(stream)
  }

  /** Those that are still unreadable: repaired ones are recognized by the sweep, without an inspection. */
  list(isStill: (stream: string) => boolean): PassReport['unreadable'] {
    for (const stream of this.#messages.keys()) if (!isStill(stream)) this.#messages.delete(stream)
    return [...this.#messages].map(([stream, message]) => ({ stream, message }))
  }
}

import { changeSystemDocument } from '../../ops/system-documents.ts'
import { WATCHDOG_STATE } from '../../ops/watchdog-state/parse.ts'
import type { WatchdogEntry } from '../../ops/watchdog-state/state.ts'
import type { StreamStore } from '../../store/store.ts'
import type { Timing } from '../../util/clock.ts'
import { machineTiming } from '../../util/clock.ts'
import type { ExecutedDecision } from '../decision.ts'
import type { FailedPass, Observer, PassReport } from '../report.ts'
import { newEntry, type StateIdentity, withDecision, withEntry, withFailure, withPass } from './entry.ts'

export interface StateOptions extends Omit<StateIdentity, 'startedMs'> {
  /** Total number of shards; absent if it watches all streams. */
  readonly shardCount?: number | undefined
  readonly timing?: Pick<Timing, 'monotonicMs' | 'pause'>
  /**
   * The state could not be written: `busy` or `unknown` from `changeSystemDocument`, or an error; reported once until a write
   * succeeds. The watchdog continues.
   */
  readonly failed?: (why: unknown) => void
  /** A write succeeded again. */
  readonly recovered?: () => void
}

/** Minimum time between writes, ms, except for urgent ones. */
const LEAST_MS = 5_000
/** A write that takes longer is abandoned, ms: the next one contains everything. */
const WRITE_MS = 10_000
/** Time limit for the last write when the watchdog stops, ms. */
const LAST_WRITE_MS = 2_000

/**
 * Writes the state of a watchdog to the store: after each sweep, at most every 5 s; after other passes once an
 * interval; at once when it starts and stops, after its first pass, and when the circuit breaker opens or closes. It
 * writes beside the passes, and its failures do not affect them.
 *
 * A write on Azure is a lease, a read, a Put and a release, $0.0000068: with an interval of 30 s $0.6 a month.
 */
export class StateWriter implements Observer {
  readonly #store: StreamStore
  readonly #options: StateOptions
  readonly #timing: Pick<Timing, 'monotonicMs' | 'pause'>
  readonly #stopping = new AbortController()
  #entry: WatchdogEntry
  #writtenAtMs = Number.NEGATIVE_INFINITY
  #writing: Promise<void> | undefined
  /** The write in progress does not contain the latest state. */
  #isStale = false
  #isPlanned = false
  #isFailing = false

  constructor(store: StreamStore, options: StateOptions) {
    const { timing = machineTiming, shardCount: total, failed: _, recovered: __, ...identity } = options
    this.#store = store
    this.#options = options
    this.#timing = timing
    const entry = newEntry({ ...identity, startedMs: store.nowMs() })
    this.#entry = total === undefined ? entry : { ...entry, shards: { held: [], total } }
  }

  /** Writes the initial state. Resolves when it is written or the write failed; callers need not wait. */
  async start(): Promise<void> {
    await this.#write()
  }

  /** Writes the final state, within 2 s. No write follows. */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#stopping.abort()
    const limit = AbortSignal.timeout(LAST_WRITE_MS)
    const expired = new Promise<void>(resolve => limit.addEventListener('abort', () => resolve()))
    await Promise.race([this.#writing, expired])
    const { shards } = this.#entry
    this.#entry = { ...this.#entry, stoppedMs: this.#store.nowMs(), shards: shards && { ...shards, held: [] } }
    await Promise.race([this.#put(limit), expired])
  }

  executed(carried: ExecutedDecision): void {
    this.#entry = withDecision(this.#entry, carried)
  }

  passed(report: PassReport): void {
    const isFirst = this.#entry.lastPass === undefined
    const wasOpen = this.#entry.breaker?.isOpen ?? false
    this.#entry = withPass(this.#entry, report)
    this.#writeIf(
      isFirst || report.breaker.isOpen !== wasOpen,
      report.kind === 'sweep' ? LEAST_MS : this.#options.intervalMs,
    )
  }

  failed(failure: FailedPass): void {
    this.#entry = withFailure(this.#entry, failure)
    this.#writeIf(false, LEAST_MS)
  }

  shards(held: readonly number[], total: number): void {
    this.#entry = { ...this.#entry, shards: { held, total } }
    this.#writeIf(false, LEAST_MS)
  }

  /** The pass waits for observers, so the write is not awaited. */
  #writeIf(isUrgent: boolean, afterMs: number): void {
    const sinceMs = this.#timing.monotonicMs() - this.#writtenAtMs
    if (isUrgent || sinceMs >= Math.max(afterMs, LEAST_MS)) void this.#write()
    else if (afterMs <= LEAST_MS) void this.#writeIn(LEAST_MS - sinceMs)
  }

  async #writeIn(ms: number): Promise<void> {
    if (this.#isPlanned) return
    this.#isPlanned = true
    await this.#timing.pause(ms, this.#stopping.signal)
    this.#isPlanned = false
    await this.#write()
  }

  #write(): Promise<void> {
    if (this.#stopping.signal.aborted) return Promise.resolve()
    this.#isStale = this.#writing !== undefined
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    do {
      this.#isStale = false
      this.#writtenAtMs = this.#timing.monotonicMs()
      await this.#put(AbortSignal.timeout(WRITE_MS))
    } while (this.#isStale && !this.#stopping.signal.aborted)
  }

  async #put(signal: AbortSignal): Promise<void> {
    const nowMs = this.#store.nowMs()
    const entry = { ...this.#entry, writtenMs: nowMs }
    try {
      const { by } = this.#options
      const outcome = await changeSystemDocument(this.#store, WATCHDOG_STATE, text => withEntry(text, entry, nowMs), {
        by,
        purpose: 'watchdog state',
        signal,
      })
      if (outcome === 'busy' || outcome === 'unknown') this.#reportFailure(outcome)
      else this.#reportRecovery()
    } catch (error) {
      this.#reportFailure(error)
    }
  }

  #reportRecovery(): void {
    if (this.#isFailing) this.#options.recovered?.()
    this.#isFailing = false
  }

  #reportFailure(why: unknown): void {
    if (!this.#isFailing) this.#options.failed?.(why)
    this.#isFailing = true
  }
}

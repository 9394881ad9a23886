import type { BlockLog } from '../../src/store/block-log.ts'
import { StoreUnreachable } from '../../src/store/errors.ts'
import type {
  ChangeOptions,
  ChangeOutcome,
  CreateOutcome,
  Decision,
  LeasedReadOutcome,
  ListQuery,
  StreamRow,
  StreamSnapshot,
  StreamStore,
} from '../../src/store/store.ts'
import type { Summary } from '../../src/stream/summary.ts'
import type { Clock } from './clock.ts'
import { type FaultRates, fateOf, type Weather } from './faults.ts'
import type { Actor } from './scheduler.ts'
import type { Sights } from './sights.ts'
import type { Trace } from './trace.ts'

/** The time of an answer, ms; the time after which a missing one is no longer waited for. */
const CALL_MS = [2, 40] as const
const GIVEN_UP_MS = [500, 8_000] as const
const UNKNOWN_AFTER_MS = 30_000
/** A write that was given up may arrive this much later. */
const LATE_MS = [31_000, 120_000] as const
const PAGE_ROWS = 200

type Decide = (current: StreamSnapshot, nowMs: number) => Decision

export interface FaultyStoreOptions {
  /** The actual streams. */
  readonly base: StreamStore
  readonly actor: Actor
  /** This actor's estimate of the store's clock. */
  readonly clock: Clock
  readonly rates: FaultRates
  readonly weather: Weather
  readonly trace: Trace
  readonly sights: Sights
}

/**
 * A store as one actor sees it over an unreliable network: the possible outcomes are those of `store/store.ts`. Writes
 * that become durable are recorded in the trace at their true time, whatever answer the caller gets.
 */
export class FaultyStore implements StreamStore {
  readonly address = 'memory:'
  readonly nowMs: () => number
  readonly #base: StreamStore
  readonly #at: FaultyStoreOptions

  constructor(options: FaultyStoreOptions) {
    this.#base = options.base
    this.#at = options
    this.nowMs = options.clock.nowMs
  }

  async *list(query: ListQuery): AsyncIterable<readonly StreamRow[]> {
    await this.#send('list', '')
    for await (const page of this.#base.list(query)) {
      for (let from = 0; from < page.length; from += PAGE_ROWS) {
        if (from > 0) await this.#send('list', '')
        yield page.slice(from, from + PAGE_ROWS)
      }
    }
  }

  async read(name: string, signal?: AbortSignal): Promise<StreamSnapshot | undefined> {
    await this.#send('read', name)
    const stored = await this.#base.read(name, signal)
    await this.#take(CALL_MS)
    return stored
  }

  log(name: string): BlockLog {
    return this.#base.log(name)
  }

  async readLeased(name: string, leaseId: string, signal?: AbortSignal): Promise<LeasedReadOutcome> {
    await this.#send('read', name)
    return this.#base.readLeased(name, leaseId, signal)
  }

  async create(name: string, body: Uint8Array, summary: Summary, signal?: AbortSignal): Promise<CreateOutcome> {
    const outcome = await this.#base.create(name, body, summary, signal)
    if (outcome.kind === 'created') this.#wrote(name, body, this.#at.actor.scheduler.nowMs)
    return outcome
  }

  async update(name: string, decide: Decide, options: ChangeOptions): Promise<ChangeOutcome> {
    await this.#send('change', name)
    const { actor, rates } = this.#at
    const fate = fateOf(actor.random, rates)
    if (fate === 'unknown-lost' || fate === 'unknown-late') return this.#unsent(name, decide, fate)
    const outcome = await this.#whenFree(name, decide, options)
    if (outcome.kind !== 'committed' || fate === 'none') {
      await this.#take(CALL_MS)
      return outcome
    }
    if (fate === 'unknown-applied') return this.#unknown(name, fate)
    // The driver looks up the result.
    await this.#fault('change', name, fate, actor.random.between(...GIVEN_UP_MS))
    return this.#whenFree(name, decide, options)
  }

  /** Waits for a lease held by another, as long as the caller requests. */
  async #whenFree(name: string, decide: Decide, options: ChangeOptions) {
    for (let waitedMs = 0; ; ) {
      const outcome = await this.#change(name, decide, options)
      if (outcome.kind !== 'held') return outcome
      if (waitedMs >= options.waitMs || options.stopWaiting?.aborted) return { ...outcome, waitedMs }
      waitedMs += await this.#take([5, 400])
    }
  }

  /** One attempt, at one instant. */
  async #change(
    name: string,
    decide: Decide,
    options: ChangeOptions,
    sentMs = this.#at.actor.scheduler.nowMs,
  ): Promise<ChangeOutcome> {
    let put: Uint8Array | undefined
    const outcome = await this.#base.update(
      name,
      current => {
        const decision = decide(current, this.nowMs())
        put = decision.kind === 'put' ? decision.body : undefined
        return decision
      },
      { ...options, waitMs: 0 },
    )
    if (outcome.kind === 'committed' && put !== undefined) this.#wrote(name, put, sentMs)
    return outcome
  }

  /** A write that does not arrive, or after the caller stopped waiting: its `If-Match` still protects it. */
  async #unsent(name: string, decide: Decide, fate: string): Promise<ChangeOutcome> {
    const stored = await this.#base.read(name)
    if (stored === undefined) return { kind: 'missing' }
    const decision = decide(stored, this.nowMs())
    if (decision.kind === 'leave') return { kind: 'left' }
    const { actor } = this.#at
    if (fate === 'unknown-late') {
      const sentMs = actor.scheduler.nowMs
      const arrive = () => this.#arrive(name, stored.etag, decision, sentMs)
      // Even if the sender is dead by then.
      actor.scheduler.at(sentMs + actor.random.between(...LATE_MS), () => actor.spawn(arrive))
    }
    return this.#unknown(name, fate)
  }

  async #arrive(name: string, etag: string, decision: Decision, sentMs: number): Promise<void> {
    const holder = { by: 'network', host: '', pid: 0, purpose: '', sinceMs: 0 }
    const late = (current: StreamSnapshot): Decision => (current.etag === etag ? decision : { kind: 'leave' })
    await this.#change(name, late, { waitMs: 0, holder }, sentMs)
  }

  async #unknown(name: string, fate: string): Promise<ChangeOutcome> {
    await this.#fault('change', name, fate, UNKNOWN_AFTER_MS)
    return { kind: 'unknown', cause: new StoreUnreachable(fate) }
  }

  /** The path to the store. @throws StoreUnreachable nothing has happened */
  async #send(call: string, stream: string): Promise<void> {
    const { actor, rates, weather } = this.#at
    await this.#take(CALL_MS)
    const fault = weather.isDown(actor.name, actor.scheduler.nowMs) ? 'outage' : 'request-lost'
    if (fault === 'request-lost' && !actor.random.chance(rates.requestLost)) return
    await this.#fault(call, stream, fault, actor.random.between(...GIVEN_UP_MS))
    throw new StoreUnreachable(`${call} ${stream}: ${fault}`)
  }

  /** It is an error at once, and delays the caller for this long. */
  async #fault(call: string, stream: string, fault: string, ms: number): Promise<void> {
    const { actor, trace } = this.#at
    const atMs = actor.scheduler.nowMs
    trace.add({ kind: 'fault', atMs, who: actor.name, call, stream, fault, untilMs: atMs + ms })
    await actor.pause(ms)
  }

  async #take([least, most]: readonly [number, number]): Promise<number> {
    const { actor } = this.#at
    const ms = Math.ceil(actor.random.between(least, most))
    await actor.pause(ms)
    return ms
  }

  #wrote(name: string, body: Uint8Array, sentMs: number): void {
    const { actor, trace, sights } = this.#at
    trace.add({ kind: 'wrote', atMs: actor.scheduler.nowMs, sentMs, who: actor.name, ...sights.of(name, body) })
  }

  // Methods unused in the simulation are unchanged.
  remove: StreamStore['remove'] = (...args) => this.#base.remove(...args)
  acquireLease: StreamStore['acquireLease'] = (...args) => this.#base.acquireLease(...args)
  renewLease: StreamStore['renewLease'] = (...args) => this.#base.renewLease(...args)
  changeLeaseId: StreamStore['changeLeaseId'] = (...args) => this.#base.changeLeaseId(...args)
  releaseLease: StreamStore['releaseLease'] = (...args) => this.#base.releaseLease(...args)
  breakLease: StreamStore['breakLease'] = (...args) => this.#base.breakLease(...args)
  createContainer: StreamStore['createContainer'] = (...args) => this.#base.createContainer(...args)
  inspect: StreamStore['inspect'] = (...args) => this.#base.inspect(...args)
  close: StreamStore['close'] = () => this.#base.close()
}

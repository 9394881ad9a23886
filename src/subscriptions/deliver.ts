import { followedState } from '../ops/follow/follow.ts'
import { type JournalEntry, readStream, type StreamView } from '../ops/read-stream.ts'
import { transact } from '../ops/transact/transact.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { StreamFault } from '../stream/errors.ts'
import type { Timing } from '../util/clock.ts'
import { messageOf } from '../util/errors.ts'
import type { StreamInHand } from './position/position.ts'
import { afterFailure, type FailureRules } from './retry.ts'
import type { HeldShard } from './shard.ts'
import type { Delivery, Handled, Handler, SubscriptionObserver, SubscriptionSpec } from './types.ts'
import { endsStream, isWanted } from './wanted.ts'

export interface DeliverOptions {
  readonly spec: SubscriptionSpec
  readonly handler: Handler
  readonly by: string
  readonly retry: FailureRules
  readonly timing: Timing
  readonly newId: () => string
  readonly observer: SubscriptionObserver
  /** No further delivery is begun. */
  readonly stopping: AbortSignal
  /** Aborts handlers. */
  readonly abort: AbortSignal
}

/** `again`: more transactions wait, after other streams had a turn. `away`: the store does not answer. */
export type DeliverOutcome = 'over' | 'again' | 'away'

/** Transactions of one stream before other streams get a turn. */
const MOST_IN_TURN = 100

/** Delivers the new transactions of one stream, in order, one at a time. */
export class StreamDelivery {
  readonly #store: StreamStore
  readonly #options: DeliverOptions

  constructor(store: StreamStore, options: DeliverOptions) {
    this.#store = store
    this.#options = options
  }

  /** @throws the store's faults that waiting does not mend */
  async deliver(shard: HeldShard, stream: StreamInHand): Promise<DeliverOutcome> {
    const { stopping } = this.#options
    const { position } = shard
    const isOver = () => stopping.aborted || !shard.isHeld || !position.isInHand(stream)
    stream.isStale = false
    let view: StreamView | undefined
    try {
      view = await readStream(this.#store, stream.name)
    } catch (error) {
      if (isOver()) return 'over'
      return this.#unread(shard, stream, error)
    }
    if (isOver()) return 'over'
    if (view === undefined) {
      position.forget(stream.name)
      return 'over'
    }
    const { transactions } = position.read(stream, followedState(view))
    for (const [index, transaction] of transactions.entries()) {
      if (transaction.provisional) return this.#record(shard, stream)
      if (!isWanted(this.#options.spec, view, transaction)) {
        position.handled(stream, transaction.version)
        continue
      }
      if (index >= MOST_IN_TURN) return 'again'
      if (!(await shard.beginDelivery(stopping))) return 'over'
      if (isOver()) {
        shard.deliveryEnds(false)
        return 'over'
      }
      if (!(await this.#handOver(shard, stream, view, transaction))) return 'over'
    }
    if (stream.isStale) return 'again'
    position.finish(stream)
    return 'over'
  }

  /** @returns whether the stream goes on */
  async #handOver(
    shard: HeldShard,
    stream: StreamInHand,
    view: StreamView,
    transaction: JournalEntry,
  ): Promise<boolean> {
    const { spec, timing, abort, retry } = this.#options
    const { position } = shard
    const { born } = stream.known ?? view.document
    const before = position.halted.get(stream.name)
    const delivery: Delivery = {
      subscription: spec.name,
      id: `${born}@${transaction.version}`,
      stream: stream.name,
      born,
      transaction,
      done: endsStream(view, transaction),
      view,
      attempt: (before?.attempts ?? 0) + 1,
    }
    const startedMs = timing.monotonicMs()
    const handled = await this.#handle(delivery, abort)
    const tookMs = timing.monotonicMs() - startedMs
    const lagMs = Math.max(0, this.#store.nowMs() - (Date.parse(transaction.at) || 0))
    const report = { delivery, handled, tookMs, lagMs, tries: before?.tries ?? 0 }
    const end = (moved: boolean, result: Parameters<NonNullable<SubscriptionObserver['delivered']>>[0]) => {
      shard.deliveryEnds(moved)
      this.#options.observer.delivered?.(result)
    }
    if (!shard.isHeld || !position.isInHand(stream)) {
      end(false, { ...report, outcome: 'lost' })
      return false
    }
    if (handled.kind === 'stopped') {
      end(false, { ...report, outcome: 'stopped' })
      return false
    }
    if (handled.kind === 'handled') {
      position.handled(stream, transaction.version)
      end(true, { ...report, outcome: 'handled' })
      return true
    }
    const after = afterFailure(handled, before, retry, this.#store.nowMs(), timing.random())
    if (after.kind === 'skip') {
      position.handled(stream, transaction.version)
      end(true, { ...report, tries: report.tries + 1, outcome: 'skipped' })
      return true
    }
    const { tries, nextMs, state } = after.halt
    position.halt(stream, after.halt)
    shard.mustWrite()
    // Operators see it at once.
    if (state === 'parked') void shard.write()
    end(false, { ...report, tries, outcome: state, ...(state === 'waiting' && { nextMs }) })
    return false
  }

  async #handle(delivery: Delivery, abort: AbortSignal): Promise<Handled> {
    try {
      return await this.#options.handler(delivery, abort)
    } catch (error) {
      return abort.aborted ? { kind: 'stopped' } : { kind: 'failed', why: messageOf(error) }
    }
  }

  /**
   * Records a foreign write as a transaction, so that it has a version; then the stream is read again.
   */
  async #record(shard: HeldShard, stream: StreamInHand): Promise<DeliverOutcome> {
    const { by, newId } = this.#options
    try {
      const outcome = await transact(
        this.#store,
        stream.name,
        { op: 'settle', record: true },
        { commandId: newId(), by, leaseWaitMs: 0 },
      )
      const isDone = outcome.kind === 'done' && outcome.result.outcome === 'done'
      if (isDone || outcome.kind === 'missing') return 'again'
      const why = outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind
      return this.#putOff(shard, stream, `a write of another program cannot be recorded yet: ${why}`)
    } catch (error) {
      return this.#unread(shard, stream, error)
    }
  }

  #unread(shard: HeldShard, stream: StreamInHand, error: unknown): DeliverOutcome {
    if (error instanceof StoreUnreachable) return 'away'
    if (!(error instanceof StreamFault)) throw error
    this.#options.observer.troubled?.({ what: 'stream', text: error.message, cause: error })
    return this.#putOff(shard, stream, error.message)
  }

  #putOff(shard: HeldShard, stream: StreamInHand, why: string): DeliverOutcome {
    const { retry, timing } = this.#options
    if (!shard.isHeld || !shard.position.isInHand(stream)) return 'over'
    const before = shard.position.halted.get(stream.name)
    const after = afterFailure({ kind: 'transient', why }, before, retry, this.#store.nowMs(), timing.random())
    if (after.kind === 'halt') shard.position.halt(stream, after.halt)
    shard.mustWrite()
    return 'over'
  }
}

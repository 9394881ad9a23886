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
import type { Delivery, Handled, Handler, SubscriptionObserver } from './types.ts'
import { endsStream } from './wanted.ts'

/** What a subscription hands over. */
export interface DeliveryRules {
  /** Whether a transaction is handed over; the position moves on over the others. */
  readonly isWanted: (view: StreamView, transaction: JournalEntry) => boolean
  /** By default writes of other programs are recorded, so that they have versions, and faults of the store end the run. */
  readonly asFound?: AsFound
}

/** Hands over what there is without changing a stream, and waits for the end of any fault. */
export interface AsFound {
  /** As `readStream`. */
  read(stream: string): Promise<StreamView | undefined>
  /** The same each time; what has no version is known by it alone. */
  idOf(view: StreamView, transaction: JournalEntry): string
  /** What is handed over of a stream after its transactions. */
  notices(view: StreamView): readonly JournalEntry[]
  /** Streams of a shard that was taken, of which there are such. */
  noticed(shard: number): Iterable<string>
  /** It was handed over, or left out after its last try. */
  handled(view: StreamView, transaction: JournalEntry): void
  /** There is no such stream, or its document cannot be parsed: it counts when it is written again. */
  gone(stream: string): void
}

export interface DeliverOptions {
  /** The name of the subscription. */
  readonly name: string
  readonly rules: DeliveryRules
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

/** `again`: more transactions wait, after other streams had a turn. */
export type DeliverOutcome = 'over' | 'again'

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

  /** @throws `StoreUnreachable`: the stream is read again; the store's faults that waiting does not mend */
  async deliver(shard: HeldShard, stream: StreamInHand): Promise<DeliverOutcome> {
    const { rules, stopping } = this.#options
    const { position } = shard
    const isOver = () => stopping.aborted || !shard.isHeld || !position.isInHand(stream)
    stream.isStale = false
    let view: StreamView | undefined
    try {
      view = await (rules.asFound?.read(stream.name) ?? readStream(this.#store, stream.name))
    } catch (error) {
      if (isOver()) return 'over'
      return this.#unread(shard, stream, error)
    }
    if (isOver()) return 'over'
    if (view === undefined) return this.#forget(shard, stream)
    const { transactions } = position.read(stream, followedState(view))
    const entries = [...transactions, ...(rules.asFound?.notices(view) ?? [])]
    for (const [index, transaction] of entries.entries()) {
      if (transaction.provisional && rules.asFound === undefined) return this.#record(shard, stream)
      if (!rules.isWanted(view, transaction)) {
        if (!transaction.provisional) position.handled(stream, transaction.version)
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
    // A skip leaves nothing to deliver: operators see at once that it no longer waits.
    if (position.halted.has(stream.name)) shard.mustWrite()
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
    const { name, rules, timing, abort, retry } = this.#options
    const { position } = shard
    const { born, version } = stream.known ?? view.document
    const before = position.halted.get(stream.name)
    const delivery: Delivery = {
      subscription: name,
      id: rules.asFound?.idOf(view, transaction) ?? `${born}@${transaction.version}`,
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
      shard.left.add(stream)
      end(false, { ...report, outcome: 'stopped' })
      return false
    }
    const moveOn = () => {
      position.handled(stream, transaction.provisional ? version : transaction.version)
      rules.asFound?.handled(view, transaction)
    }
    if (handled.kind === 'handled') {
      moveOn()
      end(true, { ...report, outcome: 'handled' })
      return true
    }
    const after = afterFailure(handled, before, retry, this.#store.nowMs(), timing.random())
    if (after.kind === 'leave') {
      shard.left.add(stream)
      end(false, { ...report, tries: report.tries + 1, outcome: 'stopped' })
      return false
    }
    if (after.kind === 'skip') {
      moveOn()
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
    const { rules, observer } = this.#options
    const isUnreadable = error instanceof StreamFault
    if (error instanceof StoreUnreachable || !(isUnreadable || rules.asFound)) throw error
    if (isUnreadable && rules.asFound) return this.#forget(shard, stream)
    observer.troubled?.({ what: 'stream', text: messageOf(error), stream: stream.name, cause: error })
    return this.#putOff(shard, stream, messageOf(error))
  }

  #forget({ position }: HeldShard, { name }: StreamInHand): DeliverOutcome {
    position.forget(name)
    this.#options.rules.asFound?.gone(name)
    return 'over'
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

import { randomUUID } from 'node:crypto'
import { checkShards, type ShardOptions } from '../ops/shards/shards.ts'
import type { StreamStore } from '../store/store.ts'
import { machineTiming, type Timing } from '../util/clock.ts'
import { messageOf } from '../util/errors.ts'
import { leasedPositions } from './positions.ts'
import { DEFAULT_TRIES } from './retry.ts'
import { SubscriptionRun, type SubscriptionRunOptions } from './run.ts'
import { pollingSource, type StreamSource } from './source.ts'
import { openSubscription, requestsDocument, type Subscription, shardFolder } from './subscription.ts'
import { Troubles } from './troubles.ts'
import type { Handler, OnPoison, SubscriptionObserver, SubscriptionSpec } from './types.ts'
import { isWanted } from './wanted.ts'

export interface RunSubscriptionOptions {
  readonly spec: SubscriptionSpec
  /** If the subscription is new: its first transactions, epoch ms; 0 for all. Default: those from now on. */
  readonly fromMs?: number | undefined
  readonly handler: Handler
  /** Actor, `user@host`. */
  readonly by: string
  /** Streams side by side, at least 1. */
  readonly concurrency: number
  /** Time between the starts of two sweeps, ms. */
  readonly intervalMs: number
  /** Tries of a delivery that fails. Default 8, within about a quarter of an hour. */
  readonly tries?: number | undefined
  /** Default `park`. */
  readonly onPoison?: OnPoison | undefined
  /** Only the streams of this part of all. */
  readonly partition?: ShardOptions['part']
  readonly observer?: SubscriptionObserver | undefined
  /** Aborts handlers; default the signal that ends the run. With a later one, handlers may end what they do. */
  readonly abort?: AbortSignal | undefined
  readonly timing?: Timing | undefined
  /** How long a dead process keeps its shards, seconds. Default 15. */
  readonly leaseS?: number | undefined
  readonly newId?: (() => string) | undefined
  /** Finds the streams that moved. Default: one listing per interval. */
  readonly source?: StreamSource | undefined
}

/**
 * Runs a subscription in this process until the signal aborts: delivers every transaction of its streams in order. Ends
 * after the deliveries in progress, with its position written and its shards released.
 *
 * @throws `InvalidValue` if the subscription exists with other options; `StoreIncompatible`, `BadDocument`: its document
 * is from a newer leasectl or damaged; the store's faults but `StoreUnreachable`, which is waited for
 */
export async function runSubscription(
  store: StreamStore,
  options: RunSubscriptionOptions,
  signal: AbortSignal,
): Promise<Subscription> {
  const { spec, by, observer = {}, timing = machineTiming, newId = randomUUID, partition, leaseS } = options
  // Before it is created: it keeps the options of its first process.
  checkShards({ count: spec.shards, part: partition })
  const subscription = await openSubscription(store, spec, options.fromMs, by, signal)
  const { fromMs, createdMs } = subscription
  const { name } = spec
  const troubles = new Troubles(observer)
  const positions = leasedPositions(store, {
    ...{ name, fromMs, folder: shardFolder(name), count: spec.shards, by, timing, newId, part: partition },
    ...(leaseS !== undefined && { leaseS }),
    changed: (held, count) => observer.shards?.(held, count),
    troubled: cause => troubles.report('shards', `shards cannot be taken or renewed: ${messageOf(cause)}`, cause),
    recovered: () => troubles.isOver('shards'),
  })
  const run = {
    ...{
      name,
      by,
      createdMs,
      handler: options.handler,
      concurrency: options.concurrency,
      intervalMs: options.intervalMs,
    },
    ...{ positions, observer, troubles, timing, newId, abort: options.abort },
    rules: { isWanted: (view, transaction) => isWanted(spec, view, transaction) },
    retry: { tries: options.tries ?? DEFAULT_TRIES, onPoison: options.onPoison ?? 'park' },
    source: options.source ?? pollingSource(store, spec, options.intervalMs, timing),
    requests: requestsDocument(name),
  } satisfies SubscriptionRunOptions
  await new SubscriptionRun(store, run, signal).run()
  return subscription
}

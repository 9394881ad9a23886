import { SUBSCRIPTIONS } from '../ops/read-system-document.ts'
import { StoreIncompatible } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { StreamFault } from '../stream/errors.ts'
import { isHeld } from '../stream/lease.ts'
import { runBatch } from '../util/concurrency.ts'
import { type PositionDocument, parsePosition, startPositionDocument } from './position/document.ts'
import { lagSince, readSubscription, type Subscription, shardDocument } from './subscription.ts'
import type { HaltedStream } from './types.ts'

/** One shard of a subscription, for people. */
export interface ShardView {
  readonly shard: number
  /** A process runs it now. */
  readonly isHeld: boolean
  /** Who runs it, or ran it last; `''` if nobody ever did. */
  readonly by: string
  readonly host: string
  /** Everything up to then was handled or is in `halted`, epoch ms. */
  readonly watermarkMs: number
  /**
   * Age of the oldest transaction that is known and not handled, ms; of a shard that nobody runs, the time since somebody
   * looked.
   */
  readonly lagMs: number
  /** Deliveries a second in the last minute; 0 if nobody runs it. */
  readonly rate: number
  readonly delivered: number
  /** When this was written, epoch ms. */
  readonly atMs: number
  /** Waiting and parked streams. */
  readonly halted: readonly HaltedStream[]
}

/** A subscription, for people. */
export type SubscriptionView = { readonly name: string } & (
  | {
      readonly kind: 'readable'
      readonly subscription: Subscription
      readonly shards: readonly ShardView[]
      /** Number of shards that a process runs now. */
      readonly held: number
      /** The longest of its shards. */
      readonly lagMs: number
      readonly rate: number
      readonly delivered: number
      readonly waiting: number
      readonly parked: number
    }
  /** From a newer leasectl, or damaged. */
  | { readonly kind: 'unreadable'; readonly why: string }
)

/** Number of documents read at a time. */
const READS_AT_ONCE = 8

/** All subscriptions, by name. @throws the store's faults */
export async function readSubscriptions(
  store: StreamStore,
  signal?: AbortSignal,
): Promise<readonly SubscriptionView[]> {
  const names: string[] = []
  for await (const page of store.list({ prefix: SUBSCRIPTIONS, reserved: true, ...(signal && { signal }) })) {
    for (const { name } of page) {
      const [, subscription] = /^([^/]+)\/subscription\.json$/.exec(name.slice(SUBSCRIPTIONS.length)) ?? []
      if (subscription !== undefined) names.push(subscription)
    }
  }
  const views = new Map<string, SubscriptionView>()
  for (const name of names) {
    const view = await viewSubscription(store, name, signal)
    if (view !== undefined) views.set(name, view)
  }
  return [...views.values()]
}

/** One subscription; `undefined` if there is none of this name. @throws `InvalidValue`; the store's faults */
export async function viewSubscription(
  store: StreamStore,
  name: string,
  signal?: AbortSignal,
): Promise<SubscriptionView | undefined> {
  try {
    return await viewReadable(store, name, signal)
  } catch (error) {
    if (!(error instanceof StreamFault || error instanceof StoreIncompatible)) throw error
    return { kind: 'unreadable', name, why: error.message }
  }
}

/** The same, but one that cannot be read is a fault. @throws as `openSubscription` */
export async function viewReadable(
  store: StreamStore,
  name: string,
  signal?: AbortSignal,
): Promise<Extract<SubscriptionView, { readonly kind: 'readable' }> | undefined> {
  const subscription = await readSubscription(store, name, signal)
  if (subscription === undefined) return undefined
  const shards = await shardViews(store, subscription, signal)
  const halted = shards.flatMap(shard => shard.halted)
  return {
    kind: 'readable',
    name,
    subscription,
    shards,
    held: shards.filter(shard => shard.isHeld).length,
    lagMs: Math.max(0, ...shards.map(shard => shard.lagMs)),
    rate: shards.reduce((sum, shard) => sum + shard.rate, 0),
    delivered: shards.reduce((sum, shard) => sum + shard.delivered, 0),
    waiting: halted.filter(({ state }) => state === 'waiting').length,
    parked: halted.filter(({ state }) => state === 'parked').length,
  }
}

/**
 * The waiting and parked streams of a subscription, by name; `undefined` if there is no such subscription.
 *
 * @throws as `openSubscription`
 */
export async function parkedOf(
  store: StreamStore,
  name: string,
  signal?: AbortSignal,
): Promise<readonly HaltedStream[] | undefined> {
  const subscription = await readSubscription(store, name, signal)
  if (subscription === undefined) return undefined
  const shards = await shardViews(store, subscription, signal)
  const halted = shards.flatMap(shard => shard.halted)
  return halted.sort((a, b) => (a.stream < b.stream ? -1 : 1))
}

async function shardViews(
  store: StreamStore,
  subscription: Subscription,
  signal: AbortSignal | undefined,
): Promise<readonly ShardView[]> {
  const views = new Map<number, ShardView>()
  const numbers = Array.from({ length: subscription.spec.shards }, (_, shard) => shard)
  await runBatch(numbers, { concurrency: READS_AT_ONCE }, async shard => {
    const { position, isLeased } = await readShard(store, subscription, shard, signal)
    views.set(shard, shardView(shard, position, isLeased, subscription, store.nowMs()))
  })
  return numbers.flatMap(shard => views.get(shard) ?? [])
}

/** The position of a shard, and whether a process holds it. @throws as `parsePosition`; the store's faults */
export async function readShard(
  store: StreamStore,
  { spec, fromMs, createdMs }: Subscription,
  shard: number,
  signal?: AbortSignal,
): Promise<{ readonly position: PositionDocument; readonly isLeased: boolean }> {
  const name = shardDocument(spec, shard)
  const stored = await store.read(name, signal)
  if (stored === undefined) return { position: startPositionDocument(fromMs, createdMs, ''), isLeased: false }
  return { position: parsePosition(name, new TextDecoder().decode(stored.body)), isLeased: isHeld(stored.lease) }
}

function shardView(
  shard: number,
  position: PositionDocument,
  isHeld: boolean,
  { createdMs }: Subscription,
  nowMs: number,
): ShardView {
  const { status, watermarkMs, streams } = position
  const { by, host, delivered, atMs } = status
  const halted = streams.flatMap(({ state, ...stream }) => (state === 'running' ? [] : [{ ...stream, state }]))
  return {
    shard,
    isHeld,
    by,
    host,
    watermarkMs,
    lagMs: isHeld ? status.lagMs : lagSince(watermarkMs, createdMs, nowMs),
    rate: isHeld ? status.rate : 0,
    delivered,
    atMs,
    halted,
  }
}

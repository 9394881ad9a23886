import type { ShardView } from '../../../../src/subscriptions/read.ts'
import type { HaltedStream } from '../../../../src/subscriptions/types.ts'
import type { SubscriptionRow } from '../../../../src/tui/data/types.ts'
import { NOW_MS } from './world.ts'

const HALTED: readonly HaltedStream[] = [
  {
    stream: 'orders/4711',
    born: 'b1',
    version: 12,
    state: 'parked',
    tries: 5,
    attempts: 6,
    nextMs: 0,
    why: 'the handler ended with 2: no such customer',
    sinceMs: NOW_MS - 900_000,
  },
  {
    stream: 'orders/4712',
    born: 'b2',
    version: 3,
    state: 'waiting',
    tries: 2,
    attempts: 2,
    nextMs: NOW_MS + 30_000,
    why: 'connection refused',
    sinceMs: NOW_MS - 60_000,
  },
]

function shard(number: number, by: string): ShardView {
  return {
    shard: number,
    isHeld: by !== '',
    by,
    host: 'aks-1',
    watermarkMs: NOW_MS - 4_000,
    lagMs: by === '' ? 7_200_000 : 4_000,
    rate: by === '' ? 0 : 2.1,
    delivered: 1_200,
    atMs: NOW_MS - 1_000,
    halted: number === 0 ? HALTED : [],
  }
}

function readable(name: string, match: readonly string[], shards: readonly ShardView[]): SubscriptionRow {
  const halted = shards.flatMap(one => one.halted)
  const lagMs = Math.max(...shards.map(one => one.lagMs))
  const spec = { name, match, notMatch: [], ops: [], eventNames: [], doneOnly: false, shards: shards.length }
  const view = {
    kind: 'readable',
    name,
    subscription: { spec, fromMs: 0, createdMs: NOW_MS - 86_400_000, by: 'ann@ops' },
    shards,
    held: shards.filter(one => one.isHeld).length,
    lagMs,
    rate: shards.reduce((sum, one) => sum + one.rate, 0),
    delivered: shards.reduce((sum, one) => sum + one.delivered, 0),
    waiting: halted.filter(({ state }) => state === 'waiting').length,
    parked: halted.filter(({ state }) => state === 'parked').length,
  } as const
  return { key: name, view, halted, lags: [0, 900, 4_000, 70_000, lagMs] }
}

/** One that two processes share and that has halted streams, one that nobody runs, one that cannot be read. */
export const DEMO_SUBSCRIPTIONS: readonly SubscriptionRow[] = [
  readable('billing', ['orders/*'], [shard(0, 'bill@aks-1'), shard(1, 'bill@aks-1'), shard(2, 'bill@aks-2')]),
  readable('read-model', [], [shard(1, ''), shard(2, '')]),
  {
    key: 'stats',
    view: { kind: 'unreadable', name: 'stats', why: 'it is from a newer version of leasectl' },
    halted: [],
    lags: [],
  },
]

export const DEMO_SUBSCRIPTION_KEYS: readonly string[] = [
  'billing',
  'read-model',
  'stats',
  'billing\norders/4711',
  'billing\norders/4712',
]

import { randomUUID } from 'node:crypto'
import { readStream } from '../../../src/ops/read-stream.ts'
import { shardOf } from '../../../src/ops/shards/quota.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import { judgeDeliveries, type SeenDelivery } from '../../support/deliveries.ts'
import { NO_FAULTS, Weather } from '../faults.ts'
import { Random } from '../random.ts'
import { Actor, Scheduler } from '../scheduler.ts'
import { Sights } from '../sights.ts'
import { withSeededIds } from '../system/seeded-ids.ts'
import { Trace } from '../trace.ts'
import { START_MS, viewOf, type World } from '../world.ts'
import { type HandledDelivery, Subscriber } from './subscriber.ts'

const SHARDS = 2
const STREAMS = 60
/** Transactions of a stream, at most. */
const MOST_VERSIONS = 14
const WRITING_MS = 240_000
const TROUBLED_MS = 300_000
const QUIET_MS = 600_000
/** Positions cannot be written meanwhile; at its end a process is killed. */
const NO_POSITIONS_MS = [40_000, 70_000] as const
/** Deliveries of a shard that the next process may repeat. */
const MOST_REPEATED = 100
const RATES = { requestLost: 0.02, answerLost: 0.03, unknown: 0.02 }
/** Writes of streams that are not answered, of which a third arrive up to two minutes later. */
const WRITERS_RATES = { ...NO_FAULTS, unknown: 0.08 }
/** A writer that does not know what became of its write leaves the stream alone for this time. */
const LEFT_ALONE_MS = [1_000, 130_000] as const
const SKEW_MS = 2_000

export interface SubscribersOutcome {
  /** Missed, out of order, of a stream that does not match. */
  readonly violations: readonly string[]
  /** Deliveries that were repeated beyond the bound. */
  readonly beyond: number
  readonly repeated: number
  readonly handled: readonly HandledDelivery[]
  /** The number of faults of each kind. */
  readonly faults: ReadonlyMap<string, number>
}

/**
 * Three processes of a subscription are killed, stopped and suspended, with wrong clocks and an unreliable store, while
 * streams change; then all becomes quiet. The same seed gives the same deliveries.
 */
export async function runSubscribers(seed: string): Promise<SubscribersOutcome> {
  return withSeededIds(seed, () => run(seed))
}

async function run(seed: string): Promise<SubscribersOutcome> {
  const scheduler = new Scheduler(START_MS)
  const random = new Random(seed)
  const base = openMemoryStore({ clock: () => Math.round(scheduler.nowMs), random: random.for('store').fraction })
  const trace = new Trace(START_MS)
  const outageMs = START_MS + random.between(60_000, 200_000)
  const world: World = {
    ...{ scheduler, random, trace, base, sights: new Sights() },
    weather: new Weather([{ fromMs: outageMs, toMs: outageMs + random.between(5_000, 40_000), who: 'subscriber-0' }]),
    settings: { intervalMs: 1_000, rates: RATES, clock: {}, skewMs: SKEW_MS },
  }
  const withoutFromMs = START_MS + random.between(30_000, 150_000)
  const withoutToMs = withoutFromMs + random.between(...NO_POSITIONS_MS)
  const handled: HandledDelivery[] = []
  const faults = new Map<string, number>()
  const subscribers = [0, 1, 2].map(number => {
    return new Subscriber(world, {
      name: `subscriber-${number}`,
      shards: SHARDS,
      troubledUntilMs: START_MS + TROUBLED_MS,
      withoutPositions: atMs => withoutFromMs <= atMs && atMs < withoutToMs,
      handled: delivery => handled.push(delivery),
      fault: kind => faults.set(kind, (faults.get(kind) ?? 0) + 1),
    })
  })
  for (let number = 0; number < STREAMS; number++) {
    // Some do not match.
    const name = number % 6 === 5 ? `other/${number}` : `orders/${number}`
    new Actor(scheduler, name, random).spawn(() => write(world, name))
  }
  for (const subscriber of subscribers) subscriber.begin()
  scheduler.at(withoutToMs - 1, () => {
    for (const subscriber of subscribers) subscriber.kill()
  })
  await scheduler.run(START_MS + QUIET_MS)
  for (const { kind, call, stream, fault } of trace.happenings.filter(one => one.kind === 'fault')) {
    if (kind !== 'fault') continue
    const what = `${call} of a ${stream.includes('/shards/') ? 'position' : 'stream'}: ${fault}`
    faults.set(what, (faults.get(what) ?? 0) + 1)
  }
  const newest = new Map<string, number>()
  for (let number = 0; number < STREAMS; number++) {
    const view = await readStream(base, `orders/${number}`)
    if (view !== undefined) newest.set(`orders/${number}`, view.document.version)
  }
  const { violations, repeated } = judgeDeliveries(handled, newest)
  return { violations, beyond: beyondOf(handled, repeated), repeated: repeated.length, handled, faults }
}

/** Changes of one stream, by a process whose writes may arrive late. */
async function write({ scheduler, random: all, ...world }: World, name: string): Promise<void> {
  const actor = new Actor(scheduler, `writer of ${name}`, all)
  const { random } = actor
  const calm = { ...world, scheduler, random: all, weather: new Weather([]) }
  const store = viewOf({ ...calm, settings: { ...world.settings, rates: WRITERS_RATES } }, actor)
  const versions = random.whole(4, MOST_VERSIONS)
  await actor.pause(random.between(0, WRITING_MS / 4))
  for (let version = 1; version <= versions; version++) {
    const init: Operation = { op: 'init', root: { name: 'Order' }, forks: [], hold: false, born: name }
    const operation: Operation = version === 1 ? init : { op: 'signal', name: 'go' }
    const outcome = await transact(store, name, operation, { commandId: randomUUID(), by: actor.name })
    if (outcome.kind !== 'done' && outcome.kind !== 'unknown') throw new Error(`${name}: ${outcome.kind}`)
    await actor.pause(outcome.kind === 'unknown' ? random.between(...LEFT_ALONE_MS) : random.spread(10, WRITING_MS / 4))
  }
}

/** Deliveries beyond the bound: whenever a process goes on with a shard, it repeats a limited number. */
function beyondOf(handled: readonly HandledDelivery[], repeated: readonly SeenDelivery[]): number {
  const isRepeated = new Set(repeated)
  const turns = new Map<number, { life: string; count: number }>()
  let beyond = 0
  for (const delivery of handled) {
    const shard = shardOf(delivery.stream, SHARDS)
    const turn = turns.get(shard)
    const own = turn?.life === delivery.life ? turn : { life: delivery.life, count: 0 }
    turns.set(shard, own)
    if (!isRepeated.has(delivery)) continue
    own.count += 1
    if (own.count > MOST_REPEATED) beyond += 1
  }
  return beyond
}

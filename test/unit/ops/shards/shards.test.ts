import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { freeSeat, quotaOf, seatsToCheck, shardOf } from '../../../../src/ops/shards/quota.ts'
import { createSystemDocument } from '../../../../src/ops/system-documents.ts'
import { NotPermitted } from '../../../../src/store/errors.ts'
import { InvalidValue } from '../../../../src/stream/errors.ts'
import { Kennel, seeded, settled } from './world.ts'

const LEASE_MS = 15_000
const TAKE_OVER_MS = LEASE_MS + 2_000

/** The maximum that each may hold for long, and the sum. */
function fairShares(count: number, dogs: number): number[] {
  return Array.from({ length: dogs }, (_, at) => Math.floor(count / dogs) + (at < count % dogs ? 1 : 0))
}

async function kennel(count: number, dogs: number): Promise<Kennel> {
  const there = new Kennel(count)
  for (let at = 0; at < dogs; at++) there.start()
  await there.pass(5_000)
  expect(there.shares()).toEqual(fairShares(count, dogs))
  return there
}

describe('sharding', () => {
  test('the shard of a stream is stable, and each shard gets its part', () => {
    expect(['temp/eventstream', 'orders/4711', 'ä/€/😀', ''].map(name => shardOf(name, 16))).toMatchInlineSnapshot(`
      [
        0,
        1,
        9,
        11,
      ]
    `)
    const tally = new Array<number>(16).fill(0)
    for (let at = 0; at < 16_000; at++) {
      const shard = shardOf(`orders/2026-11-20/${at}`, 16)
      tally[shard] = (tally[shard] ?? 0) + 1
    }
    for (const streams of tally) expect(Math.abs(streams - 1_000)).toBeLessThan(150)
  })

  test('the quotas of all members add up to all shards, and differ by one at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.uniqueArray(fc.nat(63), { minLength: 1 }), (count, seats) => {
        const taken = new Set(seats)
        const quotas = seats.map(seat => quotaOf(count, taken, seat))
        expect(quotas.reduce((sum, quota) => sum + quota, 0)).toBe(count)
        expect(Math.max(...quotas)).toBe(Math.ceil(count / seats.length))
        expect(Math.min(...quotas)).toBe(Math.floor(count / seats.length))
      }),
    )
  })

  test('seats are read up to the first free one after the last taken one', () => {
    expect(seatsToCheck(4, new Set(), false)).toEqual([0])
    expect(seatsToCheck(4, new Set([0, 2]), false)).toEqual([0, 1, 2, 3])
    expect(seatsToCheck(4, new Set([3]), false)).toEqual([0, 1, 2, 3])
    expect(seatsToCheck(4, new Set([0]), true)).toEqual([0, 1, 2, 3])
    expect(freeSeat(4, new Set([0, 2]))).toBe(1)
    expect(freeSeat(2, new Set([0, 1]))).toBeUndefined()
  })
})

test.each([0, 257, 1.5, Number.NaN])('%s shards are refused', count => {
  expect(() => new Kennel(1).start(count)).toThrow(InvalidValue)
})

test('a single watchdog has all shards after its first pass', async () => {
  const there = new Kennel(8)
  const dog = there.start()
  expect(dog.shards.held()).toEqual([])
  await dog.shards.ready
  expect(dog.shards.held()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(there.owners()).toEqual(new Array(8).fill(1))
  await settled()
  expect(dog.told).toHaveLength(8)
  await there.end()
})

test('shards are kept as long as the watchdog runs', async () => {
  const there = await kennel(8, 3)
  const moves = there.dogs.map(dog => dog.moves)
  await there.pass(10 * 60_000)
  expect(there.dogs.map(dog => dog.moves)).toEqual(moves)
  expect(there.owners()).toEqual(new Array(8).fill(1))
  await there.end()
})

test('a watchdog on an unexpected seat is found anyway', async () => {
  const there = await kennel(8, 1)
  const seat = (at: number) => `.leasectl/watchdog/shards/8/seats/${at}`
  const holder = { by: 'x', host: 'h', pid: 1, purpose: 'p', sinceMs: 0 }
  const lease = { leaseId: 'strangers', durationS: 60, holder }
  const first = there.dogs[0]
  first?.suspend()
  for (const at of [1, 2, 3]) {
    await createSystemDocument(there.store, seat(at), '', { by: 'x' })
    await there.store.acquireLease(seat(at), lease)
  }
  await there.start().shards.ready
  for (const at of [1, 2, 3]) await there.store.releaseLease(seat(at), 'strangers')
  first?.resume()
  await there.pass(40_000)
  expect(there.shares()).toEqual([4, 4])
  await there.end()
})

test('a new watchdog gets its share', async () => {
  const there = await kennel(8, 1)
  there.start()
  await there.pass(5_000)
  expect(there.shares()).toEqual([4, 4])
  await there.end()
})

test('the shards of a dead watchdog are taken over within its lease and 2 s, whenever it dies', async () => {
  for (let at = 0; at < 8; at++) {
    const there = await kennel(7, 3)
    await there.pass(at * 700)
    there.dogs[at % 3]?.kill()
    await there.pass(TAKE_OVER_MS)
    expect(there.owners()).toEqual(new Array(7).fill(1))
    await there.pass(2_000)
    expect(there.shares()).toEqual(fairShares(7, 2))
    await there.end()
  }
})

test('a stopping watchdog releases all at once', async () => {
  const there = await kennel(6, 2)
  const [first] = there.dogs
  await first?.stop()
  expect(first?.told).toEqual([])
  await there.pass(1_500)
  expect(there.shares()).toEqual([6])
  await there.end()
})

test('a stopping watchdog leaves no lease behind', async () => {
  const there = await kennel(3, 1)
  await there.end()
  for (const name of ['0', '1', '2', 'seats/0']) {
    const { lease } = (await there.store.read(`.leasectl/watchdog/shards/3/${name}`)) ?? {}
    expect(lease?.state).toBe('available')
  }
})

test('the maximum number of shards is held by one, and soon by two', async () => {
  const there = await kennel(256, 1)
  there.start()
  await there.pass(5_000)
  expect(there.shares()).toEqual([128, 128])
  await there.end()
})

test('watchdogs in excess of the shards wait for one', async () => {
  const there = await kennel(2, 4)
  expect(there.shares()).toEqual([1, 1, 0, 0])
  const busy = there.dogs.find(dog => dog.shards.held().length > 0)
  await busy?.stop()
  await there.pass(5_000)
  expect(there.shares()).toEqual([1, 1, 0])
  await there.end()
})

test('different numbers of shards use different documents', async () => {
  const there = new Kennel(4)
  there.start()
  there.start(3)
  await there.pass(5_000)
  expect(there.dogs.map(({ shards }) => shards.held().length)).toEqual([4, 3])
  await there.end()
})

test('without an answer of the store it stops acting before its lease can have expired, and others take over', async () => {
  const there = await kennel(4, 2)
  const [first, second] = there.dogs
  if (!first || !second) throw new Error('two were started')
  first.line = 'away'
  await there.pass(LEASE_MS * (2 / 3))
  expect(first.shards.held()).toEqual([])
  expect(first.told).toEqual([])
  expect(first.troubles).toBe(1)
  await there.pass(7_000)
  expect(second.shards.held()).toHaveLength(4)
  first.line = 'up'
  await there.pass(10_000)
  expect(there.shares()).toEqual([2, 2])
  await there.end()
})

test('all watchdogs survive an outage, with less than one request a second each', async () => {
  const there = await kennel(4, 2)
  for (const dog of there.dogs) dog.line = 'away'
  await there.pass(20_000)
  for (const dog of there.dogs) dog.requests = 0
  await there.pass(60_000)
  expect(there.owners()).toEqual([0, 0, 0, 0])
  for (const dog of there.dogs) expect(dog.requests).toBeLessThan(60)
  for (const dog of there.dogs) dog.line = 'up'
  await there.pass(12_000)
  expect(there.owners()).toEqual([1, 1, 1, 1])
  expect(there.shares()).toEqual([2, 2])
  await there.end()
})

test('a renewal without an answer is neither held nor lost', async () => {
  const there = await kennel(4, 1)
  const [dog] = there.dogs
  if (!dog) throw new Error('one was started')
  dog.line = 'mute'
  await there.pass(4_000)
  expect(dog.shards.held()).toHaveLength(4)
  dog.line = 'up'
  const { moves } = dog
  await there.pass(60_000)
  expect(dog.moves).toBe(moves)
  dog.line = 'mute'
  await there.pass(11_000)
  expect(dog.shards.held()).toEqual([])
  await there.end()
})

test('an acquire without an answer is resolved', async () => {
  const there = new Kennel(4)
  const dog = there.start()
  dog.line = 'mute'
  await there.pass(3_000)
  expect(dog.shards.held()).toEqual([])
  dog.line = 'up'
  await there.pass(5_000)
  expect(dog.shards.held()).toHaveLength(4)
  await there.end()
})

test('after the machine was suspended all earlier knowledge is discarded', async () => {
  const there = await kennel(4, 2)
  const [first] = there.dogs
  first?.suspend()
  await there.pass(TAKE_OVER_MS + 1_000)
  first?.resume()
  expect(first?.shards.held()).toEqual([])
  await there.pass(10_000)
  expect(there.shares()).toEqual([2, 2])
  await there.end()
})

test('a broken lease is lost, and the shard is taken again by one of them', async () => {
  const there = await kennel(4, 2)
  await there.store.breakLease('.leasectl/watchdog/shards/4/0', 0)
  await there.store.breakLease('.leasectl/watchdog/shards/4/seats/0', 0)
  // The previous holder cannot know it before its next renewal.
  await there.time.advance(6_000)
  await there.pass(14_000)
  expect(there.owners()).toEqual([1, 1, 1, 1])
  expect(there.shares()).toEqual([2, 2])
  await there.end()
})

test('a watchdog that finds all shards taken reports that once, after its first pass', async () => {
  const there = await kennel(1, 1)
  const second = there.start()
  expect(second.news).toEqual([])
  await there.pass(20_000)
  expect(second.news).toEqual([[]])
  await there.end()
})

test('recovery is reported once, and only after a failure', async () => {
  const there = await kennel(4, 2)
  const [first, second] = there.dogs
  if (!first || !second) throw new Error('two were started')
  first.line = 'away'
  await there.pass(20_000)
  expect(first.recoveries).toBe(0)
  first.line = 'up'
  await there.pass(20_000)
  expect([first.recoveries, second.recoveries]).toEqual([1, 0])
  await there.end()
})

test('missing write permission is reported once, and no shard is held', async () => {
  const there = new Kennel(4)
  there.store.acquireLease = async () => {
    throw new NotPermitted('no right to write')
  }
  const dog = there.start()
  await there.pass(60_000)
  expect({ held: dog.shards.held(), troubles: dog.troubles }).toEqual({ held: [], troubles: 1 })
  await there.end()
})

type Happening =
  | { readonly kind: 'start' | 'stop' | 'kill' | 'suspend' | 'resume' | 'away' | 'mute' | 'up'; readonly which: number }
  | { readonly kind: 'wait'; readonly ms: number }

const aHappening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 100, max: 25_000 }) }),
  fc.record({
    kind: fc.constantFrom('start', 'stop', 'kill', 'suspend', 'resume', 'away', 'mute', 'up'),
    which: fc.nat(4),
  }),
)

async function happen(there: Kennel, happening: Happening): Promise<void> {
  if (happening.kind === 'wait') return there.pass(happening.ms)
  const alive = there.dogs.filter(dog => !dog.isDead)
  if (happening.kind === 'start') {
    if (alive.length < 5) there.start()
    return
  }
  const dog = alive[happening.which % Math.max(1, alive.length)]
  if (dog === undefined) return
  if (happening.kind === 'stop') return dog.stop()
  if (happening.kind === 'kill') return dog.kill()
  if (happening.kind === 'suspend') return dog.suspend()
  if (happening.kind === 'resume') return dog.resume()
  dog.line = happening.kind
}

test('with any arrivals and departures: never two owners; soon each shard has one, all have their share, and nothing moves', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 9 }),
      fc.nat(),
      fc.array(aHappening, { maxLength: 25 }),
      async (count, seed, happenings) => {
        const there = new Kennel(count, seeded(seed))
        there.start()
        for (const happening of happenings) await happen(there, happening)
        for (const dog of there.dogs) {
          dog.resume()
          dog.line = 'up'
        }
        const dogs = there.acting.length
        await there.pass(TAKE_OVER_MS + 7_000)
        if (dogs > 0) expect(there.owners()).toEqual(new Array(count).fill(1))
        await there.pass(8_000)
        expect(there.shares()).toEqual(fairShares(count, dogs))
        const moves = there.dogs.map(dog => dog.moves)
        await there.pass(60_000)
        expect(there.dogs.map(dog => dog.moves)).toEqual(moves)
        await there.end()
      },
    ),
    { numRuns: 80 },
  )
})

/** Every process takes part in all shards (0), or in a part of two or four. */
const PARTS = [undefined, ...[2, 4].flatMap(count => Array.from({ length: count }, (_, index) => ({ index, count })))]

test('with and without fixed parts mixed, no shard has two owners, and each that someone may hold soon has one for good', async () => {
  const count = 8
  const aMember = fc.record({ part: fc.constantFrom(...PARTS), afterMs: fc.nat(20_000), lives: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(aMember, { minLength: 1, maxLength: 6 }), fc.nat(), async (members, seed) => {
      const there = new Kennel(count, seeded(seed))
      const started = []
      for (const { part, afterMs, lives } of members) {
        started.push({ dog: there.start(count, part), part, lives })
        await there.pass(afterMs)
      }
      for (const { dog, lives } of started) if (!lives) dog.kill()
      await there.pass(TAKE_OVER_MS + 45_000)
      const living = started.filter(({ lives }) => lives)
      const isWanted = (shard: number) =>
        living.some(({ part }) => part === undefined || shard % part.count === part.index)
      expect(there.owners()).toEqual(Array.from({ length: count }, (_, shard) => (isWanted(shard) ? 1 : 0)))
      const moves = living.map(({ dog }) => dog.moves)
      await there.pass(60_000)
      expect(living.map(({ dog }) => dog.moves)).toEqual(moves)
      await there.end()
    }),
    { numRuns: 60 },
  )
})

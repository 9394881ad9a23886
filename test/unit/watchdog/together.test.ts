import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ListQuery, StreamStore } from '../../../src/store/store.ts'
import { RUNS } from '../../support/arbitraries.ts'
import { seededRandom } from '../../support/faults.ts'
import { storeWith } from '../commands/store-with.ts'
import { dogOf, INTERVAL, MINUTE, rest, SECOND, World } from './watch-world.ts'

/** A store as one process sees it: answers come in any order, and after a number of calls the process is dead. */
function viewOf(store: StreamStore, random: () => number, livesCalls: number) {
  let calls = 0
  const { promise: died, resolve: die } = Promise.withResolvers<void>()
  const step = async () => {
    calls += 1
    if (calls > livesCalls) {
      die()
      await new Promise(() => {})
    }
    for (let rounds = Math.floor(random() * 4); rounds > 0; rounds--)
      await new Promise(resolve => setImmediate(resolve))
  }
  const view = storeWith(store, {
    list: async function* (query: ListQuery) {
      await step()
      yield* store.list(query)
    },
    read: async name => {
      await step()
      const stored = await store.read(name)
      await step()
      return stored
    },
    update: async (...args) => {
      await step()
      const outcome = await store.update(...args)
      await step()
      return outcome
    },
  })
  return { view, died, isDead: () => calls > livesCalls }
}

const aRun = () =>
  fc.record({
    seed: fc.nat(),
    streams: fc.integer({ min: 1, max: 3 }),
    dogs: fc.array(fc.constantFrom(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 3, 9, 20), {
      minLength: 1,
      maxLength: 3,
    }),
    sharesStore: fc.boolean(),
    waits: fc.array(fc.constantFrom(0, 1_000, INTERVAL / 2, INTERVAL), { minLength: 6, maxLength: 6 }),
  })

it('any number of watchdogs on a store, one of which dies, end each due event exactly once', async () => {
  const seen = { ended: 0, deaths: 0, already: 0 }
  await fc.assert(
    fc.asyncProperty(aRun(), async ({ seed, streams, dogs: lives, sharesStore, waits }) => {
      const world = new World()
      const random = seededRandom(seed)
      const names = Array.from({ length: streams }, (_, n) => `s${n}`)
      for (const name of names) {
        await world.create(name, [{ timeout: '00:00:20' }, { timeout: '00:00:20' }, { timeout: '00:00:20' }])
        await world.start(name)
        await world.start(name, '02.00')
      }
      // one of them survives, or the work would not be done
      const dogs = [...lives, Number.POSITIVE_INFINITY].map(livesCalls => {
        const { view, died, isDead } = viewOf(world.base, random, livesCalls)
        return {
          dog: dogOf(world, { maxShare: 1 }, sharesStore && !isDead() ? view : storeWith(view, {})),
          died,
          isDead,
        }
      })
      for (const waitMs of [20 * SECOND, ...waits, INTERVAL, INTERVAL, INTERVAL]) {
        for (const name of names) await world.touch(name, '02.00')
        await Promise.all(
          dogs.map(async ({ dog, died, isDead }) => {
            if (!isDead()) await Promise.race([random() < 0.6 ? dog.sweep() : dog.appointment(), died])
          }),
        )
        world.wait(waitMs)
      }
      await rest()
      for (const name of names) {
        const entries = await world.entries(name)
        expect(entries.map(({ on }) => on).sort()).toEqual(['01.00', '03.00'])
        expect(await world.statuses(name)).toEqual([
          '00 inprocess',
          '01.00 aborted',
          '02.00 inprocess',
          '03.00 aborted',
        ])
      }
      const outcomes = dogs.flatMap(({ dog }) => dog.notes.all.map(({ outcome }) => outcome))
      const ended = outcomes.filter(outcome => outcome === 'ended').length
      expect(ended).toBeLessThanOrEqual(2 * streams)
      if (dogs.every(({ isDead }) => !isDead())) expect(ended).toBe(2 * streams)
      seen.ended += ended
      seen.deaths += dogs.filter(({ isDead }) => isDead()).length
      seen.already += outcomes.filter(outcome => outcome === 'already').length
    }),
    { numRuns: RUNS / 4 },
  )
  // the property is weak unless they conflict
  expect(seen.deaths).toBeGreaterThan(5)
  expect(seen.already).toBeGreaterThan(5)
})

it('a heartbeat wins against any number of watchdogs that inspect at the same time', async () => {
  const world = new World()
  await world.worked('a')
  const dogs = Array.from({ length: 5 }, () => dogOf(world, {}, storeWith(world.store, {})))
  for (; world.atMs < MINUTE; world.wait(INTERVAL)) for (const { sweep } of dogs) await sweep()
  world.before = async call => {
    world.before = () => undefined
    if (call === 'list') await world.touch('a')
  }
  await Promise.all(dogs.map(({ appointment }) => appointment()))
  expect(await world.entries('a')).toHaveLength(1)
})

import { expect, test } from 'vitest'
import type { Marks } from '../../../src/watchdog/hooks/marks.ts'
import type { HookMemory } from '../../../src/watchdog/hooks/memory.ts'
import { hookMemory } from '../../../src/watchdog/hooks/memory.ts'
import { Progress } from '../../../src/watchdog/hooks/progress.ts'
import { memoryStore, NOW } from '../../ops/support.ts'
import { hurriedTiming } from './support.ts'

function progress(given: Marks | undefined, about: { readonly shards?: number; readonly isBusy?: boolean } = {}) {
  let nowMs = 1_000_000
  const writes: string[] = []
  const memory: HookMemory = {
    read: async () => given,
    async write(total, news) {
      writes.push([...news].map(([shard, ms]) => `${shard}/${total}: ${ms}`).join(', '))
      return !about.isBusy
    },
  }
  const one = new Progress({
    memories: new Map([['k', memory]]),
    timing: hurriedTiming(0),
    nowMs: () => nowMs,
    onTrouble: () => {},
    shards: about.shards,
  })
  const goTo = (ms: number) => {
    nowMs = ms
  }
  return { progress: one, writes, goTo }
}

test('goes on where the last one was', async () => {
  const { progress: one, writes } = progress([900_000])
  await one.ready()
  expect(one.sinceMs('k', 's')).toBe(900_000)
  expect(writes).toEqual([])
})

test('does not believe a mark in the time to come', async () => {
  const { progress: one, goTo } = progress([9_000_000])
  await one.ready()
  expect(one.sinceMs('k', 's')).toBe(1_000_000)
  goTo(2_000_000)
  expect(one.sinceMs('k', 's')).toBe(1_000_000)
})

test('does not take news for old where the clock was set back', async () => {
  const { progress: one, goTo } = progress([900_000])
  await one.ready()
  goTo(500_000)
  expect(one.earliestMs('s')).toBe(500_000)
})

test('notes of a shard that was taken during a sweep nothing before the next one', async () => {
  const { progress: one, writes, goTo } = progress([1, 1])
  one.take([0], 2)
  await one.ready()
  goTo(1_200_000)
  one.take([0, 1], 2)
  await one.ready()
  one.touch()
  one.reached(1_100_000)
  await one.flush()
  one.touch()
  one.reached(1_300_000)
  await one.flush()
  expect(writes).toEqual(['0/2: 1100000', '0/2: 1300000, 1/2: 1300000'])
})

test('notes what it lets go of: whoever takes it begins there', async () => {
  const { progress: one, writes } = progress([1, 1])
  one.take([0, 1], 2)
  await one.ready()
  one.reached(1_000_000)
  await one.flush()
  one.reached(1_001_000)
  one.take([0], 2)
  await one.flush()
  expect(writes.at(-1)).toBe('0/2: 1001000, 1/2: 1001000')
})

test('writes again what could not be written', async () => {
  const { progress: one, writes } = progress([1], { isBusy: true })
  await one.ready()
  one.reached(1_000_000)
  await one.flush()
  await one.flush()
  expect(writes.length).toBeGreaterThan(1)
})

test('is kept in the store, and read by whoever goes on', async () => {
  const { store } = memoryStore()
  const name = '.leasectl/watchdog/hooks/0123456789abcdef'
  const memory = hookMemory(store, 'tester')('0123456789abcdef')
  expect(await memory.read()).toBeUndefined()
  expect(await memory.write(2, new Map([[1, NOW]]))).toBe(true)
  expect(await memory.write(2, new Map([[0, NOW + 1]]))).toBe(true)
  expect(await hookMemory(store, 'other')('0123456789abcdef').read()).toEqual([NOW + 1, NOW])
  const stored = await store.read(name)
  expect(Buffer.from(stored?.body ?? '').toString()).toBe(
    `{"apiVersion":"leasectl/v1","kind":"watchdog-hook","since":[${NOW + 1},${NOW}]}\n`,
  )
})

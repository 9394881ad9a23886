import { expect, test } from 'vitest'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import {
  DeliveredIds,
  deliveryKey,
  HookProgress,
  hookMemory,
  type Watermark,
  type WatermarkStore,
} from '../../../../src/watchdog/hooks/watermarks.ts'
import { memoryStore, NOW } from '../../ops/support.ts'
import { hurriedTiming } from './support.ts'

function progress(
  given: Watermark['since'],
  about: {
    readonly shards?: number
    readonly isBusy?: boolean
    readonly isAway?: boolean
    readonly signal?: AbortSignal
  } = {},
) {
  let nowMs = 1_000_000
  const writes: string[] = []
  const told = new DeliveredIds(9)
  const troubles: string[] = []
  const memory: WatermarkStore = {
    async read() {
      if (about.isAway) throw new StoreUnreachable('away')
      return { since: given, told: ['known'] }
    },
    async write({ total, since, told: ids }) {
      writes.push([...[...since].map(([shard, ms]) => `${shard}/${total}: ${ms}`), ...ids].join(', '))
      return !about.isBusy
    },
  }
  const one = new HookProgress({
    memories: new Map([['k', memory]]),
    told,
    timing: hurriedTiming(0),
    nowMs: () => nowMs,
    onTrouble: message => void troubles.push(message),
    shards: about.shards,
    signal: about.signal ?? new AbortController().signal,
  })
  const goTo = (ms: number) => {
    nowMs = ms
  }
  return { progress: one, writes, goTo, told, troubles }
}

test('the watermark continues where the last one was', async () => {
  const { progress: one, writes } = progress([900_000])
  await one.ready()
  expect(one.sinceMs('k', 's')).toBe(900_000)
  expect(writes).toEqual([])
})

test('a watermark in the future is ignored', async () => {
  const { progress: one, goTo } = progress([9_000_000])
  await one.ready()
  expect(one.sinceMs('k', 's')).toBe(1_000_000)
  goTo(2_000_000)
  expect(one.sinceMs('k', 's')).toBe(1_000_000)
})

test('new changes do not count as old if the clock was set back', async () => {
  const { progress: one, goTo } = progress([900_000])
  await one.ready()
  goTo(500_000)
  expect(one.earliestMs('s')).toBe(500_000)
})

test('a shard taken during a sweep gets no watermark before the next one', async () => {
  const { progress: one, writes, goTo } = progress([1, 1])
  one.take([0], 2)
  await one.ready()
  goTo(1_200_000)
  one.take([0, 1], 2)
  await one.ready()
  one.reached(1_100_000)
  await one.flush()
  one.reached(1_300_000)
  await one.flush()
  expect(writes).toEqual(['0/2: 1100000', '0/2: 1300000, 1/2: 1300000'])
})

test('a released shard gets a watermark from which its next holder continues', async () => {
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

test('each delivery is recorded once, together with those recorded by others', async () => {
  const { progress: one, writes, told } = progress([1])
  await one.ready()
  expect([told.add(deliveryKey('k', 'known')), told.add(deliveryKey('k', 'other'))]).toEqual([false, true])
  one.ended('k', `done-${'a'.repeat(16)}${'b'.repeat(16)}`)
  await one.flush()
  await one.flush()
  expect(writes).toEqual(['a'.repeat(16)])
})

test('a failed write is repeated', async () => {
  const { progress: one, writes } = progress([1], { isBusy: true })
  await one.ready()
  one.reached(1_000_000)
  await one.flush()
  await one.flush()
  expect(writes.length).toBeGreaterThan(1)
})

test('the watermark is kept in the store for the next watchdog', async () => {
  const { store } = memoryStore()
  const name = '.leasectl/watchdog/hooks/0123456789abcdef'
  const memory = hookMemory(store, 'tester')('0123456789abcdef')
  expect(await memory.read()).toBeUndefined()
  expect(await memory.write({ total: 2, since: new Map([[1, NOW]]), told: ['a'] })).toBe(true)
  expect(await memory.write({ total: 2, since: new Map([[0, NOW + 1]]), told: [] })).toBe(true)
  expect(await hookMemory(store, 'other')('0123456789abcdef').read()).toEqual({ since: [NOW + 1, NOW], told: ['a'] })
  const stored = await store.read(name)
  expect(Buffer.from(stored?.body ?? '').toString()).toBe(
    `{"apiVersion":"leasectl/v1","kind":"watchdog-hook","since":[${NOW + 1},${NOW}],"told":["a"]}\n`,
  )
})

test('an unreachable store gets no repeated requests when the watchdog stops', async () => {
  const { progress: one, troubles } = progress([1], { isAway: true, signal: AbortSignal.abort() })
  await one.ready()
  expect(troubles).toEqual([])
})

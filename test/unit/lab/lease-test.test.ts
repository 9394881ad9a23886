import { expect, test } from 'vitest'
import { overlapsIn, takeTurns } from '../../../src/lab/lease-test.ts'
import type { Turn } from '../../../src/lab/samples.ts'
import { type WaitStrategy, waitStrategyOf } from '../../../src/lab/wait-strategy.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import { storeWith } from '../commands/store-with.ts'
import { init, run } from '../ops/support.ts'

const AT_ONCE: WaitStrategy = { retryMs: () => 0, restMs: () => 0 }
const holder = (by: string) => ({ by, host: 'h', pid: 1, purpose: 'lab', sinceMs: 0 })

/** Advances by 1 ms with each read. */
function tickingClock() {
  let nowMs = 0
  return () => nowMs++
}

async function scene() {
  const store = openMemoryStore()
  await run(store, 's', init())
  const turns = new Map<string, Turn[]>()
  const options = (name: string, clock: () => number) => ({
    holder: holder(name),
    durationMs: 60,
    holdMs: 0,
    pace: AT_ONCE,
    clock,
    signal: new AbortController().signal,
    report: (turn: Turn) => void turns.set(name, [...(turns.get(name) ?? []), turn]),
  })
  return { store, turns, options }
}

test('several processes take the lease in turn, never two at once', async () => {
  const { store, turns, options } = await scene()
  const clock = tickingClock()
  await Promise.all(['a', 'b', 'c'].map(name => takeTurns(store, 's', options(name, clock))))
  const holdings = [...turns].flatMap(([process, all]) =>
    all.flatMap(({ held }) => (held ? [{ process, ...held }] : [])),
  )
  expect(new Set(holdings.map(({ process }) => process)).size).toBe(3)
  expect(overlapsIn(holdings)).toEqual([])
  expect((await store.read('s'))?.lease.state).toBe('available')
})

test('a process that waits at the end of the time reports a wait without a turn', async () => {
  const { store, turns, options } = await scene()
  await store.acquireLease('s', { leaseId: crypto.randomUUID(), durationS: -1, holder: holder('other') })
  await takeTurns(store, 's', options('a', tickingClock()))
  const all = turns.get('a') ?? []
  expect(all).toHaveLength(1)
  expect(all[0]).toMatchObject({ held: null, lost: false })
  expect(all[0]?.attempts).toBeGreaterThan(1)
})

test('a lease that is gone at its release is reported as lost', async () => {
  const { store, turns, options } = await scene()
  const robbed = storeWith(store, {
    releaseLease: async (name, leaseId) => {
      await store.breakLease(name, 0)
      await store.acquireLease(name, { leaseId: crypto.randomUUID(), durationS: -1, holder: holder('other') })
      return store.releaseLease(name, leaseId)
    },
  })
  await takeTurns(robbed, 's', { ...options('a', tickingClock()), durationMs: 3 })
  expect(turns.get('a')?.[0]).toMatchObject({ lost: true })
})

test('the reference polls every 750 to 2 500 ms and rests for 750 to 2 000 ms between turns', () => {
  const { retryMs, restMs } = waitStrategyOf('reference', () => 0.5)
  expect([retryMs(0), retryMs(9), restMs()]).toEqual([1625, 1625, 1375])
  const shortest = waitStrategyOf('reference', () => 0)
  expect([shortest.retryMs(0), shortest.restMs()]).toEqual([750, 750])
})

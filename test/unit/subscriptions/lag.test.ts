import { expect, test } from 'vitest'
import { openMemoryStore } from '../../../src/store/memory.ts'
import { readSubscriptions } from '../../../src/subscriptions/read.ts'
import { lagSince, openSubscription } from '../../../src/subscriptions/subscription.ts'
import { SPEC } from './support.ts'

test('a subscription from the start lags since its creation, not since 1970', async () => {
  let nowMs = Date.UTC(2026, 0)
  const store = openMemoryStore({ clock: () => nowMs })
  await openSubscription(store, SPEC, 0, 'ann')
  nowMs += 90_000
  expect(await readSubscriptions(store)).toMatchObject([{ lagMs: 90_000 }])
  expect(lagSince(0, nowMs - 5_000, nowMs)).toBe(5_000)
  expect(lagSince(nowMs - 1_000, nowMs - 5_000, nowMs)).toBe(1_000)
  expect(lagSince(nowMs + 1_000, 0, nowMs)).toBe(0)
})

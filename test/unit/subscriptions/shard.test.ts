import { expect, test } from 'vitest'
import { startPositionDocument } from '../../../src/subscriptions/position/document.ts'
import type { ShardPositions } from '../../../src/subscriptions/positions.ts'
import { HeldShard } from '../../../src/subscriptions/shard.ts'
import { machineTiming } from '../../../src/util/clock.ts'

test('a shard whose lease ran out stays lost if the lease is renewed after all, so that its position is read again', async () => {
  let leaseId: string | undefined = 'one'
  const positions: ShardPositions = {
    count: 1,
    ready: Promise.resolve(),
    held: () => [0],
    tenureOf: () => leaseId,
    read: async () => startPositionDocument(0, 0, 'test@host'),
    write: async () => 'written',
    run: async () => {},
  }
  const { signal } = new AbortController()
  const shard = await HeldShard.read(
    {
      ...{ positions, by: 'test@host', nowMs: () => 0, timing: machineTiming },
      ...{ writing: () => {}, wrote: () => {} },
    },
    0,
    'one',
    signal,
  )
  expect(shard.isHeld).toBe(true)
  leaseId = undefined
  expect(shard.isHeld).toBe(false)
  leaseId = 'one'
  expect(shard.isHeld).toBe(false)
})

import { expect, test } from 'vitest'
import type { Shards } from '../../../src/ops/shards/shards.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import { HeldShard } from '../../../src/subscriptions/shard.ts'
import { machineTiming } from '../../../src/util/clock.ts'

test('a shard whose lease ran out stays lost if the lease is renewed after all, so that its position is read again', async () => {
  let leaseId: string | undefined = 'one'
  const shards: Shards = {
    count: 1,
    held: () => [0],
    leaseIdOf: () => leaseId,
    nameOf: () => '.leasectl/shard',
    owns: () => true,
    ready: Promise.resolve(),
    run: async () => {},
  }
  const shard = await HeldShard.read(
    openMemoryStore(),
    {
      ...{ shards, by: 'test@host', fromMs: 0, subscription: 'billing', timing: machineTiming },
      ...{ writing: () => {}, wrote: () => {} },
    },
    0,
    'one',
    new AbortController().signal,
  )
  expect(shard.isHeld).toBe(true)
  leaseId = undefined
  expect(shard.isHeld).toBe(false)
  leaseId = 'one'
  expect(shard.isHeld).toBe(false)
})

import { expect, test } from 'vitest'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { endedByHolder } from '../../../src/worker/self-reported.ts'
import { resultOf, run } from '../ops/support.ts'
import { Bench } from './one-worker.ts'

/** A store that does not answer, and the number of its requests. */
function silentStore() {
  const asked = { times: 0 }
  const read = async () => {
    asked.times += 1
    throw new StoreUnreachable('silence')
  }
  const store: StreamStore = new Proxy(openMemoryStore(), {
    get: (target, key) => (key === 'read' ? read : Reflect.get(target, key)),
  })
  return { store, asked }
}

const job = { stream: 's', event: { id: '01.00' }, fence: 2, born: 'b0' }

test('if the store cannot tell who ended an event, it was not the work', async () => {
  expect(await endedByHolder(silentStore().store, job, 'already-final')).toBe(false)
})

test('an expired claim is not looked up: the store was unreachable all the time', async () => {
  const { store, asked } = silentStore()
  expect(await endedByHolder(store, job, 'claim-expired')).toBe(false)
  expect(asked.times).toBe(0)
})

test('a removed stream whose name another stream has gives no evidence about the claim', async () => {
  const bench = new Bench()
  const { store } = bench
  await bench.stream()
  const claimed = { op: 'start', event: '01.00', owner: 'w1', claimMs: 60_000 } as const
  const fence = resultOf(await run(store, 's', claimed)).claim?.fence ?? 0
  resultOf(await run(store, 's', { op: 'complete', event: '01.00', fence }))
  const held = { stream: 's', event: { id: '01.00' }, fence, born: 'b0' }
  expect(await endedByHolder(store, held, 'already-final')).toBe(true)
  expect(await endedByHolder(store, { ...held, born: 'b1' }, 'already-final')).toBe(false)
})

import { expect, test } from 'vitest'
import { removeStream } from '../../../src/ops/remove.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import { initStream, SPEC, signalStream, startSubscription } from './support.ts'

test('a subscription delivers every transaction of every stream in order', async () => {
  const store = openMemoryStore()
  for (const stream of ['a', 'b', 'c']) await initStream(store, stream)
  const run = startSubscription(store)
  await run.until(() => run.results.length === 3)
  for (const stream of ['a', 'b', 'c']) await signalStream(store, stream)
  await initStream(store, 'd')
  await run.until(() => run.results.length === 7)
  await run.stop()
  expect(run.seen.toSorted()).toEqual(['a@1', 'a@2', 'b@1', 'b@2', 'c@1', 'c@2', 'd@1'])
})

test('a subscription goes on where the process before it ended', async () => {
  const store = openMemoryStore()
  await initStream(store, 'a')
  const first = startSubscription(store)
  await first.until(() => first.results.length === 1)
  await first.stop()
  await signalStream(store, 'a')
  await initStream(store, 'b')
  const second = startSubscription(store)
  await second.until(() => second.results.length === 2)
  await second.stop()
  expect(second.seen.toSorted()).toEqual(['a@2', 'b@1'])
})

test('a new subscription from now on leaves out what happened before', async () => {
  let nowMs = Date.UTC(2026, 0)
  const store = openMemoryStore({ clock: () => nowMs })
  await initStream(store, 'a')
  nowMs += 1_000
  const run = startSubscription(store, { fromMs: undefined })
  nowMs += 1_000
  await initStream(store, 'b')
  await run.until(() => run.results.length === 1)
  await signalStream(store, 'a')
  await run.until(() => run.results.length === 2)
  await run.stop()
  expect(run.seen).toEqual(['b@1', 'a@2'])
})

test('a stream that was removed and made anew is delivered from its first transaction on', async () => {
  const store = openMemoryStore()
  await initStream(store, 'a')
  await signalStream(store, 'a')
  const run = startSubscription(store)
  await run.until(() => run.results.length === 2)
  await removeStream(store, 'a', { leaseWaitMs: 0 })
  await initStream(store, 'a')
  await run.until(() => run.results.length === 3)
  await run.stop()
  expect(run.seen).toEqual(['a@1', 'a@2', 'a@1'])
  const ids = run.results.map(({ delivery }) => delivery.id)
  expect(new Set(ids).size).toBe(3)
})

test('a process with other options for the same name is refused with both', async () => {
  const store = openMemoryStore()
  const first = startSubscription(store)
  await initStream(store, 'a')
  await first.until(() => first.results.length === 1)
  const second = startSubscription(store, { spec: { ...SPEC, match: ['orders/**'] } })
  await expect(second.running).rejects.toThrow(
    /exists with other options: --shards 8, not --match orders\/\*\* --shards 8/,
  )
  await first.stop()
})

test('several processes share the streams, and each transaction is delivered once', async () => {
  const store = openMemoryStore()
  const names = Array.from({ length: 40 }, (_, index) => `s${index}`)
  for (const name of names) await initStream(store, name)
  const runs = [startSubscription(store), startSubscription(store)]
  const all = () => runs.flatMap(run => run.seen)
  await Promise.race(runs.map(run => run.until(() => all().length === 40)))
  await Promise.all(runs.map(run => run.stop()))
  expect(all().toSorted()).toEqual(names.map(name => `${name}@1`).toSorted())
})

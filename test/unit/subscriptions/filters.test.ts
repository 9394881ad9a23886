import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { shardOf } from '../../../src/ops/shards/quota.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import { initStream, SPEC, signalStream, startSubscription } from './support.ts'

async function change(store: StreamStore, stream: string, operation: Operation): Promise<void> {
  const outcome = await transact(store, stream, operation, { commandId: randomUUID(), by: 'test' })
  expect(outcome).toMatchObject({ kind: 'done' })
}

test('only the wanted operations are handed over, and positions move on over the others', async () => {
  const store = openMemoryStore()
  await initStream(store, 'a')
  await signalStream(store, 'a')
  const run = startSubscription(store, { spec: { ...SPEC, ops: ['signal'] } })
  await run.until(() => run.results.length === 1)
  await signalStream(store, 'a')
  await run.until(() => run.results.length === 2)
  await run.stop()
  expect(run.seen).toEqual(['a@2', 'a@3'])
})

test('only transactions that changed an event of the given name are handed over', async () => {
  const store = openMemoryStore()
  const forks = [{ name: 'Ship' }, { name: 'Bill' }]
  await change(store, 'a', { op: 'init', root: { name: 'Order' }, forks, hold: false, born: randomUUID() })
  await change(store, 'a', { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 })
  await change(store, 'a', { op: 'start', event: '02.00', owner: 'w', claimMs: 60_000 })
  await change(store, 'a', { op: 'cancel', event: '02.00', msg: 'no' })
  const run = startSubscription(store, { spec: { ...SPEC, ops: ['start', 'cancel'], eventNames: ['Bill'] } })
  await run.until(() => run.results.length === 2)
  await run.stop()
  expect(run.seen).toEqual(['a@3', 'a@4'])
})

test('with done-only the transaction with which a stream ends is handed over', async () => {
  const store = openMemoryStore()
  for (const stream of ['a', 'b']) {
    await initStream(store, stream)
    await signalStream(store, stream)
  }
  await change(store, 'a', { op: 'cancel', msg: 'enough' })
  const run = startSubscription(store, { spec: { ...SPEC, doneOnly: true } })
  await run.until(() => run.results.length === 1)
  await run.stop()
  expect(run.seen).toEqual(['a@3'])
  expect(run.results[0]?.delivery).toMatchObject({ done: true, stream: 'a' })
})

test('only streams whose names match, and do not match the others, are delivered', async () => {
  const store = openMemoryStore()
  for (const stream of ['orders/1', 'orders/test/1', 'users/1']) await initStream(store, stream)
  const run = startSubscription(store, { spec: { ...SPEC, match: ['orders/**'], notMatch: ['orders/test/**'] } })
  await run.until(() => run.results.length === 1)
  await initStream(store, 'orders/2')
  await run.until(() => run.results.length === 2)
  await run.stop()
  expect(run.seen).toEqual(['orders/1@1', 'orders/2@1'])
})

test('a partition delivers only the streams whose names hash to it, and the partitions together all of them', async () => {
  const store = openMemoryStore()
  const names = Array.from({ length: 20 }, (_, at) => `s${at}`)
  for (const name of names) await initStream(store, name)
  const mine = (index: number) => names.filter(name => shardOf(name, 2) === index)
  const runs = [0, 1].map(index => startSubscription(store, { partition: { index, count: 2 } }))
  for (const [index, run] of runs.entries()) await run.until(() => run.results.length === mine(index).length)
  for (const run of runs) await run.stop()
  const seen = runs.map(run => run.results.map(({ delivery }) => delivery.stream).toSorted())
  expect(seen).toEqual([mine(0).toSorted(), mine(1).toSorted()])
})

test('shards that cannot be divided into the partitions are refused', async () => {
  const run = startSubscription(openMemoryStore(), { partition: { index: 0, count: 3 } })
  await expect(run.running).rejects.toThrow('8 shards cannot be divided into 3 partitions')
})

test('with skip a transaction is left out after its last try, and the stream goes on', async () => {
  const store = openMemoryStore()
  await initStream(store, 'a')
  await signalStream(store, 'a')
  const run = startSubscription(store, { onPoison: 'skip', tries: 1 }, ({ transaction }) =>
    transaction.version === 1 ? { kind: 'failed', why: 'no' } : { kind: 'handled' },
  )
  await run.until(() => run.results.length === 2)
  await run.stop()
  expect(run.results.map(({ outcome }) => outcome)).toEqual(['skipped', 'handled'])
})

test('a handler that throws has failed, and its stream waits for the next try', async () => {
  const store = openMemoryStore()
  for (const stream of ['a', 'b']) await initStream(store, stream)
  const run = startSubscription(store, {}, ({ stream }) => {
    if (stream === 'a') throw new Error('no database')
    return { kind: 'handled' }
  })
  await run.until(() => run.results.length === 2)
  await run.stop()
  const failed = run.results.find(({ delivery }) => delivery.stream === 'a')
  expect(failed).toMatchObject({ outcome: 'waiting', tries: 1, handled: { kind: 'failed', why: 'no database' } })
})

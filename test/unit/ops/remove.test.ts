import { expect, test } from 'vitest'
import { removeStream } from '../../../src/ops/remove.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { RemoveOutcome, StreamStore } from '../../../src/store/store.ts'
import { BadDocument } from '../../../src/stream/errors.ts'
import { HOLDER, init, memoryStore, run } from './support.ts'

const LEASE = '11111111-1111-4111-8111-111111111111'

async function oneStream(): Promise<{ store: StreamStore; etag: string }> {
  const { store } = memoryStore()
  await run(store, 's', init())
  return { store, etag: (await store.read('s'))?.etag ?? '' }
}

test('remove deletes the stream as inspected; repeated, it is missing', async () => {
  const { store, etag } = await oneStream()
  expect(await removeStream(store, 's', { etag, leaseWaitMs: 0 })).toEqual({ kind: 'removed' })
  expect(await store.read('s')).toBeUndefined()
  expect(await removeStream(store, 's', { etag, leaseWaitMs: 0 })).toEqual({ kind: 'missing' })
})

test('a later write is kept', async () => {
  const { store, etag } = await oneStream()
  await run(store, 's', { op: 'set', event: '00', attributes: { tag: 'x' } })
  expect(await removeStream(store, 's', { etag, leaseWaitMs: 0 })).toEqual({ kind: 'changed' })
  expect(await store.read('s')).toBeDefined()
})

test('a lease of another prevents the removal and is reported; under the given lease the stream is removed', async () => {
  const { store } = await oneStream()
  await store.acquireLease('s', { leaseId: LEASE, durationS: -1, holder: HOLDER })
  expect(await removeStream(store, 's', { leaseWaitMs: 0 })).toMatchObject({ kind: 'held', waitedMs: 0 })
  expect(await removeStream(store, 's', { leaseWaitMs: 0, leaseId: LEASE })).toEqual({ kind: 'removed' })
})

test('remove waits for a lease to end, no longer than its limit, and not after it is canceled', async () => {
  const { store } = await oneStream()
  const answers: RemoveOutcome[] = [
    { kind: 'held', lease: { state: 'leased' } },
    { kind: 'held', lease: { state: 'leased' } },
    { kind: 'removed' },
  ]
  const busy = () => {
    const left = [...answers]
    return { ...store, remove: async () => left.shift() ?? answers[0] } as StreamStore
  }
  const random = () => 0
  expect(await removeStream(busy(), 's', { leaseWaitMs: 60_000, random })).toEqual({ kind: 'removed' })
  const held = { ...store, remove: async () => answers[0] } as StreamStore
  expect(await removeStream(held, 's', { leaseWaitMs: 1, random })).toMatchObject({ kind: 'held' })
  const stopWaiting = AbortSignal.abort()
  const stopped = await removeStream(busy(), 's', { leaseWaitMs: 60_000, random, stopWaiting })
  expect(stopped).toMatchObject({ kind: 'held', waitedMs: 0 })
})

/** The network duplicates the delete; between the two the stream is created again, and leased or not. */
function doubled(store: StreamStore, isLeased: boolean): StreamStore {
  const remove: StreamStore['remove'] = async (name, options) => {
    await store.remove(name, options)
    if ((await store.read(name)) === undefined) await run(store, name, init([], 'b1'))
    if (isLeased) await store.acquireLease(name, { leaseId: LEASE, durationS: -1, holder: HOLDER })
    return store.remove(name, options)
  }
  return { read: store.read.bind(store), nowMs: store.nowMs.bind(store), remove } as StreamStore
}

test.each([true, false])('a later stream of the same name is distinguished, leased: %s', async isLeased => {
  const { store, etag } = await oneStream()
  const removed = removeStream(doubled(store, isLeased), 's', { etag, born: 'b0', leaseWaitMs: 0 })
  expect(await removed).toEqual({ kind: 'replaced' })
  expect(await store.read('s')).toBeDefined()
})

test('a removed stream is missing, whatever answer a copy of the delete got', async () => {
  const { store, etag } = await oneStream()
  const remove: StreamStore['remove'] = async (name, options) => {
    await store.remove(name, options)
    // The service compares the ETag before it checks whether the blob exists.
    return { kind: 'changed' }
  }
  const double = { read: store.read.bind(store), nowMs: store.nowMs.bind(store), remove } as StreamStore
  expect(await removeStream(double, 's', { etag, leaseWaitMs: 0 })).toEqual({ kind: 'missing' })
})

test('a refusal is final if the same stream or an unreadable one is there; without an answer it is unknown', async () => {
  const { store, etag } = await oneStream()
  await run(store, 's', { op: 'set', event: '00', attributes: { tag: 'x' } })
  expect(await removeStream(store, 's', { etag, born: 'b0', leaseWaitMs: 0 })).toEqual({ kind: 'changed' })
  const reading = (fault: Error) =>
    ({ remove: store.remove.bind(store), read: () => Promise.reject(fault) }) as unknown as StreamStore
  const removed = (fault: Error) => removeStream(reading(fault), 's', { etag, born: 'other', leaseWaitMs: 0 })
  expect(await removed(new BadDocument('no'))).toEqual({ kind: 'changed' })
  expect(await removed(new StoreUnreachable('no answer'))).toMatchObject({ kind: 'unknown' })
})

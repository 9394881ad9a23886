import { expect, test } from 'vitest'
import { removeStream } from '../../src/ops/remove.ts'
import type { EventStore, RemoveOutcome } from '../../src/store/store.ts'
import { HOLDER, init, memoryStore, run } from './support.ts'

const LEASE = '11111111-1111-4111-8111-111111111111'

async function oneStream(): Promise<{ store: EventStore; etag: string }> {
  const { store } = memoryStore()
  await run(store, 's', init())
  return { store, etag: (await store.read('s'))?.etag ?? '' }
}

test('removes the stream as it was looked at; another time it is missing', async () => {
  const { store, etag } = await oneStream()
  expect(await removeStream(store, 's', { etag, leaseWaitMs: 0 })).toEqual({ kind: 'removed' })
  expect(await store.read('s')).toBeUndefined()
  expect(await removeStream(store, 's', { etag, leaseWaitMs: 0 })).toEqual({ kind: 'missing' })
})

test('what was written since stays', async () => {
  const { store, etag } = await oneStream()
  await run(store, 's', { op: 'set', event: '00', attributes: { tag: 'x' } })
  expect(await removeStream(store, 's', { etag, leaseWaitMs: 0 })).toEqual({ kind: 'changed' })
  expect(await store.read('s')).toBeDefined()
})

test('a lease of another keeps it, and is told; under the own lease it goes', async () => {
  const { store } = await oneStream()
  await store.acquire('s', { leaseId: LEASE, durationS: -1, holder: HOLDER })
  expect(await removeStream(store, 's', { leaseWaitMs: 0 })).toMatchObject({ kind: 'held', waitedMs: 0 })
  expect(await removeStream(store, 's', { leaseWaitMs: 0, leaseId: LEASE })).toEqual({ kind: 'removed' })
})

test('waits for a lease to end, no longer than it was told, and not once it is stopped', async () => {
  const { store } = await oneStream()
  const answers: RemoveOutcome[] = [
    { kind: 'held', lease: { state: 'leased' } },
    { kind: 'held', lease: { state: 'leased' } },
    { kind: 'removed' },
  ]
  const busy = () => {
    const left = [...answers]
    return { ...store, remove: async () => left.shift() ?? answers[0] } as EventStore
  }
  const random = () => 0
  expect(await removeStream(busy(), 's', { leaseWaitMs: 60_000, random })).toEqual({ kind: 'removed' })
  const held = { ...store, remove: async () => answers[0] } as EventStore
  expect(await removeStream(held, 's', { leaseWaitMs: 1, random })).toMatchObject({ kind: 'held' })
  const stopWaiting = AbortSignal.abort()
  const stopped = await removeStream(busy(), 's', { leaseWaitMs: 60_000, random, stopWaiting })
  expect(stopped).toMatchObject({ kind: 'held', waitedMs: 0 })
})

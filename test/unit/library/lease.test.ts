import { expect, test } from 'vitest'
import {
  acquireLease,
  breakLease,
  changeLease,
  leaseScope,
  releaseLease,
  renewLease,
} from '../../../src/library/lease.ts'
import { changeStream, mustReadStream } from '../../../src/library/streams.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { InvalidValue } from '../../../src/stream/errors.ts'
import { storeWith } from './support.ts'

const NEW_ID = '22222222-2222-4222-8222-222222222222'

/** The same store with another acquire. */
function withAcquire(store: StreamStore, acquire: StreamStore['acquireLease']): StreamStore {
  return new Proxy(store, {
    get: (target, key) => (key === 'acquireLease' ? acquire : Reflect.get(target, key).bind?.(target)),
  })
}

async function taken(store: StreamStore): Promise<string> {
  const outcome = await acquireLease(store, 's', { by: 'ann', purpose: 'repair' })
  if (outcome.kind !== 'acquired') throw new Error(outcome.kind)
  return outcome.leaseId
}

test('a lease is acquired, renewed, changed and released under its id', async () => {
  const { store } = await storeWith()
  const id = await taken(store)
  expect((await mustReadStream(store, 's')).lease).toMatchObject({
    state: 'leased',
    holder: { by: 'ann', purpose: 'repair', pid: process.pid },
  })
  expect(await renewLease(store, 's', id)).toMatchObject({ kind: 'ok' })
  expect(await changeLease(store, 's', id, NEW_ID)).toMatchObject({ kind: 'ok', leaseId: NEW_ID })
  expect(await renewLease(store, 's', id)).toMatchObject({ kind: 'lost' })
  expect(await releaseLease(store, 's', NEW_ID)).toMatchObject({ kind: 'ok' })
  expect((await mustReadStream(store, 's')).lease.state).toBe('available')
})

test('a lease of another is waited for only on request; then until it is free', async () => {
  const { store } = await storeWith()
  const id = await taken(store)
  let tries = 0
  const counting = withAcquire(store, (...given) => {
    tries += 1
    return store.acquireLease(...given)
  })
  expect(await acquireLease(counting, 's', { by: 'bob' })).toMatchObject({
    kind: 'held',
    lease: { holder: { by: 'ann' } },
  })
  expect(tries).toBe(1)
  const waiting = acquireLease(store, 's', { by: 'bob', waitMs: 20_000 })
  await releaseLease(store, 's', id)
  expect(await waiting).toMatchObject({ kind: 'acquired' })
})

test('a canceled wait throws the reason of the signal, and takes no lease', async () => {
  const { store } = await storeWith()
  const id = await taken(store)
  const stop = new AbortController()
  const waiting = acquireLease(store, 's', { by: 'bob', waitMs: 20_000, signal: stop.signal })
  stop.abort()
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
  await releaseLease(store, 's', id)
  expect((await mustReadStream(store, 's')).lease.state).toBe('available')
})

test('a lease that is canceled during its acquisition is released', async () => {
  const { store } = await storeWith()
  const slow = withAcquire(store, async (...given) => {
    await store.acquireLease(...given)
    throw new DOMException('given up', 'AbortError')
  })
  await expect(acquireLease(slow, 's', { by: 'ann' })).rejects.toThrow('given up')
  expect((await mustReadStream(store, 's')).lease.state).toBe('available')
})

test('a lease without an answer is reported with its id, so that it can be acquired again', async () => {
  const { store } = await storeWith()
  const deaf = withAcquire(store, async () => ({ kind: 'unknown', cause: new Error('no answer') }))
  expect(await acquireLease(deaf, 's', { by: 'ann', leaseId: NEW_ID })).toMatchObject({
    kind: 'unknown',
    leaseId: NEW_ID,
  })
})

test('an invalid lease request is refused; a missing stream is reported', async () => {
  const { store } = await storeWith()
  await expect(acquireLease(store, 's', { by: 'ann', durationS: 5 })).rejects.toThrow(InvalidValue)
  expect(await acquireLease(store, 'none', { by: 'ann' })).toMatchObject({ kind: 'missing' })
  expect(await releaseLease(store, 'none', NEW_ID)).toMatchObject({ kind: 'missing' })
})

test('breaking ends a lease at once, or after a period, and is in the journal with actor and reason', async () => {
  const { store } = await storeWith()
  await taken(store)
  const gone = { by: 'ann', why: 'worker-7 is gone' }
  expect(await breakLease(store, 's', { ...gone, periodS: 10 })).toEqual({
    kind: 'broken',
    remainingS: 10,
    journal: 'held',
  })
  expect(await breakLease(store, 's', { ...gone, commandId: 'ticket-17' })).toMatchObject({
    kind: 'broken',
    remainingS: 0,
    journal: 'written',
  })
  expect((await mustReadStream(store, 's')).history.at(-1)).toMatchObject({
    op: 'break-lease',
    ...gone,
    commandId: 'ticket-17',
  })
  expect(await breakLease(store, 's', gone)).toEqual({ kind: 'not-leased' })
  expect(await breakLease(store, 'none', gone)).toEqual({ kind: 'missing' })
  await taken(store)
  expect((await mustReadStream(store, 's')).lease.state).toBe('leased')
})

test('a scope holds the lease while its work runs, for changes with its id only, and releases it', async () => {
  const { store } = await storeWith()
  const outcome = await leaseScope(store, 's', { by: 'audit', purpose: 'audit' }, async ({ leaseId }) => {
    const holder = (await mustReadStream(store, 's')).lease.holder
    const other = await changeStream(store, 's', { by: 'x', leaseWaitMs: 0 }, s => void s.cancel())
    const own = await changeStream(store, 's', { by: 'audit', leaseId }, s => void s.mustFind('01.00').complete())
    return [holder?.purpose, other.kind, own.kind]
  })
  expect(outcome).toEqual({ kind: 'done', value: ['audit', 'held', 'done'] })
  expect((await mustReadStream(store, 's')).lease.state).toBe('available')
  const failing = leaseScope(store, 's', { by: 'audit' }, () => Promise.reject(new Error('work')))
  await expect(failing).rejects.toThrow('work')
  expect((await mustReadStream(store, 's')).lease.state).toBe('available')
})

test('a canceled wait for a lease ends with the given reason', async () => {
  const { store } = await storeWith()
  await taken(store)
  for (const wait of [
    acquireLease,
    (...given: Parameters<typeof acquireLease>) => leaseScope(...given, async () => {}),
  ]) {
    const stop = new AbortController()
    const waiting = withAcquire(store, async (...given) => {
      const outcome = await store.acquireLease(...given)
      setImmediate(() => stop.abort('enough'))
      return outcome
    })
    await expect(wait(waiting, 's', { by: 'bob', waitMs: 60_000, signal: stop.signal })).rejects.toBe('enough')
  }
})

import { expect, it, onTestFinished, vi } from 'vitest'
import { bytes, stored, summary, text } from '../../../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../../../support/azurite.ts'
import { startFaultProxy } from '../../../support/fault-proxy.ts'
import { PATIENT, SOON } from './support.ts'

/** A stream, and two ways to it: one without the proxy. */
async function setUp() {
  const { port } = await sharedAzurite()
  const direct = await openAzuriteStore(port, PATIENT)
  const proxy = await startFaultProxy({ target: { port } })
  const store = await openAzuriteStore(proxy.port, { container: direct.container, ...PATIENT })
  onTestFinished(async () => {
    proxy.heal()
    await Promise.all([direct.close(), store.close()])
    await proxy.stop()
  })
  await direct.create('s', bytes(''), summary())
  return { direct, proxy, store, etag: (await stored(direct, 's')).etag }
}

it('a removal refused at the second attempt is unknown: the first may still land', async () => {
  const { direct, proxy, store, etag } = await setUp()
  proxy.add({ kind: 'late', on: 'delete', nth: 1 })
  proxy.add({ kind: 'error-before', on: 'delete', nth: 2, status: 403 })
  expect(await store.remove('s', { etag })).toMatchObject({ kind: 'unknown' })
  expect(proxy.count('delete')).toBe(2)
  expect(await direct.read('s')).toBeDefined()
  await proxy.deliverLate()
  expect(await direct.read('s')).toBeUndefined()
})

it('a removal refused at once is an error: the stream still exists', async () => {
  const { direct, proxy, store, etag } = await setUp()
  proxy.add({ kind: 'error-before', on: 'delete', nth: 1, status: 403 })
  await expect(store.remove('s', { etag })).rejects.toMatchObject({ code: 'not-permitted' })
  expect(await direct.read('s')).toBeDefined()
})

it('a copy of the create that arrives after the removal restores the original stream', async () => {
  const { direct, proxy, store, etag } = await setUp()
  await direct.remove('s', { etag })
  proxy.add({ kind: 'duplicate-late', on: 'put', nth: 1 })
  expect(await store.create('s', bytes('first'), summary())).toMatchObject({ kind: 'created' })
  const created = await stored(direct, 's')
  expect(await direct.remove('s', { etag: created.etag })).toEqual({ kind: 'removed' })
  await proxy.deliverLate()
  const back = await stored(direct, 's')
  expect(text(back.body)).toBe('first')
  expect(back.etag).not.toBe(created.etag)
})

it('a removal canceled in flight is unknown, not undone; canceled earlier, it is not sent', async () => {
  const { direct, proxy, store, etag } = await setUp()
  const stop = new AbortController()
  proxy.add({ kind: 'lose-answer', on: 'delete', silent: true, before: async () => stop.abort(new Error('stop')) })
  expect(await store.remove('s', { etag, signal: stop.signal })).toMatchObject({ kind: 'unknown' })
  await vi.waitFor(async () => expect(await direct.read('s')).toBeUndefined(), SOON)
  await expect(store.remove('s', { etag, signal: stop.signal })).rejects.toThrow('stop')
  expect(proxy.count('delete')).toBe(1)
})

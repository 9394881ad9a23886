import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  advance,
  changeStream,
  complete,
  createStream,
  mustReadStream,
  onDone,
  onJoined,
  openStore,
  worker,
} from '../../../src/index.ts'
import { sharedAzurite } from '../../support/azurite.ts'

const folder = mkdtempSync(join(tmpdir(), 'leasectl-library-'))
// It may have to be started.
beforeAll(async () => void (await sharedAzurite()))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const addresses = {
  memory: async () => 'memory:',
  sqlite: async () => `sqlite:${join(folder, 'orders.db')}`,
  azurite: async () => `azurite://127.0.0.1:${(await sharedAzurite()).port}/t${randomUUID()}`,
}

test.each([
  ['memory', 'lease'],
  ['sqlite', 'lease'],
  ['azurite', 'lease'],
  ['azurite', 'optimistic'],
] as const)('the whole API on %s, writing %s: create, change, work, join, end', async (kind, write) => {
  await using store = await openStore(await addresses[kind](), {})
  await store.createContainer()
  const how = { by: 'shop', write }
  await createStream(store, 'orders/1', how, { forks: ['Search', 'Pay'], join: 'Ship' })
  const paid = await changeStream(store, 'orders/1', { ...how, commandId: 'm-1' }, stream => {
    stream.mustFind('02.00').set({ ref: 'till 3' }).complete('paid')
  })
  expect(paid).toMatchObject({ kind: 'done', results: [{ version: 2 }, { version: 3 }] })
  const again = await changeStream(store, 'orders/1', { ...how, commandId: 'm-1' }, () => {})
  expect(again).toMatchObject({ kind: 'done', duplicate: true })

  const seen: string[] = []
  const joined = onJoined(join => void seen.push(join))
  const over = new AbortController()
  const ended = onDone(() => over.abort())
  await worker(
    store,
    {
      name: ['Search', 'Ask', 'Ship'],
      drain: over.signal,
      maxIdleMs: 10,
      write,
      afterWrite: async result => {
        await joined(result)
        await ended(result)
      },
    },
    ({ event }) => (event.name === 'Search' ? advance({ forks: ['Ask', 'Ask'] }) : complete()),
  )
  expect(seen).toEqual(['01'])
  const stream = await mustReadStream(store, 'orders/1')
  expect([stream.isDone, stream.status]).toEqual([true, 'completed'])
  // A lease is released in the background.
  await expect
    .poll(async () => (await mustReadStream(store, 'orders/1')).lease.state, { timeout: 20_000 })
    .toBe('available')
})

test('a store is closed at the end of its block', async () => {
  let closed = 0
  {
    await using store = await openStore('memory:', {})
    const { close } = store
    store.close = () => {
      closed += 1
      return close.call(store)
    }
  }
  expect(closed).toBe(1)
})

test('an invalid address is refused', async () => {
  await expect(openStore('nowhere', {})).rejects.toMatchObject({ code: 'bad-address' })
})

test('a missing file is an error until a stream is created, and errors name the store', async () => {
  const address = `sqlite:${join(folder, 'missing.db')}`
  await using store = await openStore(address, {})
  const missing = { code: 'container-missing', message: `there is no store at ${address}: the file does not exist` }
  await expect(mustReadStream(store, 's')).rejects.toMatchObject(missing)
  await expect(changeStream(store, 's', { by: 'me' }, () => {})).rejects.toMatchObject(missing)
  await expect(
    worker(store, { name: 'Search', signal: AbortSignal.timeout(20_000) }, async () => complete()),
  ).rejects.toMatchObject(missing)
  expect(await createStream(store, 's', { by: 'me' })).toMatchObject({ kind: 'done' })
  await expect(mustReadStream(store, 'nope')).rejects.toThrow(`there is no stream nope in ${address}`)
})

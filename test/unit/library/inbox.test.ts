import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createInbox,
  type OpenedStore,
  type OpenInboxOptions,
  openInbox,
  openStore,
  type RegionEvent,
} from '../../../src/index.ts'
import { sharedAzurite } from '../../support/azurite.ts'

const folder = mkdtempSync(join(tmpdir(), 'leasectl-library-inbox-'))
beforeAll(async () => void (await sharedAzurite()))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const addresses = {
  memory: async () => 'memory:',
  sqlite: async () => `sqlite:${join(folder, 'orders.db')}`,
  azurite: async () => `azurite://127.0.0.1:${(await sharedAzurite()).port}/t${randomUUID()}`,
}

async function recordsOf(store: OpenedStore, partition: string): Promise<object[]> {
  const log = store.log(`.leasectl/inbox/orders/partitions/${partition}`)
  const { bytes } = await log.read({ segment: 0, offset: 0 }, 1_000_000)
  return new TextDecoder()
    .decode(bytes)
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
}

test.each(['memory', 'sqlite', 'azurite'] as const)(
  'records put in %s are durable in the order of their key',
  async kind => {
    await using store = await openStore(await addresses[kind](), {})
    await store.createContainer()
    const inbox = await createInbox(store, 'orders', { by: 'shop', partitions: 1 })
    const first = inbox.put({ id: 'a', key: 'k', data: { n: 1 } })
    const others = inbox.put([
      { id: 'b', key: 'k', seq: 2, data: [null] },
      { id: 'c', data: 'text\nwith lines' },
    ])
    await Promise.all([first, others])
    await (await openInbox(store, 'orders', { lingerMs: 0 })).put({ id: 'd', data: 0 })
    expect(await recordsOf(store, '0000')).toMatchObject([
      { id: 'a', key: 'k', data: { n: 1 } },
      { id: 'b', seq: 2, data: [null] },
      { id: 'c', data: 'text\nwith lines' },
      { id: 'd', data: 0 },
    ])
  },
)

describe('the inbox of the library refuses', () => {
  test.each<[string, unknown]>([
    ['no object', 'a'],
    ['no id', { data: 1 }],
    ['an empty id', { id: '', data: 1 }],
    ['an id with a control character', { id: 'a\n', data: 1 }],
    ['a key that is no text', { id: 'a', key: {}, data: 1 }],
    ['a seq of 0', { id: 'a', seq: 0, data: 1 }],
    ['no data', { id: 'a' }],
    ['data that JSON cannot say', { id: 'a', data: () => {} }],
    ['data of more than 256 KiB', { id: 'a', data: 'x'.repeat(262_145) }],
    ['an unknown field', { id: 'a', data: 1, kee: 'k' }],
  ])('%s, and puts none of the records', async (_, record) => {
    await using store = await openStore('memory:', {})
    const inbox = await createInbox(store, 'orders', { by: 'shop', partitions: 1 })
    const records = [{ id: 'ok', data: 1 }, record] as { id: string; data: unknown }[]
    await expect(inbox.put(records)).rejects.toMatchObject({ code: 'invalid-value' })
    expect(await recordsOf(store, '0000')).toEqual([])
  })

  test('an inbox that is not there, another number of partitions, and a promise of a store', async () => {
    await using store = await openStore('memory:', {})
    await expect(openInbox(store, 'orders')).rejects.toMatchObject({ code: 'inbox-not-found' })
    await createInbox(store, 'orders', { by: 'shop' })
    await expect(createInbox(store, 'orders', { by: 'shop', partitions: 3 })).rejects.toThrow('has 8 partitions')
    expect((await createInbox(store, 'orders', { by: 'bob' })).partitions).toBe(8)
    await expect(openInbox(Promise.resolve(store) as never, 'orders')).rejects.toMatchObject({ code: 'invalid-value' })
    await expect(openInbox(store, 'a/b')).rejects.toMatchObject({ code: 'invalid-value' })
  })

  test('a call whose signal has aborted, with the reason of the signal', async () => {
    await using store = await openStore('memory:', {})
    const inbox = await createInbox(store, 'orders', { by: 'shop', partitions: 1 })
    const stop = new AbortController()
    const putting = inbox.put({ id: 'a', data: 1 }, { signal: stop.signal })
    stop.abort(new Error('no more'))
    await expect(putting).rejects.toThrow('no more')
    await expect(inbox.put({ id: 'b', data: 1 }, { signal: stop.signal })).rejects.toThrow('no more')
  })
})

describe('an inbox in two regions', () => {
  async function twoStores(partitions: readonly [number, number] = [1, 1]) {
    const stores = [await openStore('memory:', {}), await openStore('memory:', {})] as const
    for (const at of [0, 1] as const)
      await createInbox(stores[at], 'orders', { by: 'shop', partitions: partitions[at] })
    return stores
  }

  test('has each record in both, and says where the records of a put are', async () => {
    const [store, also] = await twoStores()
    const inbox = await openInbox(store, 'orders', { also, preferMs: 5_000 })
    expect(
      await inbox.put([
        { id: 'a', key: 'k', data: 1 },
        { id: 'b', data: 2 },
      ]),
    ).toEqual({ put: 2, onlyFirst: 0, onlySecond: 0 })
    expect(await recordsOf(store, '0000')).toMatchObject([{ id: 'a', key: 'k', data: 1 }, { id: 'b' }])
    const [copy] = (await recordsOf(also, '0000')) as { id: string; at: string; notBefore: string }[]
    expect(Date.parse(copy?.notBefore ?? '') - Date.parse(copy?.at ?? '')).toBe(5_000)
  })

  test('takes records while one is away, and tells which', async () => {
    const [store, also] = [
      await openStore(`sqlite:${join(folder, 'a.db')}`, {}),
      await openStore(`sqlite:${join(folder, 'b.db')}`, {}),
    ]
    for (const one of [store, also]) await one.createContainer()
    for (const one of [store, also]) await createInbox(one, 'orders', { by: 'shop', partitions: 1 })
    const told: string[] = []
    const options = { also, onRegion: ({ kind, place }: RegionEvent) => void told.push(`${kind} ${place}`) }
    const inbox = await openInbox(store, 'orders', options)
    await also.close()
    expect(await inbox.put({ id: 'a', data: 1 })).toEqual({ put: 1, onlyFirst: 1, onlySecond: 0 })
    expect(told).toEqual(['away second'])
    await store.close()
    await expect(inbox.put({ id: 'b', data: 1 })).rejects.toMatchObject({ code: 'store-closed' })
  })

  test('is refused with itself, other partitions, no inbox, or preferMs alone', async () => {
    const [store, also] = await twoStores([1, 2])
    const refused = (options: OpenInboxOptions) => expect(openInbox(store, 'orders', options)).rejects
    await refused({ also: store }).toThrow('options.also is the store itself')
    await refused({ also }).toThrow('has 1 partitions in the first store and 2 in that of also')
    await refused({ also: await openStore('memory:', {}) }).toMatchObject({ code: 'inbox-not-found' })
    await refused({ preferMs: 5 }).toThrow('options.preferMs goes with also')
    await refused({ also: {} as never }).toMatchObject({ code: 'invalid-value' })
  })
})

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createInbox, type OpenedStore, openInbox, openStore } from '../../../src/index.ts'
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

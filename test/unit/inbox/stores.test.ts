import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createInbox, readInbox } from '../../../src/inbox/inbox.ts'
import { partitionStates, totalLag } from '../../../src/inbox/lag.ts'
import { inboxNames, removeInbox } from '../../../src/inbox/manage.ts'
import { InboxTail } from '../../../src/inbox/tail.ts'
import { InboxWriter } from '../../../src/inbox/writer.ts'
import { openStore } from '../../../src/index.ts'
import { sharedAzurite } from '../../support/azurite.ts'

const folder = mkdtempSync(join(tmpdir(), 'leasectl-inbox-'))
beforeAll(async () => void (await sharedAzurite()))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const addresses = {
  memory: async () => 'memory:',
  sqlite: async () => `sqlite:${join(folder, 'orders.db')}`,
  azurite: async () => `azurite://127.0.0.1:${(await sharedAzurite()).port}/t${randomUUID()}`,
}

test.each(['memory', 'sqlite', 'azurite'] as const)(
  'the records of an inbox in %s are counted, read from the end and followed, and removed with it',
  async kind => {
    await using store = await openStore(await addresses[kind](), {})
    await store.createContainer()
    await createInbox(store, 'orders', 3, { by: 'ada' })
    await createInbox(store, 'others', 1, { by: 'ada' })
    expect(await inboxNames(store)).toEqual(['orders', 'others'])
    const inbox = await readInbox(store, 'orders')
    if (inbox === undefined) throw new Error('no inbox')
    const writer = new InboxWriter(store, inbox, { lingerMs: 0 })
    // more than is read at a time
    const data = JSON.stringify('x'.repeat(20_000))
    const ids = Array.from({ length: 60 }, (_, n) => `r${n}`)
    for (const id of ids) await writer.put({ id, key: 'k', json: data })

    const states = await partitionStates(store, inbox, { countedBytes: 10_000_000 })
    expect(totalLag(states)).toMatchObject({ records: 60, isEstimate: false })
    const rate = states.reduce((sum, { putRate }) => sum + putRate, 0)
    expect(Math.abs(rate - 1)).toBeLessThan(0.2)
    const about = totalLag(await partitionStates(store, inbox, { countedBytes: 100_000 }))
    expect(about).toMatchObject({ isEstimate: true, bytes: totalLag(states).bytes })
    expect(Math.abs(about.records - 60)).toBeLessThan(6)

    const tail = new InboxTail(store, inbox, new AbortController().signal)
    const last = await tail.last(50)
    expect(last.map(({ found }) => found?.record.id)).toEqual(ids.slice(-50))
    expect(await tail.next()).toEqual([])
    await writer.put({ id: 'new', json: '1' })
    expect((await tail.next()).map(({ found }) => found?.record.id)).toEqual(['new'])

    expect(await removeInbox(store, inbox)).toEqual({ kind: 'removed' })
    expect(await inboxNames(store)).toEqual(['others'])
    await createInbox(store, 'orders', 3, { by: 'ada' })
    expect(await new InboxTail(store, inbox, new AbortController().signal).last(10)).toEqual([])
  },
)

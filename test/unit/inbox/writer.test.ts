import { describe, expect, it } from 'vitest'
import { createInbox, type Inbox, partitionLog, partitionOf, readInbox } from '../../../src/inbox/inbox.ts'
import { parseRecord } from '../../../src/inbox/record.ts'
import { InboxWriter } from '../../../src/inbox/writer.ts'
import { type BlockLog, LOG_START } from '../../../src/store/block-log.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { machineTiming } from '../../../src/util/clock.ts'

const BY = { by: 'ada' }

async function inboxOf(store: StreamStore, partitions = 4): Promise<Inbox> {
  const outcome = await createInbox(store, 'orders', partitions, BY)
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  return outcome.inbox
}

async function idsIn(store: StreamStore, inbox: Inbox, partition: number): Promise<string[]> {
  const { bytes } = await partitionLog(store, inbox, partition).read(LOG_START, Number.MAX_SAFE_INTEGER)
  const lines = new TextDecoder().decode(bytes).split('\n').slice(0, -1)
  return lines.map(line => parseRecord(line).id)
}

/** The store with appends that behave as told, in turn; afterwards as they are. */
function withAppends(store: StreamStore, fates: readonly ('lost' | 'unknown' | 'away')[]) {
  const left = [...fates]
  let appends = 0
  const log = (name: string): BlockLog => {
    const real = store.log(name)
    return Object.assign(Object.create(real) as BlockLog, {
      append: async (block: Uint8Array) => {
        appends += 1
        const fate = left.shift()
        if (fate === 'away') throw new StoreUnreachable('no answer')
        if (fate !== 'unknown') await real.append(block)
        return fate === undefined ? { kind: 'appended' } : { kind: 'unknown', cause: new Error('no answer') }
      },
      read: real.read.bind(real),
    })
  }
  return {
    store: Object.assign(Object.create(store) as StreamStore, { log, nowMs: store.nowMs }),
    count: () => appends,
  }
}

const record = (id: string, key?: string) => ({ id, key, json: `{"id":"${id}"}` })

describe('an inbox', () => {
  it('is created once, and keeps its number of partitions', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store)
    expect(await createInbox(store, 'orders', 9, { by: 'bob' })).toMatchObject({
      kind: 'exists',
      inbox: { partitions: 4, by: 'ada' },
    })
    expect(await readInbox(store, 'orders')).toEqual(inbox)
    expect(await readInbox(store, 'others')).toBeUndefined()
  })

  it.each(['', '.x', 'a/b', 'a b', 'x'.repeat(64)])('is not created with the name %j', async name => {
    await expect(createInbox(openMemoryStore(), name, 4, BY)).rejects.toThrow('cannot be the name of an inbox')
  })

  it.each([0, 1.5, 1_025, Number.NaN])('is not created with %d partitions', async partitions => {
    await expect(createInbox(openMemoryStore(), 'orders', partitions, BY)).rejects.toThrow('from 1 to 1024')
  })
})

describe('putting records', () => {
  it('puts each into the partition of its key, in the order of each key', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store)
    const writer = new InboxWriter(store, inbox)
    const records = Array.from({ length: 40 }, (_, at) => record(String(at), `k${at % 5}`))
    await Promise.all(records.map(one => writer.put(one)))
    expect(writer.bytes).toBe(0)
    for (let partition = 0; partition < inbox.partitions; partition++) {
      const expected = records.filter(({ key }) => partitionOf(key ?? '', inbox) === partition).map(({ id }) => id)
      expect(await idsIn(store, inbox, partition)).toEqual(expected)
    }
  })

  it('shares one block among what comes together, and begins another when it is full', async () => {
    const base = openMemoryStore()
    const inbox = await inboxOf(base, 1)
    const { store, count } = withAppends(base, [])
    await Promise.all(['a', 'b', 'c'].map(id => new InboxWriter(store, inbox).put(record(id))))
    expect(count()).toBe(3)
    const writer = new InboxWriter(store, inbox, { blockBytes: 200 })
    await Promise.all(['d', 'e', 'f', 'g'].map(id => writer.put(record(id))))
    expect(count()).toBe(5)
    expect(await idsIn(base, inbox, 0)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  })

  it.each([
    [4, 1],
    [5, 0],
  ])('a record that has waited %d of 5 ms behind an append waits for others %d times more', async (waitedMs, more) => {
    const base = openMemoryStore()
    const inbox = await inboxOf(base, 1)
    const appending = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const begun = Promise.withResolvers<void>()
    let appends = 0
    const log = (name: string): BlockLog => {
      const real = base.log(name)
      const append = async (block: Uint8Array) => {
        begun.resolve()
        await appending[appends++]?.promise
        return real.append(block)
      }
      return Object.assign(Object.create(real) as BlockLog, { append })
    }
    const store = Object.assign(Object.create(base) as StreamStore, { log, nowMs: base.nowMs })
    let [nowMs, pauses] = [0, 0]
    const pause = async () => {
      pauses += 1
    }
    const timing = { ...machineTiming, monotonicMs: () => nowMs, pause }
    const writer = new InboxWriter(store, inbox, { lingerMs: 5, timing })
    const first = writer.put(record('a'))
    await begun.promise
    const second = writer.put(record('b'))
    expect(pauses).toBe(1)
    nowMs = waitedMs
    for (const { resolve } of appending) resolve()
    await Promise.all([first, second])
    expect(pauses).toBe(1 + more)
    expect(await idsIn(base, inbox, 0)).toEqual(['a', 'b'])
  })

  it('keeps every byte of records of all lengths and scripts in blocks that grow', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    const writer = new InboxWriter(store, inbox)
    const texts = Array.from({ length: 60 }, (_, at) => ['a', 'é', '名', '😀'][at % 4]?.repeat(at * 40) ?? '')
    const records = texts.map((text, at) => ({ id: `é${at}`, key: 'k', seq: at + 1, json: JSON.stringify({ text }) }))
    await Promise.all(records.map(one => writer.put(one)))
    const { bytes } = await partitionLog(store, inbox, 0).read(LOG_START, Number.MAX_SAFE_INTEGER)
    const lines = Buffer.from(bytes).toString().trimEnd().split('\n')
    expect(bytes.length).toBeGreaterThan(64 * 1024)
    expect(lines.map(parseRecord)).toMatchObject(
      texts.map((text, at) => ({ id: `é${at}`, seq: at + 1, data: { text } })),
    )
  })

  it('puts a block again whose answer was lost, so that nothing is missing', async () => {
    const base = openMemoryStore()
    const inbox = await inboxOf(base, 1)
    const { store } = withAppends(base, ['lost', 'unknown'])
    const writer = new InboxWriter(store, inbox)
    await writer.put(record('a'))
    expect(await idsIn(base, inbox, 0)).toEqual(['a', 'a'])
  })

  it('is unknown after several attempts without an answer, and fails what waits behind it', async () => {
    const base = openMemoryStore()
    const inbox = await inboxOf(base, 1)
    const { store } = withAppends(base, ['unknown', 'unknown', 'unknown'])
    const writer = new InboxWriter(store, inbox, { blockBytes: 50 })
    const outcomes = await Promise.allSettled(['a', 'b'].map(id => writer.put(record(id))))
    expect(outcomes).toMatchObject([
      { status: 'rejected', reason: { code: 'unknown' } },
      { status: 'rejected', reason: { code: 'unknown' } },
    ])
    await writer.put(record('c'))
    expect(await idsIn(base, inbox, 0)).toEqual(['c'])
  })

  it('fails with the fault of the store, and takes records again once it answers', async () => {
    const base = openMemoryStore()
    const inbox = await inboxOf(base, 1)
    const { store } = withAppends(base, ['away'])
    const writer = new InboxWriter(store, inbox)
    await expect(writer.put(record('a'))).rejects.toMatchObject({ code: 'store-unreachable' })
    await writer.put(record('b'))
    expect(await idsIn(base, inbox, 0)).toEqual(['b'])
  })

  it('says when too much waits, and when there is room again', async () => {
    const base = openMemoryStore()
    const inbox = await inboxOf(base, 1)
    const writer = new InboxWriter(base, inbox, { mostBytes: 100 })
    const puts = ['a', 'b'].map(id => writer.put(record(id)))
    expect(writer.isFull).toBe(true)
    await writer.room()
    expect(writer.isFull).toBe(false)
    await Promise.all(puts)
  })
})

describe('partitions', () => {
  it('wait for more records together, so that their blocks reach the store in one turn', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 16)
    const waits: PromiseWithResolvers<void>[] = []
    const pause = () => {
      const wait = Promise.withResolvers<void>()
      waits.push(wait)
      return wait.promise
    }
    const writer = new InboxWriter(store, inbox, { timing: { ...machineTiming, pause } })
    const puts = Array.from({ length: 100 }, (_, at) => writer.put(record(`r${at}`)))
    expect(waits.length).toBe(1)
    waits[0]?.resolve()
    await Promise.all(puts)
    const later = [writer.put(record('a')), writer.put(record('b'))]
    expect(waits.length).toBe(2)
    waits[1]?.resolve()
    await Promise.all(later)
  })
})

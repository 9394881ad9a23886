import { describe, expect, it } from 'vitest'
import { readCheckpoint } from '../../../../src/inbox/checkpoint.ts'
import { blockedKeys } from '../../../../src/inbox/drain/blocked-keys.ts'
import { readDeadLetters, settleDeadLetters, writeDeadLetter } from '../../../../src/inbox/drain/dead-letters.ts'
import { type DrainOptions, drain } from '../../../../src/inbox/drain/drain.ts'
import type { DrainEvent } from '../../../../src/inbox/drain/types.ts'
import { drainWork } from '../../../../src/inbox/drain/work.ts'
import { createInbox, type Inbox, partitionLog, partitionOf } from '../../../../src/inbox/inbox.ts'
import { InboxWriter } from '../../../../src/inbox/writer.ts'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { transact } from '../../../../src/ops/transact/transact.ts'
import { type BlockLog, LOG_START } from '../../../../src/store/block-log.ts'
import { StoreFull, StoreUnreachable } from '../../../../src/store/errors.ts'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import type { StreamStore } from '../../../../src/store/store.ts'

const BY = 'ada@host'
const NEVER = new AbortController().signal

async function inboxOf(store: StreamStore, partitions = 4): Promise<Inbox> {
  const outcome = await createInbox(store, 'orders', partitions, { by: BY })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  return outcome.inbox
}

async function put(store: StreamStore, inbox: Inbox, ids: readonly string[], key?: string): Promise<void> {
  const writer = new InboxWriter(store, inbox, { lingerMs: 0 })
  await Promise.all(ids.map(id => writer.put({ id, key, json: `{"n":"${id}"}` })))
}

const creates = (store: StreamStore, name = 'd/{/id}', tag?: string) =>
  drainWork(
    store,
    { kind: 'create', name, init: { op: 'init', root: { name: 'D', ...(tag && { tag }) }, forks: [], hold: false } },
    { by: BY },
  )

const appends = (store: StreamStore) =>
  drainWork(store, { kind: 'append', name: 'cars/{/key}', step: { name: 'Move' } }, { by: BY })

const once = (store: StreamStore, inbox: Inbox, options: Partial<DrainOptions> = {}) =>
  drain(
    store,
    { inbox, work: creates(store), by: BY, concurrency: 16, checkpointIntervalMs: 50, once: true, ...options },
    NEVER,
  )

/** Steps of a session in the order in which they can be worked: each is completed once it is ready. */
async function worked(store: StreamStore, name: string): Promise<string[]> {
  const done: string[] = []
  for (;;) {
    const view = await readStream(store, name)
    const ready = view?.stream.events.find(({ status }) => status === 'init')
    if (ready === undefined) return done
    done.push(ready.input?.text ?? '')
    await transact(store, name, { op: 'complete', event: ready.id }, { by: BY, commandId: `done-${ready.id}` })
  }
}

async function names(store: StreamStore, prefix: string): Promise<string[]> {
  const found: string[] = []
  for await (const page of store.list({ prefix })) found.push(...page.map(({ name }) => name))
  return found
}

const ids = (count: number, from = 0) => Array.from({ length: count }, (_, at) => `o${from + at}`)

describe('a drain', () => {
  it('makes one stream of each record, with the data as its input, and writes how far it is', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store)
    await put(store, inbox, ids(300))
    expect(await once(store, inbox)).toEqual({ done: 300, duplicates: 0, dead: 0 })
    expect((await names(store, 'd/')).sort()).toEqual(
      ids(300)
        .map(id => `d/${id}`)
        .sort(),
    )
    const view = await readStream(store, 'd/o7')
    expect(view?.stream.events[0]?.input).toMatchObject({ type: 'application/json', text: '{"n":"o7"}' })
    const written = await Promise.all([0, 1, 2, 3].map(number => readCheckpoint(store, inbox, number)))
    expect(written.reduce((sum, checkpoint) => sum + (checkpoint?.records ?? 0), 0)).toBe(300)
    expect(await once(store, inbox)).toEqual({ done: 0, duplicates: 0, dead: 0 })
  })

  it('that runs once ends when all is done, whatever the interval of its checkpoints', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store)
    await put(store, inbox, ids(10))
    expect(await once(store, inbox, { checkpointIntervalMs: 3_600_000 })).toMatchObject({ done: 10 })
    expect(await once(store, inbox)).toMatchObject({ done: 0 })
  })

  it('takes a record that is there twice, or seen again without its checkpoint, as a duplicate', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store)
    await put(store, inbox, ['a', 'b'])
    await put(store, inbox, ['a'])
    expect(await once(store, inbox)).toEqual({ done: 2, duplicates: 1, dead: 0 })
    for (const number of [0, 1, 2, 3]) await store.remove(`.leasectl/inbox/orders/checkpoints/4/${number}`, {})
    expect(await once(store, inbox, { work: creates(store, 'd/{/id}', 'other') })).toEqual({
      ...{ done: 0, duplicates: 3, dead: 0 },
    })
  })

  it('buries what can never be done, says why, and goes on', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    const init = { op: 'init', root: { name: 'X' }, forks: [], hold: false, born: 'x' } as const
    await transact(store, 'd/taken', init, { commandId: 'mine', by: BY })
    await partitionLog(store, inbox, 0).append(Buffer.from('not a record\n'))
    await put(store, inbox, ['taken', '../up', 'good'])
    expect(await once(store, inbox)).toEqual({ done: 1, duplicates: 0, dead: 3 })
    const letters = await readDeadLetters(store, inbox)
    expect(letters.map(({ id, code }) => `${id} ${code}`).sort()).toEqual([
      ' invalid-value',
      '../up invalid-value',
      'taken exists',
    ])
    expect(await readCheckpoint(store, inbox, 0)).toMatchObject({ records: 4, dead: 3 })
  })

  it('keeps a record that has died again before its retry was written down', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    await partitionLog(store, inbox, 0).append(Buffer.from('not a record\n'))
    await once(store, inbox)
    const letters = await readDeadLetters(store, inbox)
    const [letter] = letters
    if (letter === undefined) throw new Error('no letter')
    const again = { ...letter, diedAt: new Date(Date.parse(letter.diedAt) + 5).toISOString(), why: 'again' }
    const log: StreamStore['log'] = name => {
      const real = store.log(name)
      const append: BlockLog['append'] = async block => {
        const outcome = await real.append(block)
        // A drain takes the line at once.
        if (!name.endsWith('/dead')) await writeDeadLetter(store, inbox, again)
        return outcome
      }
      return {
        append,
        read: (...given) => real.read(...given),
        extent: (...given) => real.extent(...given),
        trim: (...given) => real.trim(...given),
        remove: (...given) => real.remove(...given),
      }
    }
    const slow: StreamStore = Object.assign(Object.create(store), { log, nowMs: store.nowMs })
    await settleDeadLetters(slow, inbox, letters, { how: 'retried', by: BY })
    expect(await readDeadLetters(store, inbox)).toMatchObject([{ letter: letter.letter, why: 'again' }])
    await settleDeadLetters(store, inbox, await readDeadLetters(store, inbox), { how: 'dropped', by: BY })
    expect(await readDeadLetters(store, inbox)).toEqual([])
  })

  it('drains a dead letter again once it is retried, and forgets one that is dropped', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    const init = { op: 'init', root: { name: 'X' }, forks: [], hold: false, born: 'x' } as const
    for (const name of ['d/a', 'd/b']) await transact(store, name, init, { commandId: 'mine', by: BY })
    await put(store, inbox, ['a', 'b'])
    await once(store, inbox)
    const [a, b] = await readDeadLetters(store, inbox)
    if (a === undefined || b === undefined) throw new Error('no letters')
    await store.remove('d/a', {})
    await settleDeadLetters(store, inbox, [a], { how: 'retried', by: BY })
    await settleDeadLetters(store, inbox, [b], { how: 'dropped', by: BY })
    expect(await readDeadLetters(store, inbox)).toEqual([])
    expect(await once(store, inbox)).toEqual({ done: 1, duplicates: 0, dead: 0 })
    // The store keeps the last block.
    const left = await store.log('.leasectl/inbox/orders/dead').read(LOG_START, 1_000_000)
    expect(new TextDecoder().decode(left.bytes)).not.toContain('"line"')
  })

  it('works on the records of a key one after the other, in their order', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 2)
    await put(store, inbox, ids(40), 'k')
    await put(store, inbox, ids(40, 100), 'l')
    const running = new Map<string, number>()
    const order: string[] = []
    const inner = appends(store)
    const work = {
      ...inner,
      apply: async (...[read, commandId]: Parameters<typeof inner.apply>) => {
        const { key, id } = read.record
        running.set(key, (running.get(key) ?? 0) + 1)
        expect(running.get(key)).toBe(1)
        const outcome = await inner.apply(read, commandId)
        running.set(key, 0)
        if (key === 'k') order.push(id)
        return outcome
      },
    }
    expect(await once(store, inbox, { work })).toEqual({ done: 80, duplicates: 0, dead: 0 })
    expect(order).toEqual(ids(40))
    const view = await readStream(store, 'cars/k')
    const moves = view?.stream.events.filter(({ name }) => name === 'Move').map(({ input }) => input?.text)
    expect(moves).toEqual(ids(40).map(id => `{"n":"${id}"}`))
  })

  it('lets a record that takes long hold up its own key only', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    await put(store, inbox, ['slow', ...ids(50)])
    const rest = Promise.withResolvers<void>()
    const inner = creates(store)
    let others = 0
    const work: DrainOptions['work'] = {
      ...inner,
      apply: async (read, commandId) => {
        if (read.record.id === 'slow') await rest.promise
        else if (++others === 50) rest.resolve()
        return inner.apply(read, commandId)
      },
    }
    expect(await once(store, inbox, { work })).toMatchObject({ done: 51 })
  })

  it('tries again while the store does not answer, and halves its concurrency', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    await put(store, inbox, ids(20))
    let away = 30
    const create: StreamStore['create'] = async (name, ...rest) => {
      if (name.startsWith('d/') && away-- > 0) throw new StoreUnreachable('no answer')
      return store.create(name, ...rest)
    }
    const failing: StreamStore = Object.assign(Object.create(store), { create })
    const events: DrainEvent[] = []
    const timing = quickTiming()
    const options = { work: creates(failing), observe: (event: DrainEvent) => events.push(event), timing }
    expect(await once(store, inbox, options)).toEqual({ done: 20, duplicates: 0, dead: 0 })
    expect(events.filter(({ kind }) => kind === 'again')).toHaveLength(30)
  })

  it('tells of a store without room once until it can write again, though it can read meanwhile', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    await put(store, inbox, ids(20))
    let refused = 0
    const update: StreamStore['update'] = async (name, ...rest) => {
      if (name.startsWith('.') && refused++ < 100) throw new StoreFull('no room left')
      return store.update(name, ...rest)
    }
    const full = new Proxy(store, {
      get(target, key) {
        const value: unknown = key === 'update' ? update : Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const events: DrainEvent[] = []
    const observe = (event: DrainEvent) => events.push(event)
    const timing = quickTiming()
    await once(full, inbox, { work: creates(store), observe, timing, checkpointEvery: 1 })
    expect(refused).toBeGreaterThan(100)
    expect(events.filter(({ kind }) => kind === 'interrupted' || kind === 'resumed')).toMatchObject([
      { kind: 'interrupted', error: { message: 'no room left' } },
      { kind: 'resumed' },
    ])
  })

  it('does not begin a record before its time', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    const writer = new InboxWriter(store, inbox, { lingerMs: 0, notBeforeMs: 300 })
    const putMs = store.nowMs()
    await writer.put({ id: 'a', json: '1' })
    await once(store, inbox)
    const view = await readStream(store, 'd/a')
    expect(Date.parse(view?.transactions()[0]?.at ?? '')).toBeGreaterThanOrEqual(putMs + 299)
  })

  it('drains what is due, however much waits for its time before it in the partition', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    const early = new InboxWriter(store, inbox, { lingerMs: 0, notBeforeMs: 600_000 })
    await Promise.all(ids(3_000).map(id => early.put({ id, key: `k${id.length}`, json: '1' })))
    await put(store, inbox, ['due'])
    const stop = new AbortController()
    const created: string[] = []
    const observe = (event: DrainEvent) => {
      if (event.kind !== 'done') return
      created.push(event.id)
      stop.abort()
    }
    await drain(store, { inbox, work: creates(store), by: BY, concurrency: 4, observe }, stop.signal)
    expect(created).toEqual(['due'])
  })

  it('goes on where another drain has stopped: what that has written is not seen again', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 2)
    await put(store, inbox, ids(100))
    const stop = new AbortController()
    let seen = 0
    const observe = (event: DrainEvent) => {
      if (event.kind === 'done' && ++seen === 30) stop.abort()
    }
    const first = await drain(store, { inbox, work: creates(store), by: BY, concurrency: 4, observe }, stop.signal)
    const second = await once(store, inbox)
    expect(first.done + second.done).toBe(100)
    expect(second.duplicates).toBeLessThanOrEqual(20)
  })

  it('shares the partitions with another drain, and drains only those of its part', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 4)
    await put(store, inbox, ids(200))
    const expected = ids(200).filter(id => partitionOf(id, inbox) % 2 === 1).length
    const part = await once(store, inbox, { part: { index: 1, count: 2 } })
    expect(part.done).toBe(expected)
    const both = await Promise.all([once(store, inbox), once(store, inbox)])
    expect(both.reduce((sum, { done }) => sum + done, 0)).toBe(200 - expected)
  })

  describe('in strict order', () => {
    /** Where the session of k is taken by a stream that is none, and l is free. */
    async function blockedWorld() {
      const store = openMemoryStore()
      const inbox = await inboxOf(store, 1)
      const init = { op: 'init', root: { name: 'X' }, forks: [], hold: false, born: 'x' } as const
      await transact(store, 'cars/k', init, { commandId: 'mine', by: BY })
      const run = () => once(store, inbox, { work: appends(store), strictOrder: true })
      const codes = async () => (await readDeadLetters(store, inbox)).map(({ id, code }) => `${id} ${code}`)
      const settle = async (how: 'retried' | 'dropped', id: string) => {
        const letters = (await readDeadLetters(store, inbox)).filter(letter => letter.id === id)
        await settleDeadLetters(store, inbox, letters, { how, by: BY })
      }
      return { store, inbox, run, codes, settle }
    }

    it('a dead letter blocks its key, over restarts, and no other', async () => {
      const { store, inbox, run, codes } = await blockedWorld()
      await put(store, inbox, ['a', 'b'], 'k')
      await put(store, inbox, ['x', 'y'], 'l')
      expect(await run()).toEqual({ done: 2, duplicates: 0, dead: 2 })
      expect(await codes()).toEqual(['a no-session', 'b blocked'])
      await store.remove('cars/k', {})
      await put(store, inbox, ['c'], 'k')
      expect(await run()).toEqual({ done: 0, duplicates: 0, dead: 1 })
      expect(await codes()).toEqual(['a no-session', 'b blocked', 'c blocked'])
      expect(blockedKeys(await readDeadLetters(store, inbox))).toMatchObject([
        { key: 'k', letter: { id: 'a' }, records: 2 },
      ])
      expect(await store.read('cars/k')).toBeUndefined()
    })

    it('a retry goes on with the record where it stands, and what waits behind it', async () => {
      const { store, inbox, run, codes, settle } = await blockedWorld()
      await put(store, inbox, ['a', 'b', 'c'], 'k')
      await run()
      await settle('retried', 'a')
      expect(await run()).toEqual({ done: 0, duplicates: 0, dead: 1 })
      expect(await codes()).toEqual(['a no-session', 'b blocked', 'c blocked'])
      await store.remove('cars/k', {})
      await settle('retried', 'a')
      await put(store, inbox, ['d'], 'k')
      expect(await run()).toEqual({ done: 4, duplicates: 0, dead: 0 })
      expect(await worked(store, 'cars/k')).toEqual(['a', 'b', 'c', 'd'].map(id => `{"n":"${id}"}`))
      expect(await codes()).toEqual([])
    })

    it('a drop goes on with what waits behind the record, while the drain runs', async () => {
      const { store, inbox, codes, settle } = await blockedWorld()
      await put(store, inbox, ['a', 'b'], 'k')
      const stop = new AbortController()
      const dead = Promise.withResolvers<void>()
      const done: string[] = []
      const observe = (event: DrainEvent) => {
        if (event.kind === 'dead' && event.letter.id === 'b') dead.resolve()
        if (event.kind === 'done' && done.push(event.id) === 2) stop.abort()
      }
      const options = { inbox, work: appends(store), by: BY, concurrency: 4, strictOrder: true, observe }
      const run = drain(store, { ...options, checkpointIntervalMs: 20 }, stop.signal)
      await dead.promise
      await store.remove('cars/k', {})
      await put(store, inbox, ['c'], 'k')
      await settle('dropped', 'a')
      await run
      expect(done).toEqual(['b', 'c'])
      expect(await worked(store, 'cars/k')).toEqual(['b', 'c'].map(id => `{"n":"${id}"}`))
      expect(await codes()).toEqual([])
    })
  })

  it('appends records with a number as the steps of that number, each behind the one before it even if that comes later', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    const writer = new InboxWriter(store, inbox, { lingerMs: 0 })
    const putSeq = (seq: number, id = `r${seq}`) => writer.put({ id, key: 'k', seq, json: String(seq) })
    for (const seq of [2, 1, 4, 4]) await putSeq(seq)
    expect(await once(store, inbox, { work: appends(store) })).toEqual({ done: 3, duplicates: 1, dead: 0 })
    expect(await worked(store, 'cars/k')).toEqual(['1', '2'])
    await putSeq(2, 'other')
    await putSeq(3)
    expect(await once(store, inbox, { work: appends(store) })).toEqual({ done: 1, duplicates: 0, dead: 1 })
    expect(await readDeadLetters(store, inbox)).toMatchObject([{ id: 'other', code: 'step-taken', stream: 'cars/k' }])
    expect(await worked(store, 'cars/k')).toEqual(['3', '4'])
  })

  it('of two inboxes with the same records in another order ends in one order of work, each record once', async () => {
    const store = openMemoryStore()
    const seqs = Array.from({ length: 12 }, (_, at) => at + 1)
    const orders = [seqs, [6, 5, 12, 1, 2, 4, 3, 11, 10, 7, 9, 8]]
    const stores = [openMemoryStore(), openMemoryStore()]
    const drains = stores.map(async (own, at) => {
      const inbox = await inboxOf(own, 1)
      const writer = new InboxWriter(own, inbox, { lingerMs: 0 })
      for (const seq of orders[at] ?? []) await writer.put({ id: `r${seq}`, key: 'k', seq, json: String(seq) })
      return once(own, inbox, { work: appends(store) })
    })
    const reports = await Promise.all(drains)
    expect(reports.reduce((sum, { done }) => sum + done, 0)).toBe(12)
    expect(reports.every(({ dead }) => dead === 0)).toBe(true)
    expect(await worked(store, 'cars/k')).toEqual(seqs.map(String))
  })

  it('takes the number of a record as a value only, where each record creates a stream', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    const writer = new InboxWriter(store, inbox, { lingerMs: 0 })
    for (const seq of [3, 1]) await writer.put({ id: `r${seq}`, key: 'k', seq, json: '1' })
    expect(await once(store, inbox, { work: creates(store, 'd/{/key}-{/seq}') })).toMatchObject({ done: 2, dead: 0 })
    expect((await names(store, 'd/')).sort()).toEqual(['d/k-1', 'd/k-3'])
  })

  it('removes what is drained and older than it has to keep', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    for (const id of ['a', 'b', 'c']) await put(store, inbox, [id])
    const bytes = async () => (await partitionLog(store, inbox, 0).extent())?.bytes ?? 0
    const all = await bytes()
    await once(store, inbox, { keepMs: 3_600_000 })
    expect(await bytes()).toBe(all)
    await once(store, inbox, { keepMs: -1_000 })
    // The store keeps the last block.
    expect(await bytes()).toBe(all / 3)
  })

  it('removes beyond a line that is no record: those before it say how old it is', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store, 1)
    const log = partitionLog(store, inbox, 0)
    await put(store, inbox, ['a'])
    await log.append(Buffer.from(`${'x'.repeat(300_000)}\n`))
    for (const id of ['b', 'c']) await put(store, inbox, [id])
    await once(store, inbox, { keepMs: -1_000 })
    const { bytes } = await log.read(LOG_START, 1_000_000)
    expect(Buffer.from(bytes).toString()).toMatch(/^\{"id":"c".*\n$/)
  })

  it('ends with the fault of a checkpoint that is damaged, or of a newer version, and drains nothing', async () => {
    for (const text of ['{"kind":"inbox', '{"apiVersion":"leasectl/v9","kind":"inbox-checkpoint"}']) {
      const store = openMemoryStore()
      const inbox = await inboxOf(store, 1)
      await put(store, inbox, ['a'])
      await once(store, inbox)
      const name = '.leasectl/inbox/orders/checkpoints/1/0'
      const summary = (await store.read(name))?.summary
      await store.remove(name, {})
      if (summary === undefined) throw new Error('no summary')
      await store.create(name, Buffer.from(text), summary)
      await put(store, inbox, ['b'])
      await expect(once(store, inbox)).rejects.toMatchObject({
        code: text.includes('v9') ? 'store-incompatible' : 'bad-document',
      })
      expect(await names(store, 'd/')).toEqual(['d/a'])
    }
  })
})

function quickTiming() {
  return {
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    random: () => 0.5,
    pause: (ms: number, signal: AbortSignal) =>
      new Promise<void>(resolve => {
        if (signal.aborted) return resolve()
        setTimeout(resolve, Math.min(ms, 20))
      }),
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { readCheckpoint } from '../../../../src/inbox/checkpoint.ts'
import { readDeadLetters } from '../../../../src/inbox/drain/dead-letters.ts'
import { type DrainOptions, drain } from '../../../../src/inbox/drain/drain.ts'
import { ConcurrencyLimit, RateLimit } from '../../../../src/inbox/drain/limits.ts'
import type { DrainEvent } from '../../../../src/inbox/drain/types.ts'
import { drainWork } from '../../../../src/inbox/drain/work.ts'
import { createInbox, type Inbox, partitionLog } from '../../../../src/inbox/inbox.ts'
import { isStillBefore } from '../../../../src/inbox/last-line.ts'
import { viewInbox } from '../../../../src/inbox/view.ts'
import { InboxWriter } from '../../../../src/inbox/writer.ts'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { type BlockLog, LOG_START } from '../../../../src/store/block-log.ts'
import { StoreFull, StoreUnreachable } from '../../../../src/store/errors.ts'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import type { StreamStore } from '../../../../src/store/store.ts'

const BY = 'ada@host'
const NEVER = new AbortController().signal
const COUNT = 40
const isCheckpoint = (name: string) => name.includes('/checkpoints/')
const isStream = (name: string) => name.startsWith('d/') || name.startsWith('cars/')

/** Pauses are short, so that repetitions come at once. */
const QUICK = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  random: () => 0.5,
  pause: async (ms: number, signal: AbortSignal) => {
    await pause(Math.min(ms, 5), undefined, { signal }).catch(() => undefined)
  },
}

async function inboxOf(store: StreamStore, partitions = 1): Promise<Inbox> {
  const outcome = await createInbox(store, 'orders', partitions, { by: BY })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  return outcome.inbox
}

async function putAll(store: StreamStore, inbox: Inbox, count = COUNT): Promise<void> {
  const writer = new InboxWriter(store, inbox, { lingerMs: 0 })
  const puts = Array.from({ length: count }, (_, at) => writer.put({ id: `o${at}`, key: `k${at % 3}`, json: `${at}` }))
  await Promise.all(puts)
}

const creates = (store: StreamStore) =>
  drainWork(
    store,
    { kind: 'create', name: 'd/{/id}', init: { op: 'init', root: { name: 'D' }, forks: [], hold: false } },
    { by: BY },
  )
const appends = (store: StreamStore) =>
  drainWork(store, { kind: 'append', name: 'cars/{/key}', step: { name: 'Move' } }, { by: BY })

const once = (store: StreamStore, inbox: Inbox, options: Partial<DrainOptions> = {}) =>
  drain(
    store,
    {
      ...{ inbox, work: creates(store), by: BY, concurrency: 16, checkpointIntervalMs: 20, once: true, timing: QUICK },
      ...options,
    },
    NEVER,
  )

/** A store or a log in which some functions are other ones. */
function where<Inner extends object>(inner: Inner, changed: Partial<Inner>): Inner {
  return new Proxy(inner, {
    get(target, key) {
      const value: unknown = changed[key as keyof Inner] ?? Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function names(store: StreamStore, prefix: string): Promise<string[]> {
  const found: string[] = []
  for await (const page of store.list({ prefix })) found.push(...page.map(({ name }) => name))
  return found
}

async function expectEachOnce(store: StreamStore, count = COUNT): Promise<void> {
  expect((await names(store, 'd/')).length).toBe(count)
  for (let at = 0; at < count; at++) {
    const view = await readStream(store, `d/o${at}`)
    expect(view?.stream.events[0]?.input?.text).toBe(`${at}`)
    expect(view?.transactions()).toHaveLength(1)
  }
}

async function expectInOrder(store: StreamStore): Promise<void> {
  for (const key of [0, 1, 2]) {
    const view = await readStream(store, `cars/k${key}`)
    const moves = view?.stream.events.filter(({ name }) => name === 'Move').map(({ input }) => Number(input?.text))
    expect(moves).toEqual(Array.from({ length: COUNT }, (_, at) => at).filter(at => at % 3 === key))
  }
}

/** Faults of one call: `before` it the request is lost, `after` it the answer; `twice` it is applied two times. */
type Fault = 'before' | 'after' | 'unknown' | 'twice' | 'full'
const FAULTS: readonly Fault[] = ['before', 'after', 'unknown', 'twice', 'full']

/** Strikes every third call that matches; counts how often. */
function faulty(inner: StreamStore, fault: Fault, matches: (name: string) => boolean) {
  const hits = { count: 0 }
  let calls = 0
  const strike = async <Result>(name: string, call: () => Promise<Result>, unknown: () => Result): Promise<Result> => {
    if (!matches(name) || ++calls % 3 !== 0) return call()
    hits.count += 1
    if (fault === 'before') throw new StoreUnreachable('no answer')
    if (fault === 'full') throw new StoreFull('no space is left')
    await call()
    if (fault === 'after') throw new StoreUnreachable('no answer')
    return fault === 'unknown' ? unknown() : call()
  }
  const lost = () => ({ kind: 'unknown', cause: new StoreUnreachable('no answer') }) as const
  const store = where(inner, {
    create: (...args) => strike(args[0], () => inner.create(...args), lost),
    update: (...args) => strike(args[0], () => inner.update(...args), lost),
  })
  return { store, hits }
}

describe.each(FAULTS)('while every third write ends with the fault %s', fault => {
  test('each record becomes one stream', async () => {
    const inner = openMemoryStore()
    const inbox = await inboxOf(inner)
    await putAll(inner, inbox)
    const { store, hits } = faulty(inner, fault, isStream)
    expect(await once(inner, inbox, { work: creates(store) })).toMatchObject({ dead: 0 })
    expect(hits.count).toBeGreaterThan(5)
    await expectEachOnce(inner)
  })

  test('each record becomes one step, in order', async () => {
    const inner = openMemoryStore()
    const inbox = await inboxOf(inner)
    await putAll(inner, inbox)
    const { store, hits } = faulty(inner, fault, isStream)
    expect(await once(inner, inbox, { work: appends(store) })).toMatchObject({ dead: 0 })
    expect(hits.count).toBeGreaterThan(5)
    await expectInOrder(inner)
  })

  test('the checkpoint is written in the end, and nothing is seen again', async () => {
    const inner = openMemoryStore()
    const inbox = await inboxOf(inner)
    await putAll(inner, inbox)
    const { store, hits } = faulty(inner, fault, isCheckpoint)
    expect(await once(store, inbox, { checkpointEvery: 2 })).toEqual({ done: COUNT, duplicates: 0, dead: 0 })
    expect(hits.count).toBeGreaterThan(0)
    expect(await readCheckpoint(inner, inbox, 0)).toMatchObject({ records: COUNT })
    expect(await once(inner, inbox)).toEqual({ done: 0, duplicates: 0, dead: 0 })
  })
})

test.each([
  ['records', (name: string) => !name.endsWith('/dead')],
  ['dead letters', (name: string) => name.endsWith('/dead')],
])('a drain whose store keeps silent when asked for %s, ends at once when it is stopped', async (_, matches) => {
  const inner = openMemoryStore()
  const inbox = await inboxOf(inner)
  await putAll(inner, inbox)
  const silent = Promise.withResolvers<void>()
  const log = (name: string): BlockLog => {
    const real = inner.log(name)
    const read: BlockLog['read'] = async (from, maxBytes, signal) => {
      const lines = await real.read(from, maxBytes, signal)
      if (lines.bytes.length > 0 || !matches(name)) return lines
      silent.resolve()
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    }
    return where(real, { read })
  }
  const stop = new AbortController()
  const options = { inbox, work: creates(inner), by: BY, concurrency: 16, checkpointIntervalMs: 60_000 }
  const run = drain(where(inner, { log }), options, stop.signal)
  await silent.promise
  stop.abort()
  const { done } = await run
  expect(await readCheckpoint(inner, inbox, 0)).toMatchObject({ records: done })
})

/** A store whose log of dead letters has a fault in every second append. */
function deadLettersWhere(inner: StreamStore, fault: 'lost' | 'twice' | 'unknown'): StreamStore {
  let calls = 0
  const log = (name: string): BlockLog => {
    const real = inner.log(name)
    if (!name.endsWith('/dead')) return real
    const append: BlockLog['append'] = async (...args) => {
      if (++calls % 2 === 0) return real.append(...args)
      if (fault === 'lost') throw new StoreUnreachable('no answer')
      const outcome = await real.append(...args)
      return fault === 'twice' ? real.append(...args) : { ...outcome, kind: 'unknown', cause: undefined }
    }
    return where(real, { append })
  }
  return where(inner, { log })
}

test.each(['lost', 'twice', 'unknown'] as const)('a dead letter whose append is %s is kept once', async fault => {
  const inner = openMemoryStore()
  const inbox = await inboxOf(inner)
  await partitionLog(inner, inbox, 0).append(Buffer.from('poison one\n"poison two"\n{"id":"torn","at":"2026-0\n'))
  await putAll(inner, inbox)
  const store = deadLettersWhere(inner, fault)
  expect(await once(store, inbox)).toEqual({ done: COUNT, duplicates: 0, dead: 3 })
  expect((await readDeadLetters(inner, inbox)).map(({ line }) => line)).toEqual([
    ...['poison one', '"poison two"', '{"id":"torn","at":"2026-0'],
  ])
  await expectEachOnce(inner)
})

test('a checkpoint that is stale repeats records as duplicates, and no stream changes', async () => {
  const store = openMemoryStore()
  const inbox = await inboxOf(store)
  await putAll(store, inbox, 10)
  await once(store, inbox)
  const name = '.leasectl/inbox/orders/checkpoints/1/0'
  const old = await store.read(name)
  await putAll(store, inbox)
  await once(store, inbox)
  if (old?.summary === undefined) throw new Error('no checkpoint')
  await store.remove(name, {})
  await store.create(name, old.body, old.summary)
  expect(await once(store, inbox)).toEqual({ done: 0, duplicates: COUNT, dead: 0 })
  await expectEachOnce(store)
})

test('a checkpoint beyond the last record is a fault: what is put up to there would never be drained', async () => {
  const store = openMemoryStore()
  const inbox = await inboxOf(store)
  await putAll(store, inbox, 10)
  await once(store, inbox)
  const name = '.leasectl/inbox/orders/checkpoints/1/0'
  const old = await store.read(name)
  if (old?.summary === undefined) throw new Error('no checkpoint')
  const text = Buffer.from(old.body)
    .toString()
    .replace(/"segment": \d+/, '"segment": 999')
  await store.remove(name, {})
  await store.create(name, Buffer.from(text), old.summary)
  await putAll(store, inbox)
  await expect(once(store, inbox)).rejects.toThrow('it is beyond the last record')
})

describe('a log that has lost its end, as after a failover,', () => {
  const putEach = async (store: StreamStore, inbox: Inbox, ids: readonly string[]) => {
    // A block for each, so that new ones end where lost ones did.
    for (const id of ids) await new InboxWriter(store, inbox, { lingerMs: 0 }).put({ id, json: '{}' })
  }

  const linesOf = async (store: StreamStore, inbox: Inbox) => {
    const { bytes } = await partitionLog(store, inbox, 0).read(LOG_START, 1_000_000)
    return Buffer.from(bytes).toString().trimEnd().split('\n')
  }

  /** Without a turn of the event loop, so that no reader comes between. */
  const cutTo = async (store: StreamStore, inbox: Inbox, count: number, then: readonly string[] = []) => {
    const lines = [...(await linesOf(store, inbox)).slice(0, count), ...then]
    const log = partitionLog(store, inbox, 0)
    await log.remove()
    for (const line of lines) await log.append(Buffer.from(`${line}\n`))
  }

  test('ends the next drain, however much was put since, and is shown', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store)
    await putEach(store, inbox, ['1', '2', '3', '4'])
    await once(store, inbox)
    await cutTo(store, inbox, 1)
    await putEach(store, inbox, ['5', '6'])
    await expect(once(store, inbox)).rejects.toThrow('it is beyond the last record')
    const short = await viewInbox(store, inbox, { countedBytes: 1_000_000 })
    expect(short).toMatchObject({ lag: { records: 3 }, faults: [expect.stringContaining('beyond the last record')] })
    await putEach(store, inbox, ['7', '8'])
    await expect(once(store, inbox)).rejects.toThrow('the records before it are others')
    const long = await viewInbox(store, inbox, { countedBytes: 1_000_000 })
    expect(long).toMatchObject({ lag: { records: 5 }, faults: [expect.stringContaining('partition 0 cannot be')] })
    // As the documentation says: all that is left is drained again.
    await store.remove('.leasectl/inbox/orders/checkpoints/1/0', {})
    expect(await once(store, inbox)).toEqual({ done: 4, duplicates: 1, dead: 0 })
    const healed = await viewInbox(store, inbox, { countedBytes: 1_000_000 })
    expect(healed).toMatchObject({ lag: { records: 0 }, faults: [] })
  })

  test('but not one whose beginning was trimmed meanwhile', async () => {
    const store = openMemoryStore()
    const inbox = await inboxOf(store)
    await putEach(store, inbox, ['1', '2'])
    await once(store, inbox)
    const before = await readCheckpoint(store, inbox, 0)
    await putEach(store, inbox, ['3', '4'])
    await partitionLog(store, inbox, 0).trim({ segment: 4, offset: 0 })
    if (before?.last === undefined) throw new Error('no last line')
    expect(await isStillBefore(partitionLog(store, inbox, 0), before, before.last)).toBe(true)
    expect(await viewInbox(store, inbox, { countedBytes: 1_000_000 })).toMatchObject({ faults: [] })
  })

  test.each([
    ['shorter', [], /ends before what was read of it/],
    ['longer again', ['3', '4', '5'], /the records before it are others/],
  ])('ends a drain that runs, if it is %s when it is read', async (_, ids, fault) => {
    const other = openMemoryStore()
    const elsewhere = await inboxOf(other)
    await putEach(other, elsewhere, ids)
    const more = ids.length === 0 ? [] : await linesOf(other, elsewhere)
    const store = openMemoryStore()
    const inbox = await inboxOf(store)
    await putEach(store, inbox, ['1', '2'])
    const { promise, resolve } = Promise.withResolvers<void>()
    let done = 0
    const observe = ({ kind }: { readonly kind: string }) => {
      if (kind === 'done' && ++done === 2) resolve()
    }
    const running = once(store, inbox, { once: false, observe })
    const ended = expect(running).rejects.toThrow(fault)
    await promise
    // The next read is not one of those that follow each other.
    await pause(1_100)
    await cutTo(store, inbox, 1, more)
    await ended
    expect(done).toBe(2)
  })
})

test('a full disk is told once, waited for, and then drained on', async () => {
  const inner = openMemoryStore()
  const inbox = await inboxOf(inner)
  await putAll(inner, inbox)
  let isFull = true
  const check = (name: string) => {
    if (isFull && (isStream(name) || isCheckpoint(name))) throw new StoreFull('no space is left')
  }
  const store = where(inner, {
    async create(...args) {
      check(args[0])
      return inner.create(...args)
    },
  })
  const events: DrainEvent[] = []
  const observe = (event: DrainEvent) => {
    events.push(event)
    if (event.kind === 'again' && events.length > 30) isFull = false
  }
  expect(await once(inner, inbox, { work: creates(store), observe })).toEqual({ done: COUNT, duplicates: 0, dead: 0 })
  expect(events.find(event => event.kind === 'again')).toMatchObject({ why: 'no space is left' })
  await expectEachOnce(inner)
})

test('an inbox of more than 256 partitions is drained, each record once', async () => {
  const store = openMemoryStore()
  const inbox = await inboxOf(store, 300)
  const writer = new InboxWriter(store, inbox, { lingerMs: 0 })
  await Promise.all(Array.from({ length: COUNT }, (_, at) => writer.put({ id: `o${at}`, json: `${at}` })))
  expect(await once(store, inbox)).toEqual({ done: COUNT, duplicates: 0, dead: 0 })
  await expectEachOnce(store)
})

test('an inbox of another store is drained into this one, and has its checkpoints and dead letters', async () => {
  const [streams, records] = [openMemoryStore(), openMemoryStore()]
  const inbox = await inboxOf(records)
  await partitionLog(records, inbox, 0).append(Buffer.from('poison\n'))
  await putAll(records, inbox)
  expect(await once(records, inbox, { work: creates(streams) })).toEqual({ done: COUNT, duplicates: 0, dead: 1 })
  await expectEachOnce(streams)
  expect(await names(records, 'd/')).toEqual([])
  expect(await readCheckpoint(records, inbox, 0)).toMatchObject({ records: COUNT + 1, dead: 1 })
  expect(await readDeadLetters(records, inbox)).toHaveLength(1)
})

test('values of a record make no name that is too long, or outside of the folder: those records are dead', async () => {
  const store = openMemoryStore()
  const inbox = await inboxOf(store)
  const writer = new InboxWriter(store, inbox, { lingerMs: 0 })
  const values = [
    '../up',
    '/abs',
    'a//b',
    '.',
    'x'.repeat(1_001),
    'y'.repeat(999),
    '',
    null,
    2 ** 53,
    ['a'],
    'bell\u0007',
    'good',
  ]
  for (const [at, name] of values.entries()) await writer.put({ id: `r${at}`, json: JSON.stringify({ name }) })
  await writer.put({ id: 'none', json: '{}' })
  const spec = { kind: 'create', init: { op: 'init', root: { name: 'D' }, forks: [], hold: false } } as const
  const work = drainWork(store, { ...spec, name: `d/{/data/name}${'/z'.repeat(100)}` }, { by: BY })
  expect(await once(store, inbox, { work })).toEqual({ done: 1, duplicates: 0, dead: values.length })
  expect(await names(store, '')).toEqual([`d/good${'/z'.repeat(100)}`])
  expect((await readDeadLetters(store, inbox)).find(({ id }) => id === 'none')?.why).toBe(
    'the record has no /data/name',
  )
})

describe('the pace', () => {
  /** A clock that moves by its own pauses. */
  function clock() {
    let nowMs = 0
    return {
      monotonicMs: () => nowMs,
      wallMs: () => nowMs,
      random: () => 0.5,
      pause: async (ms: number) => {
        nowMs += ms
      },
      pass: (ms: number) => {
        nowMs += ms
      },
    }
  }

  test('--rate lets so many records through in a second, and no more', async () => {
    const timing = clock()
    const rate = new RateLimit(100, timing)
    for (let at = 0; at < 500; at++) await rate.turn(NEVER)
    expect(timing.monotonicMs()).toBeGreaterThan(4_800)
    expect(timing.monotonicMs()).toBeLessThan(5_100)
  })

  test('an overload halves the concurrency once for all that was begun before, and success raises it to its most', () => {
    const timing = clock()
    const limit = new ConcurrencyLimit(64, timing)
    const round = (isOverload: boolean) => {
      const begun = Array.from({ length: limit.limit }, () => limit.enter())
      const startedMs = timing.monotonicMs()
      timing.pass(10)
      for (const _ of begun) limit.leave(startedMs, isOverload ? 'overload' : 'done')
    }
    for (let at = 0; at < 60; at++) round(false)
    expect(limit.limit).toBe(64)
    round(true)
    expect(limit.limit).toBe(32)
    for (let at = 0; at < 8; at++) round(true)
    expect(limit.limit).toBe(1)
    for (let at = 0; at < 80; at++) round(false)
    expect(limit.limit).toBe(64)
  })

  test('records whose streams are leased say nothing about the store', () => {
    const timing = clock()
    const limit = new ConcurrencyLimit(16, timing)
    const leave = (ms: number, outcome: 'done' | 'again') => {
      limit.enter()
      const startedMs = timing.monotonicMs()
      timing.pass(ms)
      limit.leave(startedMs, outcome)
    }
    for (let at = 0; at < 200; at++) leave(10, 'done')
    expect(limit.limit).toBe(16)
    for (let at = 0; at < 200; at++) leave(10_000, 'again')
    expect(limit.limit).toBe(16)
  })

  test('answers that become three times slower halve it', () => {
    const timing = clock()
    const limit = new ConcurrencyLimit(16, timing)
    const round = (ms: number) => {
      const count = limit.limit
      const startedMs = timing.monotonicMs()
      for (let at = 0; at < count; at++) limit.enter()
      timing.pass(ms)
      for (let at = 0; at < count; at++) limit.leave(startedMs, 'done')
    }
    for (let at = 0; at < 20; at++) round(200)
    expect(limit.limit).toBe(16)
    round(700)
    expect(limit.limit).toBe(8)
  })
})

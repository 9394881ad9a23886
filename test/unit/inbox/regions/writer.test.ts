import { expect, it } from 'vitest'
import { createInbox, partitionLog } from '../../../../src/inbox/inbox.ts'
import { type InboxRecord, parseRecord } from '../../../../src/inbox/record.ts'
import { openRegions } from '../../../../src/inbox/regions/open.ts'
import type { RegionEvent, RegionsWriter, RegionsWriterOptions } from '../../../../src/inbox/regions/writer.ts'
import { type BlockLog, LOG_START } from '../../../../src/store/block-log.ts'
import { NotPermitted, StoreFull, StoreUnreachable } from '../../../../src/store/errors.ts'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { messageOf } from '../../../../src/util/errors.ts'

const NOW_MS = Date.UTC(2026, 2, 1, 12)

/** A store that can be taken away: requests fail, or hang until it is back. */
class Place {
  readonly inner = openMemoryStore({ clock: () => NOW_MS, random: () => 0.5 })
  readonly store: StreamStore
  fault: Error | undefined
  appendFault: Error | undefined
  hangs: PromiseWithResolvers<void> | undefined
  appends = 0

  constructor(address: string) {
    const log = (name: string): BlockLog => {
      const real = this.inner.log(name)
      return Object.assign(Object.create(real) as BlockLog, {
        append: async (block: Uint8Array) => {
          this.appends += 1
          await this.hangs?.promise
          const fault = this.fault ?? this.appendFault
          if (fault !== undefined) throw fault
          return real.append(block)
        },
      })
    }
    const read: StreamStore['read'] = async (...given) => {
      await this.hangs?.promise
      if (this.fault !== undefined) throw this.fault
      return this.inner.read(...given)
    }
    this.store = Object.assign(Object.create(this.inner) as StreamStore, {
      log,
      read,
      address,
      nowMs: this.inner.nowMs,
    })
  }

  async create(partitions = 1): Promise<void> {
    await createInbox(this.inner, 'orders', partitions, { by: 'ada' })
  }

  async records(partitions = 1): Promise<InboxRecord[]> {
    const inbox = { name: 'orders', partitions, createdMs: 0, by: '' }
    const found: InboxRecord[] = []
    for (let partition = 0; partition < partitions; partition++) {
      const { bytes } = await partitionLog(this.inner, inbox, partition).read(LOG_START, Number.MAX_SAFE_INTEGER)
      const lines = new TextDecoder().decode(bytes).split('\n').slice(0, -1)
      found.push(...lines.map(parseRecord))
    }
    return found
  }

  async ids(): Promise<string[]> {
    return (await this.records()).map(({ id }) => id)
  }
}

/** Pauses end when the test says so, or at once. */
function pauses(isAtOnce: boolean) {
  const waiting: { readonly ms: number; readonly end: () => void }[] = []
  let nowMs = 0
  return {
    /** Ends the pauses so far, and moves the clock as far as the longest. */
    async end(): Promise<void> {
      const ended = waiting.splice(0)
      nowMs += Math.max(0, ...ended.map(({ ms }) => ms))
      for (const { end } of ended) end()
      await settled()
    },
    timing: {
      monotonicMs: () => nowMs,
      wallMs: () => NOW_MS,
      random: () => 0.5,
      pause: (ms: number, signal: AbortSignal) =>
        isAtOnce || signal.aborted
          ? new Promise<void>(resolve => setImmediate(resolve))
          : new Promise<void>(end => {
              waiting.push({ ms, end })
              signal.addEventListener('abort', () => end())
            }),
    },
  }
}

/** Lets everything run that waits for nothing outside. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

const record = (id: string, key = 'k') => ({ id, key, json: `{"id":"${id}"}` })
const away = () => new StoreUnreachable('no answer')

async function twoRegions(
  options: Partial<RegionsWriterOptions> = {},
  prepare: (a: Place, b: Place) => void = () => {},
) {
  const [a, b] = [new Place('a:'), new Place('b:')]
  await a.create()
  await b.create()
  prepare(a, b)
  const told: RegionEvent[] = []
  const clock = pauses(false)
  const common = {
    lingerMs: 0,
    preferMs: 15_000,
    timing: clock.timing,
    observe: (event: RegionEvent) => told.push(event),
  }
  const opened = await openRegions([a.store, b.store], 'orders', { ...common, ...options })
  if (opened.kind !== 'opened') throw new Error(opened.kind)
  return { a, b, told, clock, writer: opened.writer, words: () => told.map(({ kind, place }) => `${kind} ${place}`) }
}

const putAll = (writer: RegionsWriter, ids: readonly string[]) => Promise.all(ids.map(id => writer.put(record(id))))

it('puts each record into both regions under the same id and key; the copy in the second may be drained later', async () => {
  const { a, b, writer, told } = await twoRegions()
  expect(await putAll(writer, ['1', '2'])).toEqual(['both', 'both'])
  const [first, second] = [await a.records(), await b.records()]
  expect(first).toMatchObject([
    { id: '1', key: 'k' },
    { id: '2', key: 'k' },
  ])
  expect(first.map(({ notBefore }) => notBefore)).toEqual([undefined, undefined])
  const later = new Date(NOW_MS + 15_000).toISOString()
  expect(second.map(({ id, key, notBefore }) => ({ id, key, at: Date.parse(notBefore ?? '') }))).toEqual([
    { id: '1', key: 'k', at: Date.parse(later) },
    { id: '2', key: 'k', at: Date.parse(later) },
  ])
  expect(writer.counts).toEqual({ both: 2, first: 0, second: 0 })
  expect(told).toEqual([])
})

it.each(['first', 'second'] as const)(
  'goes on in the other region while the %s is away, and tells it once',
  async which => {
    const { a, b, writer, words, clock } = await twoRegions()
    const [gone, there] = which === 'first' ? [a, b] : [b, a]
    const place = which === 'first' ? 'second' : 'first'
    gone.fault = away()
    expect(await putAll(writer, ['1', '2'])).toEqual([place, place])
    const before = gone.appends
    for (let n = 3; n < 50; n++) expect(await writer.put(record(String(n)))).toBe(place)
    // a region that is away costs the other nothing
    expect(gone.appends).toBe(before)
    gone.fault = undefined
    for (let round = 0; round < 3; round++) await clock.end()
    expect(await writer.put(record('50'))).toBe('both')
    expect(words()).toEqual([`away ${which}`, `back ${which}`])
    expect(await gone.ids()).toEqual(['50'])
    expect((await there.ids()).length).toBe(50)
  },
)

it('does not wait for a region that hangs, and takes it again once it has worked off what it was sent', async () => {
  const { a, b, writer, words, clock } = await twoRegions()
  b.hangs = Promise.withResolvers()
  const put = writer.put(record('1'))
  await settled()
  expect(await a.ids()).toEqual(['1'])
  await clock.end()
  expect(await put).toBe('first')
  expect(await writer.put(record('2'))).toBe('first')
  b.hangs.resolve()
  b.hangs = undefined
  await settled()
  expect(await writer.put(record('3'))).toBe('both')
  expect(await b.ids()).toEqual(['1', '3'])
  expect(words()).toEqual(['away second', 'back second'])
})

it('gives a region that comes back what is not answered yet, before what is put later', async () => {
  const { a, b, writer, clock } = await twoRegions()
  b.fault = away()
  expect(await writer.put(record('1'))).toBe('first')
  a.hangs = Promise.withResolvers()
  const open = [writer.put(record('2')), writer.put(record('3'))]
  b.fault = undefined
  for (let round = 0; round < 3; round++) await clock.end()
  const later = writer.put(record('4'))
  await settled()
  expect(await b.ids()).toEqual(['2', '3', '4'])
  a.fault = away()
  a.hangs.resolve()
  expect(await Promise.all([...open, later])).toEqual(['second', 'second', 'second'])
})

it('waits while both are away, as it is told to, and keeps the order', async () => {
  const asked: unknown[] = []
  const again = async (fault: unknown) => {
    asked.push(fault)
    if (asked.length === 3) b.fault = undefined
    return true
  }
  const { a, b, writer, words } = await twoRegions({ again, timing: pauses(true).timing })
  a.fault = away()
  b.fault = away()
  const ids = Array.from({ length: 20 }, (_, n) => String(n))
  expect(new Set(await putAll(writer, ids))).toEqual(new Set(['second']))
  expect(await b.ids()).toEqual(ids)
  expect(asked.length).toBeGreaterThanOrEqual(3)
  expect(words()).toContain('away first')
  expect(words().filter(word => word === 'away first')).toHaveLength(1)
  writer.close()
})

it('fails at once when both are away and nobody waits, and puts again when one answers', async () => {
  const { a, b, writer } = await twoRegions()
  a.fault = away()
  b.fault = away()
  const outcomes = await Promise.allSettled(['1', '2'].map(id => writer.put(record(id))))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(writer.put(record('3'))).rejects.toMatchObject({ code: 'store-unreachable' })
  b.fault = undefined
  expect(await writer.put(record('4'))).toBe('second')
  expect(await b.ids()).toEqual(['4'])
  writer.close()
})

it('fails with the fault of both when appends are refused again and again', async () => {
  const { a, b, writer } = await twoRegions({ timing: pauses(true).timing })
  a.appendFault = new StoreFull('full')
  b.appendFault = new StoreFull('full')
  await expect(writer.put(record('1'))).rejects.toMatchObject({ code: 'store-full' })
  expect(a.appends + b.appends).toBeLessThan(10)
  writer.close()
})

it('puts into a region whose disk is full no more than a look now and then', async () => {
  const { b, writer, clock } = await twoRegions()
  b.appendFault = new StoreFull('full')
  for (let n = 0; n < 20; n++) expect(await writer.put(record(String(n)))).toBe('first')
  expect(b.appends).toBe(1)
  await clock.end()
  for (let n = 0; n < 20; n++) await writer.put(record(String(n)))
  expect(b.appends).toBe(2)
  writer.close()
})

it('holds no more than the limit while both are away', async () => {
  const again = Promise.withResolvers<boolean>()
  const { a, b, writer } = await twoRegions({ again: () => again.promise, mostBytes: 1_000 })
  a.fault = away()
  b.fault = away()
  const puts: Promise<unknown>[] = []
  while (!writer.isFull) puts.push(writer.put(record(String(puts.length))))
  expect(puts.length).toBeLessThan(20)
  let isRoom = false
  const room = writer.room().then(() => (isRoom = true))
  await settled()
  expect(isRoom).toBe(false)
  again.resolve(false)
  await room
  expect((await Promise.allSettled(puts)).every(({ status }) => status === 'rejected')).toBe(true)
})

it('begins with one region away, and compares its inbox before anything is put there', async () => {
  const { a, b, writer, words, clock } = await twoRegions({}, (_, second) => {
    second.fault = away()
  })
  expect(words()).toEqual(['away second'])
  expect(await writer.put(record('1'))).toBe('first')
  b.fault = undefined
  for (let round = 0; round < 3; round++) await clock.end()
  expect(await writer.put(record('2'))).toBe('both')
  expect(await a.ids()).toEqual(['1', '2'])
  expect(await b.ids()).toEqual(['2'])
})

it('puts nothing into a region that comes back with another inbox', async () => {
  const [a, b] = [new Place('a:'), new Place('b:')]
  await a.create(1)
  await b.create(2)
  b.fault = away()
  const clock = pauses(false)
  const opened = await openRegions([a.store, b.store], 'orders', { preferMs: 0, lingerMs: 0, timing: clock.timing })
  if (opened.kind !== 'opened') throw new Error(opened.kind)
  b.fault = undefined
  for (let round = 0; round < 5; round++) {
    expect(await opened.writer.put(record(String(round)))).toBe('first')
    await clock.end()
  }
  expect(b.appends).toBe(0)
})

it('tells again if a region that was away comes back and refuses records, once, and why', async () => {
  const { b, writer, told, clock } = await twoRegions()
  const tell = () => told.map(event => (event.kind === 'away' ? `${event.refuses} ${messageOf(event.error)}` : 'back'))
  const putAndLook = async (id: string) => {
    expect(await writer.put(record(id))).toBe('first')
    await clock.end()
  }
  b.fault = away()
  await putAndLook('1')
  b.fault = new NotPermitted('a wrong key')
  for (const id of ['2', '3', '4']) await putAndLook(id)
  expect(tell()).toEqual(['false no answer', 'true a wrong key'])
  b.fault = undefined
  for (let round = 0; round < 5; round++) {
    await writer.put(record(`later ${round}`))
    await clock.end()
  }
  expect(tell()).toEqual(['false no answer', 'true a wrong key', 'back'])
  expect(writer.isAway('second')).toBe(false)
})

it('is not opened if the inbox of a region is missing, has other partitions, or may not be read', async () => {
  const [a, b] = [new Place('a:'), new Place('b:')]
  const open = () => openRegions([a.store, b.store], 'orders', { preferMs: 0 })
  await a.create(1)
  expect(await open()).toEqual({ kind: 'missing', place: 'second' })
  await b.create(2)
  expect(await open()).toEqual({ kind: 'different', partitions: [1, 2] })
  b.fault = new NotPermitted('no')
  await expect(open()).rejects.toMatchObject({ code: 'not-permitted' })
  a.fault = away()
  b.fault = away()
  await expect(open()).rejects.toMatchObject({ code: 'store-unreachable' })
})

import { readFile } from 'node:fs/promises'
import { expect, test, vi } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { parkedOf } from '../../../src/subscriptions/read.ts'
import { initStream, SPEC, signalStream, startSubscription } from './support.ts'

const ONE_SHARD = { ...SPEC, shards: 1 }
const isPosition = (name: string) => name.includes('/shards/1/0')

/** A store in which one function is another one for names that match. */
function storeWhere(inner: StreamStore, changed: Partial<StreamStore>): StreamStore {
  return new Proxy(inner, {
    get(target, key) {
      const own = changed[key as keyof StreamStore]
      const value: unknown = own ?? Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

test('a position whose write was applied and not answered is written again, and nothing is repeated', async () => {
  const inner = openMemoryStore()
  for (const stream of ['a', 'b', 'c']) await initStream(inner, stream)
  let lost = 0
  const store = storeWhere(inner, {
    async update(...args) {
      const outcome = await inner.update(...args)
      if (!isPosition(args[0]) || lost >= 3) return outcome
      lost += 1
      return { kind: 'unknown', cause: new StoreUnreachable('no answer') }
    },
  })
  const first = startSubscription(store, { spec: ONE_SHARD })
  await first.until(() => first.troubles.some(({ what }) => what === 'position'))
  await vi.waitFor(() => expect(lost).toBe(3), 10_000)
  await first.stop()
  const second = startSubscription(inner, { spec: ONE_SHARD })
  await initStream(inner, 'd')
  await second.until(() => second.results.length === 1)
  await second.stop()
  expect(first.seen.toSorted()).toEqual(['a@1', 'b@1', 'c@1'])
  expect(second.seen).toEqual(['d@1'])
})

test('while positions cannot be written, at most a hundred deliveries are handed over', async () => {
  const inner = openMemoryStore()
  const names = Array.from({ length: 250 }, (_, at) => `s${at}`)
  for (const name of names) await initStream(inner, name)
  let isAway = true
  const store = storeWhere(inner, {
    async update(...args) {
      if (isAway && isPosition(args[0])) throw new StoreUnreachable('away')
      return inner.update(...args)
    },
  })
  const run = startSubscription(store, { spec: ONE_SHARD, concurrency: 32 })
  await run.until(() => run.troubles.some(({ what }) => what === 'position'))
  await run.until(() => run.results.length === 100)
  expect(run.results).toHaveLength(100)
  isAway = false
  await run.until(() => run.results.length === 250)
  await run.stop()
  expect(new Set(run.seen).size).toBe(250)
})

test('the trouble of one position is not over while another can be written', async () => {
  const inner = openMemoryStore()
  for (let at = 0; at < 8; at++) await initStream(inner, `s${at}`)
  let isTorn = true
  let writes = 0
  const store = storeWhere(inner, {
    async read(name, signal) {
      const stored = await inner.read(name, signal)
      return stored && isTorn && name.endsWith('/shards/2/0') ? { ...stored, body: Buffer.from('{') } : stored
    },
    async update(...args) {
      if (args[0].endsWith('/shards/2/1')) writes += 1
      return inner.update(...args)
    },
  })
  const recovered = vi.fn()
  const run = startSubscription(store, { spec: { ...SPEC, shards: 2 }, observer: { recovered } })
  await run.until(() => run.troubles.some(({ what }) => what === 'position'))
  await vi.waitFor(() => expect(writes).toBeGreaterThan(0), 10_000)
  expect(recovered).not.toHaveBeenCalled()
  isTorn = false
  await vi.waitFor(() => expect(recovered.mock.calls).toEqual([['position']]), 10_000)
  await run.until(() => run.results.length === 8)
  await run.stop()
  expect(run.troubles).toHaveLength(1)
})

test('a process that has lost its lease writes no position, and the next one delivers again only what was not written', async () => {
  const store = openMemoryStore()
  await initStream(store, 'a')
  const first = startSubscription(store, { spec: ONE_SHARD })
  await first.until(() => first.results.length === 1)
  await vi.waitFor(async () => expect(await positionText(store)).toContain('"delivered":1'), 10_000)
  await store.breakLease('.leasectl/subscriptions/billing/shards/1/0', 0)
  const lease = { leaseId: crypto.randomUUID(), durationS: 60, holder: holder() }
  await store.acquireLease('.leasectl/subscriptions/billing/shards/1/0', lease)
  const before = await positionText(store)
  await signalStream(store, 'a')
  await first.until(() => first.results.length === 2)
  await first.stop()
  expect(await positionText(store)).toBe(before)
  await store.releaseLease('.leasectl/subscriptions/billing/shards/1/0', lease.leaseId)
  const second = startSubscription(store, { spec: ONE_SHARD })
  await second.until(() => second.results.length === 1)
  await second.stop()
  expect(second.seen).toEqual(['a@2'])
})

test('a subscription waits while the store is away, and misses nothing', async () => {
  const inner = openMemoryStore()
  await initStream(inner, 'a')
  let isAway = false
  const check = () => {
    if (isAway) throw new StoreUnreachable('away')
  }
  const store = storeWhere(inner, {
    async read(...args) {
      check()
      return inner.read(...args)
    },
    async update(...args) {
      check()
      return inner.update(...args)
    },
    async *list(query) {
      check()
      yield* inner.list(query)
    },
  })
  const run = startSubscription(store, { spec: ONE_SHARD })
  await run.until(() => run.results.length === 1)
  isAway = true
  await initStream(inner, 'b')
  await signalStream(inner, 'a')
  await run.until(() => run.troubles.some(({ what }) => what === 'store'))
  isAway = false
  await run.until(() => run.results.length === 3)
  await run.stop()
  expect(run.seen.toSorted()).toEqual(['a@1', 'a@2', 'b@1'])
})

test('a write of another program is recorded, and delivered as a transaction of its own', async () => {
  const store = openSharedStore()
  await initStream(store, 'a')
  const run = startSubscription(store, { spec: ONE_SHARD })
  await run.until(() => run.results.length === 1)
  await writeForeign(store, 'a', text => text.replace('name="Order"', 'name="Invoice"'))
  await run.until(() => run.results.length === 2)
  await signalStream(store, 'a')
  await run.until(() => run.results.length === 3)
  await run.stop()
  expect(run.results.map(({ delivery }) => delivery.transaction.op)).toEqual(['init', 'foreign', 'signal'])
  expect(run.results.map(({ delivery }) => delivery.transaction.version)).toEqual([1, 2, 3])
})

test('a stream that was never ours is adopted, and its adoption delivered', async () => {
  const store = openSharedStore()
  const text = await readFile(new URL('../../support/fixtures/foreign.xml', import.meta.url), 'utf8')
  await initStream(store, 'a')
  await writeForeign(store, 'a', () => text)
  const run = startSubscription(store, { spec: ONE_SHARD })
  await run.until(() => run.results.length === 1)
  await run.stop()
  expect(run.results.map(({ delivery }) => delivery.transaction.version)).toEqual([
    (await readStream(store, 'a'))?.document.version,
  ])
})

test('a document that cannot be read delays only its stream', async () => {
  const store = openSharedStore()
  for (const stream of ['a', 'b']) await initStream(store, stream)
  await writeForeign(store, 'a', () => '<broken')
  const run = startSubscription(store, { spec: ONE_SHARD })
  await run.until(() => run.results.length === 1)
  await run.until(() => run.troubles.some(({ what }) => what === 'stream'))
  await run.stop()
  expect(run.seen).toEqual(['b@1'])
  expect(await parkedOf(store, 'billing')).toMatchObject([{ stream: 'a', state: 'waiting' }])
})

test('a position from a newer leasectl is left as it is', async () => {
  const store = openMemoryStore()
  await initStream(store, 'a')
  const first = startSubscription(store, { spec: ONE_SHARD })
  await first.until(() => first.results.length === 1)
  await first.stop()
  const name = '.leasectl/subscriptions/billing/shards/1/0'
  await writeForeign(store, name, text => text.replace('leasectl/v1', 'leasectl/v2'))
  const newer = await positionText(store)
  const run = startSubscription(store, { spec: ONE_SHARD })
  await run.until(() => run.troubles.length > 0)
  await run.stop()
  expect(run.troubles[0]?.text).toMatch(/written by a newer leasectl/)
  expect(run.seen).toEqual([])
  expect(await positionText(store)).toBe(newer)
})

async function positionText(store: StreamStore): Promise<string> {
  const stored = await store.read('.leasectl/subscriptions/billing/shards/1/0')
  return new TextDecoder().decode(stored?.body)
}

function holder() {
  return { by: 'other@host', host: 'host', pid: 1, purpose: 'test', sinceMs: 0 }
}

/** A store whose listing has no summary of what another program wrote, as Azure's. */
function openSharedStore(): StreamStore {
  const inner = openMemoryStore()
  return storeWhere(inner, {
    async *list(query) {
      for await (const page of inner.list(query)) {
        yield page.map(row => {
          if (!foreignEtags.has(`${row.name} ${row.etag}`)) return row
          const { summary: _, ...rest } = row
          return rest
        })
      }
    },
  })
}

const foreignEtags = new Set<string>()

/** Writes a document as another program does. */
async function writeForeign(store: StreamStore, name: string, edit: (text: string) => string): Promise<void> {
  const stored = await store.read(name)
  if (stored === undefined) throw new Error(`no ${name}`)
  const { summary } = stored
  if (summary === undefined) throw new Error(`${name} has no summary`)
  const body = Buffer.from(edit(new TextDecoder().decode(stored.body)))
  const outcome = await store.update(name, () => ({ kind: 'put', body, summary }), { waitMs: 5_000, holder: holder() })
  if (outcome.kind !== 'committed') throw new Error(outcome.kind)
  foreignEtags.add(`${name} ${outcome.etag}`)
}

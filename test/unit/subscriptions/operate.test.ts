import { expect, test, vi } from 'vitest'
import { changeSystemDocument } from '../../../src/ops/system-documents.ts'
import { systemText } from '../../../src/ops/system-fields.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import { leftOutBy, removeSubscription, requestOf } from '../../../src/subscriptions/operate.ts'
import { parkedOf, readSubscriptions, viewSubscription } from '../../../src/subscriptions/read.ts'
import { specText } from '../../../src/subscriptions/subscription.ts'
import type { Handled } from '../../../src/subscriptions/types.ts'
import { initStream, SPEC, signalStream, startSubscription } from './support.ts'

const BY = 'ops@host'
const HOPELESS: Handled = { kind: 'failed', why: 'no such customer', hopeless: true }

/** A store with stream `a`, parked at its second transaction, and `b`, all handled. */
async function parkedWorld() {
  const store = openMemoryStore()
  for (const stream of ['a', 'b']) {
    await initStream(store, stream)
    await signalStream(store, stream)
    await signalStream(store, stream)
  }
  const isPoison = { now: true }
  const handle = ({ stream, transaction }: { stream: string; transaction: { version: number } }): Handled =>
    isPoison.now && stream === 'a' && transaction.version === 2 ? HOPELESS : { kind: 'handled' }
  const run = startSubscription(store, {}, handle)
  await run.until(() => run.results.length === 5)
  return { store, run, isPoison, handle }
}

test('a hopeless delivery parks its stream, while others go on', async () => {
  const { store, run } = await parkedWorld()
  await run.stop()
  expect(run.seen.toSorted()).toEqual(['a@1', 'a@2', 'b@1', 'b@2', 'b@3'])
  const [parked] = (await parkedOf(store, 'billing')) ?? []
  expect(parked).toMatchObject({ stream: 'a', version: 1, state: 'parked', tries: 1, why: 'no such customer' })
})

test('a parked stream is tried again at the request of an operator', async () => {
  const { store, run, isPoison } = await parkedWorld()
  isPoison.now = false
  await run.stop()
  expect(await requestOf(store, 'billing', { kind: 'retry', stream: 'a' }, { by: BY })).toMatchObject({
    kind: 'applied',
  })
  const second = startSubscription(store)
  await second.until(() => second.results.length === 2)
  await second.stop()
  expect(second.seen).toEqual(['a@2', 'a@3'])
  expect(await parkedOf(store, 'billing')).toEqual([])
})

test('all parked streams are tried again in one request', async () => {
  const { store, run, isPoison } = await parkedWorld()
  isPoison.now = false
  await run.stop()
  expect(await requestOf(store, 'billing', { kind: 'retry-all' }, { by: BY })).toMatchObject({ kind: 'applied' })
  const second = startSubscription(store)
  await second.until(() => second.results.length === 2)
  await second.stop()
  expect(second.seen).toEqual(['a@2', 'a@3'])
})

test('no request is dropped before it is applied', async () => {
  const { store, run } = await parkedWorld()
  await run.stop()
  const skip = { kind: 'skip', stream: 'a', toVersion: 9, number: 1, by: BY, atMs: 0 }
  const others = Array.from({ length: 199 }, (_, at) => ({ ...skip, stream: 'gone', number: at + 2 }))
  const text = systemText('SubscriptionRequests', { requests: [skip, ...others] })
  const purpose = 'test'
  await changeSystemDocument(store, '.leasectl/subscriptions/billing/requests.json', () => text, { by: BY, purpose })
  expect(await requestOf(store, 'billing', { kind: 'retry-all' }, { by: BY })).toMatchObject({ kind: 'applied' })
  expect(await parkedOf(store, 'billing')).toMatchObject([{ stream: 'a', version: 9 }])
})

test('a running subscription applies the requests of operators', async () => {
  const { store, run, isPoison } = await parkedWorld()
  isPoison.now = false
  await vi.waitFor(async () => expect(await parkedOf(store, 'billing')).toHaveLength(1))
  const request = requestOf(store, 'billing', { kind: 'skip', stream: 'a' }, { by: BY })
  await run.until(() => run.results.length === 6)
  expect(await request).toEqual({ kind: 'applied', request: { kind: 'skip', stream: 'a', toVersion: 2 } })
  await run.stop()
  expect(run.seen.at(-1)).toBe('a@3')
})

test('a stream whose last delivery is skipped does not count as waiting any more', async () => {
  const store = openMemoryStore()
  await initStream(store, 'a')
  const run = startSubscription(store, {}, () => HOPELESS)
  await vi.waitFor(async () => expect(await parkedOf(store, 'billing')).toHaveLength(1), 5_000)
  await requestOf(store, 'billing', { kind: 'skip', stream: 'a' }, { by: BY })
  await vi.waitFor(async () => expect(await parkedOf(store, 'billing')).toEqual([]), 10_000)
  await run.stop()
})

test('a skip that is repeated leaves out nothing that was not tried', async () => {
  const { store, run } = await parkedWorld()
  await run.stop()
  const skip = { kind: 'skip', stream: 'a' } as const
  expect(await requestOf(store, 'billing', skip, { by: BY })).toMatchObject({
    kind: 'applied',
    request: { toVersion: 2 },
  })
  expect(await requestOf(store, 'billing', skip, { by: BY })).toEqual({ kind: 'not-halted' })
  expect(await parkedOf(store, 'billing')).toMatchObject([{ stream: 'a', version: 2, state: 'waiting' }])
})

test('a skip goes no further than the stream', async () => {
  const { store, run } = await parkedWorld()
  await run.stop()
  const ahead = await requestOf(store, 'billing', { kind: 'skip', stream: 'a', toVersion: 4 }, { by: BY })
  expect(ahead).toEqual({ kind: 'no-version', version: 3 })
  expect(await parkedOf(store, 'billing')).toMatchObject([{ version: 1, state: 'parked' }])
})

test('what a reset would leave out is known before', async () => {
  const { store, run } = await parkedWorld()
  await run.stop()
  const view = await viewSubscription(store, 'billing')
  const shards = view?.kind === 'readable' ? view.shards : []
  expect(await leftOutBy(store, shards, 0)).toEqual({ streams: 0, sinceMs: undefined })
  const later = await leftOutBy(store, shards, store.nowMs() + 60_000)
  expect(later).toEqual({ streams: 1, sinceMs: Math.min(...shards.map(shard => shard.watermarkMs)) })
})

test('a reset hands over everything again, with the same delivery ids', async () => {
  const { store, run, handle, isPoison } = await parkedWorld()
  isPoison.now = false
  await run.stop()
  const before = run.results.map(({ delivery }) => delivery.id)
  expect(await requestOf(store, 'billing', { kind: 'reset', fromMs: 0 }, { by: BY })).toMatchObject({ kind: 'applied' })
  const second = startSubscription(store, {}, handle)
  await second.until(() => second.results.length === 6)
  await second.stop()
  const ids = second.results.map(({ delivery }) => delivery.id)
  expect(ids).toEqual(expect.arrayContaining(before))
  expect(new Set(ids).size).toBe(6)
})

test('only halted streams can be retried or skipped, and only subscriptions that exist', async () => {
  const { store, run } = await parkedWorld()
  await run.stop()
  const options = { by: BY }
  expect(await requestOf(store, 'billing', { kind: 'retry', stream: 'b' }, options)).toEqual({ kind: 'not-halted' })
  expect(await requestOf(store, 'other', { kind: 'retry', stream: 'a' }, options)).toEqual({ kind: 'missing' })
  expect(await requestOf(store, 'billing', { kind: 'skip', stream: 'a', toVersion: 1 }, options)).toEqual({
    kind: 'handled',
    version: 1,
  })
  await expect(requestOf(store, 'a/b', { kind: 'reset', fromMs: 0 }, options)).rejects.toThrow(
    /cannot be the name of a subscription/,
  )
})

test('the list of subscriptions shows who runs them, what was delivered and what is parked', async () => {
  const { store, run } = await parkedWorld()
  const [view] = await readSubscriptions(store)
  expect(view).toMatchObject({ kind: 'readable', name: 'billing', held: 8 })
  await run.stop()
  const stopped = await viewSubscription(store, 'billing')
  expect(stopped).toMatchObject({ kind: 'readable', held: 0, delivered: 4, parked: 1, waiting: 0, rate: 0 })
  if (stopped?.kind !== 'readable') throw new Error('unreadable')
  expect(specText(stopped.subscription.spec)).toBe(specText(SPEC))
})

test('a subscription is removed with all its documents once nobody runs it', async () => {
  const { store, run } = await parkedWorld()
  expect((await removeSubscription(store, 'billing')).kind).toBe('running')
  await run.stop()
  expect(await removeSubscription(store, 'billing')).toEqual({ kind: 'removed' })
  expect(await readSubscriptions(store)).toEqual([])
  const left: string[] = []
  for await (const page of store.list({ reserved: true })) left.push(...page.map(({ name }) => name))
  expect(left).toEqual([])
  expect(await removeSubscription(store, 'billing')).toEqual({ kind: 'missing' })
})

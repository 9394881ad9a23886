import { expect, test } from 'vitest'
import { MAX_SYSTEM_DOCUMENT_BYTES } from '../../../src/ops/read-system-document.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import { requestOf } from '../../../src/subscriptions/operate.ts'
import { parkedOf, viewSubscription } from '../../../src/subscriptions/read.ts'
import type { DeliveryResult, Handled } from '../../../src/subscriptions/types.ts'
import { initStream, SPEC, signalStream, startSubscription } from './support.ts'

const POSITION = '.leasectl/subscriptions/billing/shards/1/0'
const ONE_SHARD = { ...SPEC, shards: 1 }
/** A delivered stream takes 14 bytes for a minute: more than 64 KiB together. */
const STREAMS = 5_000
const PARKED = 'orders/7'

test('a position beyond the size of other system documents is read by the next process, by people and by operators', {
  timeout: 120_000,
}, async () => {
  const store = openMemoryStore()
  const names = Array.from({ length: STREAMS }, (_, at) => `orders/${at}`)
  for (const name of names) await initStream(store, name)
  const handle = ({ stream }: { readonly stream: string }): Handled =>
    stream === PARKED ? { kind: 'failed', why: 'no such account', hopeless: true } : { kind: 'handled' }
  const first = startSubscription(store, { spec: ONE_SHARD, concurrency: 32, intervalMs: 1_000 }, handle)
  // A lease that ran out on a busy machine repeats deliveries.
  const handled = () => new Set(first.results.filter(isHandled).map(({ delivery }) => delivery.stream))
  await first.until(() => first.results.length >= STREAMS && handled().size === STREAMS - 1)
  await first.stop()
  expect((await store.read(POSITION))?.body.length).toBeGreaterThan(MAX_SYSTEM_DOCUMENT_BYTES)

  expect(await viewSubscription(store, 'billing')).toMatchObject({ delivered: STREAMS - 1, parked: 1 })
  expect(await parkedOf(store, 'billing')).toMatchObject([{ stream: PARKED, why: 'no such account' }])
  expect(await requestOf(store, 'billing', { kind: 'retry', stream: PARKED }, { by: 'op@host' })).toMatchObject({
    kind: 'applied',
  })

  const second = startSubscription(store, { spec: ONE_SHARD })
  await second.until(() => second.results.length === 1)
  await signalStream(store, 'orders/1')
  await second.until(() => second.results.length === 2)
  await second.stop()
  expect(second.seen).toEqual([`${PARKED}@1`, 'orders/1@2'])
})

function isHandled({ outcome }: DeliveryResult): boolean {
  return outcome === 'handled'
}

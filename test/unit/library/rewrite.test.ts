import { expect, test } from 'vitest'
import { acquireLease, leaseScope, releaseLease } from '../../../src/library/lease.ts'
import { mustReadStream, rewriteStream } from '../../../src/library/streams.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { storeWith, textOf } from './support.ts'

const BY = { by: 'ann', why: 'wrong name' }
const NOT_HELD = '22222222-2222-4222-8222-222222222222'

const renamed = async (store: StreamStore) => (await textOf(store)).replace('name="Pay"', 'name="Charge"')

async function lease(store: StreamStore): Promise<string> {
  const outcome = await acquireLease(store, 's', { by: 'ann' })
  if (outcome.kind !== 'acquired') throw new Error(outcome.kind)
  return outcome.leaseId
}

test('a document that is written under a lease is one entry of its author, and the history stays', async () => {
  const { store } = await storeWith()
  const before = await mustReadStream(store, 's')
  const scope = await leaseScope(store, 's', { by: 'ann' }, async ({ leaseId }) =>
    rewriteStream(store, 's', await renamed(store), { ...BY, leaseId, commandId: 'repair-1' }),
  )
  expect(scope).toMatchObject({ kind: 'done', value: { kind: 'done', commandId: 'repair-1', result: { version: 2 } } })
  const after = await mustReadStream(store, 's')
  expect(after.mustFind('02.00').name).toBe('Charge')
  expect(after.born).toBe(before.born)
  expect(after.history.map(({ op, by, why }) => [op, by, why])).toEqual([
    ['init', 'shop', ''],
    ['foreign', 'ann', 'wrong name'],
  ])
})

test('a repetition with the same command id is a duplicate, as bytes too', async () => {
  const { store } = await storeWith()
  const options = { ...BY, leaseId: await lease(store), commandId: 'repair-1' }
  const document = await renamed(store)
  let called = 0
  const afterWrite = () => void called++
  expect(await rewriteStream(store, 's', document, { ...options, afterWrite })).toMatchObject({ kind: 'done' })
  const again = await rewriteStream(store, 's', Buffer.from(document), { ...options, afterWrite })
  expect(again).toMatchObject({ kind: 'done', result: { duplicate: true, version: 2 } })
  expect(called).toBe(2)
})

test('nothing is written without the lease, after it, or over a newer state than was read', async () => {
  const { store } = await storeWith()
  const document = await renamed(store)
  const before = await textOf(store)
  const { pin } = await mustReadStream(store, 's')
  const leaseId = await lease(store)
  // @ts-expect-error the lease is required
  await expect(rewriteStream(store, 's', document, BY)).rejects.toThrow(/leaseId/)
  expect(await rewriteStream(store, 's', document, { ...BY, leaseId: NOT_HELD })).toMatchObject({ kind: 'lost' })
  const stale = await rewriteStream(store, 's', document, { ...BY, leaseId, ...pin, ifVersion: 9 })
  expect(stale).toMatchObject({ kind: 'refused', refusal: { code: 'changed' } })
  await releaseLease(store, 's', leaseId)
  expect(await rewriteStream(store, 's', document, { ...BY, leaseId })).toMatchObject({ kind: 'lost' })
  expect(await textOf(store)).toBe(before)
})

test('a document that is no event stream is refused, and an absent stream is missing', async () => {
  const { store } = await storeWith()
  const before = await textOf(store)
  const options = { ...BY, leaseId: await lease(store) }
  await expect(rewriteStream(store, 's', '<Event', options)).rejects.toMatchObject({ code: 'bad-document' })
  await expect(rewriteStream(store, 's', '<EventStream/>', options)).rejects.toMatchObject({ code: 'invalid-value' })
  expect(await rewriteStream(store, 'absent', before, options)).toMatchObject({ kind: 'missing' })
  expect(await textOf(store)).toBe(before)
})

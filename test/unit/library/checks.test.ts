import { expect, test } from 'vitest'
import { acquireLease, changeLease, leaseScope } from '../../../src/library/lease.ts'
import {
  changeStream,
  createStream,
  follow,
  mustReadStream,
  readStream,
  transact,
} from '../../../src/library/streams.ts'
import { complete, type WorkerOptions, worker, workOn } from '../../../src/library/worker.ts'
import { word } from '../../../src/stream/values.ts'
import { storeWith, textOf } from './support.ts'

const BY = { by: 'shop' }
const UUID = '22222222-2222-4222-8222-222222222222'

const WRONG: readonly (readonly [string, Partial<WorkerOptions>])[] = [
  ['no name', { name: [] }],
  ['an empty name', { name: ['Search', ''] }],
  ['no owner', { owner: '' }],
  ['no actor', { by: '' }],
  ['a reason XML cannot hold', { why: '\u0000' }],
  ['a pattern that is not whole', { match: 'orders/[0-9' }],
  ['a claim that has ended', { claimMs: -1 }],
  ['nothing at a time', { concurrency: 0 }],
  ['half at a time', { concurrency: 0.5 }],
  ['no attempt', { maxAttempts: 0 }],
  ['no pause', { maxIdleMs: Number.NaN }],
  ['a wait without end', { deferMs: Number.POSITIVE_INFINITY }],
  ['no wait', { leaseWaitMs: Number.NaN }],
]

test.each(WRONG)('a worker without possible work is refused: %s', async (_, wrong) => {
  const { store } = await storeWith()
  const options: WorkerOptions = { name: 'Search', until: 'until-empty', ...wrong }
  await expect(worker(store, options, () => complete())).rejects.toMatchObject({ code: 'invalid-value' })
})

test('an invalid time is refused by all functions that wait', async () => {
  const { store } = await storeWith()
  const before = await textOf(store)
  const leaseWaitMs = Number.NaN
  const waits = [
    () => changeStream(store, 's', { ...BY, leaseWaitMs }, stream => void stream.cancel()),
    () => transact(store, 's', { op: 'cancel' }, { ...BY, leaseWaitMs }),
    () => createStream(store, 't', { ...BY, leaseWaitMs }),
    () => workOn(store, 's', '01.00', { leaseWaitMs }, () => complete()),
    () => acquireLease(store, 's', { ...BY, waitMs: Number.NaN }),
    () => leaseScope(store, 's', { ...BY, waitMs: -1 }, async () => {}),
    async () => follow(store, 's', { intervalMs: Number.NaN }).next(),
  ]
  for (const wait of waits) await expect(wait()).rejects.toMatchObject({ code: 'invalid-value' })
  expect(await textOf(store)).toBe(before)
  expect((await mustReadStream(store, 's')).lease.state).toBe('available')
})

test('a lease has a UUID and a holder, on every store', async () => {
  const { store } = await storeWith()
  const wrong = [
    () => acquireLease(store, 's', { ...BY, leaseId: 'mine' }),
    () => changeLease(store, 's', UUID, 'mine'),
    () => acquireLease(store, 's', { by: '' }),
    () => acquireLease(store, 's', { by: '\u0000' }),
    () => acquireLease(store, 's', { ...BY, purpose: '\u0000' }),
    () => leaseScope(store, 's', { by: '' }, async () => {}),
  ]
  for (const call of wrong) await expect(call()).rejects.toMatchObject({ code: 'invalid-value' })
  expect((await mustReadStream(store, 's')).lease.state).toBe('available')
})

test.each(['', '../other', 'a\nb'])('%j is not a stream name: it is not looked up', async name => {
  const { store } = await storeWith()
  await expect(readStream(store, name)).rejects.toMatchObject({ code: 'bad-name' })
  await expect(mustReadStream(store, name)).rejects.toMatchObject({ code: 'bad-name' })
})

test('an empty text is shown among the values of a field', () => {
  expect(() => word(['', 'notify'])('explode', 'onDue')).toThrow('onDue is one of "", notify, not "explode"')
})

import { describe, expect, test } from 'vitest'
import { createStream, mustReadStream, transact } from '../../../src/library/streams.ts'
import {
  type SubscriptionEvent,
  type SubscriptionHandler,
  type SubscriptionOptions,
  subscribe,
} from '../../../src/library/subscribe.ts'
import { fail, transient } from '../../../src/library/worker.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { readSubscriptions } from '../../../src/subscriptions/read.ts'

async function storeWith(...names: readonly string[]): Promise<StreamStore> {
  const store = openMemoryStore()
  for (const name of names) await createStream(store, name, { by: 'shop' })
  return store
}

type Outcome = Extract<SubscriptionEvent, { readonly kind: 'delivery' }>

/** Subscribes until so many deliveries have ended. */
async function until(
  deliveries: number,
  store: StreamStore,
  handler: SubscriptionHandler,
  options: Partial<SubscriptionOptions> = {},
): Promise<readonly Outcome[]> {
  const drain = new AbortController()
  const seen: Outcome[] = []
  const observe = (event: SubscriptionEvent) => {
    if (event.kind === 'delivery') seen.push(event)
    if (seen.length === deliveries) drain.abort()
  }
  await subscribe(store, { as: 'b', from: 'start', drain: drain.signal, observe, ...options }, handler)
  return seen
}

test('a subscription hands over each transaction in order, with its delivery id', async () => {
  const store = await storeWith('orders/1', 'prod/1')
  await transact(store, 'orders/1', { op: 'complete', event: '00' }, { by: 'shop' })
  const seen: unknown[] = []
  await until(2, store, transaction => void seen.push(transaction), { match: 'orders/**' })
  const { born } = await mustReadStream(store, 'orders/1')
  expect(seen).toMatchObject([
    { stream: 'orders/1', version: 1, op: 'init', deliveryId: `${born}@1`, done: false, attempt: 1 },
    { stream: 'orders/1', version: 2, op: 'complete', deliveryId: `${born}@2`, done: true },
  ])
})

test('it goes on where it stopped', async () => {
  const store = await storeWith('s')
  await until(1, store, () => {})
  await transact(store, 's', { op: 'complete', event: '00' }, { by: 'shop' })
  const [next] = await until(1, store, () => {})
  expect(next?.transaction.version).toBe(2)
})

test('commands are executed after the handler has succeeded', async () => {
  const store = await storeWith('orders/1')
  const [seen] = await until(
    1,
    store,
    async ({ stream }, { send }) => {
      await send({ do: 'init', stream: `invoices/${stream}`, root: { name: 'Invoice', data: '{"amount":12}' } })
      expect(await store.read('invoices/orders/1')).toBeUndefined()
    },
    { match: 'orders/**' },
  )
  expect(seen?.outcome).toBe('handled')
  const [made] = (await mustReadStream(store, 'invoices/orders/1')).history
  expect(made).toMatchObject({ commandId: expect.stringMatching(/^saga:b:.*@1:init:invoices\/orders\/1$/) })
  expect(made?.by).toMatch(/^b@/)
})

test('commands of a handler that fails are not executed', async () => {
  const store = await storeWith('s')
  const [seen] = await until(1, store, async (_, { send }) => {
    await send({ do: 'cancel', stream: 's' })
    throw new Error('no card')
  })
  expect(seen).toMatchObject({ outcome: 'waiting', why: 'Error: no card', tries: 1 })
  expect((await mustReadStream(store, 's')).isDone).toBe(false)
})

describe('a handler', () => {
  const closed = transient('the bank is closed')
  const cases: readonly (readonly [string, SubscriptionHandler, object])[] = [
    [
      'that returns transient() puts the transaction off',
      () => closed,
      { outcome: 'waiting', tries: 0, why: closed.op === 'fail' ? closed.msg : '' },
    ],
    [
      'that throws transient() puts the transaction off',
      () => {
        throw closed
      },
      { outcome: 'waiting', tries: 0 },
    ],
    ['that returns fail() has failed', () => fail('no card'), { outcome: 'parked', why: 'no card' }],
    [
      'that throws has failed',
      () => {
        throw new Error('no card')
      },
      { outcome: 'parked', why: 'Error: no card' },
    ],
    [
      'that throws a text has failed',
      () => {
        throw 'no card'
      },
      { outcome: 'parked', why: 'no card' },
    ],
    ['that returns anything else has handled it', (() => 5) as unknown as SubscriptionHandler, { outcome: 'handled' }],
    [
      'that returns release() has failed',
      () => ({ op: 'release' }),
      { outcome: 'parked', why: expect.stringContaining('transient(), fail() or nothing') },
    ],
    [
      'that sends a wrong command has failed',
      async (_, { send }) => send({ do: 'init' } as never),
      { outcome: 'parked', why: expect.stringContaining('command.stream is missing') },
    ],
    [
      'that sends the same command twice has failed',
      async (_, { send }) => {
        for (let at = 0; at < 2; at++) await send({ do: 'retry', stream: 's' })
      },
      { outcome: 'parked', why: expect.stringContaining('[ambiguous-command]') },
    ],
  ]

  test.each(cases)('%s', async (_, handler, expected) => {
    const [seen] = await until(1, await storeWith('s'), handler, { tries: 1 })
    expect(seen).toMatchObject(expected)
  })

  test('cannot send after it has ended', async () => {
    let late: Promise<void> | undefined
    await until(1, await storeWith('s'), (_, { send }) => {
      late = new Promise<void>(resolve => setImmediate(resolve)).then(() => send({ do: 'retry', stream: 's' }))
    })
    await expect(late).rejects.toThrow('after the handler had ended')
  })

  test('is aborted by `signal`, and gets the transaction again', async () => {
    const store = await storeWith('s')
    const stop = new AbortController()
    await subscribe(store, { as: 'b', from: 'start', signal: stop.signal }, async (_, { signal }) => {
      stop.abort()
      signal.throwIfAborted()
    })
    const [again] = await until(1, store, () => {})
    expect(again).toMatchObject({ outcome: 'handled', transaction: { version: 1 } })
  })
})

test.each(['drain', 'signal'])('an aborted %s ends it before it begins', async name => {
  const seen: string[] = []
  const options = { as: 'b', from: 'start', [name]: AbortSignal.abort() } as const
  await expect(
    subscribe(await storeWith('s'), options, ({ stream }) => void seen.push(stream)),
  ).resolves.toBeUndefined()
  expect(seen).toEqual([])
})

test('a subscription with other filters than before is refused', async () => {
  const store = await storeWith('s')
  await until(1, store, () => {})
  await expect(subscribe(store, { as: 'b', match: 'x' }, () => {})).rejects.toThrow('exists with other options')
})

test.each([
  [{}, 'as is missing'],
  [{ as: 'a b' }, 'as: "a b" cannot be the name'],
  [{ as: 'b', match: '[' }, 'match'],
  [{ as: 'b', from: 'yesterday' }, "from is 'start', 'now' or a Date"],
  [{ as: 'b', shards: 257 }, 'shards is a whole number from 1 to 256'],
  [{ as: 'b', partition: '1/2' }, 'partition is an object with index, count'],
  [{ as: 'b', partition: { index: 0, count: 3 } }, '8 shards cannot be divided into 3 partitions'],
  [{ as: 'b', ops: ['complet'] }, 'ops'],
  [{ as: 'b', onPoison: 'drop' }, 'onPoison is one of park, skip'],
  [{ as: 'b', matches: 'x' }, 'matches is not known: did you mean match?'],
])('%j is refused', async (options, message) => {
  const store = openMemoryStore()
  await expect(subscribe(store, options as SubscriptionOptions, () => {})).rejects.toThrow(message)
  expect((await readSubscriptions(store)).length).toBe(0)
})

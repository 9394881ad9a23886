import { expect, onTestFinished, test } from 'vitest'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { SeveralStores } from '../../../../src/tui/data/several-stores.ts'
import { init, memoryStore, run } from '../../ops/support.ts'
import { LISTED } from './support.ts'

const EVERYTHING = {
  ...LISTED,
  activity: true,
  watchdog: true,
  workers: true,
  subscriptions: true,
  inboxes: true,
  health: true,
}

/** Polls these stores until the test ends. */
function polled(stores: { readonly [context: string]: StreamStore }, visible = EVERYTHING) {
  const several = new SeveralStores(
    Object.entries(stores).map(([context, store]) => ({
      ...{ context, store, intervalMs: 1 },
      explain: error => ({ code: 'x', message: `${error instanceof Error ? error.message : ''} in ${context}` }),
    })),
    {},
  )
  several.setVisible(visible)
  const end = new AbortController()
  const ended = several.run(end.signal)
  onTestFinished(() => {
    end.abort()
    return ended
  })
  /** Resolves as soon as it holds. */
  const until = async (holds: () => boolean) => {
    if (holds()) return
    await new Promise<void>(resolve => {
      const forget = several.onChange(() => {
        if (!holds()) return
        forget()
        resolve()
      })
    })
  }
  return { several, until, keys: () => Array.from(several.streams.values(), ({ name }) => name) }
}

async function storeWith(...names: readonly string[]): Promise<StreamStore> {
  const { store } = memoryStore()
  for (const name of names) await run(store, name, init(['Search']))
  return store
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)))
}

function unreachable(store: StreamStore): StreamStore {
  const fail = () => Promise.reject(new StoreUnreachable('no answer'))
  return new Proxy(store, {
    get: (target, key) => (key === 'list' || key === 'changeToken' ? fail : Reflect.get(target, key)),
  })
}

test('streams of the same name in two stores are two rows, each with its store', async () => {
  const { several, until, keys } = polled({ eu: await storeWith('o/1', 'o/2'), us: await storeWith('o/1') })
  await until(() => several.streams.isComplete)
  expect(keys()).toEqual(['eu:o/1', 'eu:o/2', 'us:o/1'])
  expect(several.streams.get('us:o/1')).toMatchObject({ store: 'us', item: { listed: { name: 'o/1' } } })
  expect(several.streams.get('us:o/2')).toBeUndefined()
  expect(several.streams.get('o/1')).toBeUndefined()
  expect(several.streams.size).toBe(3)
})

test('an unchanged row stays the same object while another store changes', async () => {
  const us = await storeWith('o/1')
  const { several, until } = polled({ eu: await storeWith('o/1'), us })
  await until(() => several.streams.isComplete)
  const before = several.streams.get('eu:o/1')
  await run(us, 'o/1', { op: 'cancel' })
  await until(() => several.streams.get('us:o/1')?.item.summary?.status === 'canceled')
  expect(several.streams.get('eu:o/1')).toBe(before)
  expect(several.streams.get('eu:o/1')?.item.summary?.status).toBe('inprocess')
})

test('a store that does not answer is named, and the others are shown', async () => {
  const { several, until, keys } = polled({ eu: unreachable(await storeWith('o/1')), us: await storeWith('o/2') })
  await until(() => several.streams.isComplete && several.freshness.error !== undefined)
  expect(keys()).toEqual(['us:o/2'])
  expect(several.freshness).toMatchObject({ store: 'eu', error: { message: 'eu: no answer in eu' } })
})

test('the list is not complete before each store has answered or failed', async () => {
  const silent = new Proxy(await storeWith('o/1'), {
    get: (target, key) => (key === 'changeToken' ? untilAborted : Reflect.get(target, key)),
  })
  const { several, until, keys } = polled({ eu: silent, us: await storeWith('o/2') })
  await until(() => keys().length === 1)
  expect(several.streams.isComplete).toBe(false)
  expect(several.freshness.store).toBe('eu')
})

test('the activity and the workers of all stores are together, each with the key of its stream', async () => {
  const [eu, us] = [await storeWith('o/1'), await storeWith('o/1')]
  await run(us, 'o/1', { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 })
  const { several, until } = polled({ eu, us })
  await until(() => several.activity.items.length === 3 && several.workers.rows.some(({ owner }) => owner === 'w'))
  expect(several.activity.items.map(({ stream, store }) => `${store} ${stream}`).sort()).toEqual([
    'eu eu:o/1',
    'us us:o/1',
    'us us:o/1',
  ])
  expect(new Set(several.activity.items.map(({ key }) => key)).size).toBe(3)
  expect(several.workers.rows.find(({ owner }) => owner === 'w')).toMatchObject({ stream: 'us:o/1', store: 'us' })
  const search = several.workers.steps.find(({ step }) => step === 'Search')
  expect(search).toMatchObject({ ready: 1, running: 1 })
})

test('the open stream is that of its store, also if both have one of its name', async () => {
  const us = await storeWith('o/1')
  await run(us, 'o/1', { op: 'cancel' })
  const { several, until } = polled({ eu: await storeWith('o/1'), us })
  several.setVisible({ ...EVERYTHING, open: 'us:o/1' })
  await until(() => several.open?.presence === 'there')
  expect(several.open?.name).toBe('us:o/1')
  expect(several.open?.event('00')?.status).toBe('canceled')
  several.setVisible({ ...EVERYTHING, open: 'eu:o/1' })
  await until(() => several.open?.name === 'eu:o/1' && several.open.presence === 'there')
  expect(several.open?.event('00')?.status).toBe('inprocess')
})

test('a failure in any store is counted, and named by its key', async () => {
  const us = await storeWith('o/1')
  const { several, until } = polled({ eu: await storeWith('o/1'), us })
  await until(() => several.streams.isComplete)
  await run(us, 'o/1', { op: 'fail', event: '01.00', msg: 'no card' })
  await until(() => several.failures.count > 0)
  expect(several.failures).toEqual({ count: 1, latest: { stream: 'us:o/1', text: '01.00 Search no card' } })
})

test('a snapshot stays as it was', async () => {
  const us = await storeWith('o/1')
  const { several, until } = polled({ eu: await storeWith('o/1'), us })
  await until(() => several.streams.isComplete)
  const frozen = several.snapshot()
  await run(us, 'o/2', init())
  await until(() => several.streams.size === 3)
  expect(frozen.streams.size).toBe(2)
  expect(several.revision).toBeGreaterThan(frozen.revision)
})

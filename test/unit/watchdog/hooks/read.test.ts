import { expect, test } from 'vitest'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { readWithRetry } from '../../../../src/watchdog/hooks/read.ts'
import { storeWith } from '../../commands/store-with.ts'
import { init, memoryStore, run } from '../../ops/support.ts'
import { hurriedTiming } from './support.ts'

async function world(change: (body: string) => string = body => body) {
  const { store } = memoryStore()
  await run(store, 's', init())
  const read: StreamStore['read'] = async name => {
    const stored = await store.read(name)
    return stored && { ...stored, body: Buffer.from(change(Buffer.from(stored.body).toString())) }
  }
  return storeWith(store, { read })
}

const read = (store: StreamStore, signal = new AbortController().signal) => {
  const troubles: string[] = []
  const timing = hurriedTiming(0)
  const onTrouble = (message: string) => void troubles.push(message)
  return readWithRetry(store, 's', { timing, signal, onTrouble }).then(({ kind }) => ({
    kind,
    troubles,
    pauses: timing.pauses,
  }))
}

test.each<[string, (body: string) => string]>([
  ['a missing document', () => '<EventStream><Event'],
  ['a document that is not an event stream', () => '<!DOCTYPE a><a/>'],
])('%s has nothing to deliver', async (_, change) => {
  expect(await read(await world(change))).toEqual({ kind: 'nothing', troubles: [], pauses: [] })
})

test('a missing stream has nothing to deliver', async () => {
  const store = storeWith(await world(), { read: async () => undefined })
  expect(await read(store)).toMatchObject({ kind: 'nothing' })
})

test('a store that does not answer is retried at growing intervals, and reported once', async () => {
  const store = await world()
  let left = 7
  const faulty = storeWith(store, {
    async read(name) {
      if (left-- > 0) throw new StoreUnreachable('no answer')
      return store.read(name)
    },
  })
  expect(await read(faulty)).toEqual({
    kind: 'read',
    troubles: ['s cannot be read for hooks now'],
    pauses: [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000],
  })
})

test('the retries stop when the watchdog stops', async () => {
  const stop = new AbortController()
  const store = storeWith(await world(), {
    async read() {
      stop.abort()
      throw new StoreUnreachable('no answer')
    },
  })
  expect(await read(store, stop.signal)).toMatchObject({ kind: 'stopped', troubles: [] })
})

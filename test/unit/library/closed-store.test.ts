import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import {
  createInbox,
  createStream,
  drain,
  follow,
  type OpenedStore,
  openStore,
  StoreClosed,
  subscribe,
  worker,
} from '../../../src/index.ts'
import { testFolder } from '../store/sqlite/support.ts'

const BY = 'ada@host'

async function readAll(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

const RUNS: readonly (readonly [string, (store: OpenedStore) => Promise<unknown>])[] = [
  ['a worker that waits', store => worker(store, { name: 'Search' }, () => undefined)],
  ['a worker at work', store => worker(store, { name: 'Order' }, async () => void (await pause(600)))],
  ['a follower', store => readAll(follow(store, 'orders/1'))],
  ['a subscription', store => subscribe(store, { as: 'mails', by: BY }, () => undefined)],
  [
    'a drain',
    async store => {
      await createInbox(store, 'in', { partitions: 2, by: BY })
      await drain(store, 'in', ({ id }) => ({ do: 'init', stream: `d/${id}`, root: 'D' }))
    },
  ],
]

it.each(RUNS)('%s ends with StoreClosed when its program closes the store', async (_, run) => {
  const store = await openStore(`sqlite:${join(testFolder(), 's.db')}`)
  await createStream(store, 'orders/1', { by: BY }, { root: 'Order' })
  const ended = expect(run(store)).rejects.toThrow(StoreClosed)
  await pause(300)
  await store.close()
  await ended
})

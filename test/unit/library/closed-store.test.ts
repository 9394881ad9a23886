import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import {
  createInbox,
  createStream,
  drain,
  follow,
  type Job,
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
  ['a worker that waits', store => worker(store, { name: 'Other' }, () => undefined)],
  ['a worker at work', store => worker(store, { name: 'Search' }, async () => void (await pause(600)))],
  [
    'a worker whose work ends with its claim',
    async store => {
      let begun = 0
      const work = ({ signal }: Job) => {
        begun += 1
        return new Promise<undefined>(resolve =>
          signal.addEventListener('abort', () => resolve(undefined), { once: true }),
        )
      }
      await worker(store, { name: 'Search', claimMs: 1_000 }, work).finally(() => expect(begun).toBe(1))
    },
  ],
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

const CASES = ['sqlite', 'memory'].flatMap(kind => RUNS.map(([what, run]) => ({ kind, what, run })))

it.each(CASES)('$what ends with StoreClosed when its program closes the store: $kind', async ({ kind, run }) => {
  const store = await openStore(kind === 'memory' ? 'memory:' : `sqlite:${join(testFolder(), 's.db')}`)
  await createStream(store, 'orders/1', { by: BY }, { root: 'Order', forks: [{ name: 'Search' }] })
  const ended = expect(run(store)).rejects.toThrow(StoreClosed)
  await pause(300)
  await store.close()
  await ended
})

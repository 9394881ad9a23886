import { expect, test } from 'vitest'
import { readAuditLog } from '../../../src/ops/audit-log.ts'
import { globOf } from '../../../src/ops/glob.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { type PurgeOptions, type PurgeReport, Purger, purge, toPurge } from '../../../src/watchdog/purge.ts'
import { storeWith } from '../commands/store-with.ts'
import { init, run } from '../ops/support.ts'

const DAY_MS = 86_400_000
const RUNNING = new AbortController().signal

const OPTIONS: PurgeOptions = {
  ...{ olderThanMs: 90 * DAY_MS, concurrency: 4, by: 'watchdog:ops', host: 'h', newId: () => 'id' },
}

/** A store with streams that ended in each way, a hundred days later. */
async function oldStore(): Promise<{ store: StreamStore; clock: { nowMs: number } }> {
  const clock = { nowMs: Date.UTC(2026, 0, 1) }
  const store = openMemoryStore({ clock: () => clock.nowMs })
  for (const name of ['old/1', 'old/2', 'open', 'canceled', 'failed', 'acknowledged'])
    await run(store, name, init(['A', 'B']))
  for (const name of ['old/1', 'old/2']) await complete(store, name)
  await run(store, 'canceled', { op: 'cancel' })
  for (const name of ['failed', 'acknowledged']) {
    await run(store, name, { op: 'fail', event: '01.00', msg: 'no' })
    await run(store, name, { op: 'complete', event: '02.00' })
  }
  await run(store, 'acknowledged', { op: 'ack' })
  clock.nowMs += 100 * DAY_MS
  await run(store, 'young', init(['A', 'B']))
  await complete(store, 'young')
  return { store, clock }
}

async function complete(store: StreamStore, name: string): Promise<void> {
  for (const event of ['01.00', '02.00']) await run(store, name, { op: 'complete', event })
}

async function namesOf(store: StreamStore): Promise<string[]> {
  const names: string[] = []
  for await (const page of store.list({})) names.push(...page.map(({ name }) => name))
  return names
}

test('a purge removes old completed streams, and none that is open, young, canceled, or failed and not acknowledged', async () => {
  const { store } = await oldStore()
  const report = await purge(store, OPTIONS, RUNNING)
  expect(report).toEqual({ streams: ['acknowledged', 'old/1', 'old/2'], left: 0, hasMore: false })
  expect(await namesOf(store)).toEqual(['canceled', 'failed', 'open', 'young'])
})

test('a purge is in the audit log with who, why and what', async () => {
  const { store } = await oldStore()
  await purge(store, { ...OPTIONS, names: globOf('old/*') }, RUNNING)
  expect(await readAuditLog(store, {})).toMatchObject([
    {
      op: 'rm',
      by: 'watchdog:ops',
      why: expect.stringContaining('--purge'),
      names: ['old/1', 'old/2'],
      end: { counts: { done: 2 } },
    },
  ])
})

test('a purge that has nothing to remove writes nothing', async () => {
  const { store, clock } = await oldStore()
  clock.nowMs -= 50 * DAY_MS
  expect((await purge(store, OPTIONS, RUNNING)).streams).toEqual([])
  expect(await readAuditLog(store, {})).toEqual([])
})

test('a dry run finds the same streams and removes none', async () => {
  const { store } = await oldStore()
  const { found } = await toPurge(store, OPTIONS, RUNNING)
  expect(found.map(({ listed }) => listed.name)).toEqual(['acknowledged', 'old/1', 'old/2'])
  expect(await namesOf(store)).toHaveLength(7)
})

test('a stream that is leased, or was written since the listing, stays', async () => {
  const { store } = await oldStore()
  const holder = { by: 'ann', host: 'h', pid: 1, purpose: 'reads', sinceMs: 0 }
  await store.acquireLease('old/1', { leaseId: crypto.randomUUID(), durationS: 60, holder })
  const overtaken = storeWith(store, {
    async remove(name, options) {
      if (name === 'old/2') await run(store, name, { op: 'ack' }).catch(() => undefined)
      return store.remove(name, name === 'old/2' ? { ...options, etag: 'older' } : options)
    },
  })
  expect(await purge(overtaken, OPTIONS, RUNNING)).toEqual({ streams: ['acknowledged'], left: 2, hasMore: false })
  expect(await namesOf(store)).toEqual(expect.arrayContaining(['old/1', 'old/2']))
})

test('nothing is removed if the audit log cannot be written', async () => {
  const { store } = await oldStore()
  const away = storeWith(store, {
    update: async () => ({ kind: 'unknown', cause: new Error('gone') }),
    create: async () => ({ kind: 'unknown', cause: new Error('gone') }),
  })
  await expect(purge(away, OPTIONS, RUNNING)).rejects.toThrow('no stream was removed')
  expect(await namesOf(store)).toHaveLength(7)
})

test('a shard removes only its own streams', async () => {
  const { store } = await oldStore()
  const ownership = { owns: (name: string) => name !== 'old/1' }
  expect((await purge(store, { ...OPTIONS, ownership }, RUNNING)).streams).toEqual(['acknowledged', 'old/2'])
})

test('a watchdog purges after its first sweep, then again when ten minutes have passed', async () => {
  const { store } = await oldStore()
  let listings = 0
  const counting = storeWith(store, {
    list(query) {
      if (!query.reserved) listings++
      return store.list(query)
    },
  })
  let nowMs = 0
  const reports: PurgeReport[] = []
  const purger = new Purger(
    counting,
    OPTIONS,
    {
      purged: report => void reports.push(report),
      failed: error => {
        throw error
      },
    },
    () => nowMs,
  )
  purger.passed({ kind: 'appointment' })
  expect(listings).toBe(0)
  purger.passed({ kind: 'sweep' })
  await expect.poll(() => reports).toHaveLength(1)
  purger.passed({ kind: 'sweep' })
  expect(listings).toBe(1)
  nowMs += 10 * 60_000
  purger.passed({ kind: 'sweep' })
  expect(listings).toBe(2)
  await purger.stop()
  expect(reports).toHaveLength(1)
})

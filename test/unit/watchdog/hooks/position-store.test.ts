import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { readSystemDocument } from '../../../../src/ops/read-system-document.ts'
import { shardOf } from '../../../../src/ops/shards/quota.ts'
import { createSystemDocument } from '../../../../src/ops/system-documents.ts'
import { startPositionDocument } from '../../../../src/subscriptions/position/document.ts'
import { hookPositions } from '../../../../src/watchdog/hooks/position-store.ts'
import { shortId } from '../../../../src/watchdog/hooks/positions.ts'
import { hookKey } from '../../../../src/watchdog/hooks/target.ts'
import { init, memoryStore, NOW, run } from '../../ops/support.ts'
import { type HookWorld, hookWorld, webhook } from './world.ts'

let world: HookWorld | undefined
afterEach(async () => world?.close())

/** What earlier versions kept of the hook for `done`. */
async function oldMark(of: HookWorld, since: readonly (number | null)[], told: readonly string[] = []): Promise<void> {
  const text = JSON.stringify({ apiVersion: 'leasectl/v1', kind: 'watchdog-hook', since, told })
  const name = `.leasectl/watchdog/hooks/${hookKey('done', webhook(of.host), undefined)}`
  await createSystemDocument(of.store, name, text, { by: 'tester' })
}

test('after an upgrade hooks go on where the version before stopped', async () => {
  world = await hookWorld()
  const { store, advance, start, told } = world
  await run(store, 'before', init())
  await run(store, 'before', { op: 'abort' })
  advance(600_000)
  await oldMark(world, [NOW + 600_000])
  advance(600_000)
  await run(store, 'after', init())
  await run(store, 'after', { op: 'abort' })
  advance(600_000)
  await start({ kinds: ['done'] }).sweep()
  expect(told()).toEqual(['done after abort v2'])
})

test('what the version before delivered after its mark is not delivered again', async () => {
  world = await hookWorld()
  const { store, advance, start, told, host } = world
  await run(store, 's', init())
  const first = start({
    kinds: ['done'],
    memory: () => ({ read: async () => undefined, write: async () => 'written' as const }),
  })
  await first.sweep()
  advance(10_000)
  await run(store, 's', { op: 'abort' })
  await first.sweep()
  const id = String(host.received[0]?.headers['webhook-id'])
  await oldMark(world, [NOW], [shortId(id)])
  await start({ kinds: ['done'] }).sweep()
  expect(told()).toEqual(['done s abort v2'])
})

test('an old mark of other shards counts from the earliest one, and a damaged one not at all', async () => {
  world = await hookWorld()
  await oldMark(world, [NOW - 5_000, null, NOW - 9_000])
  const positions = hookPositions(world.store, 'tester')
  const found = await positions(hookKey('done', webhook(world.host), undefined)).read(1, 2)
  expect(found?.document.watermarkMs).toBe(NOW - 39_000)
  await createSystemDocument(world.store, '.leasectl/watchdog/hooks/odd', '{"since":', { by: 'tester' })
  expect(await positions('odd').read(0, 1)).toBeUndefined()
})

test('with another number of shards everything counts that the positions of the former number know', async () => {
  const { store, advance } = memoryStore()
  const positions = hookPositions(store, 'tester')('k')
  const names = Array.from({ length: 12 }, (_, at) => `s${at}`)
  const unfinished = names.map(stream => {
    const fields = { born: 'b', version: 1, tries: 0, attempts: 0, nextMs: 0, why: '', sinceMs: 0 }
    return { stream, state: 'running', ...fields } as const
  })
  await positions.write(
    0,
    1,
    { document: startPositionDocument(NOW - 90_000, NOW, ''), told: ['old'], notices: [] },
    true,
  )
  advance(1_000)
  for (const shard of [0, 1]) {
    const streams = unfinished.filter(({ stream }) => shardOf(stream, 2) === shard)
    const document = { ...startPositionDocument(NOW - shard, NOW, ''), recent: new Map([[`k${shard}`, 3]]), streams }
    await positions.write(shard, 2, { document, told: [`id${shard}`], notices: [] }, true)
  }
  const found = await positions.read(1, 3)
  expect(found?.document.watermarkMs).toBe(NOW - 1)
  expect([...(found?.document.recent ?? [])]).toEqual([
    ['k0', 3],
    ['k1', 3],
  ])
  const own = names.filter(name => shardOf(name, 3) === 1)
  expect(found?.document.streams.map(({ stream }) => stream).sort()).toEqual(own.sort())
  expect(found?.told).toEqual(['id0', 'id1'])
})

test('a position from a newer version is not replaced, and the last hour is delivered', async () => {
  world = await hookWorld()
  const { store, advance, start, told } = world
  const name = `.leasectl/watchdog/positions/${hookKey('done', webhook(world.host), undefined)}/1/0`
  const text = '{"apiVersion":"leasectl/v9","kind":"SubscriptionShard"}'
  await createSystemDocument(store, name, text, { by: 'tester' })
  await run(store, 's', init())
  await run(store, 's', { op: 'abort' })
  advance(60_000)
  const { sweep, feed, troubles } = start({ kinds: ['done'] })
  await sweep()
  await feed.drain(0)
  expect(told()).toEqual(['done s abort v2'])
  expect(troubles).toEqual(['the position of hooks cannot be read: events of the last hour may be delivered again'])
  expect(await readSystemDocument(store, name)).toBe(text)
})

test('a shard that comes back goes on where the other watchdog stopped, also for streams that have not moved since', async () => {
  const pending: ServerResponse[] = []
  world = await hookWorld((response, _, count) => {
    if (count > 2) response.writeHead(204).end()
    else pending.push(response)
  })
  const { store, advance, start, told, host } = world
  await run(store, 's', init())
  const [first, second] = [start({ kinds: ['done'], shards: 2 }), start({ kinds: ['done'], shards: 2 })]
  first.feed.shards?.([0, 1], 2)
  await first.sweep()
  advance(600_000)
  await run(store, 's', { op: 'abort' })
  await first.pass()
  await host.came(1)
  first.feed.shards?.([], 2)
  pending.pop()?.writeHead(503).end()
  second.feed.shards?.([0, 1], 2)
  await second.pass()
  await host.came(2)
  second.feed.shards?.([], 2)
  pending.pop()?.writeHead(503).end()
  first.feed.shards?.([0, 1], 2)
  await first.pass()
  await host.came(3)
  expect(told()).toEqual(['done s abort v2', 'done s abort v2', 'done s abort v2'])
})

test('a watchdog that lost a shard does not write over the position of its next owner', async () => {
  const { store } = memoryStore()
  const positions = hookPositions(store, 'tester')('k')
  const at = (tenure: string, watermarkMs: number) => {
    return { document: startPositionDocument(watermarkMs, NOW, ''), told: [], notices: [], tenure }
  }
  expect(await positions.write(0, 2, at('one', 1), true)).toBe('written')
  expect(await positions.write(0, 2, at('one', 2), false)).toBe('written')
  expect(await positions.write(0, 2, at('two', 2), true)).toBe('written')
  expect(await positions.write(0, 2, at('one', 9), false)).toBe('lost')
  expect((await positions.read(0, 2))?.document.watermarkMs).toBe(2)
})

test('the document of an earlier version is removed once every shard has its own position', async () => {
  world = await hookWorld()
  const { store, start } = world
  await oldMark(world, [NOW, NOW])
  const name = `.leasectl/watchdog/hooks/${hookKey('done', webhook(world.host), undefined)}`
  const { feed, sweep } = start({ kinds: ['done'], shards: 2 })
  feed.shards?.([0], 2)
  await sweep()
  expect(await readSystemDocument(store, name)).toBeDefined()
  feed.shards?.([0, 1], 2)
  await sweep()
  expect(await readSystemDocument(store, name)).toBeUndefined()
})

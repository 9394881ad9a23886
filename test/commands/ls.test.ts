import { expect, test } from 'vitest'
import { register } from '../../src/commands/ls.ts'
import type { EventStore } from '../../src/store/store.ts'
import { cli, json, newWorld, optionsFrom, type World } from './support.ts'

test('argv → options', async () => {
  const argv = [
    'ls',
    '--status',
    'init,aborted',
    '--status',
    'canceled',
    '--failed',
    '--match',
    'a/*',
    '--limit',
    '7',
    '-o',
    'name',
  ]
  expect(await optionsFrom(register, argv)).toEqual({
    status: ['init', 'aborted', 'canceled'],
    failed: true,
    match: 'a/*',
    limit: 7,
    output: 'name',
  })
  expect(await optionsFrom(register, ['list'])).toEqual({})
})

async function three(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 'a/1', '--fork', 'A,B,C,D', '--timeout', '10m', '--key', 'k'])
  await cli(world, ['init', 'a/b/2', '--hold'])
  await cli(world, ['init', 'z'])
  await cli(world, ['event', 'fail', 'a/1', '02.00', '-m', 'no answer'])
  await cli(world, ['abort', 'z'])
  world.nowMs += 134_000
  return world
}

test('a table with progress, what it waits on, due, age and lease', async () => {
  const world = await three()
  await cli(world, ['lease', 'acquire', 'a/1', '--by', 'ops'])
  const ran = await cli(world, ['ls'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout.split('\n')).toEqual([
    'NAME   STATUS       PROGRESS  WAITING ON         DUE      AGE  LEASE',
    'a/1    ▶ inprocess  1/5 ✗1    01.00 03.00 04.00  in 7m  2m14s  ops',
    'a/b/2  ○ init       0/1       00                 -      2m14s  -',
    'z      ✗ aborted    1/1 ✗1    -                  -      2m14s  -',
    '',
  ])
})

test('--status, --failed and --match hold together; * stays within a /, ** does not', async () => {
  const world = await three()
  const names = async (...argv: string[]) =>
    (await cli(world, ['ls', '-o', 'name', ...argv])).stdout.split('\n').slice(0, -1)
  expect(await names()).toEqual(['a/1', 'a/b/2', 'z'])
  expect(await names('--match', 'a/*')).toEqual(['a/1'])
  expect(await names('--match', 'a/**')).toEqual(['a/1', 'a/b/2'])
  expect(await names('--match', 'a')).toEqual([])
  expect(await names('--failed')).toEqual(['a/1', 'z'])
  expect(await names('--failed', '--status', 'aborted')).toEqual(['z'])
  expect(await names('--status', 'init,aborted', '--match', 'a/**')).toEqual(['a/b/2'])
})

test('-o json is one document with items, total and truncated', async () => {
  const world = await three()
  const all = json((await cli(world, ['ls', '-o', 'json'])).stdout)
  expect(all).toMatchObject({ apiVersion: 'leasectl/v1', total: 3, truncated: false })
  expect((all.items as unknown[])[0]).toEqual({
    name: 'a/1',
    status: 'inprocess',
    version: 2,
    root: 'Start',
    created: '2026-03-01T12:00:00.000Z',
    key: 'k',
    topic: null,
    tag: null,
    trackingId: null,
    outcome: 'errors',
    open: 4,
    failed: 1,
    total: 5,
    due: '2026-03-01T12:10:00.000Z',
    waitingOn: ['01.00', '03.00', '04.00'],
    failedAt: '2026-03-01T12:00:00.000Z',
    failure: 'no answer',
    lease: { state: 'available', duration: null, until: null, holder: null },
    modified: '2026-03-01T12:00:00.000Z',
  })
  const cut = json((await cli(world, ['ls', '-o', 'json', '--limit', '2'])).stdout)
  expect(cut).toMatchObject({ total: null, truncated: true })
  expect(cut.items).toHaveLength(2)
})

test('every line of ndjson carries the version of the API', async () => {
  const ran = await cli(await three(), ['ls', '-o', 'ndjson'])
  const lines = ran.stdout.trimEnd().split('\n').map(json)
  expect(lines.map(({ apiVersion, name }) => [apiVersion, name])).toEqual([
    ['leasectl/v1', 'a/1'],
    ['leasectl/v1', 'a/b/2'],
    ['leasectl/v1', 'z'],
  ])
})

test('an empty list is a header or [], exit 0, and a sentence on stderr', async () => {
  const table = await cli(newWorld(), ['ls'])
  expect(table).toMatchObject({ exit: 0, stderr: 'no streams in memory:\n' })
  expect(table.stdout).toMatch(/^NAME\s+STATUS/)
  const document = await cli(newWorld(), ['ls', '-o', 'json'])
  expect(json(document.stdout)).toEqual({ apiVersion: 'leasectl/v1', items: [], total: 0, truncated: false })
  expect((await cli(newWorld(), ['ls', '-q', '-o', 'ndjson'])).stderr).toBe('')
})

test('a table on a terminal stops at 200 and says so; elsewhere it does not', async () => {
  const world = newWorld()
  for (let at = 0; at < 201; at++) await cli(world, ['init', `s${String(at).padStart(3, '0')}`])
  const terminal = await cli(world, ['ls'], { columns: 80 })
  expect(terminal.stdout.trimEnd().split('\n')).toHaveLength(201)
  expect(terminal.stderr).toContain('the first 200')
  expect((await cli(world, ['ls'])).stdout.trimEnd().split('\n')).toHaveLength(202)
})

test('a listing is written page by page: what it holds does not grow with the number of streams', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  let page: unknown
  for await (const rows of world.store.list({})) page = rows
  let asked = 0
  const endless: EventStore = new Proxy(world.store, {
    get(target, key) {
      if (key !== 'list') return Reflect.get(target, key)
      return async function* () {
        for (; ; asked++) yield page
      }
    },
  })
  const ran = await cli(world, ['ls', '-o', 'name', '--limit', '5'], { store: endless })
  expect(ran.stdout).toBe('s\n'.repeat(5))
  expect(asked).toBe(5)
})

test('a stream without a summary is read; one that cannot be read is shown, not thrown', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--fork', 'A'])
  await cli(world, ['init', 'b'])
  const foreign: EventStore = new Proxy(world.store, {
    get(target, key) {
      if (key === 'list') {
        return async function* (query: object) {
          for await (const page of target.list(query)) yield page.map(({ summary: _, ...listed }) => listed)
        }
      }
      if (key === 'read') {
        return async (name: string) => {
          const stored = await target.read(name)
          return name === 'b' && stored !== undefined ? { ...stored, body: Buffer.from('<x') } : stored
        }
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const ran = await cli(world, ['ls'], { store: foreign })
  expect(ran.exit).toBe(0)
  expect(ran.stdout).toContain('a     ▶ inprocess     0/2')
  expect(ran.stdout).toContain('b     ? bad-document')
  const { items } = json((await cli(world, ['ls', '-o', 'json'], { store: foreign })).stdout)
  expect(items).toMatchObject([
    { name: 'a', open: 2 },
    { name: 'b', status: null, error: { code: 'bad-document' } },
  ])
})

test('names of leasectl itself are never listed', async () => {
  const world = newWorld()
  await world.store.create('.leasectl/watchdog', Buffer.from('x'), await summaryOf(world))
  expect((await cli(world, ['ls', '-o', 'name'])).stdout).toBe('s\n')
})

async function summaryOf(world: World) {
  await cli(world, ['init', 's'])
  const summary = (await world.store.read('s'))?.summary
  if (summary === undefined) throw new Error('the memory store keeps summaries')
  return summary
}

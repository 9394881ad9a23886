import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { register } from '../../../src/commands/ls.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { listing, storeWith } from './store-with.ts'
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
    '--sort',
    '-failedAt',
    '--fields',
    'name,due',
    '--group-by',
    'waiting-on',
    '-w',
    '--interval',
    '3s',
    '-o',
    'wide',
  ]
  expect(await optionsFrom(register, argv)).toEqual({
    status: ['init', 'aborted', 'canceled'],
    failed: true,
    match: ['a/*'],
    limit: 7,
    sort: { field: 'failedAt', descending: true },
    fields: ['name', 'due'],
    groupBy: 'waiting-on',
    watch: true,
    interval: 3_000,
    output: 'wide',
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

test('a table has status, waiting-on, due, age, events done, open and failed, lease', async () => {
  const world = await three()
  await cli(world, ['lease', 'acquire', 'a/1', '--by', 'ops'])
  const ran = await cli(world, ['ls'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout.split('\n')).toEqual([
    'NAME   STATUS      WAITING ON                 DUE         AGE  ✓/○/✗/⊘  LEASE',
    'a/1    ▶✗ failing  01.00 A, 03.00 C, 04.00 D  in 7m46s  2m14s  0/4/1/0  ops',
    'a/b/2  ◇ held      00 Start                   -         2m14s  0/1/0/0  -',
    'z      ✗ aborted   -                          -         2m14s  0/0/1/0  -',
    '',
  ])
})

test('--status, --failed and --match combine; * does not cross a /, ** does', async () => {
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
    state: 'failing',
    suspended: null,
    version: 2,
    root: 'Start',
    created: '2026-03-01T12:00:00.000Z',
    key: 'k',
    topic: null,
    tag: null,
    trackingId: null,
    outcome: 'errors',
    open: 4,
    done: 0,
    failed: 1,
    canceled: 0,
    total: 5,
    due: '2026-03-01T12:10:00.000Z',
    waitingOn: ['01.00', '03.00', '04.00'],
    wakes: null,
    waiting: [],
    readySince: '2026-03-01T12:00:00.000Z',
    failedAt: '2026-03-01T12:00:00.000Z',
    failedId: '02.00',
    failedName: 'B',
    abandoned: false,
    acknowledged: false,
    running: [],
    failure: 'no answer',
    lastBy: 'tester@testhost',
    lease: { state: 'available', duration: null, until: null, holder: null },
    modified: '2026-03-01T12:00:00.000Z',
    error: null,
  })
  const cut = json((await cli(world, ['ls', '-o', 'json', '--limit', '2'])).stdout)
  expect(cut).toMatchObject({ total: 3, truncated: true })
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

test('without matches the output has the total', async () => {
  const world = await three()
  const none = await cli(world, ['ls', '--match', 'orders/**'])
  expect(none).toMatchObject({ exit: 0, stderr: 'nothing matches: none of 3 streams in memory:\n' })
  expect(none.stdout).toMatch(/^NAME\s+STATUS.*\n$/)
  const groups = await cli(world, ['ls', '--status', 'completed', '--group-by', 'status', '-o', 'json'])
  expect(groups.stderr).toBe('nothing matches: none of 3 streams in memory:\n')
  expect(json(groups.stdout)).toMatchObject({ items: [], total: 0, streams: 0 })
  expect((await cli(newWorld(), ['ls', '--failed'])).stderr).toBe('no streams in memory:\n')
})

/** Listings have no summary, and the document of `b` is unreadable. */
function foreign(world: World): StreamStore {
  return storeWith(world.store, {
    ...listing(world.store, ({ summary: _, ...listed }) => listed),
    read: async name => {
      const stored = await world.store.read(name)
      return name === 'b' && stored !== undefined ? { ...stored, body: Buffer.from('<x') } : stored
    },
  })
}

test('a stream without a summary is read; an unreadable one is a row with the reason, and the rest continues', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--fork', 'A'])
  await cli(world, ['init', 'b'])
  await cli(world, ['init', 'c'])
  const store = foreign(world)
  const ran = await cli(world, ['ls'], { store })
  expect(ran.exit).toBe(0)
  expect(ran.stdout.split('\n').slice(1, -1)).toEqual([
    expect.stringMatching(/^a {5}▶ inprocess {5}01\.00/),
    expect.stringMatching(/^b {5}\? bad-document {2}line 1, column 3: \S.* {2}\? +\? +\? +-$/),
    expect.stringMatching(/^c {5}▶ inprocess {5}00/),
  ])
  const { items, total } = json((await cli(world, ['ls', '-o', 'json'], { store })).stdout)
  expect(total).toBe(3)
  expect(items).toMatchObject([
    { name: 'a', open: 2 },
    { name: 'b', status: null, error: { code: 'bad-document' } },
    { name: 'c', open: 1 },
  ])
  expect((await cli(world, ['ls', '--fields', 'name,version'], { store })).stdout).toMatch(/\nb +\?\n/)
  const fields = await cli(world, ['ls', '--fields', 'name', '-o', 'ndjson'], { store })
  expect(json(fields.stdout.split('\n')[1] ?? '')).toMatchObject({ name: 'b', error: { code: 'bad-document' } })
})

test('-o wide adds version, root, texts, the last change with its author, and the last failure', async () => {
  const world = await three()
  await cli(world, ['event', 'set', 'a/1', '00', '--topic', 't', '--tag', 'g', '--tracking-id', 'x-1'])
  const [header = '', row = ''] = (await cli(world, ['ls', '-o', 'wide', '--limit', '1'])).stdout.split('\n')
  expect(header).toMatch(
    /^NAME .* LEASE +STATE +SUSPENDED +RUNNING +VERSION +ROOT +KEY +TOPIC +TAG +TRACKING ID +READY SINCE +CHANGED +BY +LAST FAILURE$/,
  )
  expect(row).toMatch(/ 3 +Start +k +t +g +x-1 +2m14s ago +0s ago +tester@testhost +02\.00 no answer$/)
})

test('names and texts are cut on a narrow terminal only', async () => {
  const world = newWorld()
  const name = `orders/${'4711-'.repeat(20)}`
  await cli(world, ['init', name])
  expect((await cli(world, ['ls'])).stdout).toContain(name)
  expect((await cli(world, ['ls'], { columns: 200 })).stdout).toContain(name)
  const narrow = (await cli(world, ['ls', '--color', 'never'], { columns: 80 })).stdout.split('\n')
  expect(narrow[1]).toMatch(/^orders\/\S*…\S*4711- {2}▶ inprocess/)
  expect(Math.max(...narrow.map(line => line.length))).toBe(80)
})

test('--fields chooses columns and fields in the given order; JSON keeps the version of the API', async () => {
  const world = await three()
  const argv = ['ls', '--limit', '1', '--fields', 'failure,name', '--fields', 'created']
  expect((await cli(world, argv)).stdout).toBe('FAILURE    NAME  CREATED\nno answer  a/1   2m14s ago\n')
  expect((await cli(world, [...argv, '-o', 'ndjson'])).stdout).toBe(
    '{"apiVersion":"leasectl/v1","failure":"no answer","name":"a/1","created":"2026-03-01T12:00:00.000Z"}\n',
  )
  const document = json((await cli(world, [...argv, '-o', 'json'])).stdout)
  expect(document).toMatchObject({ apiVersion: 'leasectl/v1', total: 3 })
  expect(JSON.stringify(document.items)).toBe(
    '[{"failure":"no answer","name":"a/1","created":"2026-03-01T12:00:00.000Z"}]',
  )
})

test.each([
  [['--fields', 'nam'], 'did you mean name? One of name, status, state'],
  [['--fields', 'name,'], '--fields does not take ""'],
  [['--fields', 'name', '-o', 'name'], '--fields does not go with -o name'],
  [['--fields', 'name', '-o', 'wide'], '--fields does not go with -o wide'],
  [['--sort', 'du'], 'did you mean due? One of name, status, due'],
  [['--sort', '-due:desc'], 'gives the order twice'],
  [['--group-by', 'statu'], 'did you mean status?'],
  [['--group-by', 'status', '-o', 'name'], '--group-by does not go with -o name'],
  [['--group-by', 'status', '-o', 'wide'], '--group-by does not go with -o wide'],
  [['--group-by', 'status', '--sort', 'due'], '--group-by does not go with --sort'],
  [['--group-by', 'status', '--fields', 'name'], '--group-by does not go with --fields'],
  [['--interval', '2s'], '--interval needs -w'],
])('%j is exit 2', async (flags, says) => {
  const ran = await cli(newWorld(), ['ls', ...flags])
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(says)
})

test('-o yaml is the same document as -o json, an empty one too', async () => {
  const world = await three()
  const both = async (...argv: string[]) => [
    parse((await cli(world, ['ls', ...argv, '-o', 'yaml'])).stdout),
    json((await cli(world, ['ls', ...argv, '-o', 'json'])).stdout),
  ]
  for (const argv of [[], ['--limit', '1'], ['--match', 'nix'], ['--fields', 'name,due']]) {
    const [yaml, document] = await both(...argv)
    expect(yaml).toEqual(document)
  }
})

test("names of leasectl's own documents are never listed", async () => {
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

test('--fields age is the column AGE, in JSON created', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a'])
  world.nowMs += 134_000
  const list = async (...argv: string[]) => (await cli(world, ['ls', '--fields', 'name,age', ...argv])).stdout
  expect(await list()).toBe('NAME    AGE\na     2m14s\n')
  expect(await list('--time', 'utc')).toBe('NAME  CREATED\na     12:00:00Z\n')
  expect(JSON.parse(await list('-o', 'ndjson'))).toMatchObject({ name: 'a', created: '2026-03-01T12:00:00.000Z' })
})

test.each([40, 60, 80])('names are whole on a terminal of %i columns, and no line is wider', async columns => {
  const world = newWorld()
  const name = 'orders/2026-11-20/1810'
  await cli(world, ['init', name, '--fork', 'Search,Pay', '--by', 'shop@web-2'])
  const { stdout } = await cli(world, ['ls', '--color', 'never'], { columns })
  const lines = stdout.trimEnd().split('\n')
  expect(lines[1]).toContain(name)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
})

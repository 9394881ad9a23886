import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { cli, json, newWorld, type World } from '../support.ts'

/** Six versions, a minute between them. */
const story = await (async (): Promise<World> => {
  const world = newWorld()
  const run = async (...argv: string[]) => {
    const ran = await cli(world, argv)
    if (ran.exit !== 0) throw new Error(ran.stderr)
    world.nowMs += 60_000
  }
  await run('init', 'orders/1', '--root', 'Order', '--fork', 'Search,Pay', '--by', 'shop')
  await run('event', 'start', 'orders/1', '01.00', '--owner', 'worker-7', '--claim', '1h', '--by', 'worker-7')
  await run('event', 'advance', 'orders/1', '01.00', '--owner', 'worker-7', '--next', 'Found', '--by', 'worker-7')
  await run('event', 'set', 'orders/1', '02.00', '--tag', 'late', '--by', 'ann')
  await run('cancel', 'orders/1', '-e', '02.00', '-m', 'no money', '--by', 'ann')
  await run('retry', 'orders/1', '-e', '02.00', '-m', 'paid after all', '--by', 'bob')
  return world
})()

test('the diff since a version shows old and new values, the last author and reason', async () => {
  const ran = await cli(story, ['show', 'orders/1', '--diff', '1', '--time', 'utc'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout.split('\n')).toEqual([
    'orders/1  v1 → v6',
    '12:00:00Z → 12:05:00Z (5m)  5 transactions  1 added  2 changed',
    '',
    'EVENT         FROM     TO           OWNER  LAST                     WHEN  BY        WHY',
    '01.00 Search  ○ init   ▶ inprocess  -      v3 advance          12:02:00Z  worker-7',
    '02.00 Pay     ○ init   ○ init #2    -      v6 retry (set tag)  12:05:00Z  bob       paid after all',
    '01.01 Found   + added  ○ init       -      v3 advance          12:02:00Z  worker-7',
    '',
  ])
})

test('the diff between two versions is shown', async () => {
  const set = await cli(story, ['show', 'orders/1', '--diff', '3', '--at', '4'])
  expect(set.stdout).toMatch(/02\.00 Pay +○ init +○ init +- +v4 set tag +/)
  const { stdout } = await cli(story, ['show', 'orders/1', '--diff', '2', '--at', '3', '--time', 'utc'])
  expect(stdout.split('\n').slice(0, 5)).toEqual([
    'orders/1  v2 → v3',
    '12:01:00Z → 12:02:00Z (1m)  1 transaction  1 added  1 changed',
    '',
    'EVENT         FROM         TO           OWNER         LAST             WHEN  BY',
    '01.00 Search  ▶ inprocess  ▶ inprocess  worker-7 → -  v3 advance  12:02:00Z  worker-7',
  ])
})

test('an event that changed back is shown as such', async () => {
  const world = newWorld()
  for (const line of ['init s --fork A', 'event start s 01.00 --owner w', 'event release s 01.00 --owner w'])
    await cli(world, line.split(' '))
  for (const line of ['event start s 01.00 --owner w', 'event release s 01.00 --owner w'])
    await cli(world, line.split(' '))
  const { stdout } = await cli(world, ['show', 's', '--diff', '3'])
  expect(stdout).toContain('2 transactions  1 as before')
  expect(stdout).toContain('= as before, 2 changes')
})

test('an empty diff is a header, and a sentence on stderr', async () => {
  const ran = await cli(story, ['show', 'orders/1', '--diff', '6'])
  expect(ran).toMatchObject({ exit: 0, stderr: 'orders/1: nothing has changed since v6\n' })
  expect(ran.stdout).toMatch(/^orders\/1 {2}v6 → v6\n.*0 transactions\n\nEVENT/)
})

test('the diff is available as JSON and YAML', async () => {
  const world = story
  const text = (await cli(world, ['show', 'orders/1', '--diff', '4', '-o', 'json'])).stdout
  expect(json(text)).toEqual({
    apiVersion: 'leasectl/v1',
    name: 'orders/1',
    from: { version: 4, at: '2026-03-01T12:03:00.000Z' },
    to: { version: 6, at: '2026-03-01T12:05:00.000Z' },
    transactions: 2,
    counts: { added: 0, changed: 1, removed: 0, again: 0 },
    other: false,
    provisional: false,
    events: [
      {
        id: '02.00',
        name: 'Pay',
        change: 'changed',
        from: { status: 'init', owner: null, fence: null, attempt: 1, waiting: false, superseded: false },
        to: { status: 'init', owner: null, fence: null, attempt: 2, waiting: false, superseded: false },
        changes: 2,
        attributes: [],
        last: {
          version: 6,
          at: '2026-03-01T12:05:00.000Z',
          by: 'bob',
          op: 'retry',
          on: '02.00',
          commandId: expect.any(String),
          why: 'paid after all',
        },
      },
    ],
  })
  expect(parse((await cli(world, ['show', 'orders/1', '--diff', '4', '-o', 'yaml'])).stdout)).toEqual(json(text))
  await cli(world, ['init', 'b'])
  const both = json((await cli(world, ['show', 'orders/1', 'b', '--diff', '1', '-o', 'json'])).stdout)
  expect(both).toMatchObject({ items: [{ name: 'orders/1' }, { name: 'b', events: [] }] })
})

test('since a time before the creation all events are added; a version that does not exist is exit 3', async () => {
  const world = story
  const since = await cli(world, ['show', 'orders/1', '--diff', '1d'])
  expect(since.stdout).toMatch(/^orders\/1 {2}v0 → v6\n.*4 added/)
  expect(await cli(world, ['show', 'orders/1', '--diff', '99'])).toMatchObject({ exit: 3, stdout: '' })
  expect(await cli(world, ['show', 'orders/1', '--diff', '1', '--at', '99'])).toMatchObject({ exit: 3, stdout: '' })
})

test('an unrecorded foreign write is part of the present', async () => {
  const world = story
  const stored = await world.store.read('orders/1')
  if (stored?.summary === undefined) throw new Error('no summary')
  const body = Buffer.from(stored.body).toString().replace('status="init" id="01.01"', 'status="completed" id="01.01"')
  const other = newWorld()
  await other.store.create('orders/1', Buffer.from(body), stored.summary)
  const { stdout } = await cli(other, ['show', 'orders/1', '--diff', '6'])
  expect(stdout).toContain('one of them, a foreign write, is not recorded yet')
  expect(stdout).toMatch(/01\.01 Found +○ init +✓ completed +- +v\? foreign/)
})

test.each([
  [['--diff', '5', '--at', '3'], 'v5 of orders/1 is later than v3'],
  [['--diff', '1', '-o', 'xml'], '--diff does not go with -o xml'],
  [['--diff', '1', '-o', 'mermaid'], '--diff does not go with -o mermaid'],
  [['--diff', '1', '-o', 'timeline'], '--diff does not go with -o timeline'],
  [['--diff', '1', '--select', 'Event'], '--diff does not go with --select'],
  [['--diff', 'never'], 'neither a version nor a time'],
])('%j is exit 2', async (argv, says) => {
  const ran = await cli(story, ['show', 'orders/1', ...argv])
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(says)
})

import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { cli, json, newWorld, type World } from '../support.ts'

async function some(): Promise<World> {
  const world = newWorld()
  for (const number of [1, 2, 3]) {
    await cli(world, ['init', `a/${number}`, '--fork', 'Pay,Ship', '--timeout', '30s'])
    await cli(world, ['event', 'fail', `a/${number}`, '01.00', '-m', `order ${number}: timeout`])
    world.nowMs += 20_000
  }
  await cli(world, ['init', 'b', '--root', 'Import', '--hold'])
  return world
}

test('--group-by failure: one line for texts that differ in numbers', async () => {
  const ran = await cli(await some(), ['ls', '--group-by', 'failure'])
  expect(ran).toMatchObject({ exit: 0, stderr: '3 of 4 streams failed\n' })
  expect(ran.stdout.split('\n')).toEqual([
    'FAILURE           STREAMS  ROOT   EVENT  OLDEST   NEWEST  EXAMPLE  SELECT',
    "order #: timeout        3  Start  01.00  1m ago  20s ago  a/3      --failure '/^order #: timeout$/' --root Start",
    '',
  ])
})

test('--group-by waiting-on: the events that streams are stuck on', async () => {
  const ran = await cli(await some(), ['ls', '--group-by', 'waiting-on'])
  expect(ran.stderr).toBe('4 of 4 streams wait on something; a stream that waits on several events counts for each\n')
  expect(ran.stdout.split('\n')).toEqual([
    'WAITING ON         STREAMS  OVERDUE  OLDEST   NEWEST  EXAMPLE  SELECT',
    'Start: Ship ready        3        2  1m ago  20s ago  a/1      --root Start --waiting-on Ship --event-state ready',
    'Import: held             1        -  0s ago   0s ago  b        --root Import --event-state held',
    '',
  ])
})

test('--group-by status, of the streams that pass the filters', async () => {
  const world = await some()
  const ran = await cli(world, ['ls', '--group-by', 'status', '--time', 'utc'])
  expect(ran.stderr).toBe('4 streams\n')
  expect(ran.stdout.split('\n')).toEqual([
    'STATUS       STREAMS  OVERDUE  ABANDONED  FAILED     OLDEST     NEWEST  EXAMPLE  SELECT',
    '▶ inprocess        3        2          -       3  12:00:00Z  12:00:40Z  a/1      --status inprocess',
    '○ init             1        -          -       -  12:01:00Z  12:01:00Z  b        --status init',
    '',
  ])
  expect((await cli(world, ['ls', '--group-by', 'status', '--match', 'b', '-q'])).stdout).not.toContain('inprocess')
})

test('JSON, YAML and ndjson have the reference time, the number of groups and the streams', async () => {
  const world = await some()
  const argv = ['ls', '--group-by', 'waiting-on', '--limit', '1']
  const ran = await cli(world, [...argv, '-o', 'json'])
  expect(ran.stderr).toContain('showing 1 of 2 groups\n')
  const group = {
    group: 'Start: Ship ready',
    root: 'Start',
    event: null,
    name: 'Ship',
    topic: null,
    owner: null,
    state: 'ready',
    count: 3,
    overdue: 2,
    abandoned: 0,
    failed: 3,
    oldest: '2026-03-01T12:00:00.000Z',
    newest: '2026-03-01T12:00:40.000Z',
    exampleContext: null,
    example: 'a/1',
    others: false,
    select: ['--root', 'Start', '--waiting-on', 'Ship', '--event-state', 'ready'],
  }
  const head = { apiVersion: 'leasectl/v1', groupBy: 'waiting-on', timeOf: 'modified' }
  const document = { ...head, items: [group], total: 2, truncated: true, streams: 4 }
  expect(json(ran.stdout)).toEqual(document)
  expect(parse((await cli(world, [...argv, '-o', 'yaml'])).stdout)).toEqual(document)
  expect(json((await cli(world, [...argv, '-o', 'ndjson'])).stdout)).toEqual({ ...head, ...group })
})

test('without streams the output is a header or [], and a sentence', async () => {
  const ran = await cli(newWorld(), ['ls', '--group-by', 'status'])
  expect(ran).toMatchObject({ exit: 0, stderr: 'no streams in memory:\n' })
  expect(ran.stdout).toMatch(/^STATUS +STREAMS.*\n$/)
})

test('--group-by failure: streams of several kinds and events, and a single one in the singular', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--root', 'Order', '--fork', 'Pay'])
  await cli(world, ['init', 'b', '--root', 'Import'])
  expect((await cli(world, ['ls', '--group-by', 'waiting-on', '--match', 'b'])).stderr).toMatch(
    /^1 of 1 stream waits on/,
  )
  await cli(world, ['event', 'fail', 'a', '01.00', '-m', 'no answer'])
  await cli(world, ['event', 'fail', 'b', '00', '-m', 'no answer'])
  expect((await cli(world, ['ls', '--group-by', 'failure'])).stdout).toMatch(/^no answer +2 {2}several +several /m)
})

test.each([40, 60, 80])(
  'at %i columns the cause, the example and the selection of a group can be copied whole',
  async columns => {
    const world = newWorld()
    for (const number of [1804, 1805]) {
      await cli(world, ['init', `orders/2026-11-20/${number}`, '--fork', 'Pay,Ship'])
      const why = `payment gateway: 503 for request ${number}`
      await cli(world, ['event', 'fail', `orders/2026-11-20/${number}`, '01.00', '-m', why])
    }
    const { stdout } = await cli(world, ['ls', '--group-by', 'failure', '--color', 'never'], { columns })
    expect(stdout).toContain('payment gateway: # for request #')
    expect(stdout).toContain('orders/2026-11-20/180')
    expect(stdout).toContain("--failure '/^payment gateway: # for request #$/' --root Start")
    const [head = '', row = '', example = ''] = stdout.split('\n')
    expect([head, row, example].filter(line => line.length > columns)).toEqual([])
  },
)

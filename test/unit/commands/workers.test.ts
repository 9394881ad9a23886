import { expect, test } from 'vitest'
import type { LiveView } from '../../../src/cli/runtime.ts'
import { register } from '../../../src/commands/workers.ts'
import { cli, json, newWorld, optionsFrom, type World } from './support.ts'

async function fleet(): Promise<World> {
  const world = newWorld()
  for (const name of ['a', 'b']) await cli(world, ['init', name, '--fork', 'Pay,Ship'])
  await cli(world, ['event', 'start', 'a', '01.00', '--owner', 'pay@1', '--claim', '60s'])
  world.nowMs += 60_000
  await cli(world, ['event', 'start', 'b', '01.00', '--owner', 'pay@2', '--claim', '10m'])
  world.nowMs += 60_000
  return world
}

test('the command takes the filters of ls, --events and -w', async () => {
  const argv = ['workers', '--abandoned', '--owner', 'w', '--events', '-w', '--interval', '2s']
  expect(await optionsFrom(register, argv)).toMatchObject({
    abandoned: true,
    owner: ['w'],
    events: true,
    watch: true,
    interval: 2_000,
  })
})

test('a table of workers and a table of steps are printed, silent workers first', async () => {
  const ran = await cli(await fleet(), ['workers'])
  expect(ran.stdout.split('\n')).toEqual([
    'WORKER  RUNNING  ABANDONED  STREAMS   SINCE  LAST SEEN  TRY',
    'pay@1         0          1        1  2m ago     2m ago    1',
    'pay@2         1          -        1  1m ago     1m ago    1',
    '',
    'STEP  READY  OLDEST  RUNNING  ABANDONED  STREAMS   SINCE  LAST SEEN  TRY',
    'Pay       0       -        1          1        2  2m ago     1m ago    1',
    'Ship      2  2m ago        0          -        2       -          -    -',
    '',
  ])
  expect(ran.stderr).toBe('2 workers, 2 steps; events: 2 ready, 1 running, 1 abandoned\n')
})

test('--events lists each claim, the oldest first', async () => {
  const ran = await cli(await fleet(), ['workers', '--events'])
  expect(ran.stdout.split('\n').slice(-4, -1)).toEqual([
    'STREAM  EVENT      WORKER   SINCE  LAST SEEN             CLAIM  TRY',
    'a       01.00 Pay  pay@1   2m ago     2m ago  abandoned 1m ago    1',
    'b       01.00 Pay  pay@2   1m ago     1m ago           9m left    1',
  ])
})

test('ls --abandoned lists the streams of dead workers, from the end of their claim', async () => {
  const { stdout } = await cli(await fleet(), ['ls', '--abandoned'])
  expect(stdout.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^a {5}† abandoned {2}01\.00 Pay abandoned \(pay@1, 1m\), 02\.00 Ship /),
    '',
  ])
})

test('filters select streams and, by owner, name and state, their events', async () => {
  const world = await fleet()
  const names = async (...filters: string[]) => {
    const ran = await cli(world, ['workers', ...filters, '-o', 'json'])
    const { workers, steps } = json(ran.stdout) as { workers: { owner: string }[]; steps: { step: string }[] }
    return [...workers.map(({ owner }) => owner), ...steps.map(({ step }) => step)]
  }
  expect(await names('--match', 'b')).toEqual(['pay@2', 'Pay', 'Ship'])
  expect(await names('--owner', 'pay@2')).toEqual(['pay@2', 'Pay'])
  expect(await names('--event-state', 'abandoned')).toEqual(['pay@1', 'Pay'])
  expect(await names('--abandoned')).toEqual(['pay@1', 'Pay'])
  expect(await names('--abandoned', '--event-state', 'ready')).toEqual(['Ship'])
  expect(await names('--waiting-on', 'Ship')).toEqual(['Ship'])
})

test('JSON has times, and events only with --events', async () => {
  const world = await fleet()
  const { workers, events } = json((await cli(world, ['workers', '-o', 'json'])).stdout) as Record<string, object[]>
  expect(events).toBeNull()
  expect(workers?.[0]).toEqual({
    owner: 'pay@1',
    running: 0,
    abandoned: 1,
    streams: 1,
    since: '2026-03-01T12:00:00.000Z',
    lastSeen: '2026-03-01T12:00:00.000Z',
    attempt: 1,
    others: false,
  })
  const lines = (await cli(world, ['workers', '--events', '-o', 'ndjson'])).stdout.trimEnd().split('\n')
  expect(lines.map(line => (JSON.parse(line) as { record: string }).record)).toEqual([
    'worker',
    'worker',
    'step',
    'step',
    'event',
    'event',
  ])
})

test('without streams a sentence says so', async () => {
  expect(await cli(newWorld(), ['workers'])).toMatchObject({ exit: 0, stdout: '', stderr: 'no streams in memory:\n' })
})

test('-w redraws the tables, and needs a terminal', async () => {
  const world = await fleet()
  const stop = new AbortController()
  const frames: (readonly string[])[] = []
  const live: LiveView = {
    height: 20,
    draw(lines) {
      frames.push(lines)
      stop.abort('SIGINT')
    },
    close: async () => {},
  }
  const terminal = { columns: 100, terminal: true, env: { NO_COLOR: '1' }, live, signal: stop.signal }
  expect((await cli(world, ['workers', '-w', '--time', 'utc'], terminal)).exit).toBe(130)
  expect(frames[0]?.[0]).toBe('2 workers, 2 steps; events: 2 ready, 1 running, 1 abandoned · memory: · 12:02:00Z')
  expect(frames[0]).toHaveLength(8)
  for (const bad of [['-w'], ['--interval', '1s'], ['-w', '-o', 'json']])
    expect((await cli(world, ['workers', ...bad])).exit).toBe(2)
})

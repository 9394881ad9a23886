import { expect, test } from 'vitest'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import { init, run } from '../ops/support.ts'
import { cli, json, newWorld, type World } from './support.ts'

const HOUR_MS = 3_600_000

/** Streams that wait for a signal, a time and another event, one that is ready, and one that is suspended. */
async function waiting(): Promise<World> {
  const world = newWorld()
  const start = (name: string, forks: object[]) => run(world.store, name, { ...init(), forks } as Operation)
  await start('approve/1', [{ name: 'Ship', signal: 'approved' }])
  await start('pay/1', [{ name: 'Pay', signal: 'paid' }])
  await start('late/1', [{ name: 'Remind', wake: new Date(world.nowMs + 2 * HOUR_MS).toISOString() }])
  await start('late/2', [{ name: 'Remind', wake: new Date(world.nowMs + HOUR_MS).toISOString() }])
  await cli(world, ['init', 'plan/1', '--steps', 'A,B'])
  await start('stopped/1', [{ name: 'A' }])
  await run(world.store, 'stopped/1', { op: 'suspend', msg: 'why' })
  return world
}

const itemsOf = <Item>(stdout: string) => (json(stdout) as { readonly items: readonly Item[] }).items
const streamsOf = (stdout: string) => itemsOf<{ readonly stream: string }>(stdout).map(({ stream }) => stream)

test.each([
  ['signal', ['approve/1', 'pay/1']],
  ['approved', ['approve/1']],
  ['timer', ['late/1', 'late/2']],
  ['after', ['plan/1']],
  ['01.00', ['plan/1']],
  ['nobody', []],
])('events --waiting-for %s lists the events that wait for it', async (what, expected) => {
  const { exit, stdout } = await cli(await waiting(), ['events', '--waiting-for', what, '-o', 'json'])
  expect(exit).toBe(0)
  expect(streamsOf(stdout)).toEqual(expected)
})

test('events --waiting-for says in a table and in JSON what each waits for', async () => {
  const world = await waiting()
  const { stdout } = await cli(world, ['events', '--waiting-for', 'approved'])
  expect(stdout).toMatch(/approve\/1 +01\.00 Ship +\S+ waiting +- +\S+ +for signal approved/)
  const document = json((await cli(world, ['events', '--waiting-for', 'approved', '-o', 'json'])).stdout)
  expect(document.items).toMatchObject([{ state: 'waiting', waitsFor: { kind: 'signal', signal: 'approved' } }])
})

test('events --waiting-for timer --sort wake lists what wakes next', async () => {
  const world = await waiting()
  const { stdout } = await cli(world, [
    'events',
    '--waiting-for',
    'timer',
    '--sort',
    'wake',
    '--limit',
    '1',
    '-o',
    'json',
  ])
  expect(streamsOf(stdout)).toEqual(['late/2'])
})

test('events --state waiting lists everything that waits, and events without flags none of it', async () => {
  const world = await waiting()
  const waits = await cli(world, ['events', '--state', 'waiting', '-o', 'json'])
  expect(streamsOf(waits.stdout)).toEqual(['approve/1', 'late/1', 'late/2', 'pay/1', 'plan/1'])
  const usual = await cli(world, ['events', '-o', 'json'])
  expect(streamsOf(usual.stdout)).toEqual(['plan/1', 'stopped/1'])
})

test.each([
  [['--state', 'waiting'], 'approve/1\nlate/1\nlate/2\npay/1\n'],
  [['--state', 'suspended'], 'stopped/1\n'],
  [['--state', 'suspended', '--state', 'ready'], 'plan/1\nstopped/1\n'],
  [['--state', 'blocked'], ''],
])('ls %j lists the streams of these states', async (flags, expected) => {
  expect(await cli(await waiting(), ['ls', ...flags, '-o', 'name'])).toMatchObject({ exit: 0, stdout: expected })
})

test('a batch takes the states of streams too', async () => {
  const world = await waiting()
  const { stdout } = await cli(world, ['resume', '--state', 'suspended', '--yes', '-o', 'ndjson'])
  expect(json(stdout)).toMatchObject({ stream: 'stopped/1', outcome: 'done' })
})

test('ls --group-by state counts the streams of each state, with the flag that selects them', async () => {
  const world = await waiting()
  const { stdout } = await cli(world, ['ls', '--group-by', 'state', '-o', 'json'])
  const groups = itemsOf<{ readonly group: string; readonly count: number }>(stdout).map(
    item => `${item.group} ${item.count}`,
  )
  expect(groups).toEqual(['waiting 4', 'ready 1', 'suspended 1'])
  expect((await cli(world, ['ls', '--group-by', 'state', '--time', 'utc'])).stdout).toContain('--state waiting')
})

test('an unknown state is refused with the known ones', async () => {
  const ran = await cli(newWorld(), ['ls', '--state', 'asleep'])
  expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining('suspended') })
})

import { expect, test } from 'vitest'
import { run } from '../ops/support.ts'
import { cli, json, NOON, newWorld, type World } from './support.ts'

const DAY_MS = 24 * 3_600_000

async function names(world: World, ...argv: string[]): Promise<unknown> {
  const { items } = json((await cli(world, ['ls', ...argv, '-o', 'json'])).stdout) as { items: { name: string }[] }
  return items.map(({ name }) => name)
}

test('the cause of each attempt stays in the journal and at its time, after a retry too', async () => {
  const world = newWorld()
  await cli(world, ['init', 'c/1', '--fork', 'A'])
  await cli(world, ['event', 'fail', 'c/1', '01.00', '-m', 'FIRST: db down'])
  await cli(world, ['retry', 'c/1'])
  await cli(world, ['event', 'fail', 'c/1', '01.00', '-m', 'SECOND'])
  const log = (await cli(world, ['log', 'c/1'])).stdout
  expect(log).toMatch(/fail 01\.00 A .*FIRST: db down/)
  expect(log).toMatch(/fail 01\.00 A .*SECOND/)
  expect((await cli(world, ['show', 'c/1', '--at', '2'])).stdout).toContain('FIRST: db down')
})

test('flags of one kind that are repeated add up', async () => {
  const world = newWorld()
  for (const name of ['a/1', 'b/1', 'c/1']) await cli(world, ['init', name, '--topic', name.slice(0, 1)])
  expect(await names(world, '--match', 'a/*', '--match', 'b/*')).toEqual(['a/1', 'b/1'])
  expect(await names(world, '--topic', 'a', '--topic', 'c')).toEqual(['a/1', 'c/1'])
  expect(await names(world, '--not-match', 'a/*', '--not-match', 'b/*')).toEqual(['c/1'])
})

test('old completed streams are removed by one command, and no other ones', async () => {
  const world = newWorld()
  for (const [name, days] of [
    ['old', 40],
    ['young', 5],
  ] as const) {
    world.nowMs = NOON - days * DAY_MS
    await cli(world, ['init', name])
    await run(world.store, name, { op: 'complete', event: '00' })
  }
  world.nowMs = NOON - 60 * DAY_MS
  await cli(world, ['init', 'open'])
  world.nowMs = NOON
  const ran = await cli(world, ['rm', '--status', 'completed', '--older-than', '30d', '--yes', '-m', 'retention'])
  expect(ran.exit, ran.stderr).toBe(0)
  expect(await names(world)).toEqual(['open', 'young'])
})

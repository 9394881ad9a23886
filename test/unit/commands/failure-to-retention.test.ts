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

test('the end of what a command printed is the cause of its attempt, in the document too', async () => {
  const world = newWorld()
  await cli(world, ['init', 'c/1', '--fork', 'A'])
  const exec = (text: string) => cli(world, ['exec', 'c/1', '01.00', '--', '/bin/sh', '-c', `echo ${text} >&2; exit 3`])
  await exec('FIRST: db down')
  await cli(world, ['retry', 'c/1'])
  await exec('SECOND')
  const log = (await cli(world, ['log', 'c/1'])).stdout
  expect(log).toMatch(/fail 01\.00 A .*FIRST: db down/)
  expect(log).toMatch(/fail 01\.00 A .*SECOND/)
  expect((await cli(world, ['show', 'c/1', '--at', '3'])).stdout).toMatch(/✗ aborted {2}01\.00 A, .*: FIRST: db down/)
  expect((await cli(world, ['show', 'c/1', '-o', 'xml'])).stdout).toContain('FIRST: db down')
})

test('the cause of an incident stays in the groups after the streams were canceled', async () => {
  const world = newWorld()
  for (const name of ['o/1', 'o/2']) {
    await cli(world, ['init', name, '--fork', 'Pay,Ship'])
    await cli(world, ['event', 'fail', name, '01.00', '-m', `gateway: ${name.slice(2)} is down`])
  }
  await cli(world, ['init', 'o/3', '--fork', 'Pay'])
  const groups = async () => (await cli(world, ['ls', '--failed', '--group-by', 'failure'])).stdout
  expect(await groups()).toMatch(/^gateway: # is down +2 /m)
  expect((await cli(world, ['cancel', '--all', '-m', 'INC-9', '--yes'])).exit).toBe(0)
  expect(await groups()).toMatch(/^gateway: # is down +2 /m)
  expect(await groups()).not.toMatch(/^INC/m)
})

test('retry --failed leaves what a user has canceled', async () => {
  const world = newWorld()
  for (const name of ['failed', 'withdrawn']) await cli(world, ['init', name, '--fork', 'Pay'])
  await cli(world, ['event', 'fail', 'failed', '01.00', '-m', 'gateway'])
  await cli(world, ['cancel', 'withdrawn', '-m', 'customer withdrew'])
  expect((await cli(world, ['retry', '--failed', '--yes'])).stdout).toMatch(/^failed +✓ done/m)
  expect(await names(world, '--status', 'inprocess')).toEqual(['failed'])
  expect(await names(world, '--canceled')).toEqual(['withdrawn'])
})

test('flags of one kind that are repeated add up', async () => {
  const world = newWorld()
  for (const name of ['a/1', 'b/1', 'c/1']) {
    const topic = name.slice(0, 1)
    await cli(world, ['init', name, '--topic', topic, '--key', `k-${topic}`])
  }
  expect(await names(world, '--match', 'a/*', '--match', 'b/*')).toEqual(['a/1', 'b/1'])
  expect(await names(world, '--topic', 'a', '--topic', 'c')).toEqual(['a/1', 'c/1'])
  expect(await names(world, '--key', 'k-a', '--key', 'k-b')).toEqual(['a/1', 'b/1'])
  expect(await names(world, '--not-match', 'a/*', '--not-match', 'b/*')).toEqual(['c/1'])
  const preview = await cli(world, ['cancel', '--match', 'a/*', '--match', 'c/*', '--dry-run'])
  expect(preview.stderr).toContain('2 streams: 2 inprocess. A dry run')
})

test('streams are selected by the name of an event, and by an end of time', async () => {
  const world = newWorld()
  world.nowMs = NOON - 40 * DAY_MS
  await cli(world, ['init', 'old', '--fork', 'Pay'])
  world.nowMs = NOON
  await cli(world, ['init', 'young', '--fork', 'Ship'])
  expect(await names(world, '--event-name', 'Pay')).toEqual(['old'])
  expect(await names(world, '--until', '30d')).toEqual(['old'])
  expect(await names(world, '--since', '30d')).toEqual(['young'])
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

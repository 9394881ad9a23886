import { expect, test } from 'vitest'
import { register } from '../../../src/commands/ack.ts'
import { runFileOf } from './batch/support.ts'
import { cli, json, newWorld, optionsFrom, type World } from './support.ts'

/** Streams whose event 01.00 failed. */
async function failed(...names: string[]): Promise<World> {
  const world = newWorld()
  for (const name of names) {
    await cli(world, ['init', name, '--fork', 'A,B'])
    await cli(world, ['event', 'fail', name, '01.00', '-m', 'gateway down'])
  }
  world.nowMs += 60_000
  return world
}

test('argv → options', async () => {
  expect(await optionsFrom(register, ['ack', 'a', 'b', '-m', 'known', '--command-id', 'c'])).toEqual({
    names: ['a', 'b'],
    reason: 'known',
    commandId: 'c',
  })
})

test('an acknowledged failure is left out of ls --failed until the next one', async () => {
  const world = await failed('s')
  const ran = await cli(world, ['ack', 's', '-m', 'gateway is back'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout).toBe('✓ s  acknowledged  v3\n')
  expect((await cli(world, ['ls', '--failed', '-o', 'name'])).stdout).toBe('')
  expect((await cli(world, ['ls', '--acknowledged', '-o', 'name'])).stdout).toBe('s\n')
  world.nowMs += 1_000
  await cli(world, ['event', 'fail', 's', '02.00', '-m', 'again'])
  expect((await cli(world, ['ls', '--failed', '-o', 'name'])).stdout).toBe('s\n')
})

test('acknowledging again says already so', async () => {
  const world = await failed('s')
  await cli(world, ['ack', 's', '-m', 'known', '--command-id', 'c1'])
  expect((await cli(world, ['ack', 's', '-m', 'known', '--command-id', 'c1'])).stdout).toContain('done before')
  expect((await cli(world, ['ack', 's', '-m', 'known'])).stdout).toContain('already so')
})

test('a stream without a failure is refused with exit 5', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const ran = await cli(world, ['ack', 's', '-m', 'known'])
  expect(ran).toMatchObject({ exit: 5, stdout: '' })
  expect(ran.stderr).toContain('[not-failed]')
})

test('an acknowledgement needs a reason', async () => {
  const world = await failed('s')
  const ran = await cli(world, ['ack', 's'])
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain('ack needs a reason')
  expect((await cli(world, ['ls', '--failed', '-o', 'name'])).stdout).toBe('s\n')
})

test('a selection leaves out streams without an unacknowledged failure', async () => {
  const world = await failed('a', 'b', 'c')
  await cli(world, ['init', 'd'])
  await cli(world, ['ack', 'a', '-m', 'known'])
  const preview = await cli(world, ['ack', '--all', '-m', 'known', '--dry-run', '-o', 'json'])
  expect(json(preview.stdout)).toMatchObject({ verb: 'ack', streams: 2, leftOut: 2 })
  expect(preview.stderr).toContain('2 streams: 2 failing; 2 without an unacknowledged failure, left out')
  const ran = await cli(world, ['ack', '--all', '-m', 'known', '--yes', '-o', 'json'])
  expect(json(ran.stdout)).toMatchObject({ verb: 'ack', counts: { done: 2 }, leftOut: 2 })
  const again = await cli(world, ['ack', '--rerun', runFileOf(ran), '--only', 'done', '--yes'])
  expect(again.stdout).toContain('this command was done before')
})

test('the question names what is acknowledged', async () => {
  const world = await failed('a', 'b')
  const ran = await cli(world, ['ack', '--failed', '-m', 'known'], { terminal: true, answer: 'n' })
  expect(ran.questions[0]).toContain('This acknowledges the failures of 2 streams')
})

test('the journal has who acknowledged and why', async () => {
  const world = await failed('s')
  await cli(world, ['ack', 's', '-m', 'gateway is back', '--by', 'ana'])
  const log = await cli(world, ['log', 's', '-n', '1'])
  expect(log.stdout).toMatch(/ana +ack +gateway is back/)
  const tail = await cli(world, ['tail', 's', '-n', '1'])
  expect(tail.stdout).toContain('ack')
  expect(tail.stdout).toContain('ana  "gateway is back"')
  expect(tail.stdout).not.toContain('inprocess')
})

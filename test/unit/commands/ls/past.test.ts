import { expect, test } from 'vitest'
import { init, run } from '../../ops/support.ts'
import { cli, json, newWorld, type Setting } from '../support.ts'

const MINUTE = 60_000

/** `a` was canceled ten minutes ago, twenty after its creation; `b` is five minutes old. */
async function past() {
  const world = newWorld()
  await run(world.store, 'a', init(['Search']))
  world.nowMs += 20 * MINUTE
  await run(world.store, 'a', { op: 'cancel' })
  world.nowMs += 5 * MINUTE
  await run(world.store, 'b', init())
  world.nowMs += 5 * MINUTE
  const ls = (line: string, setting?: Setting) => cli(world, ['ls', ...line.split(' ').filter(Boolean)], setting)
  return { world, ls }
}

test('ls --at lists the streams as they were, with their ages then, without those that came later', async () => {
  const { ls } = await past()
  const { stdout } = await ls('--at 15m -o json')
  expect(json(stdout)).toMatchObject({ items: [{ name: 'a', status: 'inprocess', open: 2, version: 1 }], total: 1 })
  expect((await ls('--at 15m')).stdout).toMatch(/^a +▶ inprocess .* 15m /m)
  expect((await ls('--at 10m -o name')).stdout).toBe('a\n')
  expect((await ls('--at 1m -o name')).stdout).toBe('a\nb\n')
})

test('filters, order and groups are those of that time', async () => {
  const { ls } = await past()
  expect((await ls('--at 15m --status canceled -o name')).stdout).toBe('')
  expect((await ls('--at 1m --status canceled -o name')).stdout).toBe('a\n')
  expect((await ls('--at 1m --sort -created -o name')).stdout).toBe('b\na\n')
  const { stdout } = await ls('--at 15m --group-by waiting-on -o json')
  expect(json(stdout)).toMatchObject({ items: [{ name: 'Search', state: 'ready' }] })
})

test('a time before the first stream finds nothing, and nothing is written', async () => {
  const { world, ls } = await past()
  const before = await world.store.read('a')
  expect((await ls('--at 40m')).exit).toBe(0)
  expect((await ls('--at 40m')).stderr).toBe('nothing matches at that time\n')
  expect(await world.store.read('a')).toEqual(before)
})

test.each([
  ['--at tomorrow', 'is not a time'],
  ['--at 2099-01-01', '--at is in the future'],
  ['--at 5', '5 has no unit'],
  ['--at 5m -w', '-w does not go with --at'],
])('ls %s is exit 2', async (line, message) => {
  const { ls } = await past()
  const { exit, stderr } = await ls(line)
  expect(exit).toBe(2)
  expect(stderr).toContain(message)
})

import { expect, test } from 'vitest'
import { cli, newWorld, type World } from '../support.ts'

/** A fork of three branches: one failed below, one done, one a leaf that is ready. */
async function nested(): Promise<World> {
  const world = newWorld()
  const run = async (line: string) => {
    const ran = await cli(world, line.split(' '))
    if (ran.exit !== 0) throw new Error(ran.stderr)
  }
  await run('init orders/1 --root Order --fork Search,Pay,Ship')
  await run('event advance orders/1 01.00 --fork Query,Query')
  await run('event fail orders/1 01.01.00 -m no-answer')
  await run('event advance orders/1 02.00 --next Booked')
  await run('event complete orders/1 02.01')
  return world
}

const eventLines = (text: string) => {
  const [, events = ''] = text.split('\n\n')
  return events.split('\n').map(line => line.replaceAll(/ {2,}/g, '  '))
}

test('--depth 1 shows the branches, and counts the events below each by state', async () => {
  const { stdout, exit } = await cli(await nested(), ['show', 'orders/1', '--depth', '1'])
  expect(exit).toBe(0)
  const [head = '', ...rows] = eventLines(stdout)
  expect(head).toMatch(/BELOW$/)
  expect(rows).toHaveLength(4)
  expect(rows[1]).toMatch(/^├─▸ 01\.00 Search .*2: 1 aborted, 1 ready$/)
  expect(rows[2]).toMatch(/^├─▸ 02\.00 Pay .*1: 1 completed$/)
  expect(rows[3]).toMatch(/^└─ {2}03\.00 Ship /)
})

test('--depth 0 shows the root, and failures below it are still listed', async () => {
  const { stdout } = await cli(await nested(), ['show', 'orders/1', '--depth', '0'])
  const [, root, ...others] = eventLines(stdout)
  expect(root).toMatch(/^▸ 00 Order .*6: 1 aborted, 2 ready, /)
  expect(others).toEqual([])
  expect(stdout).toContain('no-answer')
})

test('a depth beyond the tree changes nothing', async () => {
  const world = await nested()
  const all = await cli(world, ['show', 'orders/1'])
  expect((await cli(world, ['show', 'orders/1', '--depth', '9'])).stdout).toBe(all.stdout)
})

test('--depth cuts a timeline too', async () => {
  const { stdout } = await cli(await nested(), ['show', 'orders/1', '-o', 'timeline', '--depth', '1'])
  expect(stdout).toContain('├─▸ 01.00 Search (+2: 1 aborted, 1 ready)')
  expect(stdout).not.toContain('─  01.01.00 Query')
})

test.each([
  [['-o', 'json'], '-o json'],
  [['-o', 'table'], '-o table'],
  [['--select', 'Event'], '--select'],
  [['--diff', '1'], '--diff'],
])('--depth with %s is refused', async (flags, named) => {
  const { exit, stderr } = await cli(await nested(), ['show', 'orders/1', '--depth', '1', ...flags])
  expect(exit).toBe(2)
  expect(stderr).toContain(`--depth does not go with ${named}`)
})

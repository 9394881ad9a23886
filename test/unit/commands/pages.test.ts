import { expect, test } from 'vitest'
import { cli, newWorld, type World } from './support.ts'

async function shop(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 'a/1', '--fork', 'Search,Pay', '--timeout', '10m'])
  await cli(world, ['init', 'a/2', '--fork', 'Search,Pay'])
  await cli(world, ['init', 'b/1'])
  await cli(world, ['event', 'fail', 'a/1', '02.00', '-m', 'no answer\nfrom <pay>'])
  return world
}

test('ls -o html has the selection, the totals, the table and the first failure of each stream', async () => {
  const ran = await cli(await shop(), ['ls', '--match', 'a/*', '--sort', '-name', '-o', 'html'])
  expect(ran.exit).toBe(0)
  expect(ran.stdout).toContain('<code>leasectl ls --match &#39;a/*&#39; --sort -name</code>')
  expect(ran.stdout).toContain('<h1>2 streams</h1>')
  expect(ran.stdout).toContain('no answer\nfrom &#60;pay&#62;</pre>')
  expect(ran.stdout.indexOf('a/2')).toBeLessThan(ran.stdout.indexOf('a/1</th>'))
  expect(ran.stdout).not.toContain('b/1')
})

test('ls -o html says what --limit left out, and that nothing matches', async () => {
  const world = await shop()
  expect((await cli(world, ['ls', '--limit', '1', '-o', 'html'])).stdout).toContain('showing 1 of 3')
  expect((await cli(world, ['ls', '--match', 'x', '-o', 'html'])).stdout).toContain('No stream matches.')
})

test('ls --group-by -o html has the groups with the flags that select them', async () => {
  const { stdout } = await cli(await shop(), ['ls', '--group-by', 'failure', '-o', 'html'])
  expect(stdout).toContain('<h1>1 group</h1>')
  expect(stdout).toContain('1 of 3 streams failed')
  expect(stdout).toContain('--failure')
})

test('show -o html has several streams, or an earlier version', async () => {
  const world = await shop()
  const { stdout } = await cli(world, ['show', 'a/1', 'b/1', '-o', 'html'])
  expect(stdout).toContain('<a href="#stream-2">b/1</a>')
  const before = await cli(world, ['show', 'a/1', '--at', '1', '-o', 'html'])
  expect(before.stdout).toContain('as of v1')
  expect(before.stdout).not.toContain('no answer')
})

test('times of a page are in UTC unless --time says otherwise', async () => {
  const world = await shop()
  expect((await cli(world, ['show', 'a/1', '-o', 'html'])).stdout).toContain('<dd>12:00:00Z</dd>')
  expect((await cli(world, ['show', 'a/1', '-o', 'html', '--time', 'relative'])).stdout).not.toContain(
    '<dd>12:00:00Z</dd>',
  )
})

test.each([
  ['show a/1 -o html --select ./Event', '--select does not go with -o html: a page has the whole stream'],
  ['show a/1 -o html -w', '-w does not go with -o html'],
  ['show a/1 -o html --diff 1', '--diff does not go with -o html'],
  ['show a/1 -o html --data 00', '--data does not go with -o html'],
  ['ls -o html -w', '-w does not go with -o html'],
  ['tail a/1 -f -o html', 'html'],
])('%s is refused', async (line, message) => {
  const ran = await cli(await shop(), line.split(' '), { terminal: true, columns: 80 })
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(message)
})

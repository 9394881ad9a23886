import { expect, test } from 'vitest'
import { intercept } from '../ops/support.ts'
import { cli, newWorld } from './support.ts'

const refused: readonly (readonly [says: string, args: readonly string[]])[] = [
  ['error: --root: character 1 is U+0007, which XML cannot hold', ['init', 'a', '--root', '\u0007']],
  ['error: -m: longer than 4096 bytes', ['cancel', 'a', '-m', 'x'.repeat(4097)]],
  ['error: -o does not take "yaml"', ['-o', 'yaml', 'tail', 'a']],
  ['error: -o does not take "yaml"', ['demo', '-o', 'yaml']],
  ['error: other processes cannot reach memory:', ['demo', '--store', 'memory:']],
  ['error: --interval needs -f', ['tail', 'a', '--interval', '1s']],
  [
    "error: unknown option '--by'",
    ['lease', 'renew', 'a', '--lease-id', '11111111-1111-4111-8111-111111111111', '--by', 'me'],
  ],
  ['error: no help for extra', ['help', 'show', 'extra']],
]

test.each(refused)('%s', async (says, args) => {
  const ran = await cli(newWorld(), args)
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(says)
  expect(ran.stderr).not.toContain('One of .')
})

test('a missing stream or event comes with advice on finding it', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a'])
  expect((await cli(world, ['show', 'nix'])).stderr).toContain('hint     Is it the right store? ls lists its streams')
  for (const args of [
    ['cancel', 'a', '-e', '09'],
    ['event', 'start', 'a', '09'],
  ]) {
    expect((await cli(world, args)).stderr).toContain('hint     show lists the events of a stream')
  }
})

test('a join that waits again after a retry is not reported as joined', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--fork', 'A,B', '--join', 'J'])
  await cli(world, ['cancel', 'a'])
  expect((await cli(world, ['retry', 'a', '--canceled'])).stdout).toContain('01  canceled → ◷ waiting (waits again)')
  expect((await cli(world, ['tail', 'a'])).stdout).toMatch(/ 01 {2}canceled → ◷ waiting \(waits again/)
})

test('a lease command reports a changed lease, not a changed stream', async () => {
  const { stdout } = await cli(newWorld(), ['lease', 'renew', '--help'])
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('Writes: changes the lease, not the stream.')
})

test('tail of no transactions says so', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a'])
  expect(await cli(world, ['tail', 'a', '-n', '0'])).toMatchObject({ exit: 0, stdout: '', stderr: 'no transactions\n' })
})

test('a name after ls gives advice on the right command', async () => {
  const ran = await cli(newWorld(), ['ls', 'orders/'])
  expect(ran.exit).toBe(2)
  expect(ran.stderr).toContain("ls --match 'orders/**'")
})

test('a change whose stream was removed and created again in flight must not be repeated', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--fork', 'A'])
  let isFirst = true
  const store = intercept(world.store, async (_, decide, go) => {
    if (isFirst) {
      isFirst = false
      await go(decide)
      await world.store.remove('a', {})
      await cli(world, ['init', 'a', '--fork', 'A'])
    }
    return go(decide)
  })
  const ran = await cli(world, ['event', 'complete', 'a', '01.00', '--command-id', 'mine'], { store })
  expect(ran).toMatchObject({ exit: 10, stdout: '' })
  expect(ran.stderr).toContain('another stream has its name now: whether it was changed before that is unknown')
  expect(ran.stderr).not.toContain('mine')
})

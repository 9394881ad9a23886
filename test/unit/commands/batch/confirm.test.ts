import { describe, expect, test } from 'vitest'
import { confirmationFor } from '../../../../src/commands/batch/confirm.ts'
import { cli, json, newWorld, type Setting, statuses, type World } from '../support.ts'
import { given, namesOf } from './support.ts'

const weight = { streams: 1, isNamed: false, isProtected: false, asksAlways: false, isTerminal: true }

test.each([
  [{ isNamed: true }, 'none'],
  [{ isNamed: true, streams: 2 }, 'yes or no'],
  [{ isNamed: true, streams: 49, isTerminal: false }, 'none'],
  [{ isNamed: true, streams: 50 }, 'the number'],
  [{}, 'yes or no'],
  [{ streams: 49 }, 'yes or no'],
  [{ streams: 50 }, 'the number'],
  [{ isNamed: true, isProtected: true }, 'the number'],
  [{ isNamed: true, asksAlways: true }, 'yes or no'],
  [{ isNamed: true, asksAlways: true, streams: 50 }, 'the number'],
  [{ streams: 0, isProtected: true, asksAlways: true }, 'none'],
] as const)('%o needs %s', (more, needed) => {
  expect(confirmationFor({ ...weight, ...more })).toBe(needed)
})

async function worldOf(count: number): Promise<World> {
  const world = newWorld()
  await given(world, namesOf(count))
  return world
}

const isCanceled = async (world: World) => (await statuses(world, 's000'))['00'] === 'canceled'

async function ask(count: number, argv: readonly string[], setting: Setting) {
  const world = await worldOf(count)
  const ran = await cli(world, ['cancel', ...argv], setting)
  return { ...ran, canceled: await isCanceled(world) }
}

describe('on a terminal', () => {
  test('one stream by name needs no prompt', async () => {
    expect(await ask(1, ['s000'], { terminal: true })).toMatchObject({ exit: 0, questions: [], canceled: true })
  })

  test.each(['y', 'Y', ' yes '])('a filter prompts for y: %j continues', async answer => {
    const ran = await ask(2, ['--match', 's*'], { terminal: true, answer })
    expect(ran).toMatchObject({
      exit: 0,
      canceled: true,
      questions: ['This cancels 2 streams in memory:. Continue? [y/N] '],
    })
  })

  test.each(['', 'n', 'no', 'yep', '2', undefined])('%j means no: exit 2, nothing is changed', async answer => {
    const ran = await ask(2, ['--all'], { terminal: true, answer })
    expect(ran).toMatchObject({ exit: 2, stdout: '', canceled: false })
    expect(ran.stderr).toContain('[declined]')
  })

  test.each([
    [['--all'], 'This cancels 50 streams in memory:. Type 50 to continue: '],
    [namesOf(50), 'This cancels 50 streams in memory:. Type 50 to continue: '],
    [['--all', '--yes'], 'This cancels 50 streams in memory:. Type 50 to continue: '],
  ])('from 50 streams on the number must be typed', async (argv, question) => {
    const setting = { terminal: true, answer: '50' }
    expect(await ask(50, argv, setting)).toMatchObject({ exit: 0, canceled: true, questions: [question] })
    expect(await ask(50, argv, { terminal: true, answer: 'y' })).toMatchObject({ exit: 2, canceled: false })
  })

  test('a protected store prompts for the number even for one stream by name', async () => {
    const setting = { terminal: true, isProtected: true }
    const question = 'This cancels 1 stream in memory:, a protected store. Type 1 to continue: '
    const yes = await ask(1, ['s000'], { ...setting, answer: '1' })
    expect(yes).toMatchObject({ exit: 0, canceled: true, questions: [question] })
    expect(yes.stdout).toContain('✓ s000  canceled  v2')
    expect(await ask(1, ['s000'], { ...setting, answer: 'y' })).toMatchObject({ exit: 2, canceled: false })
  })

  test('--yes replaces the prompt; so does --yes --expect from 50 on', async () => {
    expect(await ask(49, ['--all', '--yes'], { terminal: true })).toMatchObject({ exit: 0, questions: [] })
    const expected = await ask(50, ['--all', '--yes', '--expect', '50'], { terminal: true })
    expect(expected).toMatchObject({ exit: 0, questions: [], canceled: true })
  })
})

test('several streams by name are asked about on a terminal only', async () => {
  const question = 'This cancels 2 streams in memory:. Continue? [y/N] '
  const asked = await ask(2, namesOf(2), { terminal: true, answer: 'n' })
  expect(asked).toMatchObject({ exit: 2, canceled: false, questions: [question] })
  expect(await ask(2, namesOf(2), {})).toMatchObject({ exit: 0, canceled: true, questions: [] })
  expect(await ask(2, [...namesOf(2), '--yes'], { terminal: true })).toMatchObject({ exit: 0, questions: [] })
})

test('a list on standard input is confirmed at the terminal', async () => {
  const list = { stdin: namesOf(2).join('\n'), controllingTerminal: true }
  const question = 'This cancels 2 streams in memory:. Continue? [y/N] '
  const yes = await ask(2, ['--streams', '-'], { ...list, answer: 'y' })
  expect(yes).toMatchObject({ exit: 0, canceled: true, questions: [question] })
  expect(await ask(2, ['--streams', '-'], { ...list, answer: 'n' })).toMatchObject({ exit: 2, canceled: false })
})

describe('without a terminal', () => {
  test.each([
    [2, ['--all'], '--yes answers yes'],
    [50, ['--all'], '--yes --expect 50 answers yes'],
    [50, ['--all', '--yes'], '--yes --expect 50 answers yes'],
    [50, namesOf(50), '--yes --expect 50 answers yes'],
  ])('%i streams with %o: exit 2 naming the flags', async (count, argv, hint) => {
    const ran = await ask(count, argv, {})
    expect(ran).toMatchObject({ exit: 2, stdout: '', canceled: false })
    expect(ran.stderr).toContain(hint)
    expect(ran.stderr).toMatch(/^error: this cancels /m)
  })

  test('CI and -o json do not imply yes', async () => {
    const ran = await ask(2, ['--all', '-o', 'json'], { env: { CI: 'true' } })
    expect(ran).toMatchObject({ exit: 2, stdout: '', canceled: false })
    expect(json(ran.stderr)).toMatchObject({ error: { code: 'usage', exit: 2, hint: '--yes answers yes' } })
  })

  test('a protected store needs --yes for one stream too', async () => {
    expect(await ask(1, ['s000'], { isProtected: true })).toMatchObject({ exit: 2, canceled: false })
    expect(await ask(1, ['s000', '--yes'], { isProtected: true })).toMatchObject({ exit: 0, canceled: true })
  })
})

test.each([
  [2, ['--all', '--yes', '--expect', '3'], 'expected 3 streams, found 2'],
  [2, ['--all', '--yes', '--expect', '1'], 'expected 1 stream, found 2'],
  [1, ['s000', '--expect', '2'], 'expected 2 streams, found 1'],
  [2, ['--match', 'nix*', '--yes', '--expect', '1'], 'expected 1 stream, found 0'],
  [60, ['--all', '--yes', '--expect', '61'], 'expected 61 streams, found 60'],
])('--expect is exact: %i streams, %o', async (count, argv, says) => {
  const ran = await ask(count, argv, {})
  expect(ran).toMatchObject({ exit: 5, stdout: '', canceled: false })
  expect(ran.stderr).toContain(`${says}; nothing was changed`)
  expect(ran.stderr).toContain('[changed]')
})

test('a repeated --expect reports how many are already final, and that the change may have been done before', async () => {
  const world = await worldOf(3)
  const again = ['cancel', '--all', '--yes', '--expect', '3']
  expect((await cli(world, again)).exit).toBe(0)
  const ran = await cli(world, again)
  expect(ran.exit).toBe(5)
  expect(ran.stderr).toContain('found 0 (3 already final, left out); nothing was changed')
  expect(ran.stderr).toContain('Was it done before? No stream that matches is left to change.')
})

test('a wrong --expect reports the selected streams that would not be tried', async () => {
  const world = await worldOf(3)
  await cli(world, ['cancel', 's000'])
  const ran = await cli(world, ['rm', '--all', '--yes', '--expect', '3'])
  expect(ran).toMatchObject({ exit: 5, stdout: '' })
  expect(ran.stderr).toContain('expected 3 streams, found 1 (2 not tried); nothing was changed')
})

test('a dry run tells that --expect has another number', async () => {
  const world = await worldOf(2)
  const argv = ['cancel', '--all', '--dry-run', '--expect']
  expect(await cli(world, [...argv, '2'])).toMatchObject({ exit: 0 })
  const ran = await cli(world, [...argv, '3'])
  expect(ran).toMatchObject({ exit: 5, stdout: expect.stringContaining('s001') })
  expect(ran.stderr).toContain('expected 3 streams, found 2; nothing was changed')
})

describe('before the prompt', () => {
  test('a narrow terminal drops columns rather than ends of names, which the user agrees to', async () => {
    const world = newWorld()
    const names = namesOf(2, 'orders/2026-11-20/')
    await given(world, names, ['Search', 'Search', 'Pay'])
    const argv = ['cancel', '--all', '--dry-run', '--color', 'never']
    const titles = async (columns: number) => {
      const lines = (await cli(world, argv, { columns })).stdout.trimEnd().split('\n')
      for (const [at, name] of names.entries()) expect(lines[at + 1]).toContain(name)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
      return lines[0]?.split(/ {2,}/)
    }
    const all = ['NAME', 'STATUS', 'WAITING ON', 'DUE', 'AGE', '✓/○/✗/⊘', 'LEASE', 'VERSION']
    expect(await titles(120)).toEqual(all)
    expect(await titles(80)).toEqual(all.filter(title => title !== 'DUE'))
    expect(await titles(60)).toEqual(['NAME', 'STATUS', 'WAITING ON', 'AGE', '✓/○/✗/⊘'])
  })

  test('a limited table and counts are printed on stderr', async () => {
    const world = await worldOf(25)
    for (const name of ['s003', 's004']) await cli(world, ['cancel', name])
    const ran = await cli(world, ['abort', '--all', '--color', 'never'], { terminal: true, answer: 'n' })
    expect(ran.stderr).toMatch(/NAME +STATUS/)
    expect(ran.stderr).toMatch(/s021 +▶ inprocess/)
    expect(ran.stderr).not.toContain('s022')
    expect(ran.stderr).toContain('and 3 more\n23 streams: 23 inprocess; 2 already final, left out\n')
  })

  test('-q omits the table, the prompt stays', async () => {
    const ran = await ask(2, ['--all', '-q'], { terminal: true, answer: 'y' })
    expect(ran).toMatchObject({ exit: 0, stdout: '', stderr: '', canceled: true })
    expect(ran.questions).toHaveLength(1)
  })
})

import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HOLDER } from '../ops/support.ts'
import { given, linesOf, runFileOf } from './batch/support.ts'
import { cli, json, NOON, newWorld, type Setting, statuses, type World } from './support.ts'

const LEASE = '11111111-1111-4111-8111-111111111111'
const MINUTE = 60_000

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'leasectl-runs-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const folder = () => join(home, 'leasectl', 'runs')
const setting = (more: Setting = {}): Setting => ({ ...more, env: { XDG_STATE_HOME: home, XDG_CONFIG_HOME: home } })
const run = (world: World, line: string, more?: Setting) => cli(world, line.split(' '), setting(more))

/** Two of three streams canceled: b is leased by another. */
async function half(): Promise<{ readonly world: World; readonly path: string }> {
  const world = newWorld()
  await given(world, ['a', 'b', 'c'])
  await world.store.acquireLease('b', { leaseId: LEASE, durationS: -1, holder: HOLDER })
  const ran = await run(world, 'cancel --all --yes --lease-wait 0s -m wrong-import --by ops')
  expect(ran.exit).toBe(7)
  return { world, path: runFileOf(ran) }
}

describe('runs ls', () => {
  test('lists when, command, counts, what is left, store, reason and file', async () => {
    const { world, path } = await half()
    world.nowMs += 5 * MINUTE
    const { stdout, exit } = await run(world, 'runs ls')
    expect(exit).toBe(0)
    const [head, row, ...rest] = stdout.trimEnd().split('\n')
    expect(head?.split(/ +/)).toEqual(['STARTED', 'COMMAND', 'TARGETS', 'LEFT', 'STORE', 'REASON', 'FILE'])
    expect(row?.split(/ {2,}/)).toEqual([
      '5m ago',
      'cancel',
      '3',
      '1',
      'memory:',
      'wrong-import',
      path.split('/').at(-1),
    ])
    expect(rest).toEqual([])
  })

  test('lists the latest first, and says which run continued another', async () => {
    const { world, path } = await half()
    await world.store.releaseLease('b', LEASE)
    world.nowMs += MINUTE
    const again = await run(world, `cancel --rerun ${path} --yes`)
    expect(again.exit).toBe(0)
    const { items, total } = json((await run(world, 'runs ls -o json')).stdout) as {
      items: Record<string, unknown>[]
      total: number
    }
    expect(total).toBe(2)
    expect(items).toMatchObject([
      { file: runFileOf(again), rerunOf: path, continuedBy: null, counts: { total: 1, done: 1, left: 0 } },
      { file: path, rerunOf: null, continuedBy: runFileOf(again), counts: { total: 3, done: 2, busy: 1, left: 1 } },
    ])
    expect((await run(world, 'runs ls')).stdout).toContain(' 1 (continued) ')
    expect((await run(world, 'runs ls -o name --limit 1')).stdout).toBe(`${runFileOf(again)}\n`)
  })

  test('lists an unreadable file with its error, and leaves foreign files out', async () => {
    const { world } = await half()
    writeFileSync(join(folder(), '20260301T110000Z-cancel-00000000.ndjson'), 'not JSON\n')
    writeFileSync(join(folder(), 'notes.txt'), 'mine')
    const { stdout, exit } = await run(world, 'runs ls -o ndjson')
    const lines = stdout.trimEnd().split('\n').map(json)
    expect(exit).toBe(0)
    expect(lines).toHaveLength(2)
    expect(lines[1]).toMatchObject({
      verb: 'cancel',
      counts: null,
      error: expect.stringContaining('is not a run file'),
    })
  })

  test('without any run says where they would be', async () => {
    expect(await run(newWorld(), 'runs ls -o json')).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('"total":0'),
      stderr: `no run files in ${folder()}\n`,
    })
  })
})

describe('runs show', () => {
  test('shows what was not done, and the command for the rest', async () => {
    const { world, path } = await half()
    const { stdout, stderr } = await run(world, 'runs show last')
    expect(stdout).toContain(`run      ${path}\ncommand  cancel --lease-wait 0s\n`)
    expect(stdout).toContain('by       ops\nreason   wrong-import\ntargets  3 targets: 2 done, 1 busy\n')
    expect(stdout).toMatch(/^b +busy +.*leased by another/m)
    expect(stdout).not.toMatch(/^a /m)
    expect(stderr).toContain(`the rest: leasectl cancel --rerun ${path} --store memory:`)
    expect((await run(world, 'runs show last -v')).stdout).toMatch(/^a +done/m)
  })

  test('takes a path, and a name of the list', async () => {
    const { world, path } = await half()
    const name = path.split('/').at(-1)
    const shown = await run(world, `runs show ${path} -o json`)
    expect(json(shown.stdout)).toMatchObject({
      file: path,
      targets: [{ stream: 'a' }, { stream: 'b' }, { stream: 'c' }],
    })
    expect((await run(world, `runs show ${name} -o json`)).stdout).toBe(shown.stdout)
    expect(await run(world, 'runs show nix')).toMatchObject({ exit: 2, stderr: expect.stringContaining('runs ls') })
  })
})

describe('--rerun last', () => {
  test('does the rest of the latest run of the command, and names the file in its own', async () => {
    const { world, path } = await half()
    await given(world, ['d', 'e'])
    world.nowMs += MINUTE
    await run(world, 'abort d e --yes')
    await world.store.releaseLease('b', LEASE)
    const ran = await run(world, 'cancel --rerun last --yes')
    expect(ran).toMatchObject({ exit: 0, stderr: expect.stringContaining(`${path}: 1 stream left of a run with 3`) })
    expect(await statuses(world, 'b')).toEqual({ '00': 'canceled' })
    expect(linesOf(runFileOf(ran))[0]).toMatchObject({ rerunOf: path, reason: 'wrong-import', by: 'ops' })
  })

  test('finds the later of two runs of the same second', async () => {
    const { world, path } = await half()
    // Two files may get the same time: the clock of the file system moves in steps.
    utimesSync(path, 1, 1)
    await given(world, ['f', 'g'])
    const second = runFileOf(await run(world, 'cancel f g --yes'))
    expect(json((await run(world, 'runs show last -o json')).stdout)).toMatchObject({ file: second })
  })

  test('without a run of the command is refused', async () => {
    const { world } = await half()
    expect(await run(world, 'retry --rerun last')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(`there is no run file of retry in ${folder()}`),
    })
  })

  test.each(['--failure x', '--not-match y', '--older-than 1d', '--canceled'])('does not go with %s', async filter => {
    const { world } = await half()
    const ran = await run(world, `cancel --rerun last ${filter} --yes`)
    expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining('do not go together') })
  })
})

describe('runs prune', () => {
  test('removes the files of older runs alone', async () => {
    const { world, path } = await half()
    world.nowMs = NOON + 31 * 24 * 60 * MINUTE
    await given(world, ['d', 'e'])
    const young = runFileOf(await run(world, 'cancel d e --yes'))
    writeFileSync(join(folder(), 'notes.txt'), 'mine')
    expect(await run(world, 'runs prune --older-than 30d --dry-run')).toMatchObject({
      exit: 0,
      stdout: `${path}\n`,
      stderr: 'would remove 1 run file\n',
    })
    expect(existsSync(path)).toBe(true)
    expect(await run(world, 'runs prune --older-than 30d')).toMatchObject({ exit: 0, stderr: 'removed 1 run file\n' })
    expect(readdirSync(folder()).sort()).toEqual([young.split('/').at(-1), 'notes.txt'].sort())
  })

  test('without an age is refused', async () => {
    expect(await run(newWorld(), 'runs prune')).toMatchObject({ exit: 2, stdout: '' })
  })
})

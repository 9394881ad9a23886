import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cli, json, newWorld } from './support.ts'

async function ran(argv: readonly string[]) {
  const world = newWorld()
  await cli(world, ['init', 's/1', '--fork', 'A'])
  const ended = await cli(world, argv)
  return { ...ended, stderr: ended.stderr.replace(/\s+/g, ' ') }
}

describe('a claim lasts between 100ms and 7d', () => {
  test.each(['1ms', '99ms', '8d', '100d'])('%s is a usage error', async claim => {
    const { exit, stderr } = await ran(['event', 'start', 's/1', '01.00', '--claim', claim])
    expect(exit).toBe(2)
    expect(stderr).toContain(`--claim ${claim}: must be between 100ms and 7d`)
  })

  test.each(['100ms', '7d'])('%s is accepted', async claim => {
    expect((await ran(['event', 'start', 's/1', '01.00', '--claim', claim])).exit).toBe(0)
  })
})

describe('--since in the future is a usage error', () => {
  test.each([['ls'], ['log', '--all'], ['stats', '--all'], ['tail', 's/1'], ['tail', '--all'], ['cancel', '--yes']])(
    '%s %s',
    async (...argv) => {
      const words = argv.filter(word => word !== undefined)
      const { exit, stderr } = await ran([...words, '--since', '2099-01-01'])
      expect(exit).toBe(2)
      expect(stderr).toContain('--since is in the future')
    },
  )

  test('a time of the next seconds is accepted, because clocks differ', async () => {
    const world = newWorld()
    const since = new Date(world.nowMs + 30_000).toISOString()
    expect((await cli(world, ['ls', '--since', since])).exit).toBe(0)
  })
})

describe('an event id that leasectl would not give', () => {
  test.each([
    ['cancel', 's/1', '-e', 'abc'],
    ['cancel', 's/1', '-e', '1.0'],
    ['retry', 's/1', '-e', '01.0'],
    ['event', 'start', 's/1', 'abc'],
  ])('%s %s %s %s is exit 2, unless the stream has such an event', async (...argv) => {
    const { exit, stderr } = await ran(argv)
    expect(exit).toBe(2)
    expect(stderr).toContain('is not an event id such as 01.02.00')
  })

  test('a well-formed id that does not exist stays exit 3', async () => {
    expect((await ran(['cancel', 's/1', '-e', '09.00'])).exit).toBe(3)
  })
})

test('the error for a pattern in place of a name points to --match', async () => {
  const one = await ran(['cancel', 's/*'])
  expect(one.exit).toBe(3)
  expect(one.stderr).toContain("--match 's/*'")
  expect((await ran(['cancel', 's/*', 's/1'])).stderr).toContain("--match 's/*'")
})

test('the whole JSON of ls as a list of streams points to -o ndjson', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const { stdout } = await cli(world, ['ls', '-o', 'json'])
  const { exit, stderr } = await cli(world, ['cancel', '--streams', '-', '--yes'], { stdin: stdout })
  expect(exit).toBe(2)
  expect(stderr).toContain('-o ndjson')
})

describe('two different stores', () => {
  test.each([
    ['ls', '--store', 'sqlite:a.db', '--store', 'sqlite:b.db'],
    ['--store', 'sqlite:a.db', 'ls', '--store', 'sqlite:b.db'],
    ['stats', '-c', 'a', '-c', 'b'],
    ['ls', '--container', 'aaa', '--container', 'bbb'],
  ])('%s %s %s %s %s are a usage error', async (...argv) => {
    const { exit, stderr } = await ran(argv)
    expect(exit).toBe(2)
    expect(stderr).toContain('is given twice')
  })

  test('the same store twice is accepted', async () => {
    expect((await ran(['ls', '--store', 'sqlite:a.db', '--store', 'sqlite:a.db'])).exit).toBe(0)
  })
})

describe('a line of --streams with an impossible name', () => {
  async function cancelListed(lines: readonly string[]) {
    const world = newWorld()
    await cli(world, ['init', 'good'])
    const env = { XDG_STATE_HOME: mkdtempSync(join(tmpdir(), 'leasectl-lines-')) }
    const argv = ['cancel', '--streams', '-', '--yes', '-o', 'json']
    const ended = await cli(world, argv, { stdin: lines.join('\n'), env })
    rmSync(env.XDG_STATE_HOME, { recursive: true })
    const items = json(ended.stdout).items as readonly { stream: string; outcome: string; error?: { code: string } }[]
    return { ...ended, outcomes: items.map(({ stream, outcome, error }) => [stream, outcome, error?.code]) }
  }

  test('is an outcome of its own, and the other streams are changed', async () => {
    const { exit, outcomes } = await cancelListed(['good', 'bad\\name', 'bad/', '../bad'])
    expect(exit).toBe(7)
    expect(new Set(outcomes)).toEqual(
      new Set([
        ['good', 'done', undefined],
        ['bad\\name', 'failed', 'bad-name'],
        ['bad/', 'failed', 'bad-name'],
        ['../bad', 'failed', 'bad-name'],
      ]),
    )
  })

  test('is not suggested for another run, because it can never be done', async () => {
    expect((await cancelListed(['good', 'bad/'])).stderr).not.toContain('--rerun')
  })
})

describe('a message is for people: at most 4096 bytes, of which the journal keeps the first 1024', () => {
  test.each([
    ['event', 'complete', 's/1', '01.00'],
    ['event', 'fail', 's/1', '01.00'],
    ['cancel', 's/1'],
    ['abort', 's/1'],
  ])('%s %s', async (...argv) => {
    const words = argv.filter(word => word !== undefined)
    const { exit, stderr } = await ran([...words, '-m', 'x'.repeat(4_097)])
    expect([exit, stderr]).toEqual([2, expect.stringContaining('-m: longer than 4096 bytes')])
    const world = newWorld()
    await cli(world, ['init', 's/1', '--fork', 'A'])
    expect((await cli(world, [...words, '-m', 'x'.repeat(4_096)])).exit).toBe(0)
    const { events } = json((await cli(world, ['show', 's/1', '-o', 'json'])).stdout) as { events: { msg: string }[] }
    expect(events.some(({ msg }) => msg === 'x'.repeat(4_096))).toBe(true)
    const log = (await cli(world, ['log', 's/1', '-o', 'json'])).stdout
    expect(log).toContain(`"${'x'.repeat(1_024)}"`)
  })

  test('a reason that is nothing else has at most 1024', async () => {
    const { exit, stderr } = await ran(['event', 'set', 's/1', '01.00', '--tag', 't', '-m', 'x'.repeat(1_025)])
    expect([exit, stderr]).toEqual([2, expect.stringContaining('-m: longer than 1024 bytes')])
  })
})

describe('a stream that cannot be made', () => {
  const plan = (steps: string) => `root: R\nsteps: ${steps}`

  test.each<[string, string, RegExp]>([
    [
      'steps in a circle',
      plan('[{ name: A, needs: B }, { name: B, needs: A }]'),
      /new: A could never begin.*\[bad-gate\]/,
    ],
    [
      'a time long past',
      plan('[{ name: A, at: 1970-01-01T00:00:00Z }]'),
      /new: A: the time 1970-.* long past.*\[bad-gate\]/,
    ],
    [
      'a time too far ahead',
      plan('[{ name: A, at: 9999-01-01T00:00:00Z }]'),
      /more than 100 years ahead.*\[bad-gate\]/,
    ],
    [
      'too many steps before one',
      plan(`[{ parallel: [${Array.from({ length: 101 }, (_, at) => `{ name: S${at} }`).join()}] }, { name: L }]`),
      /new: L could never begin: it needs 101 steps; at most 100 are possible.*\[bad-gate\]/,
    ],
    [
      'too many steps',
      plan(`[${Array.from({ length: 20_001 }, (_, at) => `{ name: S${at} }`).join()}]`),
      /new: the stream would have 20002 events; at most 20000 are written.*\[stream-full\]/,
    ],
  ])('%s: has no event and no status in the error', async (_, template, error) => {
    const world = newWorld()
    const { exit, stderr } = await cli(world, ['init', 'new', '--from', 't'], { files: { t: template } })
    expect(exit).toBe(5)
    expect(stderr.replace(/\s+/g, ' ')).toMatch(error)
    expect(stderr).not.toMatch(/status/)
    expect(await world.store.read('new')).toBeUndefined()
  })

  test.each(['yesterday', '1h', '1970-01-01'])('--at %s is no time, and the hint shows one', async at => {
    const { exit, stderr } = await ran(['init', 'new', '--fork', 'A', '--at', at])
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`--at ${at}: not a time`)])
    expect(stderr).toContain('--at 2026-11-20T14:00:00Z')
  })
})

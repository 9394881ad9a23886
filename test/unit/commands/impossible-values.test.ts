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

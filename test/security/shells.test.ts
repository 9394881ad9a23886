import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { readWatchdogConfig } from '../../src/commands/watchdog/config.ts'
import { hookFormat } from '../../src/commands/watchdog/hooks.ts'
import type { HookSetting } from '../../src/commands/watchdog/values.ts'
import { hookCommand } from '../../src/commands/watchdog/values.ts'
import { machineTiming } from '../../src/util/clock.ts'
import { runCommand } from '../../src/watchdog/hooks/command.ts'
import { documentOf, environmentOf } from '../../src/watchdog/hooks/events.ts'
import { trustRow } from '../guarantees/record.ts'
import { cli, newWorld } from '../unit/commands/support.ts'
import { NAMES, VALUES } from './shell-values.ts'

const row = trustRow('shells')

const FOLDER = mkdtempSync(join(tmpdir(), 'leasectl-shells-'))
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

/** The file that a shell creates when it interprets a value, and the file in which the program records its input. */
const SENTINEL = join(FOLDER, 'run-by-a-shell')
const OUT = join(FOLDER, 'got.json')
const DUMP = join(FOLDER, 'dump.mjs')
writeFileSync(
  DUMP,
  `import { readFileSync, writeFileSync } from 'node:fs'
  const { OUT, ...env } = process.env
  writeFileSync(OUT, JSON.stringify({ args: process.argv.slice(2), env, text: readFileSync(0, 'utf8') }))`,
)

interface Got {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly text: string
}

const got = () => JSON.parse(readFileSync(OUT, 'utf8')) as Got

/** The check: every value arrived unchanged, and none had an effect. */
const isUntouched = (args: readonly string[], expected: readonly string[]) =>
  JSON.stringify(args) === JSON.stringify(expected) && !existsSync(SENTINEL)

beforeEach(() => {
  rmSync(SENTINEL, { force: true })
  rmSync(OUT, { force: true })
})

let tried = 0
let runByShell = 0

function judged(args: readonly string[], expected: readonly string[]): void {
  expect(args).toEqual(expected)
  tried += expected.length
  if (!isUntouched(args, expected)) runByShell += 1
  expect(existsSync(SENTINEL)).toBe(false)
}

afterAll(() => {
  row.figure('values', tried)
  row.figure('run by a shell', runByShell, '0')
  row.injected('values with characters of shells', tried)
})

/** A hook event with the value in every field. */
function happening(value: string) {
  const due = { event: value, name: value, limit: 'PT1S', dueMs: 0, message: value, commandId: value }
  const what = { due }
  return {
    kind: 'expired',
    id: 'expired-1',
    stream: value,
    event: value,
    commandId: value,
    status: '',
    outcome: '',
    what,
  } as const
}

describe('a hook', () => {
  test('gets its arguments unchanged from the flag and the file', async () => {
    const words = [process.execPath, DUMP, ...VALUES]
    const [flag] = hookCommand('--on-done')(JSON.stringify(words))
    const yaml = JSON.stringify({ 'on-done': { command: words.filter(word => word !== '') } })
    const [file] = readWatchdogConfig(yaml, 'w.yaml').onDone ?? []
    for (const setting of [flag, file] as (HookSetting | undefined)[]) {
      if (setting?.kind !== 'command') throw new Error('no command')
      const environment = { SENTINEL, OUT, PATH: process.env.PATH ?? '' }
      const input = { text: '{}', environment, timing: machineTiming, stop: new AbortController().signal }
      const attempt = await runCommand({ kind: 'command', argv: setting.argv, timeoutMs: 300_000, tries: 1 }, input)
      expect(attempt).toEqual({ kind: 'delivered', code: 'exit-0', output: '' })
      judged(got().args, VALUES)
    }
  })

  test('gets texts of a stream in its environment and on standard input', async () => {
    for (const value of [VALUES.join(' '), ...VALUES.slice(0, 3)]) {
      const about = happening(value) as unknown as Parameters<typeof documentOf>[0]
      const environment = { ...environmentOf(about, `sqlite:${value}`, process.env), SENTINEL, OUT }
      const text = documentOf(about, `sqlite:${value}`, hookFormat)
      const input = { text, environment, timing: machineTiming, stop: new AbortController().signal }
      const target = { kind: 'command', argv: [process.execPath, DUMP], timeoutMs: 300_000, tries: 1 } as const
      expect((await runCommand(target, input)).code).toBe('exit-0')
      const { args, env, text: read } = got()
      judged([env.LEASECTL_STREAM, env.LEASECTL_EVENT, env.LEASECTL_COMMAND_ID, env.LEASECTL_STORE].map(String), [
        value,
        value,
        value,
        `sqlite:${value}`,
      ])
      judged([JSON.parse(read).stream, ...args], [value])
    }
  })
})

describe('exec', () => {
  const env = { SENTINEL, OUT, PATH: process.env.PATH ?? '' }

  test('passes arguments unchanged', async () => {
    const world = newWorld()
    await cli(world, ['init', 's'])
    const { exit } = await cli(world, ['exec', 's', '00', '--stdin', 'json', '--', process.execPath, DUMP, ...VALUES], {
      env,
    })
    expect(exit).toBe(0)
    judged(got().args, VALUES)
  })

  test('passes names of streams, owners and texts in the environment and on standard input', async () => {
    const world = newWorld()
    for (const name of [NAMES.join(' '), ...NAMES.slice(0, 3)]) {
      const made = await cli(world, ['init', name, '--root', 'A', '--key', name])
      expect([made.exit, made.stderr]).toEqual([0, made.stderr])
      const line = ['exec', name, '00', '--owner', name, '--stdin', 'json', '--', process.execPath, DUMP, name]
      const { exit, stderr } = await cli(world, line, { env })
      expect([exit, stderr]).toEqual([0, stderr])
      const { args, env: seen, text } = got()
      judged([...args, String(seen.LEASECTL_STREAM), String(seen.LEASECTL_OWNER)], [name, name, name])
      expect(text).toContain(JSON.stringify(name).slice(1, -1))
    }
  })
})

test('work passes arguments, and names of streams and owners, unchanged', async () => {
  const world = newWorld()
  const name = NAMES.join(' ')
  await cli(world, ['init', name, '--fork', 'A', '--key', name])
  const line = ['work', '--name', 'A', '--once', '--owner', name, '--stdin', 'json']
  const { exit, stderr } = await cli(world, [...line, '--', process.execPath, DUMP, ...VALUES], {
    env: { SENTINEL, OUT, PATH: process.env.PATH ?? '' },
  })
  expect([exit, stderr]).toEqual([0, stderr])
  const { args, env, text } = got()
  judged(args, VALUES)
  judged([String(env.LEASECTL_STREAM), String(env.LEASECTL_OWNER)], [name, name])
  expect(text).toContain(JSON.stringify(name).slice(1, -1))
})

test('a shell would interpret the same values', () => {
  let made = 0
  for (const value of VALUES) {
    rmSync(SENTINEL, { force: true })
    try {
      execFileSync('/bin/sh', ['-c', `"$NODE" "$DUMP" ${value}`], {
        env: { SENTINEL, OUT, NODE: '/bin/true', DUMP },
        stdio: 'ignore',
        cwd: FOLDER,
      })
    } catch {
      // not every value is a command
    }
    if (existsSync(SENTINEL)) made += 1
  }
  expect(made).toBeGreaterThan(5)
  row.control('a shell gets the line', made > 0)
})

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CommandInput, runCommand } from '../../../../src/watchdog/hooks/command.ts'
import { eventually } from '../../../e2e/watchdog/poll.ts'
import { heldTiming, soon, until } from './support.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-hook-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const LONG_MS = 30_000

function run(argv: readonly [string, ...string[]], input: Partial<CommandInput> = {}) {
  const target = { kind: 'command', argv, timeoutMs: LONG_MS, tries: 1 } as const
  const environment = { PATH: '/usr/bin:/bin' }
  const stop = new AbortController().signal
  return runCommand(target, { text: '{}\n', environment, timing: heldTiming(), stop, ...input })
}

const sh = (script: string, ...args: string[]): [string, ...string[]] => ['/bin/sh', '-c', script, 'sh', ...args]
const node = (script: string): [string, ...string[]] => [process.execPath, '-e', script]

/** Lets all the necessary time pass. */
async function ended<Value>(running: Promise<Value>, timing: ReturnType<typeof heldTiming>): Promise<Value> {
  let isOver = false
  void running.finally(() => {
    isOver = true
  })
  while (!isOver) {
    timing.passed()
    await soon()
  }
  return running
}

/** Waits until a file has a whole line. */
async function lineOf(path: string): Promise<string> {
  for (;;) {
    await soon()
    const text = readOr(path)
    if (text.endsWith('\n')) return text.trim()
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Resolves when it has ended; on a busy machine that takes a while. */
function gone(pid: number): Promise<true> {
  return eventually(`the end of ${pid}`, () => {
    try {
      process.kill(pid, 0)
      // its parent may not have collected it
      return /^State:\s+Z/m.test(readOr(`/proc/${pid}/status`)) || undefined
    } catch {
      return true
    }
  })
}

describe('a hook command', () => {
  test('gets the document on standard input, its arguments unchanged, and no other environment', async () => {
    const out = join(folder, 'out')
    const script = `
      const fs = require('node:fs')
      fs.writeFileSync(process.argv[1], JSON.stringify({
        text: fs.readFileSync(0, 'utf8'), args: process.argv.slice(2), env: process.env, cwd: process.cwd() }))`
    const nasty = ['$(touch x)', '; rm -rf /', '`id`', "'", '"', 'a b\n*', '--', '-e', '%PATH%']
    const environment = { LEASECTL_EVENT: '$(id); `id` && "x"' }
    const text = '{"stream":"$(id)\\u001b[2J"}\n'
    expect(await run([...node(script), out, ...nasty], { environment, text })).toMatchObject({
      kind: 'delivered',
      code: 'exit-0',
    })
    const seen = JSON.parse(readFileSync(out, 'utf8'))
    expect(seen).toEqual({ text, args: nasty, env: environment, cwd: '/' })
  })

  test('need not read its input, however long that is', async () => {
    expect(await run(['/bin/true'], { text: 'x'.repeat(4_000_000) })).toMatchObject({ kind: 'delivered' })
  })

  test('that fails is retried, and the first part of its output is reported', async () => {
    const failed = await run(sh('echo "no \u001b]0;title\u0007way"; echo second >&2; exit 3'))
    expect(failed).toEqual({ kind: 'repeat', code: 'exit-3', output: 'no way␊second' })
    expect(await run(sh('kill -9 $$'))).toMatchObject({ kind: 'repeat', code: 'signal-SIGKILL' })
  })

  test('that is missing or not executable is retried: it may be installed later', async () => {
    expect(await run([join(folder, 'none')])).toEqual({ kind: 'repeat', code: 'ENOENT', output: '' })
    const file = join(folder, 'text')
    writeFileSync(file, 'no program', { mode: 0o644 })
    expect(await run([file])).toMatchObject({ kind: 'repeat', code: 'EACCES' })
    expect(await run(['/bin/echo', 'x\0y'])).toMatchObject({ kind: 'repeat', code: 'ERR_INVALID_ARG_VALUE' })
    expect(await run(['/bin/echo', 'x'.repeat(4_000_000)])).toMatchObject({ kind: 'repeat', code: 'E2BIG' })
  })

  test('that floods its output is read to the end and little of it is kept', async () => {
    const before = process.memoryUsage().rss
    // About 70 MiB of it are uncollected garbage at a time: far less than half of the output.
    const flood = sh('head -c 268435456 /dev/zero; head -c 268435456 /dev/zero >&2; echo end; exit 4')
    const { code, output } = await run(flood)
    expect(code).toBe('exit-4')
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(3 * 16 * 1_024)
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1_024 * 1_024)
  })
})

describe('a hook command that hangs', () => {
  /** Starts a child, prints its id and keeps running; neither reacts to SIGTERM. */
  const stubborn = sh(
    `trap '' TERM
    long() { i=0; while [ $i -lt 1000 ]; do sleep 0.03; i=$((i + 1)); done; }
    long & echo $! > "$1"
    long`,
  )

  test('is terminated, then killed, with all its descendants', async () => {
    const pids = join(folder, 'pids')
    const timing = heldTiming()
    const running = run([...stubborn, pids], { timing })
    const grandchild = Number(await lineOf(pids))
    timing.passed()
    await until(() => timing.pauses.at(-1) === 2_000)
    expect(await Promise.race([running, soon().then(() => 'asked')])).toBe('asked')
    expect(await ended(running, timing)).toMatchObject({ kind: 'repeat', code: 'timed-out' })
    await gone(grandchild)
  })

  test('is terminated first, and may write a message', async () => {
    const out = join(folder, 'out')
    const timing = heldTiming()
    const script = 'trap "echo waited for a lock; exit 7" TERM; echo up > "$1"; while [ -e "$1" ]; do :; done'
    const running = run(sh(script, out), { timing })
    await lineOf(out)
    timing.passed()
    await until(() => timing.pauses.at(-1) === 2_000)
    const { code, output } = await running
    expect([code, output]).toEqual(['timed-out', 'waited for a lock'])
  })

  test('is killed when the watchdog stops: its outcome is unknown', async () => {
    const out = join(folder, 'out')
    const stop = new AbortController()
    const timing = heldTiming()
    const running = run(sh('echo up > "$1"; sleep 30', out), { stop: stop.signal, timing })
    await lineOf(out)
    stop.abort()
    expect(await ended(running, timing)).toMatchObject({ kind: 'stopped', code: 'stopped' })
  })

  test('only because of a descendant has succeeded', async () => {
    const out = join(folder, 'out')
    const timing = heldTiming()
    // It prints its id once the program itself has ended.
    const orphan = `(while kill -0 $$ 2> /dev/null; do sleep 0.02; done; sh -c 'echo $PPID' > "$1"; sleep 30) & exit 0`
    const running = run(sh(orphan, out), { timing })
    const left = Number(await lineOf(out))
    expect(await ended(running, timing)).toMatchObject({ kind: 'delivered', code: 'exit-0' })
    await gone(left)
  })
})

test('a descendant that left the group of a hook command, and holds its output, is abandoned in the end', async () => {
  const out = join(folder, 'out')
  const timing = heldTiming()
  const away = `setsid sh -c 'echo $$ > "$1"; exec sleep 600' away "$1" & while [ ! -s "$1" ]; do :; done; exit 3`
  const running = run(sh(away, out), { timing })
  const left = Number(await lineOf(out))
  expect(await ended(running, timing)).toMatchObject({ kind: 'repeat', code: 'timed-out' })
  process.kill(left, 'SIGKILL')
  await gone(left)
})

test('a process that exits at once, as after a second signal, leaves no hook command behind', async () => {
  const pids = join(folder, 'pids')
  const module = new URL('../../../../src/watchdog/hooks/command.ts', import.meta.url)
  const argv = sh(`trap '' TERM; sleep 60 & echo "$$ $!" > "$1"; wait`, pids)
  const script = `
    import { existsSync, readFileSync } from 'node:fs'
    import { runCommand } from ${JSON.stringify(module.href)}
    const target = { kind: 'command', argv: ${JSON.stringify(argv)}, timeoutMs: 60_000, tries: 1 }
    const timing = { pause: ms => new Promise(resolve => setTimeout(resolve, ms)) }
    void runCommand(target, { text: '', environment: { PATH: '/usr/bin:/bin' }, timing, stop: new AbortController().signal })
    const file = ${JSON.stringify(pids)}
    setInterval(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\\n') && process.exit(130), 5)`
  const code = await new Promise(resolve => {
    execFile(process.execPath, ['--input-type=module', '-e', script], error => resolve(error?.code))
  })
  expect(code).toBe(130)
  const left = (await lineOf(pids)).split(' ').map(Number)
  expect(left).toHaveLength(2)
  await Promise.all(left.map(gone))
})

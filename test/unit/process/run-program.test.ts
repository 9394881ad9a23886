import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findProgram } from '../../../src/process/find-program.ts'
import { pumped } from '../../../src/process/output.ts'
import { type ProgramOptions, runProgram } from '../../../src/process/run-program.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-run-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function run(script: string, options: Partial<ProgramOptions> = {}) {
  let heard = ''
  const end = await runProgram(['/bin/sh', '-c', script], {
    env: { PATH: '/usr/bin:/bin' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: async chunk => {
      heard += Buffer.from(chunk).toString()
    },
    signal: new AbortController().signal,
    graceMs: 60_000,
    ...options,
  })
  return { ...end, heard, tail: Buffer.from(end.tail.bytes()).toString() }
}

/** For conditions that are nearly met, on a busy machine. */
const LONG = { timeout: 20_000 }

/** Aborts as soon as the program has printed something. */
function stopAtFirstWord(reason?: string) {
  const stop = new AbortController()
  return { signal: stop.signal, stderr: async () => stop.abort(reason) }
}

describe('the result of a program', () => {
  test('has its exit code, or the signal', async () => {
    expect((await run('exit 3')).fate).toEqual({ kind: 'exited', code: 3 })
    expect((await run('kill -9 $$')).fate).toEqual({ kind: 'killed', signal: 'SIGKILL' })
  })

  test('has the end of its stderr, all of which was passed on', async () => {
    const { heard, tail } = await run('seq 100000 >&2')
    expect(heard.split('\n')).toHaveLength(100_001)
    expect(tail).toBe(heard.slice(-8 * 1_024))
  })

  test('is complete with a slow reader of stderr', async () => {
    let bytes = 0
    const stderr = async (chunk: Uint8Array) => {
      await new Promise(setImmediate)
      bytes += chunk.length
    }
    await run('seq 50000 >&2', { stderr })
    expect(bytes).toBe(288_894)
  })

  test('has the reason if the program cannot be started', async () => {
    const start = async (name: string) =>
      (
        await runProgram([name], {
          env: {},
          stdin: 'ignore',
          stdout: 'ignore',
          stderr: async () => {},
          signal: new AbortController().signal,
          graceMs: 0,
        })
      ).fate
    const script = join(folder, 'script')
    writeFileSync(script, '#!/nowhere/interpreter\n', { mode: 0o755 })
    expect(await start(join(folder, 'none'))).toEqual({ kind: 'not-started', reason: 'ENOENT' })
    expect(await start(script)).toEqual({ kind: 'not-started', reason: 'ENOENT' })
    expect(await start(folder)).toEqual({ kind: 'not-started', reason: 'EACCES' })
    expect(await start('a\0b')).toEqual({ kind: 'not-started', reason: 'ERR_INVALID_ARG_VALUE' })
  })

  test('is a stop without a start if it was stopped before', async () => {
    expect((await run(`touch ${folder}/ran`, { signal: AbortSignal.abort() })).fate).toEqual({ kind: 'stopped' })
    expect(findProgram(join(folder, 'ran'), '').kind).toBe('missing')
  })

  test('does not depend on whether it reads its input', async () => {
    const text = 'x'.repeat(1_000_000)
    expect((await run('exit 0', { stdin: { text } })).fate).toEqual({ kind: 'exited', code: 0 })
    expect((await run('wc -c >&2', { stdin: { text } })).heard.trim()).toBe('1000000')
    expect((await run('wc -c </dev/stdin >&2', { stdin: { text }, folder })).heard.trim()).toBe('1000000')
  })
})

describe('a descendant that the program leaves behind', () => {
  test('and that holds stderr forever is neither waited for nor ended', async () => {
    const { fate, heard } = await run('sleep 4712 & echo $! >&2')
    expect(fate).toEqual({ kind: 'exited', code: 0 })
    expect(process.kill(Number(heard), 'SIGKILL')).toBe(true)
  })

  test('and that writes endlessly is not waited for', async () => {
    // It begins once the program has ended: earlier output would count as the program's own.
    const { heard } = await run('(while kill -0 $$ 2> /dev/null; do sleep 0.01; done; exec yes >&2) & exit 0')
    expect(heard.length).toBeLessThan(4 * 1_024 * 1_024)
  })

  test('and that writes a little from time to time is not waited for', async () => {
    const source = new PassThrough()
    const talking = setInterval(() => source.write('more'), 10)
    await pumped(source, async () => {}).drained()
    clearInterval(talking)
    expect(source.destroyed).toBe(true)
  })
})

describe('a program that is stopped', () => {
  test('gets the named signal, otherwise SIGTERM', async () => {
    const script = 'trap "exit 5" INT; trap "exit 6" TERM; echo up >&2; while :; do sleep 0.01; done'
    expect((await run(script, stopAtFirstWord('SIGINT'))).fate).toEqual({ kind: 'exited', code: 5 })
    expect((await run(script, stopAtFirstWord())).fate).toEqual({ kind: 'exited', code: 6 })
  })

  test('is ended with its whole group: processes that ignore the signal after the grace period', async () => {
    const script = 'trap "" TERM; sleep 4713 & echo $! >&2; while :; do sleep 0.01; done'
    let pid = 0
    const stop = new AbortController()
    const stderr = async (chunk: Uint8Array) => {
      pid = Number(Buffer.from(chunk).toString())
      stop.abort()
    }
    const { fate } = await run(script, { signal: stop.signal, stderr, graceMs: 50 })
    expect(fate).toEqual({ kind: 'killed', signal: 'SIGKILL' })
    await expect.poll(() => isThere(pid), LONG).toBe(false)
  })

  test('leaves the rest of the grace period to processes that outlive it', async () => {
    const last = join(folder, 'last')
    const inner = `trap "sleep 0.1; echo done > ${last}; exit" TERM; echo up >&2; while :; do sleep 0.01; done`
    await run(`(${inner}) & wait`, stopAtFirstWord())
    expect(readFileSync(last, 'utf8')).toBe('done\n')
  })

  test('is ended even if it is suspended', async () => {
    const script = '(until grep -q "^State:.T" /proc/$$/status; do :; done; echo up >&2) & kill -STOP $$'
    const { fate } = await run(script, stopAtFirstWord())
    expect(fate).toEqual({ kind: 'killed', signal: 'SIGTERM' })
  })
})

/** An ended one exists until its status is collected, but has no command line any more. */
function isThere(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
  } catch {
    return false
  }
}

test('a program is found like a shell finds it', () => {
  const [first, second] = ['a', 'b'].map(name => join(folder, name))
  for (const place of [first, second]) mkdirSync(place ?? '')
  writeFileSync(join(first ?? '', 'tool'), '', { mode: 0o644 })
  mkdirSync(join(first ?? '', 'made'))
  const found = (name: string) => findProgram(name, `${first}:${second}:`)
  expect(found('tool')).toEqual({ kind: 'not-executable', path: join(first ?? '', 'tool') })
  writeFileSync(join(second ?? '', 'tool'), '', { mode: 0o755 })
  expect(found('tool')).toEqual({ kind: 'found', path: join(second ?? '', 'tool') })
  expect(found('made').kind).toBe('not-executable')
  expect(found(join(second ?? '', 'tool')).kind).toBe('found')
  expect(found('').kind).toBe('missing')
  expect(found('none').kind).toBe('missing')
  expect(found(`${join(second ?? '', 'tool')}/below`).kind).toBe('missing')
  expect(findProgram('sh', undefined).kind).toBe('found')
  chmodSync(join(second ?? '', 'tool'), 0o600)
  expect(found('tool').kind).toBe('not-executable')
})

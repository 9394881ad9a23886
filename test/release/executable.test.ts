import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildExecutable, cannotBuild } from '../../build/executable/build.mjs'
import { type Ended, newUser, programFolder, type User } from '../e2e/program.ts'
import { Terminals } from '../e2e/top-terminal.ts'
import { sharedAzurite } from '../support/azurite.ts'

const missing = process.platform === 'linux' ? cannotBuild() : `not tested on ${process.platform}`
if (missing !== undefined) console.warn(`test/release/executable.test.ts is skipped: ${missing}`)

/** A machine without Node: an empty home, and nothing on PATH. */
describe.skipIf(missing !== undefined)('the single executable, without Node on PATH', () => {
  let folder: string
  let user: User
  let env: Record<string, string>

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'leasectl-executable-test-'))
    const executable = join(folder, 'leasectl')
    await buildExecutable(join(await programFolder(), 'dist'), executable)
    user = await newUser(executable)
    mkdirSync(join(folder, 'empty'))
    env = { PATH: join(folder, 'empty'), XDG_CACHE_HOME: join(folder, 'cache') }
  })
  afterAll(() => {
    user?.leave()
    rmSync(folder, { recursive: true, force: true })
  })

  const run = (...argv: string[]): Promise<Ended> => user.run(argv, env)

  async function output(...argv: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...argv)
    expect({ argv, code, stderr }).toEqual({ argv, code: 0, stderr })
    expect(stderr).not.toMatch(/warning/i)
    return stdout
  }

  test('is one file that everybody may run', () => {
    expect(statSync(user.command[0]).mode & 0o777).toBe(0o755)
  })

  test('prints its version and its help', async () => {
    expect(await output('--version')).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(await output('--help')).toContain('Usage: leasectl')
    expect((await run('lss')).code).toBe(2)
  })

  test('keeps streams in the embedded store, and reads them in every format', async () => {
    await output('init', 'orders/1', '--fork', 'A,B', '-q')
    expect(await output('ls')).toContain('orders/1')
    expect(await output('show', 'orders/1', '-o', 'yaml')).toContain('name: orders/1')
    expect(await output('show', 'orders/1', '--select', './/Event[@name="A"]')).toContain('01.00')
    expect(await output('export', 'orders/1', '-o', 'otlp')).toContain('resourceSpans')
    expect(await output('check', '-o', 'prometheus')).toContain('leasectl_check_status')
  })

  test('reads the whole file of a store in a child process', async () => {
    await output('init', 'deep/1', '-q')
    const { findings } = JSON.parse(await output('doctor', '--deep', '-o', 'json')).store
    expect(findings).toContainEqual(expect.objectContaining({ code: 'file-check', severity: 'ok' }))
  })

  test('keeps streams on Azure', async () => {
    const store = `azurite://127.0.0.1:${(await sharedAzurite()).port}/executable-${randomUUID()}`
    await output('init', 'orders/1', '--fork', 'A', '-q', '--store', store)
    await output('cancel', 'orders/1', '-m', 'why', '--store', store)
    expect(await output('log', 'orders/1', '--store', store)).toContain('why')
  })

  test('puts more records than are put without a thread: it can start none', async () => {
    await output('inbox', 'create', 'orders', '-q')
    const lines = join(folder, 'orders.ndjson')
    const filler = 'x'.repeat(1_000)
    writeFileSync(lines, Array.from({ length: 12_000 }, (_, id) => `{"id":${id},"x":"${filler}"}\n`).join(''))
    expect(await output('inbox', 'put', 'orders', lines, '-q')).toContain('12000 records put')
  })

  test('runs a program as the worker of an event', async () => {
    await output('init', 'exec/1', '--fork', 'A', '-q')
    const worker = join(folder, 'worker.sh')
    writeFileSync(worker, '#!/bin/sh\necho "$LEASECTL_STREAM $LEASECTL_EVENT"\nexit 3\n', { mode: 0o755 })
    expect(await run('exec', 'exec/1', '01.00', '--', worker)).toMatchObject({ code: 3, stdout: 'exec/1 01.00\n' })
  })

  test('starts itself for the demo and for contention tests', async () => {
    expect(await output('demo', '--speed', '16')).toContain('completed with errors')
    const words = ['--procs', '2', '--duration', '1s', '--hold', '5ms', '-o', 'json']
    const { exclusive, processes } = JSON.parse(await output('lab', 'lease', ...words))
    expect({ exclusive, processes: processes.length }).toEqual({ exclusive: true, processes: 2 })
  })

  test('completes command lines', async () => {
    await output('init', 'complete/1', '-q')
    expect(await output('completion', 'bash')).toContain('complete')
    expect(await output('__complete', 'fish', '--', 'leasectl show complete/')).toContain('complete/1')
  })

  test('draws the dashboard', async () => {
    await output('init', 'top/1', '-q')
    const terminals = new Terminals(user)
    try {
      const top = terminals.top([], { env })
      await top.until(/top\/1/)
      top.press('q')
      expect(await top.ended).toBe(0)
    } finally {
      await terminals.leave()
    }
  })
})

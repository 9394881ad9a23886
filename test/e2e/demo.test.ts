import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { sharedAzurite } from '../support/azurite.ts'
import { newUser, type Running, type User } from './program.ts'

/** The demo as a user sees it: real worker processes, a pipe, a terminal. */

/** Time for processes to start and end, on a busy machine too. */
const PATIENCE_MS = 20_000

let user: User

beforeAll(async () => {
  user = await newUser()
})
afterAll(() => user.leave())

/** The lines below `Next:`, as they are printed. */
function suggested(stdout: string): string[] {
  return (stdout.split('\nNext:\n')[1] ?? '').trimEnd().split('\n')
}

const newContainer = async (): Promise<string> =>
  `azurite://127.0.0.1:${(await sharedAzurite()).port}/demo-${randomUUID()}`

const STORES: readonly (readonly [where: string, address: () => Promise<string | undefined>])[] = [
  ['the embedded store', async () => undefined],
  ['Azurite', newContainer],
]

describe.each(STORES)('on %s', (_where, address) => {
  // Three processes contend for one stream: on a busy machine that takes half a minute.
  test('the demo runs to its end, and the commands it suggests work as printed', { timeout: 120_000 }, async () => {
    const store = await address()
    const { code, stdout, stderr } = await user.run([
      'demo',
      '--speed',
      '8',
      ...(store === undefined ? [] : ['--store', store]),
    ])
    expect(code).toBe(0)
    expect(stderr).toMatch(/^demo\/search-order-\S+ on \S+: 3 worker processes contend for its events\n$/)
    expect(stdout).toMatch(/^± with errors .*✗ 1$/m)
    expect(stdout).toMatch(/03\.00 SearchStart +✗ aborted/)
    expect(stdout).toMatch(/^ {2}✗ aborted {2}03\.00 SearchStart, .* ago: supplier 3 does not answer$/m)
    expect(stdout).not.toContain('\u001b')
    expect(suggested(stdout)).toHaveLength(3)
    const [tail, show, init] = await Promise.all(suggested(stdout).map(line => user.shell(line).ended))
    for (const ran of [tail, show, init]) expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(tail?.stdout).toMatch(/fail +03\.00 .*supplier 3 does not answer|03\.00 .*✗ aborted/)
    expect(show?.stdout).toMatch(/^<\?xml .*[\s\S]*<\/\w+>\s*$/)
    expect(init?.stdout).toMatch(/^✓ orders\/4711 {2}created/)
  })
})

test('every worker prints the same history: each transaction once, each event ended by one worker', async () => {
  const store = await openStore(`sqlite:${join(user.home, '.local/share/leasectl/leasectl.db')}`, {})
  const names: string[] = []
  for await (const page of store.list({ prefix: 'demo/' })) names.push(...page.map(({ name }) => name))
  await store.close()
  const { stdout } = await user.run(['tail', '-n', 'all', '-o', 'ndjson', names[0] ?? ''])
  const entries = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(entries.map(({ version }) => version)).toEqual(entries.map((_, at) => at + 1))
  const started = entries.filter(({ op }) => op === 'start')
  expect(started.map(({ on }) => on)).toHaveLength(new Set(started.map(({ on }) => on)).size)
  expect(new Set(started.map(({ by }) => by)).size).toBeGreaterThan(1)
})

test('without an emulator the demo ends with 9 and explains how to start one', async () => {
  const socket = createServer()
  await new Promise<void>(resolve => socket.listen(0, '127.0.0.1', resolve))
  const { port } = socket.address() as { port: number }
  await new Promise(resolve => socket.close(resolve))
  const ended = await user.run(['demo', '--store', `azurite://127.0.0.1:${port}/demo`])
  expect(ended).toMatchObject({ code: 9, stdout: '' })
  expect(ended.stderr).toMatch(
    new RegExp(`127.0.0.1:${port} does not answer: ECONNREFUSED.*\n.*npx azurite-blob .*--blobPort ${port}`),
  )
})

describe('a demo stopped in the middle', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends on %s with %i and leaves no worker behind', async (signal, code) => {
    const store = `sqlite:${join(user.home, `${signal}.db`)}`
    const demo = user.start(['demo', '--store', store])
    await demo.until('stdout', /start .*01\.00/)
    expect(user.processesWith(store)).toHaveLength(4)
    demo.process.kill(signal)
    expect(await demo.ended).toMatchObject({ code, signal: null })
    await vi.waitFor(() => expect(user.processesWith(store)).toEqual([]), PATIENCE_MS)
    expect(await user.run(['ls', '--store', store])).toMatchObject({ code: 0 })
  })

  test('because a worker dies ends with an error and leaves no other worker', async () => {
    const store = `sqlite:${join(user.home, 'death.db')}`
    const demo = user.start(['demo', '--store', store])
    await demo.until('stdout', /start .*01\.00/)
    const [worker = 0] = user.processesWith(store).filter(id => id !== demo.process.pid)
    process.kill(worker, 'SIGKILL')
    const { code, stderr } = await demo.ended
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('SIGKILL') })
    await vi.waitFor(() => expect(user.processesWith(store)).toEqual([]), PATIENCE_MS)
  })
})

describe('on a terminal', () => {
  /** `stty -g` before and after shows whether the terminal was restored. */
  function onTerminal(command: string): Running {
    const script = `trap : INT; stty cols 100 rows 40; stty -g; ${command}; code=$?; stty -g; exit $code`
    return user.shell(`exec script -qec '${script.replaceAll("'", `'\\''`)}' /dev/null`)
  }

  function expectRestored(output: string): void {
    const settings = output.match(/[0-9a-f]+(:[0-9a-f]+){10,}/g) ?? []
    expect(settings).toHaveLength(2)
    expect(settings[1]).toBe(settings[0])
    expect(output.lastIndexOf('\u001b[?25h')).toBeGreaterThan(output.lastIndexOf('\u001b[?25l'))
  }

  test('the tree is redrawn in place, and the terminal is restored', async () => {
    // Slow enough for each step to be drawn, even if the machine stalls for a while.
    const { code, stdout } = await onTerminal(`leasectl demo --speed 4 --store sqlite:${user.home}/terminal.db`).ended
    expect(code).toBe(0)
    const frames = stdout.split(/(?=\u001b\[\?25l|\u001b\[2K\u001b\[1A)/).length
    expect(frames).toBeGreaterThan(10)
    expect(stdout).toMatch(/03\.00 SearchStart[^\n]*▶ inprocess/)
    expect(stdout).toMatch(/03\.00 SearchStart[^\n]*✗ aborted/)
    expect(stdout).toMatch(/completed with errors[\s\S]*Next:/)
    expectRestored(stdout)
  })

  test('Ctrl-C ends it with 130 and restores the terminal', async () => {
    const store = `sqlite:${join(user.home, 'ctrl-c.db')}`
    const demo = onTerminal(`leasectl demo --store ${store}`)
    await demo.until('stdout', /▶ inprocess[\s\S]*worker-1/)
    demo.process.stdin?.write('\u0003')
    const { code, stdout } = await demo.ended
    expect(code).toBe(130)
    expectRestored(stdout)
    await vi.waitFor(() => expect(user.processesWith(store)).toEqual([]), PATIENCE_MS)
  })
})

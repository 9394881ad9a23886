import { expect, test } from 'vitest'
import type { OtherProcess } from '../../../../src/cli/runtime.ts'
import * as demo from '../../../../src/commands/demo.ts'
import { runCommandLine } from '../../../../src/commands/main.ts'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import type { DashboardEnd, DashboardOptions } from '../../../../src/tui/options.ts'
import { storeWith } from '../store-with.ts'
import { cli, fakeRuntime, newWorld, optionsFrom, type Setting } from '../support.ts'

const SCREEN = { terminal: true, columns: 120 }

test('--top is an option of demo', async () => {
  expect(await optionsFrom(demo.register, ['demo', '--top', '--speed', '4'])).toEqual({ top: true, speed: 4 })
})

test.each([
  ['standard output is not a terminal', { terminal: true }],
  ['standard input is not a terminal', { columns: 80 }],
  ['TERM is dumb', { ...SCREEN, env: { TERM: 'dumb' } }],
  ['CI is set', { ...SCREEN, env: { CI: '1' } }],
])('%s: exit 2, and no demo runs', async (why, setting) => {
  const world = newWorld()
  const ran = await cli(world, ['demo', '--top', '--store', 'sqlite:x'], setting)
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(`--top needs a terminal: ${why}`)
  expect(await Array.fromAsync(world.store.list({}))).toEqual([])
})

/** The demo with workers that only wait to be stopped, or fail. */
async function played(
  onDashboard: (options: DashboardOptions) => Promise<DashboardEnd>,
  worker: () => Promise<string>,
  setting: Setting = {},
) {
  const world = { ...newWorld(), nowMs: Date.now() }
  const store = storeWith(openMemoryStore(), { address: 'sqlite:x' })
  const { runtime, written } = fakeRuntime(world, ['demo', '--top', '--store', 'sqlite:x'], {
    ...SCREEN,
    store,
    dashboard: onDashboard,
    ...setting,
  })
  const stopped: number[] = []
  let started = 0
  const startSelf = (): OtherProcess => {
    const id = ++started
    return { stdout: worker(), stop: () => void stopped.push(id) }
  }
  const exit = await runCommandLine(Object.assign(runtime, { startSelf }))
  return { exit, ...written, stopped: stopped.sort() }
}

const forever = () => new Promise<string>(() => {})

test('the dashboard shows the stream of the demo, locked; quitting stops the workers', async () => {
  let seen: DashboardOptions | undefined
  const ran = await played(async options => {
    seen = options
    while ((await readStream(options.ports.store, options.stream ?? '')) === undefined) await turn()
    await turn()
    return { kind: 'quit' }
  }, forever)
  expect(seen).toMatchObject({ writes: 'locked', stream: expect.stringMatching(/^demo\/search-order-/) })
  expect(ran.exit).toBe(0)
  expect(ran.stopped).toEqual([1, 2, 3])
  expect(ran.stdout).toContain('was stopped before its end')
  expect(ran.stdout).toContain('leasectl show -o xml demo/search-order-')
})

test('an error of the demo is printed when the screen has closed', async () => {
  const ran = await played(
    async ({ ports, stream = '' }) => {
      while ((await readStream(ports.store, stream)) === undefined) await turn()
      await turn()
      return { kind: 'quit' }
    },
    () => Promise.reject(new Error('a worker died')),
  )
  expect(ran).toMatchObject({ exit: 1, stopped: [1, 2, 3] })
  expect(ran.stderr).toContain('a worker died')
})

test('SIGTERM ends both with 143', async () => {
  const controller = new AbortController()
  const ran = await played(
    async ({ ports, stream = '' }) => {
      while ((await readStream(ports.store, stream)) === undefined) await turn()
      controller.abort('SIGTERM')
      return { kind: 'aborted' }
    },
    forever,
    { signal: controller.signal },
  )
  expect(ran).toMatchObject({ exit: 143, stopped: [1, 2, 3] })
})

/** Lets ready work continue. */
const turn = () => new Promise<void>(resolve => void setImmediate(resolve))

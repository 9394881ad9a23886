import { describe, expect, test } from 'vitest'
import { UsageError } from '../../../../src/cli/problem.ts'
import { runCommandLine } from '../../../../src/commands/main.ts'
import { TOP_SORTS } from '../../../../src/commands/top/options.ts'
import * as top from '../../../../src/commands/top.ts'
import type { DashboardEnd, DashboardOptions } from '../../../../src/tui/options.ts'
import { SORTS } from '../../../../src/tui/state/state.ts'
import { cli, fakeRuntime, newWorld, optionsFrom, type Setting } from '../support.ts'

const SCREEN = { terminal: true, columns: 120 }

/** The options with which the dashboard was opened, and the exit of the program. */
async function started(line: string, setting: Setting = {}, end: DashboardEnd = { kind: 'quit' }) {
  const opened: DashboardOptions[] = []
  const dashboard = async (options: DashboardOptions) => {
    opened.push(options)
    return end
  }
  const ran = await cli(newWorld(), line.split(' '), { ...SCREEN, dashboard, ...setting })
  return { ...ran, options: opened[0] }
}

test('flags and STREAM become its options', async () => {
  const line = 'top orders/4711 --interval 5s --write --theme light --ascii --accessible --time utc'
  expect(await optionsFrom(top.register, line.split(' '))).toEqual({
    stream: 'orders/4711',
    interval: 5_000,
    write: true,
    theme: 'light',
    ascii: true,
    accessible: true,
    time: 'utc',
  })
  expect(await optionsFrom(top.register, ['top', '--match', 'a/**', '--read-only'])).toEqual({
    match: ['a/**'],
    readOnly: true,
  })
})

test('on a terminal the dashboard opens, locked, with the usual interval of the store; quit is 0', async () => {
  const { exit, stdout, stderr, options } = await started('top')
  expect({ exit, stdout, stderr }).toEqual({ exit: 0, stdout: '', stderr: '' })
  expect(options).toMatchObject({ writes: 'locked', intervalMs: 250, isAscii: false, time: 'relative' })
  expect(options).not.toHaveProperty('stream')
  expect(options).not.toHaveProperty('filter')
})

test.each([
  ['top', { LANG: 'C' }, true],
  ['top', { LANG: 'de_DE.ISO-8859-1' }, true],
  ['top', { LANG: 'de_DE.UTF-8' }, false],
  ['top', { LC_ALL: 'C.utf8', LANG: 'C' }, false],
  ['top', { LC_CTYPE: 'POSIX', LANG: 'en_US.UTF-8' }, true],
  ['top', {}, false],
  ['top', { TERM: 'vt100', LANG: 'C.UTF-8' }, true],
  ['top', { TERM: 'linux' }, true],
  ['top --no-ascii', { LANG: 'C' }, false],
  ['top --ascii', { LANG: 'C.UTF-8' }, true],
])('%s in the environment %j draws ASCII: %s', async (line, env, isAscii) => {
  expect((await started(line, { env })).options?.isAscii).toBe(isAscii)
})

test('bell and mouse are off unless asked for', async () => {
  expect((await started('top')).options).toMatchObject({ bell: false, mouse: false })
  expect((await started('top --bell --mouse')).options).toMatchObject({ bell: true, mouse: true })
})

test('it sorts the streams by the column of --sort from the start, and as lines says that it cannot', async () => {
  expect(TOP_SORTS).toEqual(SORTS.streams)
  expect((await started('top --failed --sort -due')).options).toMatchObject({ sort: { by: 'due', isDescending: true } })
  const lines = await started('top --accessible --sort age')
  expect(lines).toMatchObject({ exit: 2, options: undefined })
  expect(lines.stderr).toContain('--sort is for the screen, and top prints lines: --accessible is set')
})

test('it receives the flags', async () => {
  const { options } = await started('top s --interval 3s --ascii --time local')
  expect(options).toMatchObject({ stream: 's', intervalMs: 3_000, isAscii: true, time: 'local' })
  const { options: matching } = await started('top --match orders/*')
  expect(matching?.filter?.names?.matches('orders/1')).toBe(true)
  expect(matching?.filter?.names?.matches('orders/1/x')).toBe(false)
})

test('it takes the filters of ls, and the dashboard names them', async () => {
  const { options } = await started('top --failed --match=a/** --write --owner w-7 --not-match */x')
  expect(options?.filter).toMatchObject({ failed: true, owner: ['w-7'] })
  expect(options?.selection).toBe("--failed '--match=a/**' --owner w-7 --not-match '*/x'")
  expect(options?.ports.commandFor({ kind: 'streams', filter: '' })).toContain(
    "ls --failed '--match=a/**' --owner w-7 --not-match '*/x'",
  )
  const others = await started('top --status completed --overdue --abandoned')
  expect(others.options?.filter).toMatchObject({ status: ['completed'], overdue: true, abandoned: true })
})

test('iso is for machine-readable output: the screen shows UTC', async () => {
  expect((await started('top --time iso')).options?.time).toBe('utc')
})

test.each([
  ['top', {}, 'dark'],
  ['top --theme light', {}, 'light'],
  ['top', { COLORFGBG: '0;15' }, 'light'],
  ['top', { NO_COLOR: '1' }, 'mono'],
  ['top --color never', {}, 'mono'],
  ['top --color always', { NO_COLOR: '1' }, 'dark'],
  ['top --theme mono', {}, 'mono'],
])('%s with %j is %s', async (line, env, theme) => {
  expect((await started(line, { env })).options?.theme).toBe(theme)
})

describe('changes', () => {
  test.each([
    ['top', 'locked'],
    ['top --write', 'unlocked'],
    ['top --read-only', 'never'],
  ])('%s → %s', async (line, writes) => {
    expect((await started(line)).options?.writes).toBe(writes)
  })

  test('in a protected store are announced to the dashboard with the word that must be typed', async () => {
    const { options } = await started('top --write', { isProtected: true })
    expect(options?.ports).toMatchObject({ isProtected: true, protectedName: expect.stringMatching(/./) })
  })
})

test.each([
  ['top --write --read-only', 'do not go together'],
  ['top s --match x*', 'filters and STREAM'],
  ['top s --failed', 'filters and STREAM'],
  ['top 01.02.00', 'looks like an event id'],
  ['top .leasectl/x', 'reserved'],
  ['top a b', 'too many arguments'],
  ['top --theme pink', '--theme does not take "pink"'],
  ['top --interval 5', '5 has no unit'],
  ['top --match=', '--match is empty'],
  ['top -o json', '-o does not take'],
])('%s is exit 2, and no screen opens', async (line, why) => {
  const { exit, stderr, options } = await started(line)
  expect({ exit, options }).toEqual({ exit: 2, options: undefined })
  expect(stderr).toContain(why)
})

test('an empty stream name is exit 2', async () => {
  expect((await cli(newWorld(), ['top', ''], SCREEN)).exit).toBe(2)
})

test.each([
  ['SIGHUP', 129],
  ['SIGQUIT', 131],
] as const)('%s ends it without an error with %i', async (signal, exit) => {
  expect(await started('top', {}, { kind: 'stopped', signal })).toMatchObject({ exit, stderr: '' })
})

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
])('%s from another process ends it with %i', async (reason, exit) => {
  const controller = new AbortController()
  const dashboard = async () => {
    controller.abort(reason)
    return { kind: 'aborted' } as const
  }
  expect(await started('top', { signal: controller.signal, dashboard })).toMatchObject({ exit, stderr: '' })
})

test('if it is unknown whether the store is protected, it opens only with --read-only', async () => {
  const start = async (line: string) => {
    const opened: DashboardOptions[] = []
    const { runtime, written } = fakeRuntime(newWorld(), line.split(' '), {
      ...SCREEN,
      dashboard: async options => {
        opened.push(options)
        return { kind: 'quit' }
      },
    })
    const describeStore = () => {
      if (runtime.kind === 'reads') return runtime.openStore({})
      throw new UsageError('contexts.json is readable by others', { hint: 'chmod 600 it' })
    }
    const exit = await runCommandLine(Object.assign(runtime, { describeStore }))
    return { exit, opened: opened.length, stderr: written.stderr }
  }
  const { exit, opened, stderr } = await start('top --store memory:')
  expect([exit, opened]).toEqual([2, 0])
  expect(stderr).toMatch(/is readable by others[\s\S]*chmod 600 it; --read-only opens it/)
  expect(await start('top --store memory: --read-only')).toEqual({ exit: 0, opened: 1, stderr: '' })
})

test('a change that quitting has stopped is reported when the screen is closed', async () => {
  const world = newWorld()
  for (const name of ['a', 'b']) await cli(world, ['init', name])
  const dashboard = async ({ ports }: DashboardOptions): Promise<DashboardEnd> => {
    const never = new AbortController().signal
    const preview = await ports.preview('cancel', [{ stream: 'a' }, { stream: 'b' }], never)
    await ports.carryOut(preview, '', () => {}, AbortSignal.abort())
    return { kind: 'quit' }
  }
  const { exit, stderr } = await cli(world, ['top'], { ...SCREEN, dashboard })
  expect(exit).toBe(0)
  expect(stderr).toMatch(/^cancel was stopped\n2 not started\nrun file: .*\nthe rest: .*--rerun/)
})

test('an error of the dashboard is reported like every error', async () => {
  const dashboard = async () => {
    throw new Error('a bug')
  }
  const ran = await started('top', { dashboard })
  expect(ran).toMatchObject({ exit: 1 })
  expect(ran.stderr).toContain('Error: a bug')
})

test.each([
  ['leasectl top --theme ', 'mono'],
  ['leasectl top --acc', '--accessible'],
  ['leasectl top ord', 'orders/1'],
  ['leasectl demo --t', '--top'],
])('the shell completes %s to %s', async (line, text) => {
  const world = newWorld()
  await cli(world, ['init', 'orders/1'])
  expect((await cli(world, ['__complete', 'zsh', '--', line])).stdout).toContain(text)
})

describe('another store', () => {
  /** Switches to contexts in turn, and quits in the last store. */
  async function switching(line: string, contexts: readonly string[], protectedOthers: readonly string[] = []) {
    const opened: DashboardOptions[] = []
    const others = Object.fromEntries(contexts.map(context => [context, newWorld().store]))
    const dashboard = async (options: DashboardOptions) => {
      opened.push(options)
      const next = contexts[opened.length - 1]
      if (next !== undefined) await options.ports.switchStore(next)
      return { kind: 'quit' } as const
    }
    const ran = await cli(newWorld(), line.split(' '), { ...SCREEN, dashboard, others, protectedOthers })
    return { ...ran, opened, others }
  }

  test('is shown when the user switches to its context; quit then ends the program', async () => {
    const { exit, opened, others } = await switching(
      'top --match a/**',
      ['azurite:dev', 'azurite:prod'],
      ['azurite:prod'],
    )
    expect(exit).toBe(0)
    expect(opened.map(({ ports }) => ports.address)).toEqual(['memory:', 'azurite:dev', 'azurite:prod'])
    expect(opened.map(({ ports }) => ports.isProtected)).toEqual([false, false, true])
    expect(opened[2]?.ports.store).toBe(others['azurite:prod'])
    expect(opened[2]?.ports.commandFor({ kind: 'leases' })).toContain('-c azurite:prod')
    expect(opened.map(({ selection }) => selection)).toEqual(
      ["'a/**'", "'a/**'", "'a/**'"].map(glob => `--match ${glob}`),
    )
  })

  test('is locked again, and shows its list of streams', async () => {
    const { opened } = await switching('top orders/1 --write', ['azurite:dev'])
    expect(opened.map(({ writes, stream }) => [writes, stream])).toEqual([
      ['unlocked', 'orders/1'],
      ['locked', undefined],
    ])
    const { opened: never } = await switching('top --read-only', ['azurite:dev'])
    expect(never[1]?.writes).toBe('never')
  })

  test('that does not exist is an error, and the dashboard stays', async () => {
    const { exit, opened } = await switching('top', [])
    const missing = opened[0]?.ports.switchStore('sqlite:/nowhere/none.db')
    await expect(missing).rejects.toThrow()
    expect([exit, opened.length]).toEqual([0, 1])
  })
})

describe('several stores', () => {
  const others = () => ({ eu: newWorld().store, us: newWorld().store })

  test('are shown by one dashboard, each under the name of its context', async () => {
    const { exit, options } = await started('top -c eu,us --read-only', { others: others() })
    expect(exit).toBe(0)
    expect(options?.ports.stores?.map(({ context }) => context)).toEqual(['eu', 'us'])
    expect(options?.ports.address).toBe('eu, us')
    expect(options?.writes).toBe('never')
  })

  test('are those of one dashboard that the user switches to', async () => {
    const opened: DashboardOptions[] = []
    const dashboard = async (options: DashboardOptions) => {
      opened.push(options)
      if (opened.length === 1) await options.ports.switchStore('eu,us')
      return { kind: 'quit' } as const
    }
    const { exit } = await cli(newWorld(), ['top'], { ...SCREEN, dashboard, others: others() })
    expect([exit, ...opened.map(({ ports }) => ports.address)]).toEqual([0, 'memory:', 'eu, us'])
  })

  test.each([
    ['top -c eu,us orders/1', 'STREAM and several contexts do not go together'],
    ['top -c eu,us --store memory:', '--store and -c both name a store'],
  ])('%s is refused', async (line, message) => {
    const { exit, stderr, options } = await started(line, { others: others() })
    expect(exit).toBe(2)
    expect(stderr).toContain(message)
    expect(options).toBeUndefined()
  })
})

describe('a read-only context', () => {
  const LOOK = { source: 'context', context: 'look', isReadOnly: true } as const

  test('keeps the dashboard locked for good', async () => {
    const { exit, options } = await started('top', LOOK)
    expect([exit, options?.writes]).toEqual([0, 'never'])
    await expect(options?.ports.preview('cancel', [{ stream: 's' }], new AbortController().signal)).rejects.toThrow(
      'the context look is read-only; nothing was changed',
    )
  })

  test('does not go with --write', async () => {
    const { exit, stderr, options } = await started('top --write', LOOK)
    expect(exit).toBe(4)
    expect(stderr).toContain('the context look is read-only')
    expect(options).toBeUndefined()
  })
})

import { describe, expect, test } from 'vitest'
import { EXIT_CODES } from '../../../src/cli/exit-codes.ts'
import { NotPermitted, StoreDamaged, StoreFull, StoreUnreachable } from '../../../src/store/errors.ts'
import type { ChangeOutcome, StreamStore } from '../../../src/store/store.ts'
import { allCommands, bodyOf, cli, json, NOON, newWorld, type World } from './support.ts'

const ID = '11111111-1111-4111-8111-111111111111'

async function withStream(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 'orders/4711', '--fork', 'A,B'])
  return world
}

/** A store that gives another answer to a change, or throws. */
function changing(store: StreamStore, answer: () => ChangeOutcome): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (key === 'update') return async () => answer()
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

describe('1: one noun for one thing', () => {
  const id = ['--lease-id', ID]
  const onStream: readonly (readonly [path: string, more: readonly string[]])[] = [
    ...['init', 'show', 'tail', 'log', 'stats', 'wait', 'cancel', 'abort', 'retry', 'rm', 'export', 'top'].map(
      path => [path, []] as const,
    ),
    ...['start', 'touch', 'release', 'advance', 'complete', 'fail', 'set'].map(
      verb => [`event ${verb}`, ['01.00']] as const,
    ),
    ['exec', ['01.00', '--', 'true']],
    ...['renew', 'change', 'release'].map(verb => [`lease ${verb}`, id] as const),
    ...['acquire', 'break', 'show'].map(verb => [`lease ${verb}`, []] as const),
  ]

  test.each(onStream)('%s refuses an event id where a stream is expected', async (path, more) => {
    for (const event of ['01.02.00', '00', '100.00']) {
      const ran = await cli(await withStream(), [...path.split(' '), event, ...more])
      expect(ran).toMatchObject({ exit: 2, stdout: '' })
      const hint = ['cancel', 'abort', 'retry'].includes(path)
        ? `did you mean -e ${event}? --match ${event} selects a stream of this name`
        : 'name of the stream comes first'
      expect(ran.stderr).toContain(hint)
    }
  })

  test.each(onStream)('%s refuses an empty name and the names of system documents', async (path, more) => {
    for (const [name, why] of [
      ['', 'is empty'],
      ['.leasectl/watchdog', 'reserved'],
      ['a/../b', 'segment'],
    ] as const) {
      const ran = await cli(await withStream(), [...path.split(' '), name, ...more])
      expect(ran).toMatchObject({ exit: 2, stdout: '' })
      expect(ran.stderr).toContain(why)
    }
  })

  test('an empty event id is exit 2', async () => {
    expect((await cli(await withStream(), ['event', 'start', 'orders/4711', ''])).exit).toBe(2)
    expect((await cli(await withStream(), ['cancel', 'orders/4711', '-e', ''])).exit).toBe(2)
  })

  test('a name is never a prefix or a pattern', async () => {
    for (const name of ['orders', 'orders/47', 'orders/*', 'ORDERS/4711']) {
      expect((await cli(await withStream(), ['show', name])).exit).toBe(3)
    }
  })
})

test('2: stdout has data, stderr has messages: no escape sequence without a terminal', async () => {
  const world = await withStream()
  for (const line of [
    'ls',
    'show orders/4711',
    'tail orders/4711',
    'cancel orders/4711',
    'cancel nix',
    'help exit-codes',
  ]) {
    const ran = await cli(world, line.split(' '))
    expect(ran.stdout + ran.stderr).not.toContain('\u001b')
  }
})

test('3: reading never takes a lease or writes', async () => {
  const world = await withStream()
  const calls: string[] = []
  const store: StreamStore = new Proxy(world.store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        calls.push(String(key))
        return value.apply(target, args)
      }
    },
  })
  for (const line of [
    'ls',
    'show orders/4711',
    'show orders/4711 -o xml',
    'tail orders/4711',
    'log orders/4711',
    'log --all -o ndjson',
    'stats --all',
    'check',
    'wait orders/4711 --for event=01.00:init',
    'lease show orders/4711',
    'watchdog status',
    'export orders/4711',
    'export --all -o chrome',
  ]) {
    expect((await cli(world, line.split(' '), { store })).exit).toBe(0)
  }
  expect([...new Set(calls)].sort()).toEqual(['list', 'nowMs', 'read'])
})

test('3: the help of every command says whether it writes, with examples first', () => {
  for (const command of allCommands().filter(({ commands }) => commands.length === 0)) {
    let help = ''
    command.configureOutput({ writeOut: text => (help += text) })
    command.outputHelp()
    expect(help, command.name()).toMatch(/^Examples:\n {2}leasectl /)
    expect(help, command.name()).toMatch(/Writes:\s|Only\s+reads:\s/)
  }
})

test('7: with -o json errors are JSON on stderr, errors of the parser too', async () => {
  const world = await withStream()
  await cli(world, ['lease', 'acquire', 'orders/4711', '--by', 'w7', '-m', 'repair'])
  const held = await cli(world, ['cancel', 'orders/4711', '--lease-wait', '0', '-o', 'json'])
  expect(held).toMatchObject({ exit: 6, stdout: '' })
  expect(json(held.stderr)).toEqual({
    apiVersion: 'leasectl/v1',
    error: {
      code: 'lease-held',
      exit: 6,
      message: 'orders/4711 is leased by another; nothing was changed',
      applied: 'no',
      retryable: true,
      stream: 'orders/4711',
      event: null,
      holder: { by: 'w7', host: 'testhost', pid: 41, purpose: 'repair', since: '2026-03-01T12:00:00.000Z' },
      commandId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      hint: null,
      try: 'leasectl cancel orders/4711 -o json --lease-wait 60s',
    },
  })
  for (const argv of [
    ['cancel', '--nix', '-o', 'json'],
    ['-ojson', 'nix'],
    ['--output=json', 'show'],
    ['show', '', '--output', 'json'],
  ]) {
    const ran = await cli(world, argv)
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(json(ran.stderr)).toMatchObject({ error: { code: 'usage', exit: 2, applied: 'no', retryable: false } })
  }
})

test('the sample error has a headline with its code, the holder, the wait and advice', async () => {
  const world = await withStream()
  await cli(world, ['lease', 'acquire', 'orders/4711', '--by', 'worker-7', '-m', 'event complete 01.02.00'])
  world.nowMs += 41_000
  const ran = await cli(world, ['cancel', 'orders/4711', '-m', 'customer called', '--lease-wait', '0s'])
  expect(ran.stderr.split('\n')).toEqual([
    'error: orders/4711 is leased by another; nothing was changed                    [lease-held]',
    '  held by  worker-7@testhost (pid 41) for 41s, "event complete 01.02.00"',
    '  waited   0s (--lease-wait)',
    "  try      leasectl cancel orders/4711 -m 'customer called' --lease-wait 60s",
    '',
  ])
})

describe('9: colors', () => {
  const coloured = async (argv: string[], env: Record<string, string>, columns?: number) =>
    (
      await cli(await withStream(), ['show', 'orders/4711', ...argv], { env, ...(columns ? { columns } : {}) })
    ).stdout.includes('\u001b')

  test.each([
    ['a terminal', [], {}, 80, true],
    ['no terminal', [], {}, undefined, false],
    ['NO_COLOR', [], { NO_COLOR: '1' }, 80, false],
    ['an empty NO_COLOR', [], { NO_COLOR: '' }, 80, true],
    ['FORCE_COLOR without a terminal', [], { FORCE_COLOR: '1' }, undefined, true],
    ['FORCE_COLOR=0', [], { FORCE_COLOR: '0' }, 80, false],
    ['NO_COLOR before FORCE_COLOR', [], { NO_COLOR: '1', FORCE_COLOR: '1' }, 80, false],
    ['TERM=dumb', [], { TERM: 'dumb' }, 80, false],
    ['--color always before NO_COLOR', ['--color', 'always'], { NO_COLOR: '1' }, undefined, true],
    ['--color never before FORCE_COLOR', ['--color=never'], { FORCE_COLOR: '1' }, 80, false],
  ] as const)('%s', async (_what, argv, env, columns, wanted) => {
    expect(await coloured([...argv], env, columns)).toBe(wanted)
  })

  test('an error has colors by the same rules', async () => {
    expect((await cli(newWorld(), ['show', 'x'], { terminal: true })).stderr).toContain('\u001b[31merror:')
    expect((await cli(newWorld(), ['show', 'x'], { terminal: true, env: { NO_COLOR: '1' } })).stderr).not.toContain(
      '\u001b',
    )
    expect((await cli(newWorld(), ['show', 'x', '--color', 'always'])).stderr).toContain('\u001b[31merror:')
  })
})

test('11: a duration needs its unit', async () => {
  const world = await withStream()
  const before = await bodyOf(world, 'orders/4711')
  for (const [path, flag] of [
    [['cancel', 'orders/4711'], '--lease-wait'],
    [['event', 'start', 'orders/4711', '01.00'], '--claim'],
    [['event', 'set', 'orders/4711', '01.00'], '--timeout'],
    [['tail', 'orders/4711'], '--interval'],
    [['wait', 'orders/4711'], '--within'],
    [['lease', 'acquire', 'orders/4711'], '--duration'],
    [['lease', 'break', 'orders/4711'], '--period'],
  ] as const) {
    const ran = await cli(world, [...path, flag, '30'])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toMatch(new RegExp(`error: ${flag}: 30 has no unit: 30s`))
  }
  expect(await bodyOf(world, 'orders/4711')).toBe(before)
})

describe('11: bad input of a flag is exit 2 with a hint, and nothing is changed', () => {
  test.each([
    ['cancel orders/4711 --lease-wait soon', '--lease-wait'],
    ['cancel orders/4711 --lease-wait -1s', '--lease-wait'],
    ['cancel orders/4711 --lease-id 1', 'a UUID'],
    ['cancel orders/4711 --if-version x', 'a whole number'],
    ['cancel orders/4711 --if-version -1', 'a whole number'],
    ['cancel orders/4711 --command-id a,b', 'command id'],
    [`cancel orders/4711 --command-id ${'x'.repeat(201)}`, '200'],
    [`cancel orders/4711 -m ${'x'.repeat(4097)}`, '4096 bytes'],
    ['cancel orders/4711 -m a\u0007b', 'U+0007'],
    ['cancel orders/4711 --by=', '--by is empty'],
    ['cancel orders/4711 --store=', '--store is empty'],
    ['cancel orders/4711 -o xml', 'text, json'],
    ['cancel orders/4711 --color mauve', 'auto, always, never'],
    ['cancel orders/4711 --time zulu', 'relative, local, utc, iso'],
    ['event start orders/4711 01.00 --claim 0s', 'greater than 0'],
    ['event start orders/4711 01.00 --fence x', 'a whole number'],
    ['event start orders/4711 01.00 --owner=', '--owner is empty'],
    ['event set orders/4711 01.00 --timeout 1:30', '--timeout'],
    ['event set orders/4711 01.00 --timeout 2026-03-01T12:00:00', 'zone'],
    ['event set orders/4711 01.00 --on-due explode', 'abort-event'],
    ['event set orders/4711 01.00 --on-due abort-evnt', 'did you mean abort-event'],
    ['event advance orders/4711 01.00 --fork A,,B', 'a name is empty'],
    ['init new --fork A,', 'a name is empty'],
    ['init new --root=', '--root is empty'],
    ['ls --limit 0', 'at least 1'],
    ['ls --status done', 'init, inprocess'],
    ['ls --status complete', 'did you mean completed'],
    ['ls --match=', '--match is empty'],
    ['tail orders/4711 -n some', 'a whole number'],
    ['tail orders/4711 -n 3 --from-version 2', 'cannot be used with'],
    ['tail orders/4711 --interval 0s', 'greater than 0'],
    ['lease acquire orders/4711 --duration 14s', '15s to 60s'],
    ['lease acquire orders/4711 --duration 61s', '15s to 60s'],
    ['lease break orders/4711 --yes --period 61s', 'at most 60s'],
    ['show orders/4711 --limit 3', 'unknown option'],
    ['event start orders/4711', 'missing required argument'],
    ['event start orders/4711 01.00 02.00', 'too many arguments'],
  ])('%s', async (line, hint) => {
    const world = await withStream()
    const before = await bodyOf(world, 'orders/4711')
    const ran = await cli(world, line.split(' '))
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain(hint)
    expect(await bodyOf(world, 'orders/4711')).toBe(before)
    expect(await world.store.read('new')).toBeUndefined()
  })
})

test('11: for unknown commands and flags the nearest are suggested', async () => {
  const hint = async (...argv: string[]) => (await cli(newWorld(), argv)).stderr
  expect(await hint('cancle', 's')).toContain('Did you mean cancel?')
  expect(await hint('event', 'strat', 's')).toContain('Did you mean start?')
  expect(await hint('ls', '--statsu', 'init')).toContain('Did you mean --status?')
  expect(await hint('ls', '--stor', 'x')).toContain('Did you mean --store?')
  expect(await hint('help', 'exit-code')).toContain('did you mean exit-codes?')
})

test('11: leasectl alone prints a short help with the selected store and three commands, exit 0', async () => {
  for (const argv of [[], ['--store', 'memory:']]) {
    const ran = await cli(newWorld(), argv)
    expect(ran).toMatchObject({ exit: 0, stderr: '' })
    expect(ran.stdout).toContain('Store: memory:')
    expect(ran.stdout.match(/^ {2}leasectl (init|ls|show)/gm)).toHaveLength(3)
  }
})

test('11: a group without a command is exit 2', async () => {
  const ran = await cli(newWorld(), ['event'])
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain('a command is missing')
})

describe('12: printed commands', () => {
  test('begin as leasectl was started and include --store if it is not the default', async () => {
    const world = await withStream()
    await cli(world, ['lease', 'acquire', 'orders/4711'])
    const tried = async (argv: string[], setting = {}) =>
      (await cli(world, [...argv, '--lease-wait', '0'], { startedAs: 'npx leasectl', ...setting })).stderr.match(
        /try +(.*)/,
      )?.[1]
    expect(await tried(['cancel', 'orders/4711'])).toBe('npx leasectl cancel orders/4711 --lease-wait 60s')
    expect(await tried(['cancel', 'orders/4711'], { source: 'environment' })).toBe(
      'npx leasectl cancel orders/4711 --lease-wait 60s --store memory:',
    )
    expect(await tried(['cancel', 'orders/4711', '--store', 'memory:'], { source: 'flag' })).toBe(
      'npx leasectl cancel orders/4711 --store memory: --lease-wait 60s',
    )
  })

  test('of the help and the short help begin in the same way', async () => {
    expect((await cli(newWorld(), [], { startedAs: 'npx leasectl' })).stdout).toContain('  npx leasectl ls')
    expect((await cli(newWorld(), ['ls', '--help'], { startedAs: 'npx leasectl' })).stdout).toContain(
      '  npx leasectl ls --match',
    )
  })
})

test('global flags may come before or after the command', async () => {
  const world = await withStream()
  for (const argv of [
    ['-o', 'json', 'lease', 'show', 'orders/4711'],
    ['lease', '-o', 'json', 'show', 'orders/4711'],
    ['lease', 'show', '-o', 'json', 'orders/4711'],
    ['lease', 'show', 'orders/4711', '-o', 'json'],
  ]) {
    expect(json((await cli(world, argv)).stdout)).toMatchObject({ stream: 'orders/4711' })
  }
})

test('a reason that looks like a flag is a reason', async () => {
  const world = await withStream()
  await cli(world, ['cancel', 'orders/4711', '-m', '--quiet'])
  expect((await cli(world, ['tail', 'orders/4711', '-n', '1'])).stdout).toContain('"--quiet"')
})

test('--version is allowed everywhere', async () => {
  for (const argv of [['--version'], ['ls', '--version'], ['event', 'start', '--version']]) {
    expect(await cli(newWorld(), argv)).toMatchObject({ exit: 0, stdout: '0.1.0\n' })
  }
})

test('a changing command says if Azure variables selected the store; -q and reading do not', async () => {
  const world = await withStream()
  const set = ['event', 'set', 'orders/4711', '01.00', '--tag', 'x']
  expect((await cli(world, set, { source: 'azure' })).stderr).toMatch(/^store: memory: .*Azure variables.*\n$/)
  expect((await cli(world, [...set, '-q'], { source: 'azure' })).stderr).toBe('')
  expect((await cli(world, ['ls'], { source: 'azure' })).stderr).toBe('')
  expect((await cli(world, set, { source: 'environment' })).stderr).toBe('')
})

describe('exit codes', () => {
  test.each([
    [new StoreUnreachable('no route'), 9, true],
    [new StoreFull('disk full'), 9, true],
    [new NotPermitted('no rights'), 4, false],
    [new StoreDamaged('not a database'), 12, false],
    [new Error('boom'), 1, false],
  ])('%s', async (error, exit, retryable) => {
    const world = await withStream()
    const store = changing(world.store, () => {
      throw error
    })
    const ran = await cli(world, ['cancel', 'orders/4711', '-o', 'json'], { store })
    expect(ran).toMatchObject({ exit, stdout: '' })
    expect(json(ran.stderr)).toMatchObject({ error: { exit, retryable, applied: exit === 1 ? 'unknown' : 'no' } })
  })

  test('an unexpected error hints at --debug, which prints the stack with its causes and no secret', async () => {
    const world = await withStream()
    const store = changing(world.store, () => {
      throw new Error('boom', { cause: new Error('https://x/?sv=1&sig=SECRET%3D&x=1') })
    })
    const plain = await cli(world, ['cancel', 'orders/4711'], { store })
    expect(plain.stderr).toContain('--debug')
    expect(plain.stderr).not.toContain('at ')
    const debug = await cli(world, ['cancel', 'orders/4711', '--debug'], { store })
    expect(debug.stderr).toMatch(/Error: boom\n.*at /)
    expect(debug.stderr).toContain('caused by Error: https://x/?sv=1&sig=…')
    expect(debug.stderr).not.toContain('SECRET')
  })

  test('unknown is 10 and prints the id and the exact command for the repetition', async () => {
    const world = await withStream()
    const store = changing(world.store, () => ({ kind: 'unknown', cause: new Error('silence') }))
    const ran = await cli(world, ['cancel', 'orders/4711', '-m', "it's"], { store })
    expect(ran).toMatchObject({ exit: 10, stdout: '' })
    const id = ran.stderr.match(/ {2}id {7}(\S+)/)?.[1]
    expect(ran.stderr).toContain(`try      leasectl cancel orders/4711 -m 'it'\\''s' --command-id ${id}`)
    const given = await cli(world, ['cancel', 'orders/4711', '--command-id', 'mine', '-o', 'json'], { store })
    expect(json(given.stderr)).toMatchObject({
      error: {
        code: 'unknown',
        applied: 'unknown',
        retryable: true,
        commandId: 'mine',
        try: 'leasectl cancel orders/4711 -o json --command-id mine',
      },
    })
  })

  test('an infinite lease is not waited for: the advice is to inspect and break it', async () => {
    const world = await withStream()
    await cli(world, ['lease', 'acquire', 'orders/4711', '--duration', 'infinite'])
    const ran = await cli(world, ['cancel', 'orders/4711', '--lease-wait', '0s'])
    expect(ran.exit).toBe(6)
    expect(ran.stderr).toContain('hint     It never expires. If its holder is gone, end it with lease break')
    expect(ran.stderr).toContain('try      leasectl lease show orders/4711')
    expect(ran.stderr).not.toContain('60s')
  })

  test('lost is 11 with the code of the service, if there is one', async () => {
    const world = await withStream()
    const store = changing(world.store, () => ({ kind: 'lost', code: 'LeaseIdMismatchWithLeaseOperation' }))
    const ran = await cli(world, ['cancel', 'orders/4711'], { store })
    expect(ran.exit).toBe(11)
    expect(ran.stderr).not.toContain('LeaseIdMismatchWithLeaseOperation')
    const azure = new Proxy(store, {
      get: (target, key) => (key === 'address' ? 'azure:acct/c' : Reflect.get(target, key)),
    })
    const there = await cli(world, ['cancel', 'orders/4711'], { store: azure })
    expect(there.stderr).toContain('service  LeaseIdMismatchWithLeaseOperation')
  })

  test('the table of the help is the table of the program', async () => {
    const { stdout } = await cli(newWorld(), ['help', 'exit-codes'])
    for (const { code, meaning, again } of EXIT_CODES)
      expect(stdout).toMatch(new RegExp(`^ *${code}  ${again} +${meaning.slice(0, 8)}`, 'm'))
  })
})

test('the clock of these tests is fixed', () => {
  expect(newWorld().store.nowMs()).toBe(NOON)
})

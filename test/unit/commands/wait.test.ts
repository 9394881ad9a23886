import { describe, expect, test } from 'vitest'
import { runCommandLine } from '../../../src/commands/main.ts'
import { register } from '../../../src/commands/wait.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { cli, fakeRuntime, json, newWorld, optionsFrom, type Setting, type World } from './support.ts'

test('argv → options', async () => {
  const argv = [
    'wait',
    'a',
    'b',
    '--any',
    '--fail-fast',
    '--may-appear',
    '--within',
    '5m',
    '--interval',
    '3s',
    '-o',
    'json',
  ]
  expect(await optionsFrom(register, argv)).toEqual({
    names: ['a', 'b'],
    any: true,
    failFast: true,
    mayAppear: true,
    within: 300_000,
    interval: 3_000,
    output: 'json',
  })
  expect(await optionsFrom(register, ['wait', '--all', '--timeout', '1h'])).toEqual({
    names: [],
    all: true,
    within: 3_600_000,
  })
})

test.each([
  ['success', { kind: 'stream', end: 'success' }],
  ['completed', { kind: 'stream', end: 'completed' }],
  ['done', { kind: 'stream', end: 'done' }],
  ['canceled', { kind: 'stream', end: 'canceled' }],
  ['aborted', { kind: 'stream', end: 'aborted' }],
  ['event=01.02.00:completed', { kind: 'event', event: '01.02.00', status: 'completed' }],
  ['event=a:b:init', { kind: 'event', event: 'a:b', status: 'init' }],
  ['event=00:done', { kind: 'event', event: '00', status: 'done' }],
])('--for %s', async (text, target) => {
  expect(await optionsFrom(register, ['wait', 's', '--for', text])).toEqual({ names: ['s'], for: target })
})

/** Three streams with a fork each. */
async function three(): Promise<World> {
  const world = newWorld()
  for (const name of ['a', 'b', 'c']) await cli(world, ['init', name, '--fork', 'A,B', '--timeout', '10m'])
  return world
}

const complete = (world: World, name: string) => cli(world, ['event', 'complete', name, '00'])
const cancel = (world: World, name: string) => cli(world, ['cancel', name])
const fail = (world: World, name: string) => cli(world, ['event', 'fail', name, '01.00', '-m', 'no answer'])

async function end(world: World, name: string) {
  for (const id of ['01.00', '02.00']) await cli(world, ['event', 'complete', name, id])
}

/** Runs `wait`; before the nth poll (a listing of the first name) the nth step is taken. */
async function waiting(
  world: World,
  argv: readonly string[],
  steps: readonly ((signal: AbortController) => unknown)[] = [],
  setting: Setting = {},
) {
  const interruption = new AbortController()
  const left = [...steps]
  let first: string | undefined
  let step: unknown
  const store: StreamStore = new Proxy(world.store, {
    get(target, key) {
      if (key === 'list') {
        return async function* (query: { prefix?: string }) {
          first ??= query.prefix
          if (query.prefix === first) {
            world.nowMs += 1_000
            step = left.shift()?.(interruption)
          }
          // a few names are looked up in parallel
          await step
          yield* target.list(query)
        }
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const { runtime, written } = fakeRuntime(world, ['wait', '--interval', '1ms', ...argv], {
    store,
    signal: interruption.signal,
    ...setting,
  })
  const exit = await runCommandLine(runtime)
  return { exit, ...written }
}

const nothing = () => undefined
const TIMES_OUT = ['--within', '1ms']

describe('each stream is reported when it ends', () => {
  test('on target: exit 0', async () => {
    const world = await three()
    const ran = await waiting(world, ['a', 'b'], [nothing, () => end(world, 'b'), () => end(world, 'a')])
    expect(ran.stdout).toBe('met      b  ✓ completed  2s\nmet      a  ✓ completed  3s\n')
    expect(ran).toMatchObject({ exit: 0, stderr: '' })
  })

  test('off target: the others are waited for, then exit 8 with the missed targets', async () => {
    const world = await three()
    const ran = await waiting(
      world,
      ['a', 'b', 'c'],
      [
        () => cancel(world, 'a'),
        () => end(world, 'b'),
        async () => {
          await fail(world, 'c')
          await end(world, 'c')
        },
      ],
    )
    expect(ran.stdout.split('\n')).toEqual([
      'not met  a  ⊘ canceled  1s',
      'met      b  ✓ completed  2s',
      'not met  c  ± with errors  3s  01.00: no answer',
      '',
    ])
    expect(ran.stderr.split('\n')).toEqual([
      'not met: 2 of 3',
      '  a  ⊘ canceled',
      '  c  ± with errors  01.00: no answer',
      'error: 2 of 3 ended without reaching success                                    [ended-otherwise]',
      '  streams  a c',
      '',
    ])
    expect(ran.exit).toBe(8)
  })

  test('as an error if it is the only one and missed the target', async () => {
    const world = await three()
    await cli(world, ['abort', 'a', '-m', 'host gone'])
    const ran = await waiting(world, ['a', '--for', 'completed'])
    expect(ran.exit).toBe(8)
    expect(ran.stderr).toContain('a ended without reaching completed: ✗ aborted')
    expect(ran.stderr).toContain('failure  00: host gone')
    expect(ran.stderr).not.toContain('not met:')
  })
})

test.each([
  ['completed', 0],
  ['done', 0],
  ['success', 8],
  ['canceled', 8],
  ['aborted', 8],
  ['event=01.00:aborted', 0],
  ['event=02.00:done', 0],
  ['event=02.00:aborted', 8],
  ['event=05.00:completed', 8],
] as const)('a stream completed with errors, --for %s: exit %d', async (target, exit) => {
  const world = await three()
  await fail(world, 'a')
  await end(world, 'a')
  expect((await waiting(world, ['a', '--for', target])).exit).toBe(exit)
})

describe('the wait ends early', () => {
  test('with --any: one on target is enough, and the others are not reported', async () => {
    const world = await three()
    const ran = await waiting(world, ['a', 'b', 'c', '--any'], [() => cancel(world, 'a'), () => end(world, 'c')])
    expect(ran).toMatchObject({ exit: 0, stderr: '' })
    expect(ran.stdout).toContain('met      c')
  })

  test('with --any: exit 8 if all missed the target', async () => {
    const world = await three()
    expect((await waiting(world, ['a', 'b', '--any'], [() => cancel(world, 'a'), () => cancel(world, 'b')])).exit).toBe(
      8,
    )
  })

  test('with --fail-fast at the first that missed the target, with the open ones', async () => {
    const world = await three()
    const ran = await waiting(world, ['a', 'b', '--fail-fast'], [nothing, () => cancel(world, 'b')])
    expect(ran.exit).toBe(8)
    expect(ran.stderr).toContain('  a  ▶ inprocess  waits on 01.00 02.00  due in 9m58s')
  })

  test('when --within has passed: exit 124 with waiting-on and the deadline of each', async () => {
    const world = await three()
    const ran = await waiting(world, ['a', 'b', ...TIMES_OUT], [() => cancel(world, 'b')])
    expect(ran.exit).toBe(124)
    expect(ran.stderr.split('\n')).toEqual([
      'not met: 2 of 2',
      '  b  ⊘ canceled',
      expect.stringMatching(/^ {2}a {2}▶ inprocess {2}waits on 01.00 02.00 {2}due in 9m\d\ds$/),
      'error: 1 of 2 did not reach success within 1ms                                  [timed-out]',
      '  besides  1 ended without reaching it',
      '',
    ])
  })

  test('when --within of one stream has passed: the error names the events it waits on', async () => {
    const world = await three()
    const ran = await waiting(world, ['a', '--for', 'event=01.00:completed', ...TIMES_OUT])
    expect(ran.exit).toBe(124)
    expect(ran.stderr.split('\n').slice(1)).toEqual([
      '  status   01.00 ○ init, stream ▶ inprocess',
      '  waits on 01.00 02.00',
      expect.stringMatching(/^ {2}due {6}in 9m\d\ds$/),
      '',
    ])
  })

  test('but streams that have already ended are found however short --within is', async () => {
    const world = await three()
    await end(world, 'a')
    expect((await waiting(world, ['a', ...TIMES_OUT])).exit).toBe(0)
  })

  test('on Ctrl-C with 130 and the open streams', async () => {
    const world = await three()
    const ran = await waiting(world, ['a'], [nothing, interruption => interruption.abort('SIGINT')])
    expect(ran.exit).toBe(130)
    expect(ran.stderr).toBe('not met: 1 of 1\n  a  ▶ inprocess  waits on 01.00 02.00  due in 9m58s\n')
  })
})

describe('the streams', () => {
  test('are required: none is exit 2', async () => {
    expect(await waiting(newWorld(), [])).toMatchObject({ exit: 2, stdout: '' })
  })

  test('must exist: a missing one is exit 3 at once, and nothing else is reported', async () => {
    const world = await three()
    await end(world, 'a')
    const ran = await waiting(world, ['a', 'nix', 'nada'])
    expect(ran).toMatchObject({ exit: 3, stdout: '' })
    expect(ran.stderr).toContain('there is no stream nix')
    expect(ran.stderr).toContain('also     there is no stream nada')
    expect(ran.stderr).toContain('--may-appear')
  })

  test('may be missing with --may-appear, which waits for them', async () => {
    const world = newWorld()
    const ran = await waiting(
      world,
      ['new', '--may-appear'],
      [nothing, () => cli(world, ['init', 'new']), () => complete(world, 'new')],
    )
    expect(ran).toMatchObject({ exit: 0, stdout: 'met      new  ✓ completed  3s\n' })
    const late = await waiting(world, ['late', '--may-appear', ...TIMES_OUT])
    expect(late.exit).toBe(124)
    expect(late.stderr).toContain('does not exist yet')
  })

  test('have missed the target when they are removed', async () => {
    const world = await three()
    const ran = await waiting(world, ['a'], [nothing, () => world.store.remove('a', {})])
    expect(ran).toMatchObject({ exit: 8, stdout: 'not met  a  removed  2s\n' })
    const asJson = await waiting(world, ['b', '-o', 'json'], [nothing, () => world.store.remove('b', {})])
    const gone = { stream: 'b', reason: 'removed', status: null, waitingOn: [], due: null }
    expect(JSON.parse(asJson.stdout)).toMatchObject({ items: [gone] })
  })

  test('of a filter are those that match at the beginning; none is exit 3', async () => {
    const world = await three()
    await end(world, 'a')
    const ran = await waiting(
      world,
      ['--status', 'inprocess', '--for', 'done'],
      [nothing, () => cli(world, ['init', 'd']), () => cancel(world, 'b'), () => cancel(world, 'c')],
    )
    expect(ran.exit).toBe(0)
    expect(ran.stdout.split('\n').map(line => line.split(/ +/)[1])).toEqual(['b', 'c', undefined])
    const none = await waiting(world, ['--match', 'zz*'])
    expect(none).toMatchObject({ exit: 3, stdout: '' })
    expect(none.stderr).toContain('no stream matches')
  })

  test('of a filter without matches are waited for with --may-appear', async () => {
    const world = newWorld()
    const ran = await waiting(
      world,
      ['--match', 'n*', '--may-appear'],
      [
        nothing,
        async () => {
          await cli(world, ['init', 'new'])
          await complete(world, 'new')
        },
      ],
    )
    expect(ran.exit).toBe(0)
    const never = await waiting(world, ['--match', 'x*', '--may-appear', ...TIMES_OUT])
    expect(never.exit).toBe(124)
    expect(never.stderr).toContain('no stream matched within 1ms')
  })

  test('may be a list', async () => {
    const world = await three()
    await end(world, 'a')
    expect((await waiting(world, ['--streams', '-'], [], { stdin: 'a\n' })).exit).toBe(0)
    expect((await waiting(world, ['--streams', '-'], [], { stdin: 'a\nnix\n' })).exit).toBe(3)
  })
})

describe('JSON', () => {
  test('with ndjson is a line for each stream, when it ends or at the end', async () => {
    const world = await three()
    await fail(world, 'a')
    await end(world, 'a')
    const ran = await waiting(world, ['a', 'b', 'c', '-o', 'ndjson', ...TIMES_OUT], [() => end(world, 'b')])
    const lines = ran.stdout.trimEnd().split('\n').map(json)
    expect(lines).toEqual([
      {
        apiVersion: 'leasectl/v1',
        stream: 'a',
        met: false,
        reason: 'ended-otherwise',
        status: 'completed',
        outcome: 'errors',
        event: null,
        failedId: '01.00',
        failure: 'no answer',
        waitingOn: [],
        due: null,
        waitedMs: 1_000,
      },
      expect.objectContaining({ stream: 'b', met: true, reason: null, outcome: null }),
      expect.objectContaining({
        stream: 'c',
        met: false,
        reason: 'open',
        waitingOn: ['01.00', '02.00'],
        due: '2026-03-01T12:10:00.000Z',
      }),
    ])
    expect(json(ran.stderr)).toMatchObject({ error: { code: 'timed-out', exit: 124, retryable: true } })
  })

  test('with json is one document at the end', async () => {
    const world = await three()
    await end(world, 'a')
    const ran = await waiting(world, ['a', 'b', '-o', 'json', '--for', 'event=01.00:completed', ...TIMES_OUT])
    expect(json(ran.stdout)).toMatchObject({
      apiVersion: 'leasectl/v1',
      items: [
        { stream: 'a', met: true, event: { id: '01.00', status: 'completed' } },
        { stream: 'b', met: false, event: { id: '01.00', status: 'init' } },
      ],
      total: 2,
      met: 1,
      endedOtherwise: 0,
      open: 1,
    })
  })
})

describe('errors', () => {
  test('of an outage are reported once and waited out; at the beginning it is exit 9', async () => {
    const world = await three()
    const lost = () => {
      throw new StoreUnreachable('no route')
    }
    const ran = await waiting(world, ['a'], [nothing, lost, lost, () => end(world, 'a')])
    expect(ran.exit).toBe(0)
    expect(ran.stderr).toBe('-- connection lost: no route; trying again\n-- connected again\n')
    expect((await waiting(world, ['b'], [lost])).exit).toBe(9)
  })

  test('of an unreadable document are reported once and waited for', async () => {
    const world = await three()
    await end(world, 'a')
    const bad = new Proxy(world.store, {
      get(target, key) {
        if (key === 'read') {
          return async (name: string) => {
            const stored = await target.read(name)
            return stored && name === 'b' ? { ...stored, body: Buffer.from('<x') } : stored
          }
        }
        const value: unknown = Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const argv = ['a', 'b', '--for', 'event=01.00:completed', ...TIMES_OUT]
    const ran = await waiting(world, argv, [], { store: bad })
    expect(ran.exit).toBe(124)
    expect(ran.stdout).toContain('met      a')
    expect(ran.stderr.match(/\[bad-document\]/g)).toHaveLength(1)
    expect(ran.stderr).toContain('  b  ? cannot be read')
  })
})

test('on a terminal a line shows the number of open streams, and is removed for other output', async () => {
  const world = await three()
  const ran = await waiting(
    world,
    ['a', 'b', '--color', 'never'],
    [nothing, () => end(world, 'a'), () => end(world, 'b')],
    {
      terminal: true,
    },
  )
  const erase = '\r\u001b[2K'
  expect(ran.stderr).toBe(`${erase}waiting for 2 of 2, 1s${erase}${erase}waiting for 1 of 2, 2s${erase}`)
  const quiet = await waiting(world, ['a', 'b', '-q'], [], { terminal: true })
  expect(quiet.stderr).toBe('')
})

describe('--within 0s polls once', () => {
  test.each([
    ['an open stream is 124', nothing, 124],
    ['a stream on target is 0', (world: World) => complete(world, 'a'), 0],
    ['a stream that missed the target is 8', (world: World) => cancel(world, 'a'), 8],
  ] as const)('%s', async (_, before, exit) => {
    const world = newWorld()
    await cli(world, ['init', 'a'])
    await before(world)
    let looks = 0
    const ran = await waiting(world, ['a', '--within', '0s'], [() => looks++, () => looks++])
    expect(ran.exit).toBe(exit)
    expect(looks).toBe(1)
  })

  test('a missing stream with --may-appear is 124', async () => {
    expect((await waiting(newWorld(), ['a', '--may-appear', '--timeout', '0s'])).exit).toBe(124)
  })
})

describe('bad input of a flag is exit 2 with a hint', () => {
  test.each([
    ['wait a --for sucess', 'did you mean success?'],
    ['wait a --for later', 'event=ID:STATUS'],
    ['wait a --for event=01.00', 'the status is missing'],
    ['wait a --for event=01.00:complete', 'did you mean completed?'],
    ['wait a --for event=:done', 'the id of the event is empty'],
    ['wait a --within 30', '30 has no unit: 30s'],
    ['wait a --timeout soon', 'is not a duration'],
    ['wait a --timeout 1s --within 1s', 'cannot be used with'],
    ['wait a --interval 0s', 'greater than 0'],
    ['wait a -o table', 'text, json, ndjson'],
    ['wait a --all', 'both select streams'],
    ['wait --status done', 'init, inprocess'],
    ['wait 01.02.00', 'looks like an event id'],
  ])('%s', async (line, hint) => {
    const ran = await cli(newWorld(), line.split(' '))
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain(hint)
  })
})

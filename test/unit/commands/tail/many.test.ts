import { describe, expect, test } from 'vitest'
import { runCommandLine } from '../../../../src/commands/main.ts'
import { register } from '../../../../src/commands/tail.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamRow, StreamStore } from '../../../../src/store/store.ts'
import { cli, fakeRuntime, json, newWorld, optionsFrom, type World } from '../support.ts'

test('argv → options', async () => {
  const argv = ['tail', 'a', 'b', '--include', 'x+', '--include', 'y', '--exclude', 'z', '--highlight', '(w)']
  expect(await optionsFrom(register, argv)).toEqual({
    names: ['a', 'b'],
    include: [/x+/g, /y/g],
    exclude: [/z/g],
    highlight: [/(w)/g],
  })
  expect(await optionsFrom(register, ['tail', '--match', 'a/*', '--since', '1h', '-f'])).toEqual({
    names: [],
    match: ['a/*'],
    since: { kind: 'ago', ms: 3_600_000 },
    follow: true,
  })
})

const SECOND = 1_000

/** Three streams with alternating transactions, a second apart from 12:00:00 on. */
async function played(): Promise<World> {
  const world = newWorld()
  const then = async (...argv: string[]) => {
    await cli(world, argv)
    world.nowMs += SECOND
  }
  await then('init', 'orders/1', '--fork', 'A,B', '--join', 'J', '--by', 'ops')
  await then('init', 'orders/22', '--by', 'ops')
  await then('event', 'fail', 'orders/1', '01.00', '-m', 'disk full', '--by', 'w1')
  await then('init', 'invoices/3', '--by', 'ops')
  await then('cancel', 'orders/22', '-m', 'wrong import', '--by', 'anna')
  return world
}

const UTC = ['--time', 'utc']

test('several streams are shown in time order, each line with its name', async () => {
  const ran = await cli(await played(), ['tail', '--all', ...UTC])
  expect(ran.stdout.split('\n')).toEqual([
    'orders/1    12:00:00Z  v1    init      00  ▶ inprocess (added)  ops',
    '                                       01.00  ○ init (added)',
    '                                       02.00  ○ init (added)',
    '                                       01  ◷ waiting (added)',
    'orders/22   12:00:01Z  v1    init      00  ▶ inprocess (added)  ops',
    'orders/1    12:00:02Z  v2    fail      01.00  init → ✗ aborted  w1  "disk full"',
    'invoices/3  12:00:03Z  v1    init      00  ▶ inprocess (added)  ops',
    'orders/22   12:00:04Z  v2    cancel    00  inprocess → ⊘ canceled  anna  "wrong import"',
    '',
  ])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
})

test('-o ndjson has the stream in each line', async () => {
  const { stdout } = await cli(await played(), ['tail', 'orders/1', 'orders/22', '-n', '2', '-o', 'ndjson'])
  const lines = stdout.trimEnd().split('\n').map(json)
  expect(lines).toMatchObject([
    { apiVersion: 'leasectl/v1', stream: 'orders/1', version: 2, op: 'fail', why: 'disk full' },
    { apiVersion: 'leasectl/v1', stream: 'orders/22', version: 2, op: 'cancel', by: 'anna' },
  ])
})

/** `stream version` of each line. */
async function shown(world: World, argv: readonly string[]): Promise<string[]> {
  const { stdout } = await cli(world, ['tail', '-o', 'ndjson', ...argv])
  return stdout.split('\n').flatMap(line => (line === '' ? [] : `${json(line).stream} ${json(line).version}`))
}

describe('the transactions', () => {
  test('of all streams together are counted by -n', async () => {
    const world = await played()
    expect(await shown(world, ['--all', '-n', '3'])).toEqual(['orders/1 2', 'invoices/3 1', 'orders/22 2'])
    expect(await shown(world, ['--all', '-n', 'all'])).toHaveLength(5)
    expect(await shown(world, ['--all', '-n', '0'])).toEqual([])
    for (let at = 0; at < 12; at++) await cli(world, ['event', 'set', 'invoices/3', '00', '--tag', `t${at}`])
    expect(await shown(world, ['--all'])).toHaveLength(10)
    expect(await shown(world, ['invoices/3'])).toHaveLength(10)
    expect(await shown(world, ['--all', '--since', '1h'])).toHaveLength(17)
    expect(await shown(world, ['invoices/3', '--since', '1h'])).toHaveLength(13)
  })

  test('since a time come from all streams without a name, or from a filter', async () => {
    const world = await played()
    expect(await shown(world, ['--since', '3s'])).toEqual(['orders/1 2', 'invoices/3 1', 'orders/22 2'])
    expect(await shown(world, ['--since', '3s', '--match', 'orders/*'])).toEqual(['orders/1 2', 'orders/22 2'])
    expect(await shown(world, ['--since', '3s', '--failed'])).toEqual(['orders/1 2'])
    expect(await shown(world, ['orders/1', '--since', '3s'])).toEqual(['orders/1 2'])
  })

  test('whose printed line, with name, author and reason, matches --include or --exclude are selected', async () => {
    const world = await played()
    const found = (...argv: string[]) => shown(world, ['--all', ...argv])
    expect(await found('--include', 'wrong import')).toEqual(['orders/22 2'])
    expect(await found('--include', '^orders/1 ', '--exclude', 'init {4}')).toEqual(['orders/1 2'])
    expect(await found('--include', 'anna', '--include', '◷ waiting')).toEqual(['orders/1 1', 'orders/22 2'])
    expect(await found('--exclude', 'ops$')).toEqual(['orders/1 2', 'orders/22 2'])
    expect(await found('--include', 'init', '-n', '1')).toEqual(['invoices/3 1'])
    expect(await shown(world, ['orders/1', '--include', '^orders/1 .*disk'])).toEqual(['orders/1 2'])
    expect(await shown(world, ['orders/1', '--exclude', 'disk'])).toEqual(['orders/1 1'])
  })
})

test('a pattern with catastrophic backtracking terminates', async () => {
  const world = await played()
  await cli(world, ['event', 'set', 'orders/1', '02.00', '--tag', 'x', '-m', `${'a'.repeat(60)}!`])
  expect(await shown(world, ['--all', '--include', '(a+)+$', '-n', '1'])).toEqual([])
})

test('a name has its color, --highlight marks its matches, and neither happens without colors', async () => {
  const world = await played()
  const argv = ['tail', '--all', ...UTC, '-n', '2', '--highlight', 'anna|invoices']
  const coloured = (await cli(world, [...argv, '--color', 'always'])).stdout.replaceAll('\u001b', '^')
  expect(coloured).toMatch(/\^\[7minvoices\^\[27m\/3/)
  expect(coloured).toMatch(/\^\[7manna\^\[27m/)
  expect(coloured).toMatch(/^(\^\[\d+m)+\^\[7m/)
  expect((await cli(world, argv)).stdout).not.toContain('\u001b')
  const names = (await cli(world, ['tail', '--all', '--color', 'always'])).stdout.match(/^\S+orders\/1\S*/gm)
  expect(new Set(names).size).toBe(1)
})

describe('an invalid request:', () => {
  test.each<[why: string, argv: string[], told: RegExp]>([
    ['no selection', [], /tail needs streams[\s\S]*-f/],
    ['two kinds of selection', ['a', '--match', 'b*'], /names and filters/],
    ['a version of several streams', ['a', 'b', '--from-version', '3'], /--from-version needs a single stream/],
    ['a version of a filter', ['--all', '--from-version', '3'], /--from-version needs a single stream/],
    ['an interval without -f', ['--all', '--interval', '5s'], /--interval needs -f/],
    ['an invalid pattern', ['--all', '--include', 'ab(c'], /--include ab\(c: Unterminated group, at character 3/],
    ['an invalid pattern', ['--all', '--exclude', '*'], /--exclude \*: Nothing to repeat, at character 1/],
    ['an empty pattern', ['--all', '--highlight', ''], /--highlight is empty/],
    ['an event', ['01.02'], /looks like an event id/],
  ])('%s: exit 2', async (_, argv, told) => {
    const ran = await cli(await played(), ['tail', ...argv])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toMatch(told)
  })

  test('missing names are exit 3, all of them reported, nothing printed', async () => {
    const ran = await cli(await played(), ['tail', 'orders/1', 'nix', 'nox'])
    expect(ran).toMatchObject({ exit: 3, stdout: '' })
    expect(ran.stderr).toMatch(/there is no stream nix[\s\S]*also +there is no stream nox/)
    expect(await cli(await played(), ['tail', '-f', 'orders/1', 'nix'])).toMatchObject({ exit: 3, stdout: '' })
  })

  test('a filter without matches is exit 0 and a sentence', async () => {
    const world = await played()
    const none = await cli(world, ['tail', '--match', 'zoo/*'])
    expect(none).toEqual({ exit: 0, stdout: '', stderr: 'no stream matches\n', questions: [] })
    expect((await cli(world, ['tail', '--since', '1ms', '--match', 'orders/*'])).stderr).toBe('no transactions\n')
  })
})

/** A store with other methods to list and read. */
function changed(store: StreamStore, how: Partial<Pick<StreamStore, 'list' | 'read'>>): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(how, key) ?? Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Streams of these names have unreadable documents. */
function broken(store: StreamStore, isBroken: (name: string) => boolean): StreamStore {
  return changed(store, {
    read: async name => {
      const stored = await store.read(name)
      return stored && isBroken(name) ? { ...stored, body: Buffer.from('<oops') } : stored
    },
  })
}

test('an unreadable stream is reported, the others are shown: exit 7', async () => {
  const world = await played()
  const store = broken(world.store, name => name === 'orders/22')
  const ran = await cli(world, ['tail', '--all'], { store })
  expect(ran.exit).toBe(7)
  expect(ran.stdout.match(/^\S+/gm)).toEqual(['orders/1', 'orders/1', 'invoices/3'])
  expect(ran.stderr).toMatch(/orders\/22: line 1[\s\S]*\[bad-document\][\s\S]*1 of 3 streams could not be read/)
  const asJson = await cli(world, ['tail', '--all', '-o', 'ndjson'], { store })
  const errors = asJson.stderr.trimEnd().split('\n').map(json)
  expect(errors).toMatchObject([{ error: { code: 'bad-document', stream: 'orders/22' } }, { error: { exit: 7 } }])
})

test('of many unreadable streams ten are named and the others counted', async () => {
  const world = await played()
  for (let at = 0; at < 14; at++) await cli(world, ['init', `bad/${at}`])
  const store = broken(world.store, name => name.startsWith('bad/'))
  const { stderr } = await cli(world, ['tail', '--all', '-n', 'all'], { store })
  expect(stderr.match(/\[bad-document\]/g)).toHaveLength(10)
  expect(stderr).toMatch(/^-- 4 more streams cannot be read$/m)
  expect(stderr).toMatch(/14 of 17 streams could not be read/)
})

/** Follows; takes one step whenever the store is listed, and interrupts after the last. */
async function following(
  world: World,
  argv: readonly string[],
  steps: readonly (() => unknown)[],
  list: StreamStore['list'] = query => world.store.list(query),
) {
  const interruption = new AbortController()
  const left = [...steps]
  const store = changed(world.store, {
    async *list(query) {
      const step = left.shift()
      if (step === undefined) interruption.abort('SIGINT')
      else await step()
      yield* list(query)
    },
  })
  const { runtime, written } = fakeRuntime(world, ['tail', '-f', '--interval', '1ms', ...argv], {
    store,
    signal: interruption.signal,
  })
  return { exit: await runCommandLine(runtime), ...written }
}

describe('-f', () => {
  test('shows transactions of all streams, including new ones, poll by poll; Ctrl-C ends with 130', async () => {
    const world = await played()
    const ran = await following(
      world,
      ['-n', '1', ...UTC],
      [
        () => undefined,
        () => cli(world, ['event', 'set', 'orders/1', '02.00', '--tag', 'x', '--by', 'w']),
        () => cli(world, ['init', 'new', '--by', 'w']),
        () => undefined,
      ],
    )
    expect(ran.stdout.split('\n').map(line => line.slice(0, 40).trimEnd())).toEqual([
      'orders/22  12:00:04Z  v2    cancel    00',
      'orders/1   12:00:05Z  v3    set       02',
      'new        12:00:05Z  v1    init      00',
      '',
    ])
    expect(ran).toMatchObject({ exit: 130, stderr: '' })
  })

  test('shows why an event failed', async () => {
    const world = await played()
    const fail = () => cli(world, ['event', 'fail', 'orders/1', '02.00', '-m', 'gateway: 503', '--by', 'w2'])
    const ran = await following(world, ['-n', '0'], [() => undefined, fail, () => undefined])
    expect(ran.stdout).toMatch(/^orders\/1 .* fail +02\.00 .*✗ aborted.* w2 {2}"gateway: 503"$/m)
  })

  test('shows how a stream leaves the filter', async () => {
    const world = await played()
    const ran = await following(
      world,
      ['-n', '0', '--status', 'inprocess'],
      [() => undefined, () => cli(world, ['cancel', 'invoices/3', '-m', 'enough'])],
    )
    expect(ran.stdout).toMatch(/^invoices\/3 .* cancel .*"enough"$/m)
  })

  test('says that nothing matches yet, and which streams are removed', async () => {
    const world = await played()
    const none = await following(world, ['--match', 'zoo/*'], [() => undefined, () => cli(world, ['init', 'zoo/1'])])
    expect(none.stderr).toBe('-- no stream matches yet; waiting for one (Ctrl-C to stop)\n')
    expect(none.stdout).toContain('zoo/1')
    for (let at = 10; at < 22; at++) await cli(world, ['init', `zoo/${at}`])
    const names = ['zoo/1', ...Array.from({ length: 12 }, (_, at) => `zoo/${at + 10}`)]
    const gone = await following(
      world,
      ['-n', '0'],
      [
        () => undefined,
        async () => {
          for (const name of names) await world.store.remove(name, {})
        },
      ],
    )
    expect(gone.stderr.match(/^-- zoo\/\d+ was removed$/gm)).toHaveLength(10)
    expect(gone.stderr).toMatch(/^-- 3 more were removed$/m)
    const quiet = await following(world, ['-q', '--match', 'zoo/*'], [() => undefined])
    expect(quiet.stderr).toBe('')
  })

  test('reports after an outage how long it was and that nothing was missed', async () => {
    const world = await played()
    let looks = 0
    const list = async function* (query: Parameters<StreamStore['list']>[0]): AsyncGenerator<readonly StreamRow[]> {
      if (++looks === 2) throw new StoreUnreachable('no \u001broute')
      yield* world.store.list(query)
    }
    const steps = [
      () => undefined,
      () => cli(world, ['event', 'set', 'orders/1', '02.00', '--tag', 'x']),
      () => {
        world.nowMs += 12 * SECOND
      },
    ]
    const ran = await following(world, ['-n', '0', '-o', 'ndjson'], steps, list)
    expect(ran.stdout.trimEnd().split('\n').map(json)).toMatchObject([{ stream: 'orders/1', version: 3 }])
    expect(ran.stderr).toBe(
      '-- connection lost: no ␛route; trying again\n-- connected again after 12s; nothing was missed\n',
    )
  })

  test('reports what an outage may have hidden', async () => {
    const world = await played()
    let looks = 0
    const list = async function* (query: Parameters<StreamStore['list']>[0]): AsyncGenerator<readonly StreamRow[]> {
      if (++looks === 2) throw new StoreUnreachable('no route')
      yield* world.store.list(query)
    }
    const steps = [
      () => undefined,
      async () => {
        await world.store.remove('invoices/3', {})
        await cli(world, ['init', 'invoices/3'])
        await world.store.remove('orders/1', {})
      },
      () => undefined,
    ]
    const ran = await following(world, ['-n', '0', '-o', 'ndjson'], steps, list)
    expect(ran.stdout.trimEnd().split('\n').map(json)).toMatchObject([{ stream: 'invoices/3', version: 1 }])
    expect(ran.stderr.split('\n').slice(1)).toEqual([
      '-- invoices/3 was removed and created again; its last transactions before that may have been missed',
      '-- connected again; transactions of 1 stream, named above, may have been missed, and 1 stream had been removed',
      '-- orders/1 was removed',
      '',
    ])
  })

  test('ends with exit 9 if the store does not answer at the beginning', async () => {
    const world = await played()
    // biome-ignore lint/correctness/useYield: it fails before
    const list = async function* (): AsyncGenerator<readonly StreamRow[]> {
      throw new StoreUnreachable('no route')
    }
    expect(await following(world, ['--all'], [() => undefined], list)).toMatchObject({ exit: 9, stdout: '' })
  })
})

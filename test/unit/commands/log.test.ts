import { describe, expect, test } from 'vitest'
import { register } from '../../../src/commands/log.ts'
import { runCommandLine } from '../../../src/commands/main.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { run } from '../ops/support.ts'
import { cli, fakeRuntime, json, NOON, newWorld, optionsFrom, type Setting, type World } from './support.ts'

test('argv → options', async () => {
  const argv = [
    'log',
    'a',
    'b',
    '--since',
    '1h',
    '--until',
    '2026-03-01T12:00:00Z',
    '--by',
    'ops@*',
    '--op',
    'cancel,abort',
  ]
  expect(await optionsFrom(register, [...argv, '-n', '7', '-o', 'ndjson'])).toEqual({
    names: ['a', 'b'],
    since: { kind: 'ago', ms: 3_600_000 },
    until: { kind: 'at', ms: NOON },
    by: { prefix: 'ops@', matches: expect.any(Function) },
    op: ['cancel', 'abort'],
    lines: 7,
    output: 'ndjson',
  })
  expect(await optionsFrom(register, ['log', '--all', '-n', 'all'])).toEqual({
    names: [],
    all: true,
    lines: Number.POSITIVE_INFINITY,
  })
})

/** Two streams with alternating transactions, a minute apart. */
async function two(): Promise<World> {
  const world = newWorld()
  const then = async (...argv: string[]) => {
    await cli(world, argv)
    world.nowMs += 60_000
  }
  await then('init', 'a', '--fork', 'A,B', '--join', 'J', '--by', 'alice', '-m', 'first import')
  await then('init', 'b', '--fork', 'C', '--by', 'alice')
  await then('event', 'start', 'a', '01.00', '--owner', 'w1', '--by', 'w1@host-1')
  await then('event', 'fail', 'b', '01.00', '--by', 'w2@host-2', '-m', 'no answer')
  await then('cancel', 'a', '--by', 'ops', '-m', 'customer called')
  return world
}

/** Reading changes nothing: one world is enough. */
const played = two()

async function outcomes(argv: readonly string[], setting?: Setting) {
  return cli(await played, argv, setting)
}

function lines(text: string): Record<string, unknown>[] {
  return text
    .trimEnd()
    .split('\n')
    .filter(line => line !== '')
    .map(json)
}

const called = (items: readonly Record<string, unknown>[]) => items.map(({ stream, op }) => `${stream} ${op}`)

test('each transaction is a line: time, stream, author, operation and reason, oldest first', async () => {
  const ran = await outcomes(['log', '--all', '--time', 'utc'])
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout.split('\n')).toEqual([
    'WHEN       STREAM  VERSION  WHO        WHAT                      REASON',
    '12:00:00Z  a            v1  alice      init 00 Start (3 more)    first import',
    '12:01:00Z  b            v1  alice      init 00 Start (1 more)',
    '12:02:00Z  a            v2  w1@host-1  start 01.00 A',
    '12:03:00Z  b            v2  w2@host-2  fail 01.00 C (1 more)     no answer',
    '12:04:00Z  a            v3  ops        cancel 00 Start (3 more)  customer called',
    '',
  ])
})

test('on a narrow terminal texts are cut, except for the reason, which wraps', async () => {
  const ran = await outcomes(['log', 'a', '--time', 'utc', '--color', 'never'], { columns: 58 })
  expect(ran.stdout.trimEnd().split('\n')).toEqual([
    'WHEN       STREAM  WHO        WHAT                REASON',
    '12:00:00Z  a       alice      init 00 Start (3 …  first import',
    '12:02:00Z  a       w1@host-1  start 01.00 A',
    '12:04:00Z  a       ops        cancel 00 Start (…  customer called',
  ])
})

test('the name of a stream is whole as long as other columns can be dropped', async () => {
  const world = newWorld()
  await cli(world, ['init', 'orders/2026-11-23/1245', '--by', 'shop@web-2'])
  for (const columns of [60, 80]) {
    const { stdout } = await cli(world, ['log', '--all'], { columns })
    expect(stdout).toContain('orders/2026-11-23/1245')
  }
})

describe('the streams', () => {
  test('need a name, --since or a filter', async () => {
    for (const argv of [['log'], ['log', '--by', 'ops'], ['log', '-n', '3'], ['log', '--until', '1h']]) {
      const ran = await outcomes(argv)
      expect(ran).toMatchObject({ exit: 2, stdout: '' })
      expect(ran.stderr).toContain('--since 1h')
    }
    for (const argv of [
      ['log', '--since', '1h'],
      ['log', '--match', '*'],
      ['log', '--all'],
    ]) {
      expect((await outcomes(argv)).exit).toBe(0)
    }
  })

  test('may be given with --since and --until, which select transactions, also of a name', async () => {
    const shown = async (...argv: string[]) => called(lines((await outcomes(['log', '-o', 'ndjson', ...argv])).stdout))
    expect(await shown('a', '--since', '3m')).toEqual(['a start', 'a cancel'])
    expect(await shown('--since', '2m')).toEqual(['a cancel', 'b fail'])
    expect(await shown('--failed', '--since', '3m')).toEqual(['b fail'])
    expect(await shown('--canceled', '--since', '3m')).toEqual(['a start', 'a cancel'])
    expect(await shown('--all', '--until', '2026-03-01T12:01:00Z')).toEqual(['a init', 'b init'])
  })

  test('may be given by filters, a list or all', async () => {
    const shown = async (argv: string[], setting?: Setting) =>
      called(lines((await outcomes(['log', '-o', 'ndjson', ...argv], setting)).stdout))
    expect(await shown(['--status', 'canceled'])).toEqual(['a init', 'a start', 'a cancel'])
    expect(await shown(['--streams', '-'], { stdin: 'b\n' })).toEqual(['b init', 'b fail'])
    expect(await shown(['--all', '--by', 'w*@*'])).toEqual(['a start', 'b fail'])
    expect(await shown(['--all', '--op', 'cancel', '--op', 'fail'])).toEqual(['a cancel', 'b fail'])
  })

  test('are refused as two kinds of selection', async () => {
    expect((await outcomes(['log', 'a', '--all'])).exit).toBe(2)
  })
})

describe('order', () => {
  test('of ndjson for a whole selection is stream by stream without buffering; names and -n are sorted by time', async () => {
    const shown = async (...argv: string[]) => called(lines((await outcomes(['log', '-o', 'ndjson', ...argv])).stdout))
    expect(await shown('--all')).toEqual(['a init', 'a start', 'a cancel', 'b init', 'b fail'])
    expect(await shown('b', 'a')).toEqual(['a init', 'b init', 'a start', 'b fail', 'a cancel'])
    expect(await shown('--all', '-n', '2')).toEqual(['b fail', 'a cancel'])
    expect(await shown('--all', '-n', '0')).toEqual([])
  })

  test('allows entries to be printed although the listing has no end', async () => {
    const world = await played
    const endless: StreamStore = replacing(world.store, 'list', async function* () {
      for (;;) for await (const page of world.store.list({})) yield page
    })
    const interruption = new AbortController()
    const { runtime, written } = fakeRuntime(world, ['log', '--all', '-o', 'ndjson'], {
      store: endless,
      signal: interruption.signal,
    })
    const write = async (chunk: string | Uint8Array) => {
      await runtime.stdout.write(chunk)
      if (lines(written.stdout).length > 20) interruption.abort('SIGINT')
    }
    expect(await runCommandLine({ ...runtime, stdout: { ...runtime.stdout, write } })).toBe(130)
  })
})

describe('JSON', () => {
  test('with -o json is one document, which says whether entries are omitted', async () => {
    const all = json((await outcomes(['log', '--all', '-o', 'json'])).stdout)
    expect(all).toMatchObject({ apiVersion: 'leasectl/v1', total: 5, truncated: false })
    expect((all.items as unknown[])[3]).toEqual({
      stream: 'b',
      version: 2,
      at: '2026-03-01T12:03:00.000Z',
      by: 'w2@host-2',
      op: 'fail',
      on: '01.00',
      commandId: expect.any(String),
      why: 'no answer',
      changes: [
        { id: '01.00', from: 'init', to: 'aborted', how: 'target' },
        { id: '00', from: 'inprocess', to: 'completed', how: 'close' },
      ],
      other: false,
      provisional: false,
      signal: null,
    })
    const last = json((await outcomes(['log', '--all', '-n', '1', '-o', 'json'])).stdout)
    expect(last).toMatchObject({ items: [{ op: 'cancel' }], total: null, truncated: true })
  })

  test('every line of ndjson carries the version of the API', async () => {
    const found = lines((await outcomes(['log', '--all', '-o', 'ndjson'])).stdout)
    expect(found.map(({ apiVersion }) => apiVersion)).toEqual(Array(5).fill('leasectl/v1'))
  })

  test('without entries is a header or an empty list, exit 0, and a sentence on stderr', async () => {
    const table = await outcomes(['log', '--all', '--by', 'nobody'])
    expect(table).toMatchObject({
      exit: 0,
      stdout: 'WHEN  STREAM  VERSION  WHO  WHAT  REASON\n',
      stderr: 'no transactions\n',
    })
    const document = await outcomes(['log', '--all', '--by', 'nobody', '-o', 'json'])
    expect(json(document.stdout)).toEqual({ apiVersion: 'leasectl/v1', items: [], total: 0, truncated: false })
  })
})

test('an unrecorded foreign write has the author "somebody else" and no version', async () => {
  const world = await played
  const store = replacing(world.store, 'read', async (name: string) => {
    const stored = await world.store.read(name)
    if (stored === undefined || name !== 'b') return stored
    const text = Buffer.from(stored.body).toString('utf8').replace('status="aborted"', 'status="completed"')
    return { ...stored, body: Buffer.from(text) }
  })
  const ran = await cli(world, ['log', '--all', '--op', 'foreign', '--time', 'utc'], { store })
  expect(ran.stdout.split('\n')[1]).toBe(
    '12:03:00Z  b            v?  another program  foreign 01.00 → completed  (not recorded yet)',
  )
  const line = await cli(world, ['log', 'b', '-n', '1', '-o', 'ndjson'], { store })
  expect(json(line.stdout)).toMatchObject({ op: 'foreign', version: null, provisional: true, by: null })
})

describe('missing and unreadable streams', () => {
  const damaged = (world: World) =>
    replacing(world.store, 'read', async (name: string) => {
      const stored = await world.store.read(name)
      return stored && name === 'b' ? { ...stored, body: Buffer.from('<x') } : stored
    })

  test('of the given names prevent all output, exit 3', async () => {
    const ran = await outcomes(['log', 'nix', 'a', 'nada'])
    expect(ran).toMatchObject({ exit: 3, stdout: '' })
    expect(ran.stderr).toContain('there is no stream nix')
    expect(ran.stderr).toContain('also     there is no stream nada')
  })

  test('of a list are reported, the others are shown, exit 7', async () => {
    const ran = await outcomes(['log', '--streams', '-'], { stdin: 'nix\na\n' })
    expect(ran.exit).toBe(7)
    expect(ran.stdout).toContain('customer called')
    expect(ran.stderr).toContain('there is no stream nix')
    expect(ran.stderr).toContain('1 of 2 streams could not be read')
  })

  test('are exit 12 for a single unreadable stream', async () => {
    const world = await played
    const ran = await cli(world, ['log', 'b'], { store: damaged(world) })
    expect(ran).toMatchObject({ exit: 12, stdout: '' })
    expect(ran.stderr).toContain('[bad-document]')
  })

  test.each([[['a', 'b']], [['--all']], [['--all', '-o', 'ndjson']]])(
    'among others, %j: reported, the others are shown, exit 7',
    async which => {
      const world = await played
      const ran = await cli(world, ['log', ...which], { store: damaged(world) })
      expect(ran.exit).toBe(7)
      expect(ran.stdout).toContain('customer called')
      expect(ran.stderr).toContain('bad-document')
      expect(ran.stderr).toContain('batch-incomplete')
    },
  )

  test('are each a line of JSON on stderr with -o json', async () => {
    const world = await played
    const ran = await cli(world, ['log', '--all', '-o', 'json'], { store: damaged(world) })
    expect(lines(ran.stderr)).toMatchObject([
      { error: { code: 'bad-document', stream: 'b' } },
      { error: { code: 'batch-incomplete', exit: 7 } },
    ])
  })

  test('that vanish after they were listed do not affect the others', async () => {
    const world = await played
    const store = replacing(world.store, 'read', async (name: string) =>
      name === 'b' ? undefined : world.store.read(name),
    )
    const ran = await cli(world, ['log', '--all', '-o', 'ndjson'], { store })
    expect(ran).toMatchObject({ exit: 0, stderr: '' })
    expect(called(lines(ran.stdout))).toEqual(['a init', 'a start', 'a cancel'])
  })
})

test('of a whole store the last 20 000 entries are sorted, and the output says that there are more', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const entries = '<lc:tx v="1" at="2026-03-01T12:00:00.000Z" op="set"/>'.repeat(20_000)
  const store = replacing(world.store, 'read', async (name: string) => {
    const found = await world.store.read(name)
    if (found === undefined) return undefined
    const text = Buffer.from(found.body).toString().replace('</lc:journal>', `${entries}</lc:journal>`)
    return { ...found, body: Buffer.from(text) }
  })
  const ran = await cli(world, ['log', '--all'], { store })
  expect(ran.exit).toBe(0)
  expect(ran.stdout.trimEnd().split('\n')).toHaveLength(20_001)
  expect(ran.stdout).not.toContain('init')
  expect(ran.stderr).toContain('only the last 20000 are shown')
})

describe('bad input of a flag is exit 2 with a hint', () => {
  test.each([
    ['log a --since yesterday', 'not a time'],
    ['log a --since 30', '30 has no unit: 30s, 30m'],
    ['log a --until 25:00', 'not a time'],
    ['log a --since 1m --until 1h', '--since is later than --until'],
    ['log a --by=', '--by is empty'],
    ['log a --op cancle', 'did you mean cancel?'],
    ['log a --op touch', 'heartbeats leave no entry'],
    ['log a -n some', 'a whole number'],
    ['log a -n -1', 'a whole number'],
    ['log a -o xml', 'table, json, ndjson'],
    ['log --match=', '--match is empty'],
    ['log --status done', 'init, inprocess'],
    ['log --streams nix', 'cannot be read'],
    ['log 01.00', 'looks like an event id'],
  ])('%s', async (line, hint) => {
    const ran = await outcomes(line.split(' '))
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain(hint)
  })
})

type Method = 'read' | 'list'

/** The store with one method replaced. */
function replacing<Name extends Method>(store: StreamStore, name: Name, method: StreamStore[Name]): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      if (key === name) return method
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

test('the message of a failure is its reason, whoever reports it', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B'])
  await run(world.store, 's', { op: 'fail', event: '01.00', msg: 'db down' })
  const abort = { op: 'abort', event: '02.00', msg: 'timed out' } as const
  await run(world.store, 's', abort, { by: 'watchdog' })
  expect((await cli(world, ['log', 's'])).stdout).toMatch(/fail 01\.00 A +db down\n.*abort 02\.00 B.* +timed out\n/)
  expect((await cli(world, ['tail', 's', '-n', '2'])).stdout).toMatch(/"db down"[\s\S]*"timed out"/)
})

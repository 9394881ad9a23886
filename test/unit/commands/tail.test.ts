import { expect, test } from 'vitest'
import { runCommandLine } from '../../../src/commands/main.ts'
import { register } from '../../../src/commands/tail.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { cli, fakeRuntime, json, newWorld, optionsFrom, type World } from './support.ts'

test('argv → options', async () => {
  const argv = ['tail', '-f', 's', '-n', 'all', '--interval', '250ms', '-o', 'ndjson']
  expect(await optionsFrom(register, argv)).toEqual({
    stream: 's',
    follow: true,
    lines: Number.POSITIVE_INFINITY,
    interval: 250,
    output: 'ndjson',
  })
  expect(await optionsFrom(register, ['tail', 's', '--from-version', '3'])).toEqual({ stream: 's', fromVersion: 3 })
})

async function played(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B', '--join', 'J', '--by', 'ops'])
  for (let at = 0; at < 10; at++) await cli(world, ['event', 'set', 's', '01.00', '--tag', `t${at}`, '--by', 'ops'])
  await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w1'])
  await cli(world, ['event', 'complete', 's', '01.00', '--owner', 'w1', '-m', '12 results'])
  await cli(world, ['event', 'complete', 's', '02.00', '--by', 'w2'])
  return world
}

const TEN_MS = ['--interval', '10ms']

test('tail shows the last ten, -n N, -n all; closings and joins are below their cause', async () => {
  const world = await played()
  const versions = async (...argv: string[]) =>
    (await cli(world, ['tail', 's', ...argv])).stdout.match(/ v\d+ /g)?.map(text => Number(text.trim().slice(1)))
  expect(await versions()).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
  expect(await versions('-n', '2')).toEqual([13, 14])
  expect(await versions('-n', 'all')).toHaveLength(14)
  expect(await versions('-n', '0')).toBeUndefined()
  expect(await versions('--from-version', '12')).toEqual([12, 13, 14])
  const ran = await cli(world, ['tail', 's', '-n', '3', '--time', 'utc'])
  expect(ran.stdout.split('\n')).toEqual([
    '12:00:00Z  v12   start     01.00  init → ▶ inprocess (owner w1)  tester@testhost',
    '12:00:00Z  v13   complete  01.00  inprocess → ✓ completed  tester@testhost  "12 results"',
    '12:00:00Z  v14   complete  02.00  init → ✓ completed  w2',
    '                           01  inprocess → ○ init (joined)',
    '',
  ])
})

test('-o ndjson is one transaction per line', async () => {
  const ran = await cli(await played(), ['tail', 's', '-n', '1', '-o', 'ndjson'])
  expect(json(ran.stdout)).toEqual({
    apiVersion: 'leasectl/v1',
    stream: 's',
    version: 14,
    at: '2026-03-01T12:00:00.000Z',
    by: 'w2',
    op: 'complete',
    on: '02.00',
    commandId: expect.any(String),
    why: null,
    changes: [
      { id: '02.00', from: 'init', to: 'completed', how: 'target' },
      { id: '01', from: 'inprocess', to: 'init', how: 'join' },
    ],
    other: false,
    provisional: false,
    signal: null,
  })
})

test('an unrecorded foreign write is provisional and has no number', async () => {
  const world = await played()
  const store = foreignlyWritten(world.store)
  const text = await cli(world, ['tail', 's', '-n', '1'], { store })
  expect(text.stdout).toMatch(/ v\? {4}foreign +01 .*provisional/)
  const line = json((await cli(world, ['tail', 's', '-n', '1', '-o', 'ndjson'], { store })).stdout)
  expect(line).toMatchObject({
    version: null,
    provisional: true,
    op: 'foreign',
    changes: [{ id: '01', to: 'aborted' }],
  })
})

/** As if a writer without a journal had aborted the join. */
function foreignlyWritten(store: StreamStore): StreamStore {
  return withRead(store, async (read, name) => {
    const stored = await read(name)
    if (stored === undefined) return undefined
    const text = Buffer.from(stored.body).toString('utf8')
    return {
      ...stored,
      etag: 'foreign',
      body: Buffer.from(text.replace('name="J" status="init"', 'name="J" status="aborted"')),
    }
  })
}

type Read = StreamStore['read']

function withRead(store: StreamStore, how: (read: Read, name: string) => ReturnType<Read>): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      if (key === 'read') return (name: string) => how(target.read.bind(target), name)
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Follows until the output contains `until`, then interrupts. */
async function following(
  world: World,
  argv: readonly string[],
  store: StreamStore,
  until: (out: string, err: string) => boolean,
) {
  const interruption = new AbortController()
  const { runtime, written } = fakeRuntime(world, ['tail', '-f', ...TEN_MS, ...argv], {
    store,
    signal: interruption.signal,
  })
  const stopWhen =
    (write: typeof runtime.stdout.write): typeof write =>
    async chunk => {
      await write(chunk)
      if (until(written.stdout, written.stderr)) interruption.abort('SIGINT')
    }
  const exit = await runCommandLine({
    ...runtime,
    stdout: { ...runtime.stdout, write: stopWhen(runtime.stdout.write) },
    stderr: { ...runtime.stderr, write: stopWhen(runtime.stderr.write) },
  })
  return { exit, ...written }
}

test('-f shows the following transactions, each once and in order, and Ctrl-C ends with 130', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B,C'])
  const change = (at: number) => cli(world, ['event', 'set', 's', '01.00', '--tag', `t${at}`])
  let reads = 0
  // two changes between two polls
  const store = withRead(world.store, async (read, name) => {
    if (reads++ > 0 && reads < 6) for (const at of [0, 1]) await change(reads * 2 + at)
    return read(name)
  })
  const ran = await following(world, ['s', '-o', 'ndjson', '-n', '1'], store, out => out.includes('"version":9'))
  expect(ran.exit).toBe(130)
  expect(
    ran.stdout
      .trimEnd()
      .split('\n')
      .map(line => json(line).version),
  ).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('-f survives a lost connection without a gap and reports it', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  let reads = 0
  const store = withRead(world.store, async (read, name) => {
    reads++
    if (reads === 3) await cli(world, ['event', 'set', 's', '00', '--tag', 'meanwhile'])
    if (reads === 3 || reads === 4) throw new StoreUnreachable('no route')
    return read(name)
  })
  const ran = await following(world, ['s', '-o', 'ndjson'], store, out => out.includes('"version":2'))
  expect(
    ran.stdout
      .trimEnd()
      .split('\n')
      .map(line => json(line).version),
  ).toEqual([1, 2])
  expect(ran.stderr).toBe('-- connection lost: no route; trying again\n-- connected again; nothing was missed\n')
})

test('-f reports when the stream is done and when it is removed', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  let reads = 0
  const store = withRead(world.store, async (read, name) => {
    reads++
    if (reads === 2) await cli(world, ['event', 'complete', 's', '00'])
    return reads >= 4 ? undefined : read(name)
  })
  const ran = await following(world, ['s'], store, (_out, err) => err.includes('removed'))
  expect(ran.stderr).toContain('s is done')
  expect(ran.stderr).toContain('s was removed')
})

test('a missing stream is exit 3', async () => {
  expect(await cli(newWorld(), ['tail', 'nix'])).toMatchObject({ exit: 3, stdout: '' })
  expect(await cli(newWorld(), ['tail', '-f', 'nix'])).toMatchObject({ exit: 3, stdout: '' })
})

import { expect, test } from 'vitest'
import type { LiveView } from '../../../../src/cli/runtime.ts'
import { NotPermitted, StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { storeWith } from '../store-with.ts'
import { cli, newWorld, type Ran, type Setting, type World } from '../support.ts'

interface Watched extends Ran {
  readonly frames: readonly (readonly string[])[]
  readonly closed: number
}

/** Runs `ls -w` on a terminal with this number of rows; `after` gets the number of each frame, the last one ends it. */
async function watched(
  world: World,
  argv: readonly string[],
  {
    frames: count,
    height = 20,
    after = () => {},
    ...setting
  }: Setting & {
    readonly frames: number
    readonly height?: number
    readonly after?: (frame: number) => unknown
  },
): Promise<Watched> {
  const stop = new AbortController()
  const frames: (readonly string[])[] = []
  let closed = 0
  const live: LiveView = {
    height,
    draw(lines) {
      frames.push(lines)
      after(frames.length)
      if (frames.length >= count) stop.abort('SIGINT')
    },
    close: async () => {
      closed++
    },
  }
  const terminal = { columns: 80, terminal: true, env: { NO_COLOR: '1' }, live, signal: stop.signal }
  const ran = await cli(world, ['ls', '-w', '--interval', '1ms', '--time', 'utc', ...argv], { ...terminal, ...setting })
  return { ...ran, frames, closed }
}

async function letters(...names: string[]): Promise<World> {
  const world = newWorld()
  for (const name of names) await cli(world, ['init', name])
  return world
}

test('the listing is redrawn each interval; Ctrl-C ends it with 130 and leaves the last state', async () => {
  const world = await letters('a')
  const later = await letters('a')
  await cli(later, ['abort', 'a'])
  let looks = 0
  const store = storeWith(world.store, { list: query => (looks++ === 0 ? world : later).store.list(query) })
  const after = () => {
    world.nowMs += 1_000
  }
  const { exit, stdout, stderr, frames, closed } = await watched(world, [], { frames: 2, after, store })
  expect(exit).toBe(130)
  expect(closed).toBe(1)
  expect(frames[0]).toEqual([
    '1 stream · memory: · 12:00:00Z',
    expect.stringMatching(/^NAME +STATUS +WAITING ON +DUE +CREATED +✓.○.✗.⊘ +LEASE$/),
    expect.stringMatching(/^a +▶ inprocess/),
  ])
  expect(frames[1]?.[0]).toBe('1 stream · memory: · 12:00:01Z')
  expect(frames[1]?.[2]).toMatch(/^a +✗ aborted/)
  expect(stdout).toBe(`${frames[1]?.join('\n')}\n`)
  expect(stderr).toBe('')
})

test('it fits the height, and prints the number of further rows', async () => {
  const world = await letters('a', 'b', 'c', 'd', 'e')
  const names = async (height: number, ...argv: string[]) => {
    const { frames } = await watched(world, ['--fields', 'name', ...argv], { frames: 1, height })
    return frames[0]?.slice(2)
  }
  expect(await names(7)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(await names(6)).toEqual(['a', 'b', 'c', '… 2 more'])
  expect(await names(6, '--sort', '-name')).toEqual(['e', 'd', 'c', '… 2 more'])
  expect(await names(20, '--limit', '2')).toEqual(['a', 'b', '… 3 more'])
  expect(await names(1)).toEqual(['… 5 more'])
})

test('no line is longer than the terminal is wide', async () => {
  const world = await letters('orders-'.repeat(12))
  const { frames } = await watched(world, [], { frames: 1, columns: 80 })
  expect(Math.max(...(frames[0] ?? []).map(line => line.length))).toBeLessThanOrEqual(80)
  expect(frames[0]?.[2]).toMatch(/^orders-\S*…\S*orders- /)
})

test('a store that does not answer: the last state stays, with a line since when, until it answers', async () => {
  const world = await letters('a')
  let lost = false
  const store: StreamStore = storeWith(world.store, {
    async *list(query) {
      if (lost) throw new StoreUnreachable('connection refused\u001b[2J')
      yield* world.store.list(query)
    },
  })
  const after = (frame: number) => {
    world.nowMs += 10_000
    lost = frame < 3
  }
  const { exit, frames } = await watched(world, ['--fields', 'name'], { frames: 4, after, store })
  expect(exit).toBe(130)
  expect(frames[1]).toEqual([
    '1 stream · memory: · 12:00:00Z',
    'no answer since 12:00:10Z (0s), retrying: connection refused␛[2J',
    'NAME',
    'a',
  ])
  expect(frames[2]?.[1]).toMatch(/^no answer since 12:00:10Z \(10s\)/)
  expect(frames[3]).toEqual(['1 stream · memory: · 12:00:30Z', 'NAME', 'a'])
})

test('an answer that takes long is mentioned too, and Ctrl-C does not wait for it', async () => {
  const world = await letters('a')
  let looks = 0
  const store: StreamStore = storeWith(world.store, {
    async *list(query) {
      if (looks++ > 0)
        await new Promise((_, reject) => query.signal?.addEventListener('abort', () => reject(query.signal?.reason)))
      yield* world.store.list(query)
    },
  })
  const { exit, frames } = await watched(world, ['--fields', 'name'], {
    frames: 5,
    store,
    after: () => {
      world.nowMs += 3_000
    },
  })
  expect(exit).toBe(130)
  expect(frames.map(frame => frame[1])).toEqual([
    'NAME',
    'NAME',
    'NAME',
    'no answer since 12:00:03Z (6s), retrying',
    'no answer since 12:00:03Z (9s), retrying',
  ])
})

test('a store that does not answer at first, or permissions that are removed, end it', async () => {
  const world = await letters('a')
  const failing = (error: Error) =>
    storeWith(world.store, {
      // biome-ignore lint/correctness/useYield: it fails before
      async *list() {
        throw error
      },
    })
  const atFirst = await watched(world, [], { frames: 1, store: failing(new StoreUnreachable('refused')) })
  expect(atFirst).toMatchObject({ exit: 9, frames: [], closed: 0 })
  let store = world.store
  const later = storeWith(world.store, { list: query => store.list(query) })
  const after = () => {
    store = failing(new NotPermitted('the token has expired'))
  }
  const taken = await watched(world, [], { frames: 9, store: later, after })
  expect(taken).toMatchObject({ exit: 4, closed: 1 })
  expect(taken.frames).toHaveLength(1)
})

test('groups can be watched too; --since moves with the time', async () => {
  const world = await letters('a', 'b')
  const after = () => {
    world.nowMs += 40_000
  }
  const { frames } = await watched(world, ['--group-by', 'status', '--since', '1m'], { frames: 3, after })
  expect(frames.map(frame => frame[0]?.slice(0, 9))).toEqual(['2 streams', '2 streams', '0 streams'])
  expect(frames[0]?.[2]).toMatch(/^▶ inprocess +2 /)
})

test.each([
  [['-o', 'json'], {}, '-w does not go with -o json', 'tail -f -o ndjson'],
  [['-o', 'yaml'], {}, '-w does not go with -o yaml', 'tail -f'],
  [['-o', 'name'], {}, '-w does not go with -o name', 'loop'],
  [[], { columns: undefined }, 'not a terminal', 'tail -f'],
  [[], { env: { TERM: 'dumb' } }, 'not a terminal', 'loop'],
])('-w %j %j is exit 2 and names what to use instead', async (more, setting, says, instead) => {
  const ran = await cli(newWorld(), ['ls', '-w', ...more], { columns: 80, ...setting } as Setting)
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(says)
  expect(ran.stderr).toContain(instead)
})

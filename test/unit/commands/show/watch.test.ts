import { expect, test } from 'vitest'
import type { LiveView } from '../../../../src/cli/runtime.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import { badStream } from '../bad-stream.ts'
import { storeWith } from '../store-with.ts'
import { cli, newWorld, type Ran, type Setting, type World } from '../support.ts'

/** The time limit of a test that would hang. */
const MAX_FRAMES = 300

interface Watched extends Ran {
  readonly frames: readonly (readonly string[])[]
}

interface Watching extends Setting {
  readonly height?: number
  /** Checks each frame, may change the world, and decides when to press Ctrl-C. A slow poll is drawn more than once. */
  readonly ends?: (frame: string) => boolean | Promise<boolean>
}

async function watched(world: World, argv: readonly string[], watching: Watching = {}): Promise<Watched> {
  const { height = 20, ends = () => true, ...setting } = watching
  const stop = new AbortController()
  const frames: (readonly string[])[] = []
  let before: Promise<unknown> = Promise.resolve()
  const live: LiveView = {
    height,
    draw(lines) {
      frames.push(lines)
      const text = lines.join('\n')
      before = before.then(async () => {
        if ((await ends(text)) || frames.length > MAX_FRAMES) stop.abort('SIGINT')
      })
    },
    close: async () => {},
  }
  const inner = setting.store ?? world.store
  // A poll waits for the actions after the previous frame.
  const store = storeWith(inner, { read: (name, signal) => before.then(() => inner.read(name, signal)) })
  const terminal = { columns: 90, terminal: true, env: { NO_COLOR: '1' }, live, signal: stop.signal }
  const words = ['show', '-w', '--interval', '1ms', '--time', 'utc', ...argv]
  return { ...(await cli(world, words, { ...terminal, ...setting, store })), frames }
}

async function forked(name = 's', steps = 'A,B'): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', name, '--fork', steps])
  return world
}

test('the stream is redrawn each interval; Ctrl-C ends it with 130 and leaves the last state', async () => {
  const world = await forked()
  const ends = async (frame: string) => {
    if (frame.includes('✗ aborted')) return true
    if (frame.includes('s  v1'))
      await cli(world, ['event', 'fail', 's', '01.00', '-m', 'no answer', '--command-id', 'x'])
    return false
  }
  const { exit, stdout, frames } = await watched(world, ['s'], { ends })
  expect(exit).toBe(130)
  expect(frames[0]).toEqual([
    'show · memory: · 12:00:00Z',
    's  v1',
    '▶ inprocess  12:00:00Z  waits on 01.00 02.00',
    '',
    'EVENT        STATUS       OWNER    CREATED  DUE',
    '▾ 00 Start   ▶ inprocess  -      12:00:00Z  -',
    '├─  01.00 A  ○ init       -      12:00:00Z  -',
    '└─  02.00 B  ○ init       -      12:00:00Z  -',
  ])
  expect(frames.at(-1)?.join('\n')).toMatch(/01\.00 A +✗ aborted[\s\S]*no answer$/)
  expect(stdout).toBe(`${frames.at(-1)?.join('\n')}\n`)
})

test('it fits the height; several streams share the height', async () => {
  const world = await forked('s', 'A,B,C,D,E,F,G,H')
  await cli(world, ['init', 't', '--fork', 'A,B,C,D,E,F,G,H'])
  const { frames } = await watched(world, ['s'], { height: 10 })
  expect(frames[0]).toHaveLength(10)
  expect(frames[0]?.at(-1)).toBe('… 5 more')
  const both = (await watched(world, ['s', 't'], { height: 20 })).frames[0] ?? []
  expect(both.length).toBeLessThanOrEqual(20)
  expect(both.filter(line => /^… \d more$/.test(line))).toHaveLength(2)
  expect((await watched(world, ['s', '--diff', '1'], { height: 4 })).frames[0]?.at(-1)).toBe('… 2 more')
})

test('timeline, selected events, values and diffs can be watched too', async () => {
  const world = await forked()
  const last = async (...argv: string[]) => (await watched(world, argv)).frames[0]?.slice(1) ?? []
  expect((await last('s', '-o', 'timeline')).join('\n')).toMatch(/^└─ {2}02\.00 B +░+.*\n\n█ running/m)
  expect((await last('s', '--select', "Event[@name='B']")).slice(4)).toEqual([
    expect.stringMatching(/^02\.00 B +○ init/),
  ])
  expect(await last('s', '--select', 'count(Event)')).toEqual(['3'])
  expect((await last('s', '--diff', '1'))[0]).toBe('s  v1 → v1')
})

test('a stream that vanishes or becomes unreadable is reported above its last state; the others continue', async () => {
  const world = await forked('a')
  await cli(world, ['init', 'b'])
  let state: 'there' | 'gone' | 'broken' = 'there'
  const store = storeWith(world.store, {
    read: async (name, signal) => {
      const stored = await world.store.read(name, signal)
      if (name !== 'a' || stored === undefined || state === 'there') return stored
      return state === 'gone' ? undefined : { ...stored, etag: 'other', body: Buffer.from('<EventStream><Event') }
    },
  })
  const seen: string[] = []
  const ends = async (frame: string) => {
    const [, note = ''] = frame.split('\n')
    if (seen.at(-1) === note) return false
    seen.push(note)
    state = note === 'a  v1' ? 'gone' : note.includes('removed') ? 'broken' : 'there'
    if (seen.length === 1) await cli(world, ['cancel', 'b'])
    return seen.length === 4
  }
  const { exit, frames } = await watched(world, ['a', 'b'], { ends, store })
  expect(exit).toBe(130)
  expect(seen).toEqual([
    'a  v1',
    'a was removed; this is its last state',
    expect.stringMatching(/^a cannot be read: a: line 1, column \d+: .*; this is its last state$/),
    'a  v1',
  ])
  const removed = frames.find(frame => frame[1]?.includes('removed')) ?? []
  expect(removed[2]).toBe('a  v1')
  expect(removed.join('\n')).toMatch(/b {2}v2\n⊘ canceled/)
})

test('a store that does not answer meanwhile gets another request', async () => {
  const world = await forked()
  let lost = false
  const store = storeWith(world.store, {
    read: async (name, signal) => {
      if (lost) throw new StoreUnreachable('connection refused')
      return world.store.read(name, signal)
    },
  })
  const seen: string[] = []
  const ends = (frame: string) => {
    const [, note = ''] = frame.split('\n')
    if (seen.at(-1) !== note) seen.push(note)
    lost = seen.length < 2
    return seen.length === 3
  }
  await watched(world, ['s'], { ends, store })
  expect(seen).toEqual(['s  v1', 'no answer since 12:00:00Z (0s), retrying: connection refused', 's  v1'])
})

test('a stream that is unreadable from the beginning is reported beside the others', async () => {
  const world = await forked('a')
  await badStream(world, 'b')
  const { frames } = await watched(world, ['a', 'b'])
  expect(frames[0]?.[1]).toBe('a  v1')
  expect(frames[0]?.at(-1)).toMatch(/^b cannot be read: b: line 1, column \d+: [^;]*$/)
  expect(await watched(world, ['b'])).toMatchObject({ exit: 12, frames: [] })
})

test('a new lease is shown, although the document is unchanged', async () => {
  const world = await forked()
  const ends = async (frame: string) => {
    if (!frame.includes('lease  ')) await cli(world, ['lease', 'acquire', 's'])
    return frame.includes('lease  ')
  }
  const { frames } = await watched(world, ['s'], { ends })
  expect(frames.at(-1)?.[3]).toMatch(/^lease {2}leased by tester@testhost/)
})

test('a missing stream is exit 3 at the beginning and nothing is drawn', async () => {
  expect(await watched(newWorld(), ['nix'])).toMatchObject({ exit: 3, frames: [], stdout: '' })
})

test.each([
  [['-o', 'json'], {}, '-w does not go with -o json'],
  [['-o', 'xml'], {}, '-w does not go with -o xml'],
  [['-o', 'mermaid'], {}, '-w does not go with -o mermaid'],
  [['--at', '1'], {}, 'past versions do not change'],
  [['--select', 'Event', '--must'], {}, '-w does not go with --must'],
  [[], { columns: undefined }, 'not a terminal'],
  [[], { env: { TERM: 'dumb' } }, 'not a terminal'],
])('-w %j %j is exit 2', async (more, setting, says) => {
  const ran = await cli(await forked(), ['show', 's', '-w', ...more], { columns: 80, ...setting } as Setting)
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(says)
})

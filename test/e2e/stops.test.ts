import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runBatch } from '../../src/ops/batch.ts'
import { transact } from '../../src/ops/transact.ts'
import type { EventStore } from '../../src/store/store.ts'
import { seededRandom } from '../support/faults.ts'
import { trustRow } from '../trust/record.ts'
import { repeatWith, sized, trustSeed } from '../trust/size.ts'
import type { Running } from './program.ts'
import { type Aftermath, aftermathOf } from './stops/aftermath.ts'
import { Stopwatch } from './stops/stopwatch.ts'
import { Terminals } from './top-terminal.ts'
import { eventually } from './watchdog/poll.ts'
import { newWorld, type World } from './watchdog/world.ts'

/** Commands of the built program that are asked to end (SIGTERM), at random moments. Watchdogs: see watchdog-stops. */

const FILE = 'test/e2e/stops.test.ts'
const SEED = trustSeed(1)
const TIMES = sized(2, 40)
/** So many streams of a batch, with two open events each. */
const STREAMS = 16
const LIMIT = { timeout: sized(120_000, 1_800_000) }
const TERM = 143

const trust = trustRow('stops')
const watch = new Stopwatch(trust)
const again = repeatWith(FILE, SEED)
let world: World
let terminals: Terminals

beforeAll(async () => {
  world = await newWorld()
  terminals = new Terminals(world.user)
})
afterAll(async () => {
  await terminals.leave()
  await world.leave()
  watch.tell('of commands')
})

const names = Array.from({ length: STREAMS }, (_, at) => `s-${at}`)
const CANCEL = ['cancel', ...names, '--yes', '--expect', `${STREAMS}`] as const

async function plant(store: EventStore): Promise<void> {
  await runBatch(names, { concurrency: 8 }, async name => {
    const init = { op: 'init', root: { name: 'Start' }, forks: [{ name: 'A' }, { name: 'A' }], hold: false } as const
    expect((await transact(store, name, { ...init, born: name }, { commandId: 'init', by: 'test' })).kind).toBe('done')
  })
}

/** A moment of the next so many ms. */
async function moment(random: () => number, withinMs: number): Promise<void> {
  const untilAt = performance.now() + random() * withinMs
  await eventually('a moment', () => performance.now() >= untilAt || undefined, { everyMs: 5, withinMs: 60_000 })
}

/** What was left is whole, nothing is held, nothing goes on. */
async function expectClean(store: EventStore): Promise<Aftermath> {
  const aftermath = await aftermathOf(store)
  watch.leases += aftermath.leased.length
  expect(aftermath, again).toMatchObject({ leased: [], half: [] })
  return aftermath
}

interface Case {
  /** The command line, without its store. */
  readonly argv: readonly string[]
  /** Said when it is in the middle of it. */
  readonly ready: readonly ['stdout' | 'stderr', RegExp]
  readonly kind: 'idle' | 'busy'
  /** With these codes it may end: some come to their own end before. */
  readonly codes: readonly number[]
}

const CASES: Readonly<Record<string, Case>> = {
  'tail -f': { argv: ['tail', '-f', 's-0'], ready: ['stdout', /init/], kind: 'idle', codes: [TERM] },
  wait: { argv: ['wait', 's-0', '-v'], ready: ['stderr', /^store: /], kind: 'idle', codes: [TERM] },
  'work, idle': {
    argv: ['work', '--name', 'B', '--max-idle', '10m', '-v', '--', 'true'],
    ready: ['stderr', /^store: /],
    kind: 'idle',
    codes: [0],
  },
  'work, busy': {
    argv: ['work', '--name', 'A', '--concurrency', '3', '--', './short'],
    ready: ['stderr', /completed/],
    kind: 'busy',
    codes: [0],
  },
  exec: { argv: ['exec', 's-1', '01.00', '--', './long'], ready: ['stdout', /up/], kind: 'busy', codes: [TERM] },
  'cancel of many': {
    argv: [...CANCEL, '--concurrency', '2'],
    ready: ['stdout', /done/],
    kind: 'busy',
    codes: [0, TERM],
  },
}

describe.concurrent('SIGTERM at a random moment ends', LIMIT, () => {
  test.each(Object.entries(CASES))(`%s (seed ${SEED})`, async (name, { argv, ready, kind, codes }) => {
    writeFileSync(join(world.user.home, 'short'), '#!/bin/sh\nsleep 0.05\n', { mode: 0o755 })
    writeFileSync(join(world.user.home, 'long'), '#!/bin/sh\necho up; while :; do sleep 0.02; done\n', { mode: 0o755 })
    const random = seededRandom(SEED + name.length)
    for (let time = 0; time < TIMES; time++) {
      const store = await world.sqlite()
      await plant(store)
      const separator = argv.indexOf('--')
      const at = separator < 0 ? argv.length : separator
      const running = world.user.start([...argv.slice(0, at), '--store', store.address, ...argv.slice(at)])
      await running.until(...ready)
      await moment(random, 300)
      const { code } = await watch.stop(running, kind)
      expect(codes, again).toContain(code)
      await expectClean(store)
      expect(world.user.processesWith(store.address)).toEqual([])
    }
  })

  test('a dashboard', async () => {
    const store = await world.sqlite()
    await plant(store)
    const random = seededRandom(SEED)
    for (let time = 0; time < TIMES; time++) {
      const program = terminals.top(['--interval', '50ms', '--store', store.address])
      await program.until(/READ-ONLY[\s\S]*s-0/)
      await moment(random, 300)
      const code = await watch.time('idle', () => {
        program.kill('SIGTERM')
        return program.ended
      })
      expect(code).toBe(TERM)
      await expectClean(store)
    }
  })

  test('a cancel of many on Azurite: what was sent is finished and told, its lease given back', async () => {
    const random = seededRandom(SEED)
    for (let time = 0; time < sized(1, TIMES); time++) {
      const { store, proxy, address } = await world.proxied({ delayMs: 10 })
      await plant(store)
      const running = world.user.start([...CANCEL, '--concurrency', '4', '--store', address])
      await running.until('stdout', /done/)
      await moment(random, 300)
      const { code, stdout } = await watch.stop(running, 'busy')
      expect([0, TERM], again).toContain(code)
      const { canceled } = await expectClean(store)
      expect(stdout.match(/✓ done/g)?.length ?? 0).toBe(canceled)
      trust.injected('requests of batches that were stopped', proxy.requests.length)
    }
  })
})

describe.concurrent('a second signal', LIMIT, () => {
  test('ends at once what waits for a store that does not answer', async () => {
    const { store, proxy, address } = await world.proxied()
    await plant(store)
    proxy.add({ kind: 'lose-request', on: 'acquire', silent: true })
    const running = world.user.start([...CANCEL, '--store', address])
    await eventually('a request without an answer', () => proxy.injected.length > 0 || undefined)
    running.process.kill('SIGTERM')
    await moment(seededRandom(SEED), 200)
    const { code } = await watch.stop(running, 'idle')
    expect(code).toBe(TERM)
    await expectClean(store)
  })
})

describe.concurrent('it shows', LIMIT, () => {
  test('that a program that is killed leaves a lease behind', async () => {
    const { store, proxy, address } = await world.proxied()
    await plant(store)
    let running: Running | undefined
    const kill = async () => {
      running?.process.kill('SIGKILL')
      await running?.ended
    }
    proxy.add({ kind: 'lose-request', on: 'put', times: 1, before: kill })
    running = world.user.start([...CANCEL, '--concurrency', '1', '--store', address])
    await running.ended
    const { leased } = await aftermathOf(store)
    expect(leased).toHaveLength(1)
    trust.control('a program is killed in the middle of a change', leased.length > 0)
  })
})

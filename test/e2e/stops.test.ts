import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StreamStore } from '../../src/store/store.ts'
import { trustRow } from '../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../guarantees/size.ts'
import { seededRandom } from '../support/faults.ts'
import type { Ended, Running } from './program.ts'
import { type Aftermath, aftermathOf } from './stops/aftermath.ts'
import { type AzureCase, BUSY, CANCEL, CASES, type Case, plant, SCRIPTS, TERM } from './stops/cases.ts'
import { Stopwatch } from './stops/stopwatch.ts'
import { Terminals } from './top-terminal.ts'
import { eventually } from './watchdog/poll.ts'
import { newWorld, type ProxiedStore, type World } from './watchdog/world.ts'

/** Commands of the built program that are stopped (SIGTERM), at random moments. Watchdogs: see watchdog-stops. */

const FILE = 'test/e2e/stops.test.ts'
const SEED = trustSeed(1)
const TIMES = sized(1, 40)
const LIMIT = { timeout: sized(120_000, 1_800_000) }
/** The range of the moment after it is ready, or after its start: some signals arrive before it is ready, ms. */
const READY_MS = 300
const STARTING_MS = 800

const trust = trustRow('stops')
const watch = new Stopwatch(trust)
const again = repeatWith(FILE, SEED)
let world: World
let terminals: Terminals
let beforeReady = 0

beforeAll(async () => {
  world = await newWorld()
  terminals = new Terminals(world.user)
  for (const [name, script] of SCRIPTS)
    writeFileSync(join(world.user.home, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
})
afterAll(async () => {
  await terminals.leave()
  await world.leave()
  watch.tell('of commands')
  if (TIMES > 1) trust.injected('SIGTERM before it is ready', beforeReady)
})

/** A random moment of the next milliseconds. */
async function moment(random: () => number, withinMs: number): Promise<void> {
  const untilAt = performance.now() + random() * withinMs
  await eventually('a moment', () => performance.now() >= untilAt || undefined, { everyMs: 5, withinMs: 60_000 })
}

/** The result is intact, no lease is held, no process continues. */
async function expectClean(store: StreamStore, address = store.address): Promise<Aftermath> {
  const aftermath = await aftermathOf(store)
  watch.leases += aftermath.leased.length
  expect(aftermath, again).toMatchObject({ leased: [], half: [] })
  expect(world.user.processesWith(address), again).toEqual([])
  return aftermath
}

function start({ argv }: Case, address: string): Running {
  const separator = argv.indexOf('--')
  const at = separator < 0 ? argv.length : separator
  return world.user.start([...argv.slice(0, at), '--store', address, ...argv.slice(at)])
}

type Moment = 'ready' | 'starting'

/** Stops it after its start, when it may not even handle signals yet, or in the middle of its work. */
async function stopSoon(running: Running, { ready, kind, codes }: Case, when: Moment, random: () => number) {
  if (when === 'ready') await running.until(...ready)
  await moment(random, when === 'ready' ? READY_MS : STARTING_MS)
  const isReady = ready[1].test(running.said[ready[0]])
  if (!isReady) beforeReady += 1
  const ended = await watch.stop(running, isReady ? kind : 'busy')
  const { code, signal } = ended
  if (when === 'ready') expect(codes, again).toContain(code)
  else expect([...codes, TERM, 'SIGTERM'], `${ended.stderr}; ${again}`).toContain(code ?? signal)
  return ended
}

describe.concurrent('SIGTERM at a random moment ends', LIMIT, () => {
  test.each(Object.entries(CASES))(`%s (seed ${SEED})`, async (name, command) => {
    const random = seededRandom(SEED + name.length)
    for (let time = 0; time < TIMES; time++) {
      const store = await world.sqlite()
      await plant(store)
      await stopSoon(start(command, store.address), command, time % 2 === 0 ? 'ready' : 'starting', random)
      await expectClean(store)
    }
  })

  test('a dashboard', async () => {
    const store = await world.sqlite()
    await plant(store)
    const random = seededRandom(SEED)
    for (let time = 0; time < TIMES; time++) {
      const program = terminals.top(['--interval', '50ms', '--store', store.address])
      await program.until(/READ-ONLY[\s\S]*s-0/)
      await moment(random, READY_MS)
      const code = await watch.time('idle', () => {
        program.kill('SIGTERM')
        return program.ended
      })
      expect(code).toBe(TERM)
      await expectClean(store)
    }
  })
})

/** The moment to stop a command on Azurite: during a Put, or during any request, or as elsewhere. */
const MOMENTS = ['put', 'request', 'ready', 'starting'] as const

/** Sends the signal during a random request, of Puts only those under a lease. */
async function stopAtRequest(
  { proxy, address }: ProxiedStore,
  command: AzureCase,
  on: 'put' | 'request',
  random: () => number,
  stop: (running: Running) => Promise<Ended> = running => watch.stop(running, command.kind),
): Promise<Ended> {
  const most = on === 'put' ? command.puts : command.requests
  const asked = Promise.withResolvers<Ended>()
  proxy.add({
    kind: 'delay',
    nth: 1 + Math.floor(random() * most),
    when: ({ operation, headers }) => on === 'request' || (operation === 'put' && 'x-ms-lease-id' in headers),
    before: async () => asked.resolve(stop(running)),
  })
  const running = start(command, address)
  const ended = await Promise.race([asked.promise, running.ended])
  expect(proxy.injected, again).toHaveLength(1)
  return ended
}

describe.concurrent('SIGTERM at a random moment of a change on Azurite', LIMIT, () => {
  test.each(Object.entries(BUSY))(
    `completes requests in flight and releases its lease: %s (seed ${SEED})`,
    async (name, command) => {
      const random = seededRandom(SEED + name.length)
      let puts = 0
      for (let time = 0; time < TIMES; time++) {
        const proxied = await world.proxied({ delayMs: 10 })
        const { store, proxy, address } = proxied
        await plant(store)
        const when = MOMENTS[time % MOMENTS.length] ?? 'put'
        const { code, stdout } =
          when === 'put' || when === 'request'
            ? await stopAtRequest(proxied, command, when, random)
            : await stopSoon(start(command, address), command, when, random)
        if (when === 'put') expect(command.codes, again).toContain(code)
        const { canceled } = await expectClean(store, address)
        if (command.argv[0] === 'cancel') expect(stdout.match(/✓ done/g)?.length ?? 0, again).toBe(canceled)
        if (when === 'put') puts += proxy.injected.length
      }
      trust.injected(`SIGTERM while a Put is on its way under a lease: ${name}`, puts)
    },
  )
})

describe.concurrent('a second signal', LIMIT, () => {
  test('ends a process at once that waits for a store that does not answer', async () => {
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

describe.concurrent('the test detects', LIMIT, () => {
  test('the lease that a killed worker leaves behind', async () => {
    const command = BUSY['work, busy']
    if (command === undefined) throw new Error('no such case')
    const proxied = await world.proxied({ delayMs: 10 })
    await plant(proxied.store)
    const kill = (running: Running) => {
      running.process.kill('SIGKILL')
      return running.ended
    }
    await stopAtRequest(proxied, command, 'put', seededRandom(SEED), kill)
    const { leased } = await aftermathOf(proxied.store)
    expect(leased.length).toBeGreaterThan(0)
    trust.control('a program is killed in the middle of a change', leased.length > 0)
  })
})

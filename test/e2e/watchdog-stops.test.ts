import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StreamStore } from '../../src/store/store.ts'
import { trustRow } from '../guarantees/record.ts'
import { sized } from '../guarantees/size.ts'
import type { Seen } from '../support/fault-proxy.ts'
import { seededRandom } from '../support/faults.ts'
import { Stopwatch } from './stops/stopwatch.ts'
import { fatesOf } from './watchdog/judge.ts'
import { plant } from './watchdog/planting.ts'
import { eventually } from './watchdog/poll.ts'
import type { WatchdogProcess } from './watchdog/watchdog-process.ts'
import { newWorld, rowsOf, type World } from './watchdog/world.ts'

/** A watchdog of the built program that is stopped, at any moment. */

/** `LEASECTL_SEEDS=7` stops it at other moments. */
const SEED = Number.parseInt(process.env.LEASECTL_SEEDS ?? '1', 10)
/** The promise is 1 s if idle and 10 s if busy; a machine with other tests takes its time, ms. */
const IDLE_MS = sized(3_000, 1_000)
const BUSY_MS = sized(13_000, 10_000)
/** Others check for shards every 1 to 1.4 s. A lease that was not released would block them for ten seconds at least. */
const TAKEN_OVER_MS = sized(8_000, 3_000)
const ALL_AT_ONCE = ['--max-share', '100%'] as const

/** The time limit of a test on a busy machine. */
const LIMIT = { timeout: sized(90_000, 900_000) }

const watch = new Stopwatch(trustRow('stops'))
let world: World
beforeAll(async () => {
  world = await newWorld()
})
afterAll(async () => {
  await world.leave()
  watch.tell('of watchdogs')
})

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `orders/${at}`)

/** Streams with an event whose deadline has passed. */
async function plantDue(store: StreamStore, streams: readonly string[]): Promise<void> {
  await plant(
    store,
    streams.map(stream => ({ stream, timeoutMs: 1 })),
  )
}

/** Each is untouched, or ended in one whole transaction; no lease remains. @returns the number of ended ones */
async function endedWhole(store: StreamStore, streams: readonly string[]): Promise<number> {
  const fates = [...(await fatesOf(store, streams))]
  expect(fates.length).toBe(streams.length)
  for (const [stream, { status, ends, byWatchdogs, lease }] of fates) {
    const expected = ends.length === 0 ? { status: 'inprocess', byWatchdogs: 0 } : { status: 'aborted', byWatchdogs: 1 }
    if (lease === 'leased') watch.leases += 1
    expect({ stream, status, byWatchdogs, lease }).toEqual({ stream, ...expected, lease: 'available' })
  }
  return fates.filter(([, { ends }]) => ends.length > 0).length
}

const toldEnds = (watchdog: WatchdogProcess): number => watchdog.lines('ended').length

describe.concurrent('a watchdog that is stopped', LIMIT, () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'between passes ends at once with 0 (%s); the others can take its shards at once',
    async signal => {
      const store = await world.sqlite()
      const [first, second] = [0, 1].map(() => world.watchdog(store.address, ['--shards', '4']))
      if (first === undefined || second === undefined) throw new Error('no watchdogs')
      await eventually(
        'both hold two shards',
        () => [first, second].every(({ held }) => held?.length === 2) || undefined,
      )
      const { code, tookMs, stdout } = await first.stop(signal)
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
      watch.took('idle', tookMs)
      expect(tookMs).toBeLessThan(IDLE_MS)
      const hasAll = () => String(second.held) === '0,1,2,3' || undefined
      await eventually('the other holds all', hasAll, { withinMs: TAKEN_OVER_MS })
      const leased = rowsOf(store).filter(({ isLeased }) => isLeased)
      expect(leased.map(({ name }) => name)).toEqual(
        [0, 1, 2, 3].map(at => expect.stringMatching(`shards/4/${at}$`)).concat(expect.stringContaining('seats/')),
      )
      expect((await second.stop()).code).toBe(0)
      expect(rowsOf(store).filter(({ isLeased }) => isLeased)).toEqual([])
      expect(world.user.processesWith(store.address)).toEqual([])
    },
  )

  test(`at any moment after its start ends with 0, and leaves nothing partial (LEASECTL_SEEDS=${SEED})`, async () => {
    const store = await world.sqlite()
    const random = seededRandom(SEED)
    const streams = names(200)
    await plantDue(store, streams)
    for (let time = 0; time < sized(4, 40); time++) {
      const watchdog = world.watchdog(store.address, ['--interval', '500ms', ...ALL_AT_ONCE])
      await watchdog.until('start')
      const untilAt = performance.now() + random() * 900
      await eventually('a moment', () => performance.now() >= untilAt || undefined, { everyMs: 5 })
      const told = toldEnds(watchdog)
      const { code, tookMs } = await watchdog.stop()
      expect(code).toBe(0)
      watch.took('busy', tookMs)
      expect(tookMs).toBeLessThan(BUSY_MS)
      expect(await endedWhole(store, streams)).toBeGreaterThanOrEqual(told)
    }
    expect(rowsOf(store).filter(({ isLeased }) => isLeased)).toEqual([])
  })

  test('while it ends many events, completes those in flight and begins no further one', async () => {
    const { store, proxy, address } = await world.proxied()
    const streams = names(40)
    await plantDue(store, streams)
    // All but the first are in flight until it is told to stop.
    const { promise: asked, resolve: goOn } = Promise.withResolvers<void>()
    let puts = 0
    const isLater = ({ target }: Seen) => target.includes('orders/') && ++puts > 1
    proxy.add({ kind: 'delay', on: 'put', when: isLater, before: () => asked })
    const watchdog = world.watchdog(address, ['--interval', '500ms', ...ALL_AT_ONCE])
    await watchdog.until('ended')
    const stopped = watchdog.stop()
    await watchdog.until('stopping').finally(goOn)
    const { code, tookMs } = await stopped
    expect(code).toBe(0)
    watch.took('busy', tookMs)
    expect(tookMs).toBeLessThan(BUSY_MS)
    const ended = await endedWhole(store, streams)
    expect(ended).toBe(toldEnds(watchdog))
    expect(ended).toBeLessThan(streams.length)
    const rest = await world.user.run(['watchdog', '--once', ...ALL_AT_ONCE, '--store', store.address])
    expect(rest).toMatchObject({ code: 0 })
    expect(await endedWhole(store, streams)).toBe(streams.length)
  })

  test('while a hook hangs, ends it with all its processes', async () => {
    const store = await world.sqlite()
    const hook = join(world.user.home, 'hanging-hook')
    const asleep = `sleep 3600.${process.pid}`
    writeFileSync(hook, `#!/bin/sh\ntrap '' TERM\n${asleep} & ${asleep}\n`, { mode: 0o755 })
    await plantDue(store, ['orders/1'])
    const watchdog = world.watchdog(store.address, ['--interval', '500ms', '--on-failed', hook])
    await eventually('the hook runs', () => world.user.processesWith(asleep).length === 2 || undefined)
    const { code, tookMs } = await watchdog.stop()
    expect(code).toBe(0)
    watch.took('busy', tookMs)
    expect(tookMs).toBeLessThan(BUSY_MS)
    expect([hook, asleep].flatMap(text => world.user.processesWith(text))).toEqual([])
    expect(world.user.processesWith(store.address)).toEqual([])
    expect(await endedWhole(store, ['orders/1'])).toBe(1)
  })

  test('in a sweep that the store does not answer, ends with 0', async () => {
    const { proxy, address } = await world.proxied()
    const watchdog = world.watchdog(address, ['--interval', '500ms'])
    await watchdog.until('pass')
    proxy.add({ kind: 'lose-request', silent: true })
    const before = proxy.count('list')
    await eventually('a listing without an answer', () => proxy.count('list') > before || undefined)
    const { code, tookMs } = await watchdog.stop()
    expect(code).toBe(0)
    watch.took('busy', tookMs)
    expect(tookMs).toBeLessThan(BUSY_MS)
  })
})

describe.concurrent('a write without an answer', LIMIT, () => {
  /** A watchdog whose first Put is lost. */
  async function atASwallowedPut() {
    const { store, proxy, address } = await world.proxied()
    await plantDue(store, ['orders/1'])
    const swallowed = { kind: 'lose-request', silent: true } as const
    proxy.add({
      ...swallowed,
      on: 'put',
      when: ({ target }) => target.includes('orders/'),
      before: async () => proxy.add(swallowed),
    })
    const watchdog = world.watchdog(address, ['--interval', '500ms'])
    await eventually('the Put', () => proxy.injected.length > 0 || undefined)
    return { store, proxy, watchdog }
  }

  test('is waited for 10 s, then left: 143, and the next watchdog resolves it', async () => {
    const { store, proxy, watchdog } = await atASwallowedPut()
    const { code, tookMs } = await watchdog.stop()
    expect(code).toBe(143)
    watch.took('busy', tookMs)
    expect(tookMs).toBeLessThan(BUSY_MS)
    proxy.heal()
    const next = world.watchdog(store.address, ['--interval', '500ms'])
    await next.until('ended', undefined, 25_000)
    expect((await next.stop()).code).toBe(0)
    expect(await endedWhole(store, ['orders/1'])).toBe(1)
  })

  test('does not prevent a second signal from ending the watchdog at once', async () => {
    const { store, watchdog } = await atASwallowedPut()
    watchdog.running.process.kill('SIGTERM')
    await watchdog.until('stopping')
    const { code, tookMs } = await watchdog.stop()
    expect(code).toBe(143)
    watch.took('idle', tookMs)
    expect(tookMs).toBeLessThan(IDLE_MS)
    expect((await fatesOf(store, ['orders/1'])).get('orders/1')).toMatchObject({ status: 'inprocess', ends: [] })
  })
})

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { transact } from '../../src/ops/transact/transact.ts'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { metric, pagesOf } from './watchdog/http.ts'
import { fatesOf } from './watchdog/judge.ts'
import { CLAIM_MS, EVENT, FENCE, OWNER } from './watchdog/lives.ts'
import { plant } from './watchdog/planting.ts'
import { eventually } from './watchdog/poll.ts'
import { newWorld, type World } from './watchdog/world.ts'

/** A watchdog of the built program whose store is unreachable for a while, or refuses access. */

const TIMEOUT_MS = 15_000
/** The timeout is at least three times the time between two heartbeats. */
const GRACE_MS = TIMEOUT_MS / 3
const INTERVAL = ['--interval', '1s'] as const
const ALIVE = ['live/1', 'live/2', 'live/3', 'live/4']
const SILENT = ['silent/1', 'silent/2']

/** The time limit of a test on a busy machine. */
const LIMIT = { timeout: 180_000 }

let world: World
beforeAll(async () => {
  world = await newWorld()
})
afterAll(() => world.leave())

/** Sends heartbeats for the streams repeatedly, through the same network as the watchdog. */
async function keepAlive(address: string, streams: readonly string[], until: AbortSignal): Promise<void> {
  const store = await openStore(address, process.env)
  const touch = { op: 'touch', event: EVENT, claimMs: CLAIM_MS, owner: OWNER, fence: FENCE } as const
  while (!until.aborted) {
    const show = (stream: string) => transact(store, stream, touch, { commandId: randomUUID(), by: OWNER })
    const taken = await Promise.allSettled(streams.map(show))
    const isDone = taken.every(each => each.status === 'fulfilled')
    await sleep(isDone ? 1_200 : 200, undefined, { signal: until }).catch(() => {})
  }
  await store.close()
}

async function ended(store: StreamStore): Promise<readonly string[]> {
  const fates = await fatesOf(store, [...ALIVE, ...SILENT])
  return [...fates].flatMap(([stream, { ends }]) => (ends.length > 0 ? [stream] : [])).sort()
}

describe.concurrent('a watchdog', LIMIT, () => {
  test('ends nothing because of an outage: events without a heartbeat in it get time for one', async () => {
    const { store, proxy, address } = await world.proxied()
    const watchdog = world.watchdog(address, [...INTERVAL, '--listen', '127.0.0.1:0'])
    const page = await pagesOf(watchdog)
    await watchdog.until('pass')
    await plant(
      store,
      [...ALIVE, ...SILENT].map(stream => ({ stream, timeoutMs: TIMEOUT_MS })),
    )
    const play = new AbortController()
    const life = keepAlive(address, ALIVE, play.signal)
    await eventually(
      'the watchdog sees them',
      async () => metric((await page('/metrics')).text, 'watched_streams') === 6 || undefined,
    )

    proxy.add({ kind: 'error-before' })
    const unready = await eventually(
      'it is not ready',
      async () => {
        expect((await page('/livez')).status).toBe(200)
        const answer = await page('/readyz')
        return answer.status === 503 ? answer.text : undefined
      },
      { withinMs: 40_000, everyMs: 500 },
    )
    expect(unready).toMatch(/^the last sweep ended \d+s ago, .*; the last pass failed: store-unreachable$/m)
    expect(await ended(store)).toEqual([])
    const healedMs = Date.now()
    proxy.heal()

    await eventually('the silent ones are ended', async () => (await ended(store)).length > 1 || undefined, {
      withinMs: 40_000,
      everyMs: 300,
    })
    expect(await ended(store)).toEqual(SILENT)
    for (const { ends } of (await fatesOf(store, SILENT)).values()) {
      expect(ends[0]?.atMs).toBeGreaterThanOrEqual(healedMs + GRACE_MS)
    }
    const [outage, recovered, blind] = ['outage', 'recovered', 'blind'].map(kind => watchdog.lines(kind))
    expect(outage).toEqual([expect.objectContaining({ level: 'error', code: 'store-unreachable' })])
    expect(recovered?.length).toBe(1)
    expect(blind).toEqual([expect.objectContaining({ why: 'outage' })])
    await eventually('it is ready again', async () => (await page('/readyz')).status === 200 || undefined)
    const { text } = await page('/metrics')
    expect(metric(text, 'failed_passes_total{code="store-unreachable"}')).toBeGreaterThan(0)
    expect(metric(text, 'blind_spots_total{why="outage"}')).toBe(1)
    expect(metric(text, 'expired_events_total')).toBe(SILENT.length)
    play.abort()
    await life
    expect((await watchdog.stop()).code).toBe(0)
  })

  test('that loses its permissions continues, reports it, and works again when they are back', async () => {
    const { store, proxy, address } = await world.proxied()
    const watchdog = world.watchdog(address, [...INTERVAL, '--listen', '127.0.0.1:0'])
    const page = await pagesOf(watchdog)
    await watchdog.until('pass')
    proxy.add({ kind: 'error-before', status: 403 })
    await plant(store, [{ stream: 'silent/1', timeoutMs: 1 }])
    const { level, msg } = await watchdog.until('outage')
    expect({ level, msg }).toEqual({ level: 'error', msg: expect.stringContaining('[not-permitted]') })
    const failed = async () => metric((await page('/metrics')).text, 'failed_passes_total{code="not-permitted"}') ?? 0
    await eventually('it tries again and again', async () => (await failed()) > 2 || undefined)
    expect((await page('/livez')).status).toBe(200)
    expect((await fatesOf(store, ['silent/1'])).get('silent/1')?.ends).toEqual([])
    proxy.heal()
    await watchdog.until('recovered')
    await watchdog.until('ended')
    expect((await fatesOf(store, ['silent/1'])).get('silent/1')?.status).toBe('aborted')
    expect((await watchdog.stop()).code).toBe(0)
  })

  test('that starts while the store is unreachable waits for it', async () => {
    const { store, proxy, address } = await world.proxied()
    proxy.add({ kind: 'lose-request' })
    const watchdog = world.watchdog(address, INTERVAL)
    expect(await watchdog.until('outage')).toMatchObject({ code: 'store-unreachable' })
    await plant(store, [{ stream: 'silent/1', timeoutMs: 1 }])
    proxy.heal()
    await watchdog.until('ended')
    expect((await watchdog.stop()).code).toBe(0)
  })

  test('that starts after a time without a watchdog gives workers time for a heartbeat', async () => {
    const store = await world.sqlite()
    const first = world.watchdog(store.address, INTERVAL)
    await first.until('pass')
    const claimed = await plant(store, [{ stream: 'silent/1', timeoutMs: TIMEOUT_MS }])
    expect((await first.stop()).code).toBe(0)
    const dueMs = (claimed.get('silent/1') ?? 0) + TIMEOUT_MS
    await eventually('its limit has ended', () => Date.now() > dueMs || undefined)
    const second = world.watchdog(store.address, INTERVAL)
    const { time } = await second.until('start')
    await second.until('ended')
    const end = (await fatesOf(store, ['silent/1'])).get('silent/1')?.ends[0]
    expect(end?.atMs).toBeGreaterThanOrEqual(Date.parse(time) + GRACE_MS)
    expect((await second.stop()).code).toBe(0)
  })
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EventStore } from '../../src/store/store.ts'
import { shardOf } from '../../src/watchdog/shard-plan.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { type FaultKind, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { newUser, type User } from './program.ts'
import { type Played, play, slownessMs } from './watchdog/figure.ts'
import { complaints, starved } from './watchdog/judge.ts'
import type { WatchdogProcess } from './watchdog/watchdog-process.ts'

/** `LEASECTL_SEEDS=7` plays with another seed. */
const SEED = Number.parseInt(process.env.LEASECTL_SEEDS ?? '1', 10)
const SHARDS = 4
const INTERVAL_MS = 2_000
const LEASE_MS = 15_000
/** What the watchdogs promise beyond timeout, interval and lease, ms. */
const SLACK_MS = 2_000
/** Requests that get no answer are sent again, and a pass that had too many of them is made again with the next sweep, ms. */
const RETRIES_MS = INTERVAL_MS + 2_000
const FAULTS: readonly FaultKind[] = [
  'lose-request',
  'lose-answer',
  'error-before',
  'error-after',
  'duplicate',
  'truncate',
  'delay',
]
/** Of all requests; shared by all kinds. */
const FAULTY = 0.05

let user: User
let store: EventStore & { container: string }
let proxy: FaultProxy

beforeAll(async () => {
  user = await newUser()
  const { port } = await sharedAzurite()
  store = await openAzuriteStore(port)
  const faults = FAULTS.map(kind => ({
    kind,
    probability: FAULTY / FAULTS.length,
    delayMs: kind === 'delay' ? 300 : 0,
  }))
  proxy = await startFaultProxy({ target: { port }, seed: SEED, faults })
})
afterAll(async () => {
  await proxy.stop()
  await store.close()
  user.leave()
})

test(`three watchdogs share the work over a bad network; what one that was killed held is taken over (LEASECTL_SEEDS=${SEED})`, {
  timeout: 120_000,
}, async () => {
  const played = await play({
    user,
    store,
    address: `azurite://127.0.0.1:${proxy.port}/${store.container}`,
    flags: ['--interval', `${INTERVAL_MS}ms`, '--shards', String(SHARDS)],
    lives: {
      seed: SEED,
      streams: 200,
      silenced: 40,
      silenceWithinMs: 5_000,
      dawdlers: 40,
      timeouts: { shortMs: 10_000, longMs: 60_000 },
    },
    killWithin: [3_000, 6_000],
    areSettled: haveShared,
  })
  const { killed, ended, survivors } = played
  const isOrphan = (stream: string) => killed.held.includes(shardOf(stream, SHARDS))
  const slackMs = SLACK_MS + RETRIES_MS + slownessMs(played)
  const allowedMs = (stream: string) => INTERVAL_MS + slackMs + (isOrphan(stream) ? LEASE_MS + SLACK_MS : 0)
  expect(complaints({ ...played, allowedMs })).toEqual([])
  expect(starved(played).length).toBeLessThan(20)
  for (const { code, stdout } of ended) expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  for (const shard of killed.held) {
    expect(takenAfterMs(shard, played)).toBeLessThanOrEqual(LEASE_MS + slackMs)
  }
  expect(endedOrphans(played, isOrphan).length).toBeGreaterThan(0)
  expect(new Set(proxy.injected.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(4)
  expect(proxy.injected.length).toBeGreaterThan(10)
  expect(survivors.length).toBe(2)
})

/** Each has its share: with four shards and three watchdogs one of them has two. */
function haveShared(watchdogs: readonly WatchdogProcess[]): boolean {
  const held = watchdogs.map(watchdog => watchdog.held ?? [])
  const all = new Set(held.flat())
  return all.size === SHARDS && held.flat().length === SHARDS && held.every(shards => shards.length > 0)
}

/** How long after the kill another one took this shard, ms. */
function takenAfterMs(shard: number, { killed, survivors }: Played): number {
  const taken = survivors
    .flatMap(survivor => survivor.lines('shards'))
    .filter(line => Date.parse(line.time) > killed.atMs && (line.taken as readonly number[]).includes(shard))
  return Math.min(...taken.map(({ time }) => Date.parse(time))) - killed.atMs
}

/** Events of the killed one's shards that others ended. */
function endedOrphans({ lives, fates, killed }: Played, isOrphan: (stream: string) => boolean): readonly string[] {
  const streams = lives.map(({ stream }) => stream)
  return streams.filter(stream => isOrphan(stream) && fates.get(stream)?.ends.some(({ atMs }) => atMs > killed.atMs))
}

import { afterAll, beforeAll, expect, test } from 'vitest'
import { shardOf } from '../../src/ops/shards/quota.ts'
import { readWatchdogState } from '../../src/ops/watchdog-state/parse.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { trustRow } from '../guarantees/record.ts'
import { repeatWith, trustSeed } from '../guarantees/size.ts'
import type { FaultKind, FaultProxy } from '../support/fault-proxy.ts'
import { type Played, play, slownessMs } from './watchdog/figure.ts'
import type { Life } from './watchdog/lives.ts'
import { eventually } from './watchdog/poll.ts'
import { expectKept } from './watchdog/verdict.ts'
import type { WatchdogProcess } from './watchdog/watchdog-process.ts'
import { newWorld, type World } from './watchdog/world.ts'

const SEED = trustSeed(1)
const again = repeatWith('test/e2e/watchdog-azurite.test.ts', SEED)
const SHARDS = 4
const INTERVAL_MS = 2_000
const LEASE_MS = 15_000
/** The promised time beyond timeout, interval and lease, ms. */
const SLACK_MS = 2_000
/** Requests without an answer are retried, and a pass with too many of them is repeated with the next sweep, ms. */
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
/** The share of requests with a fault. */
const FAULTY = 0.05

const trust = trustRow('watchdog')
let world: World
beforeAll(async () => {
  world = await newWorld()
})
afterAll(() => world.leave())

test(`three watchdogs share the work over an unreliable network; the shards of a killed one are taken over (seed ${SEED})`, {
  timeout: 240_000,
}, async () => {
  const faults = FAULTS.map(kind => ({
    kind,
    probability: FAULTY / FAULTS.length,
    delayMs: kind === 'delay' ? 300 : 0,
  }))
  const { store, proxy, address } = await world.proxied({ seed: SEED, faults })
  const played = await play({
    user: world.user,
    store,
    address,
    flags: ['--interval', `${INTERVAL_MS}ms`, '--shards', String(SHARDS)],
    lives: {
      seed: SEED,
      streams: 200,
      silenced: 40,
      // Some of them after the kill, on a slow machine too.
      silenceWithinMs: 10_000,
      dawdlers: 40,
      timeouts: { shortMs: 7_000, longMs: 60_000 },
    },
    killWithin: [5_000, 8_000],
    areSettled: haveShared,
    beforeTheEnd: survivors => stateTells(store, survivors),
  })
  const { killed, ended } = played
  const slackMs = SLACK_MS + RETRIES_MS + slownessMs(played)
  const isOrphan = (stream: string) => killed.held.includes(shardOf(stream, SHARDS))
  const allowedMs = (stream: string) => INTERVAL_MS + slackMs + (isOrphan(stream) ? LEASE_MS + SLACK_MS : 0)
  expectKept(played, { trust, what: 'with processes on Azurite', again, allowedMs })
  for (const { code, stdout } of ended) expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  for (const shard of killed.held) expect(takenAfterMs(shard, played)).toBeLessThanOrEqual(LEASE_MS + slackMs)
  if (dueLater(played, isOrphan).length > 0) expect(endedLater(played, isOrphan).length).toBeGreaterThan(0)
  else trust.skipped('orphans ended', 'the machine was too slow for heartbeats: all were due before the kill')
  tellFaults(proxy, played)
  expect(world.user.processesWith(address)).toEqual([])
})

/** The faults have reached the watchdogs. */
function tellFaults({ injected }: FaultProxy, { killed, lives }: Played): void {
  expect(injected.length).toBeGreaterThan(10)
  const kinds = Map.groupBy(injected, ({ kind }) => kind)
  expect(kinds.size).toBeGreaterThanOrEqual(4)
  for (const [kind, { length }] of kinds) trust.injected(`${kind} on Azurite`, length)
  trust.injected('really silenced on Azurite', lives.filter(({ kind }) => kind === 'silenced').length)
  expect(killed.held.length).toBeGreaterThan(0)
  trust.injected('shards whose holder was killed', killed.held.length)
}

/** Each has its share: with four shards and three watchdogs one of them has two. */
function haveShared(watchdogs: readonly WatchdogProcess[]): boolean {
  const held = watchdogs.map(watchdog => watchdog.held ?? [])
  return new Set(held.flat()).size === SHARDS && held.flat().length === SHARDS && held.every(({ length }) => length > 0)
}

/** The state records of the survivors say that they hold all shards. */
async function stateTells(store: StreamStore, survivors: readonly WatchdogProcess[]): Promise<void> {
  const look = async () => {
    const { watchdogs } = await readWatchdogState(store)
    const theirs = watchdogs.filter(({ pid }) => survivors.some(survivor => survivor.pid === pid))
    return new Set(theirs.flatMap(({ shards }) => shards?.held ?? [])).size === SHARDS || undefined
  }
  await eventually('the state in the store tells of all shards', look, { withinMs: 30_000, everyMs: 500 })
}

/** The time from the kill until another one took this shard, ms. */
function takenAfterMs(shard: number, { killed, survivors }: Played): number {
  const moves = survivors.flatMap(survivor => survivor.moves)
  const taken = moves.filter(move => move.atMs > killed.atMs && move.taken.includes(shard))
  return Math.min(...taken.map(({ atMs }) => atMs)) - killed.atMs
}

/** Such streams that fell silent so late that their limit passed after the kill. */
function dueLater({ lives, signs, killed }: Played, isOrphan: (stream: string) => boolean): readonly Life[] {
  const limitOf = ({ stream, timeoutMs }: Life) => (signs.get(stream)?.lastMs ?? 0) + timeoutMs
  return lives.filter(life => life.kind === 'silenced' && isOrphan(life.stream) && limitOf(life) > killed.atMs)
}

/** Events of such streams that were ended after the kill. */
function endedLater({ lives, fates, killed }: Played, isOrphan: (stream: string) => boolean): readonly string[] {
  const streams = lives.map(({ stream }) => stream)
  return streams.filter(stream => isOrphan(stream) && fates.get(stream)?.ends.some(({ atMs }) => atMs > killed.atMs))
}

import { afterAll, beforeAll, expect, test } from 'vitest'
import { trustRow } from '../guarantees/record.ts'
import { repeatWith, trustSeed } from '../guarantees/size.ts'
import { integrity } from '../unit/store/sqlite/support.ts'
import { play, slownessMs } from './watchdog/figure.ts'
import { expectKept } from './watchdog/verdict.ts'
import { newWorld, type World } from './watchdog/world.ts'

const SEED = trustSeed(1)
const again = repeatWith('test/e2e/watchdog-sqlite.test.ts', SEED)
const INTERVAL_MS = 2_000
/** The promised time beyond timeout and interval, ms. */
const SLACK_MS = 2_000

const trust = trustRow('watchdog')
let world: World
beforeAll(async () => {
  world = await newWorld()
})
afterAll(() => world.leave())

test(`three watchdogs, one killed, end each event without heartbeats once, in time, and no other (seed ${SEED})`, {
  timeout: 240_000,
}, async () => {
  const store = await world.sqlite()
  const played = await play({
    user: world.user,
    store,
    address: store.address,
    flags: ['--interval', `${INTERVAL_MS}ms`],
    lives: {
      seed: SEED,
      streams: 200,
      silenced: 40,
      silenceWithinMs: 4_000,
      dawdlers: 60,
      timeouts: { shortMs: 6_000, longMs: 60_000 },
    },
    killWithin: [2_000, 9_000],
    areSettled: watchdogs => watchdogs.every(watchdog => watchdog.lines('pass').length > 0),
  })
  const allowedMs = () => INTERVAL_MS + SLACK_MS + slownessMs(played)
  expectKept(played, { trust, what: 'with processes', again, allowedMs })
  trust.injected('really silenced', played.lives.filter(({ kind }) => kind === 'silenced').length)
  trust.injected('watchdog processes killed', 1)
  for (const { code, stdout } of played.ended) expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(integrity(store.address.slice('sqlite:'.length))).toBe('ok')
  expect(world.user.processesWith(store.address)).toEqual([])
})

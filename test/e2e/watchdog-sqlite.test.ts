import { afterAll, beforeAll, expect, test } from 'vitest'
import { integrity } from '../store/sqlite-support.ts'
import { trustRow } from '../trust/record.ts'
import { play, slownessMs } from './watchdog/figure.ts'
import { complaints, starved } from './watchdog/judge.ts'
import { newWorld, type World } from './watchdog/world.ts'

/** `LEASECTL_SEEDS=7` plays with another seed. */
const SEED = Number.parseInt(process.env.LEASECTL_SEEDS ?? '1', 10)
const INTERVAL_MS = 2_000
/** What the watchdogs promise beyond timeout and interval, ms. */
const SLACK_MS = 2_000
/** Heartbeats of so many may come too late for reasons of the machine; with more the play shows nothing. */
const MOST_STARVED = 20

let world: World
beforeAll(async () => {
  world = await newWorld()
})
afterAll(() => world.leave())

test(`three watchdogs, one killed, end each event that fell silent once, in time, and no other (LEASECTL_SEEDS=${SEED})`, {
  timeout: 120_000,
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
      timeouts: { shortMs: 6_000, longMs: 9_000 },
    },
    killWithin: [2_000, 9_000],
    areSettled: watchdogs => watchdogs.every(watchdog => watchdog.lines('pass').length > 0),
  })
  const allowedMs = () => INTERVAL_MS + SLACK_MS + slownessMs(played)
  expect(complaints({ ...played, allowedMs })).toEqual([])
  expect(starved(played).length).toBeLessThan(MOST_STARVED)
  const row = trustRow('watchdog')
  row.injected(
    'real heartbeats',
    [...played.signs.values()].reduce((sum, { count }) => sum + count, 0),
  )
  row.injected('really silenced', played.lives.filter(({ kind }) => kind === 'silenced').length)
  for (const { code, stdout } of played.ended) expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(integrity(store.address.slice('sqlite:'.length))).toBe('ok')
  expect(world.user.processesWith(store.address)).toEqual([])
})

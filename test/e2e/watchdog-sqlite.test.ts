import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { EventStore } from '../../src/store/store.ts'
import { integrity } from '../store/sqlite-support.ts'
import { newUser, type User } from './program.ts'
import { play, slownessMs } from './watchdog/figure.ts'
import { complaints, starved } from './watchdog/judge.ts'

/** `LEASECTL_SEEDS=7` plays with another seed. */
const SEED = Number.parseInt(process.env.LEASECTL_SEEDS ?? '1', 10)
const INTERVAL_MS = 2_000
/** What the watchdogs promise beyond timeout and interval, ms. */
const SLACK_MS = 2_000

let user: User
let store: EventStore

beforeAll(async () => {
  user = await newUser()
  store = await openStore(`sqlite:${join(user.home, 'streams.db')}`, {})
  await store.createContainer()
})
afterAll(async () => {
  await store.close()
  user.leave()
})

test(`three watchdogs, one killed, end each event that fell silent once, in time, and no other (LEASECTL_SEEDS=${SEED})`, {
  timeout: 120_000,
}, async () => {
  const played = await play({
    user,
    store,
    address: store.address,
    flags: ['--interval', `${INTERVAL_MS}ms`],
    lives: {
      seed: SEED,
      streams: 200,
      silenced: 40,
      silenceWithinMs: 5_000,
      dawdlers: 60,
      timeouts: { shortMs: 8_000, longMs: 12_000 },
    },
    killWithin: [3_000, 11_000],
    areSettled: watchdogs => watchdogs.every(watchdog => watchdog.lines('pass').length > 0),
  })
  const allowedMs = () => INTERVAL_MS + SLACK_MS + slownessMs(played)
  expect(complaints({ ...played, allowedMs })).toEqual([])
  expect(starved(played).length).toBeLessThan(20)
  for (const { code, stdout } of played.ended) expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(integrity(store.address.slice('sqlite:'.length))).toBe('ok')
})

import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { newUser, type Running, type User } from '../../e2e/program.ts'
import { eventually } from '../../e2e/watchdog/poll.ts'
import { trustRow } from '../../guarantees/record.ts'
import { sized } from '../../guarantees/size.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'

/** The built program with the clocks of libfaketime, if that is installed. */

const trust = trustRow('clocks')
const LIMIT = { timeout: sized(300_000, 900_000) }
/** In the format of `faketime -f`. */
const CLOCKS = sized(['-1d', '+1h', '+0 x2'], ['+1s', '-1s', '+1h', '-1h', '+1d', '-1d', '+0 x2', '+0 x0.5'])
const EVENT = '01.00'
/** An event without a heartbeat for this time is ended, s; the live one sends many in that time. */
const TIMEOUT_S = 15
const INTERVAL = '500ms'
/** The process that sends a heartbeat and the one that ends the event know the time of the service to the second, ms. */
const SOONEST_MS = TIMEOUT_S * 1_000 - 2_000

/** The library that `faketime` itself preloads; `''` if it is not installed. */
const LIBRARY =
  spawnSync('faketime', ['-f', '+0', 'sh', '-c', 'printf %s "$LD_PRELOAD"'], { encoding: 'utf8' }).stdout ?? ''
const hasFaketime = LIBRARY !== ''
if (!hasFaketime) trust.skipped('whole processes under other clocks', 'faketime is not installed')

let user: User
let store: StreamStore
beforeAll(async () => {
  user = await newUser()
  store = await openAzuriteStore((await sharedAzurite()).port)
})
afterAll(async () => {
  user.leave()
  await store.close()
})

/** `leasectl` on a machine with that clock; timers run normally. */
function under(clock: string, argv: readonly string[]): Running {
  const env = { LD_PRELOAD: LIBRARY, FAKETIME: clock, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
  return user.start([...argv, '--store', store.address], env)
}

describe.runIf(hasFaketime).concurrent('the program with a wrong clock', LIMIT, () => {
  test('creates and changes streams at the time of the service', async () => {
    const stream = `s-${randomUUID()}`
    const fromMs = Date.now()
    const [first = '', ...others] = CLOCKS
    expect(await under(first, ['init', stream, '--fork', 'A', '-q']).ended).toMatchObject({ code: 0, stderr: '' })
    const ended = others.map(clock => under(clock, ['event', 'set', stream, '00', '--tag', clock, '-q']).ended)
    for (const { code, stderr } of await Promise.all(ended)) expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const view = await readStream(store, stream)
    const times = view?.transactions().map(({ at }) => Date.parse(at)) ?? []
    expect(times).toHaveLength(CLOCKS.length)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    // An answer has whole seconds.
    for (const ms of times) expect(ms).toBeGreaterThan(fromMs - 2_000)
    for (const ms of times) expect(ms).toBeLessThan(Date.now() + 2_000)
    trust.injected('processes under faketime', CLOCKS.length)
  })

  test('as watchdog spares events with heartbeats, and ends the others, not before their time', async () => {
    const [live, silent] = [`live-${randomUUID()}`, `silent-${randomUUID()}`]
    const signs: Signs = new Map()
    for (const stream of [live, silent]) await begin(stream, signs)
    const dogs = CLOCKS.map(clock => under(clock, ['watchdog', '--interval', INTERVAL, '--max-share', '100%']))
    const beats: Promise<string>[] = []
    const beating = setInterval(() => beats.push(touch(live, signs)), 1_000)
    try {
      // A starting process does not handle a drain yet.
      await Promise.all(dogs.map(dog => dog.until('stderr', /"kind":"start"/)))
      const isEnded = async () => (await statusOf(silent)) === 'aborted' || undefined
      await eventually('the silent event is ended', isEnded, { withinMs: LIMIT.timeout / 2, everyMs: 250 })
    } finally {
      clearInterval(beating)
      for (const dog of dogs) dog.process.kill('SIGTERM')
    }
    for (const { ended } of dogs) expect((await ended).code).toBe(0)
    const heartbeats = (await Promise.all(beats)).filter(kind => kind === 'done').length
    const early = [...(await endedEarly(silent, signs)), ...(await endedEarly(live, signs))]
    expect(early).toEqual([])
    expect(heartbeats).toBeGreaterThan(0)
    trust.figure('clocks', `${CLOCKS.length} of whole processes: ${CLOCKS.join(', ')}`)
    trust.figure('early expiries', early.length, `0 in ${heartbeats} heartbeats, watchdog processes`)
    trust.injected('watchdogs under faketime', CLOCKS.length)
  })
})

/** The sending time of the last heartbeat of each stream that was written, epoch ms. */
type Signs = Map<string, number>

/**
 * Ends of the event too soon after its last heartbeat, and by whom, for messages. They are judged by the times of the
 * ends: the time of an inspection on a slow machine proves nothing, and may itself be without a heartbeat for so long.
 */
async function endedEarly(stream: string, signs: Signs): Promise<readonly string[]> {
  const ends = (await readStream(store, stream))?.transactions().filter(({ op }) => op === 'abort') ?? []
  // A process that trusts a wrong clock writes its time. The service has, to the second, the time of the last write.
  const latestMs = ((await store.read(stream))?.modifiedMs ?? 0) + 999
  const lastMs = signs.get(stream) ?? 0
  const early = ends.filter(({ at }) => Math.min(Date.parse(at), latestMs) < lastMs + SOONEST_MS)
  const alive = new Date(lastMs).toISOString()
  return early.map(({ by, at }) => `${stream} was ended by ${by} at ${at}, last alive at ${alive}`)
}

async function begin(stream: string, signs: Signs): Promise<void> {
  const timeout = `00:00:${String(TIMEOUT_S).padStart(2, '0')}`
  const init = { op: 'init', root: { name: 'Start' }, forks: [{ name: 'A', timeout }], hold: false } as const
  await transact(store, stream, { ...init, born: randomUUID() }, { commandId: 'init', by: 'test' })
  const start = { op: 'start', event: EVENT, owner: 'worker', claimMs: 600_000 } as const
  signs.set(stream, Date.now())
  expect(await transact(store, stream, start, { commandId: 'start', by: 'test' })).toMatchObject({ kind: 'done' })
}

async function touch(stream: string, signs: Signs): Promise<string> {
  const sentMs = Date.now()
  const beat = { op: 'touch', event: EVENT, owner: 'worker', claimMs: 600_000 } as const
  const { kind } = await transact(store, stream, beat, { commandId: randomUUID(), by: 'test' })
  if (kind === 'done') signs.set(stream, Math.max(sentMs, signs.get(stream) ?? 0))
  return kind
}

async function statusOf(stream: string): Promise<string | undefined> {
  return (await readStream(store, stream))?.stream.find(EVENT)?.status
}

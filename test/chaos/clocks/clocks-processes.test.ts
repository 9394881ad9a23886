import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { transact } from '../../../src/ops/transact.ts'
import type { EventStore } from '../../../src/store/store.ts'
import { newUser, type Running, type User } from '../../e2e/program.ts'
import { eventually } from '../../e2e/watchdog/poll.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { trustRow } from '../../trust/record.ts'
import { sized } from '../../trust/size.ts'

/** The built program under the clocks of libfaketime, where that is installed. */

const trust = trustRow('clocks')
const LIMIT = { timeout: sized(120_000, 900_000) }
/** As `faketime -f` takes them. */
const CLOCKS = sized(['-1d', '+1h', '+0 x2'], ['+1s', '-1s', '+1h', '-1h', '+1d', '-1d', '+0 x2', '+0 x0.5'])
const EVENT = '01.00'
/** An event without a sign of life for so long is ended, s; the live one gives many in that time. */
const TIMEOUT_S = 15
const INTERVAL = '500ms'
/** Whoever begins and whoever ends it knows the time of the service to the second, ms. */
const SOONEST_MS = TIMEOUT_S * 1_000 - 2_000

/** The library, as `faketime` itself hands it to programs; `''` where it is not installed. */
const LIBRARY =
  spawnSync('faketime', ['-f', '+0', 'sh', '-c', 'printf %s "$LD_PRELOAD"'], { encoding: 'utf8' }).stdout ?? ''
const hasFaketime = LIBRARY !== ''
if (!hasFaketime) trust.skipped('whole processes under other clocks', 'faketime is not installed')

let user: User
let store: EventStore
beforeAll(async () => {
  user = await newUser()
  store = await openAzuriteStore((await sharedAzurite()).port)
})
afterAll(async () => {
  user.leave()
  await store.close()
})

/** `leasectl` on a machine of that clock; timers run as ever. */
function under(clock: string, argv: readonly string[]): Running {
  const env = { LD_PRELOAD: LIBRARY, FAKETIME: clock, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
  return user.start([...argv, '--store', store.address], env)
}

describe.runIf(hasFaketime).concurrent('the program by a clock that lies', LIMIT, () => {
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
    // An answer tells whole seconds.
    for (const ms of times) expect(ms).toBeGreaterThan(fromMs - 2_000)
    for (const ms of times) expect(ms).toBeLessThan(Date.now() + 2_000)
    trust.injected('processes under faketime', CLOCKS.length)
  })

  test('watches: what gives signs of life stays, what is silent is ended, and not before its time', async () => {
    const [live, silent] = [`live-${randomUUID()}`, `silent-${randomUUID()}`]
    const fromMs = Date.now()
    for (const stream of [live, silent]) await begin(stream)
    const dogs = CLOCKS.map(clock => under(clock, ['watchdog', '--interval', INTERVAL, '--max-share', '100%']))
    const beats: Promise<string>[] = []
    let early: readonly string[] = []
    const beating = setInterval(() => beats.push(touch(live)), 1_000)
    try {
      const isEnded = async () => (await statusOf(silent)) === 'aborted' || undefined
      await eventually('the silent event is ended', isEnded, { withinMs: 60_000, everyMs: 250 })
      const tooSoon = Date.now() < fromMs + SOONEST_MS ? await endsOf(silent) : []
      early = [...tooSoon, ...(await endsOf(live))]
    } finally {
      clearInterval(beating)
      for (const dog of dogs) dog.process.kill('SIGTERM')
    }
    for (const { ended } of dogs) expect((await ended).code).toBe(0)
    const heartbeats = (await Promise.all(beats)).filter(kind => kind === 'done').length
    expect(early).toEqual([])
    expect(heartbeats).toBeGreaterThan(0)
    trust.figure('clocks', `${CLOCKS.length} of whole processes: ${CLOCKS.join(', ')}`)
    trust.figure('early expiries', early.length, `0 in ${heartbeats} heartbeats, watchdog processes`)
    trust.injected('watchdogs under faketime', CLOCKS.length)
  })
})

/** By whom the event was ended, for messages. */
async function endsOf(stream: string): Promise<readonly string[]> {
  const ends = (await readStream(store, stream))?.transactions().filter(({ op }) => op === 'abort') ?? []
  return ends.map(({ by, at }) => `${stream} was ended by ${by} at ${at}`)
}

async function begin(stream: string): Promise<void> {
  const timeout = `00:00:${String(TIMEOUT_S).padStart(2, '0')}`
  const init = { op: 'init', root: { name: 'Start' }, forks: [{ name: 'A', timeout }], hold: false } as const
  await transact(store, stream, { ...init, born: randomUUID() }, { commandId: 'init', by: 'test' })
  const start = { op: 'start', event: EVENT, owner: 'worker', claimMs: 600_000 } as const
  expect(await transact(store, stream, start, { commandId: 'start', by: 'test' })).toMatchObject({ kind: 'done' })
}

async function touch(stream: string): Promise<string> {
  const beat = { op: 'touch', event: EVENT, owner: 'worker', claimMs: 600_000 } as const
  return (await transact(store, stream, beat, { commandId: randomUUID(), by: 'test' })).kind
}

async function statusOf(stream: string): Promise<string | undefined> {
  return (await readStream(store, stream))?.stream.find(EVENT)?.status
}

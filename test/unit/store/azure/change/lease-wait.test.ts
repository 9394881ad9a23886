import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StoreUnreachable } from '../../../../../src/store/errors.ts'
import type { ChangeOptions, StreamStore } from '../../../../../src/store/store.ts'
import { changeOptions, leased } from '../../../../contract/harness.ts'
import type { FaultProxy } from '../../../../support/fault-proxy.ts'
import { behindProxy, LIMIT_MS, type StoppedClock } from '../support.ts'

/** By the machine's clock, which only requests advance: the duration of each answered attempt. */
const ROUND_TRIP_MS = 6_000
/** The shortest pause between two attempts, which the random source gives here. */
const PAUSE_MS = 5
/** The wait limit, several times the deadline, which is the only limit for a missing answer. */
const [WAIT_MS, DEADLINE_MS] = [1_200_000, 30_000]

let direct: StreamStore & { container: string }
let proxy: FaultProxy
let store: StreamStore
let clock: StoppedClock
let end: () => Promise<void>

beforeEach(async () => {
  ;({ direct, proxy, store, clock, end } = await behindProxy({ random: () => 0 }))
})

afterEach(async () => {
  await end()
})

describe.each([
  { write: 'lease', on: 'acquire', silenceMs: 12_000 },
  // Only the duration of a read shows that some of its attempts had no answer.
  { write: 'optimistic', on: 'get', silenceMs: LIMIT_MS },
] as const)('the wait of a change ($write) for a lease that another holds', ({ write, on, silenceMs }) => {
  const change = (options: Partial<ChangeOptions>) =>
    store.update('s', () => ({ kind: 'leave' }), changeOptions({ write, ...options }))

  const taking = (ms: number) => async () => clock.pass(ms)
  const slow = () => proxy.add({ kind: 'delay', on, before: taking(ROUND_TRIP_MS) })

  it('ends as held when its time is over, however much of it the attempts took', async () => {
    await leased(direct, 's', 'grace')
    slow()
    const outcome = await change({ waitMs: 60_000, deadlineMs: DEADLINE_MS })
    const waits = Math.ceil(60_000 / (ROUND_TRIP_MS + PAUSE_MS))
    const waitedMs = waits * (ROUND_TRIP_MS + PAUSE_MS)
    expect(outcome).toMatchObject({ kind: 'held', lease: { holder: { by: 'grace' } }, waitedMs })
    expect(proxy.count(on)).toBe(1 + waits)
  })

  it('does not begin before the first attempt, whose duration does not count', async () => {
    await leased(direct, 's')
    slow()
    expect(await change({ waitMs: 0 })).toMatchObject({ kind: 'held', waitedMs: 0 })
    expect(proxy.count(on)).toBe(1)
    expect(await change({ waitMs: PAUSE_MS })).toMatchObject({ kind: 'held', waitedMs: PAUSE_MS + ROUND_TRIP_MS })
    expect(proxy.count(on)).toBe(3)
  })

  it('continues when the lease is free, long after a deadline that only attempts and pauses have exceeded', async () => {
    const leaseId = await leased(direct, 's')
    proxy.add({ kind: 'delay', on, nth: 10, before: () => direct.releaseLease('s', leaseId) })
    slow()
    expect(await change({ waitMs: WAIT_MS, deadlineMs: DEADLINE_MS })).toEqual({ kind: 'left' })
    expect(proxy.count(on)).toBe(10)
  })

  it.each(['lose-request', 'error-before'] as const)(
    'does not count an attempt without an answer (%s) as waiting',
    async kind => {
      await leased(direct, 's')
      const when = () => proxy.count(on) % 2 === 1
      proxy.add({ kind, on, when, before: taking(silenceMs) })
      await expect(change({ waitMs: WAIT_MS, deadlineMs: 2.5 * silenceMs })).rejects.toBeInstanceOf(StoreUnreachable)
      expect(proxy.count(on)).toBe(5)
    },
  )
})

import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CircuitBreaker } from '../../../../src/store/azure/circuit-breaker.ts'
import { ServiceError } from '../../../../src/store/azure/errors.ts'
import { AzureRequests, REQUEST_TIMEOUTS } from '../../../../src/store/azure/requests.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** This number in a row is an outage. */
const KNOWN = 6
const HOUR_MS = 3_600_000
const refused = new ServiceError('ECONNREFUSED')
const never = new AbortController().signal

function outageOf(random: () => number = () => 0): CircuitBreaker {
  const outage = new CircuitBreaker(random)
  for (let sent = 0; sent < KNOWN; sent += 1) outage.unanswered(refused)
  return outage
}

/** The time at which each request got its probe slot, ms; for others, the reason. */
function turnsOf(outage: CircuitBreaker, count: number, limitMs = HOUR_MS, signal = never): (number | string)[] {
  const turns: (number | string)[] = []
  for (let at = 0; at < count; at += 1) {
    void outage
      .acquireProbeSlot(limitMs, signal)
      .then(why => turns.push(why === undefined ? performance.now() : why.code))
  }
  return turns
}

describe('an outage', () => {
  it('is recognized after six attempts in a row without an answer; until then no request is delayed', async () => {
    const outage = new CircuitBreaker(Math.random)
    for (let sent = 0; sent < KNOWN - 1; sent += 1) outage.unanswered(refused)
    outage.answered()
    for (let sent = 0; sent < KNOWN - 1; sent += 1) outage.unanswered(refused)
    expect(await outage.acquireProbeSlot(1, never)).toBeUndefined()
    expect(outage.isOpen).toBe(false)
    outage.unanswered(refused)
    expect(outage.isOpen).toBe(true)
    outage.answered()
    expect(outage.isOpen).toBe(false)
  })

  it.each([
    ['once a second', 0, 10],
    ['once in two seconds', 0.999_999, 5],
  ])('lets through %s at most, however many requests wait', async (_, chance, most) => {
    const began = performance.now()
    const outage = outageOf(() => chance)
    const stop = new AbortController()
    const turns = turnsOf(outage, 100, HOUR_MS, stop.signal)
    await vi.advanceTimersByTimeAsync(10_000 + most)
    expect(turns).toHaveLength(most)
    const at = [began, ...turns.map(Number)]
    for (const [nth, ms] of turns.entries()) expect(Number(ms) - (at[nth] ?? 0)).toBeGreaterThanOrEqual(1_000)
    stop.abort()
  })

  it('lets all requests through after the first answer', async () => {
    const outage = outageOf()
    const turns = turnsOf(outage, 3)
    await vi.advanceTimersByTimeAsync(500)
    const endedMs = performance.now()
    outage.answered()
    await vi.advanceTimersByTimeAsync(0)
    expect(turns).toEqual([endedMs, endedMs, endedMs])
  })

  it('delays no request beyond its limit, and reports why there was no answer', async () => {
    const outage = outageOf()
    outage.unanswered(new ServiceError('ENOTFOUND'))
    const turns = turnsOf(outage, 1, 999)
    await vi.advanceTimersByTimeAsync(998)
    expect(turns).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(turns).toEqual(['ENOTFOUND'])
  })

  it('leaves the probe slot to others if a request has no time left', async () => {
    const outage = outageOf()
    await vi.advanceTimersByTimeAsync(HOUR_MS)
    expect((await outage.acquireProbeSlot(0, never))?.code).toBe('ECONNREFUSED')
    const askedMs = performance.now()
    expect(await outage.acquireProbeSlot(1, never)).toBeUndefined()
    expect(performance.now()).toBe(askedMs)
  })

  it('aborts the wait of a canceled request at once, without using a probe slot', async () => {
    const outage = outageOf()
    const caller = new AbortController()
    const over = outage.acquireProbeSlot(HOUR_MS, caller.signal)
    const turns = turnsOf(outage, 1)
    caller.abort()
    await over
    expect(turns).toEqual([])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(turns).toHaveLength(1)
  })

  it('leaves no listener behind', async () => {
    const outage = outageOf()
    const { signal } = new AbortController()
    const turns = turnsOf(outage, 3, 3_500, signal)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(turns).toHaveLength(3)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it.each([
    [4_000, 4_000],
    [HOUR_MS, 10_000],
  ])('respects a Retry-After of %d ms for %d ms', async (retryAfterMs, waitMs) => {
    const outage = outageOf()
    const askedMs = performance.now()
    outage.unanswered(new ServiceError('ServerBusy', { status: 503, retryAfterMs }))
    const turns = turnsOf(outage, 1)
    await vi.advanceTimersByTimeAsync(waitMs)
    expect(turns).toEqual([askedMs + waitMs])
  })

  it('clears an earlier Retry-After with the first answer', async () => {
    const outage = new CircuitBreaker(() => 0)
    outage.unanswered(new ServiceError('ServerBusy', { status: 503, retryAfterMs: 10_000 }))
    outage.answered()
    for (let sent = 0; sent < KNOWN; sent += 1) outage.unanswered(refused)
    const turns = turnsOf(outage, 1, 5_000)
    const askedMs = performance.now()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(turns).toEqual([askedMs + 1_000])
  })
})

describe('a request in an outage', () => {
  const failing = (error: ServiceError) => () => Promise.reject(error)
  const answering = () => Promise.resolve({})
  const limitMs = 5_000

  function callsOf(): AzureRequests {
    const machine = { wallMs: () => performance.now(), monotonicMs: () => performance.now() }
    const site = { container: 'c', host: 'h', emulator: false }
    return new AzureRequests({ site, machine, random: () => 0, limits: REQUEST_TIMEOUTS })
  }

  async function inOutage(): Promise<AzureRequests> {
    const calls = callsOf()
    for (let sent = 0; sent < KNOWN; sent += 1) await calls.send(failing(refused), { limitMs })
    return calls
  }

  it('waits for a probe slot, or until another request is answered', async () => {
    const calls = await inOutage()
    const send = vi.fn(answering)
    const answers = [calls.send(send, { limitMs }), calls.send(send, { limitMs })]
    await vi.advanceTimersByTimeAsync(999)
    expect(send).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(send).toHaveBeenCalledTimes(2)
    expect(await Promise.all(answers)).toMatchObject([{ kind: 'done' }, { kind: 'done' }])
  })

  it('is not sent after its deadline, and reports that it never was', async () => {
    const calls = await inOutage()
    const send = vi.fn(answering)
    const answer = calls.send(send, { limitMs, untilMs: performance.now() + 400 })
    await vi.advanceTimersByTimeAsync(400)
    expect(await answer).toEqual({ kind: 'unanswered', error: refused, unansweredAttempts: 0 })
    expect(send).not.toHaveBeenCalled()
  })

  it('fails with the reason of the caller that cancels, and when the store is closed', async () => {
    const calls = await inOutage()
    const caller = new AbortController()
    const given = calls.send(answering, { limitMs, signal: caller.signal })
    const other = calls.send(answering, { limitMs })
    caller.abort(new Error('enough'))
    await expect(given).rejects.toThrow('enough')
    calls.close()
    expect(await other).toMatchObject({ kind: 'unanswered', error: { code: 'StoreClosed' }, unansweredAttempts: 0 })
  })

  it('lets the others through once it is refused, but not if it is throttled', async () => {
    const calls = await inOutage()
    const send = vi.fn(answering)
    const busy = calls.send(failing(new ServiceError('ServerBusy', { status: 503 })), { limitMs })
    const missing = calls.send(failing(new ServiceError('BlobNotFound', { status: 404 })), { limitMs })
    const third = calls.send(send, { limitMs })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await busy).toMatchObject({ kind: 'unanswered', unansweredAttempts: 1 })
    expect(send).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await missing).toMatchObject({ kind: 'refused' })
    expect(await third).toMatchObject({ kind: 'done' })
  })
})

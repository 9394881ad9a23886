import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backOff, leaseDelay, lossDelay, Patience, pause, standBack } from '../../src/store/backoff.ts'

describe('backOff', () => {
  it('jitters between 5 ms and a cap that doubles from 60 to 400', () => {
    expect([0, 1, 2, 3, 50, 5_000].map(attempt => backOff(attempt, () => 0))).toEqual([5, 5, 5, 5, 5, 5])
    expect([0, 1, 2, 3, 50, 5_000].map(attempt => backOff(attempt, () => 1))).toEqual([60, 120, 240, 400, 400, 400])
  })

  it('spreads over the whole range', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (attempt, random) => {
        const ms = backOff(attempt, () => random)
        expect(ms).toBeGreaterThanOrEqual(5)
        expect(ms).toBeLessThanOrEqual(400)
      }),
    )
  })
})

describe('leaseDelay', () => {
  it('jitters between 5 ms and an eighth of the wait so far, from 60 to 400', () => {
    expect([0, 100, 480, 800, 3_200, 60_000].map(waitedMs => leaseDelay(waitedMs, () => 0))).toEqual([5, 5, 5, 5, 5, 5])
    const longest = [0, 100, 480, 800, 3_200, 60_000].map(waitedMs => leaseDelay(waitedMs, () => 1))
    expect(longest).toEqual([60, 60, 60, 100, 400, 400])
  })
})

describe('lossDelay', () => {
  it('jitters from nothing to the shortest sleep of a waiter', () => {
    expect([0, 0.5, 1].map(random => lossDelay(() => random))).toEqual([0, 30, 60])
  })
})

describe('standBack', () => {
  it('is about as long as the wait for the turn that is over, from the first sleep of a waiter up to 400 ms', () => {
    expect([0, 40, 200, 1_000].map(waitedMs => standBack(waitedMs, () => 0))).toEqual([5, 30, 150, 400])
    expect([0, 40, 200, 1_000].map(waitedMs => standBack(waitedMs, () => 1))).toEqual([60, 60, 250, 400])
  })
})

describe('pause', () => {
  it('rejects with the reason of its signal, before and meanwhile', async () => {
    const reason = new Error('stop')
    await expect(pause(60_000, AbortSignal.abort(reason))).rejects.toBe(reason)
    const stop = new AbortController()
    const pausing = pause(60_000, stop.signal)
    stop.abort(reason)
    await expect(pausing).rejects.toBe(reason)
  })
})

describe('Patience', () => {
  it('does not wait at all with a limit of 0', async () => {
    const patience = new Patience({ limitMs: 0, random: () => 1 })
    expect(await patience.pause()).toBe(false)
    expect(patience.waitedMs).toBe(0)
  })

  it('ends when its pauses sum up to the limit, the last one shortened to it', async () => {
    const patience = new Patience({ limitMs: 30, random: () => 0 })
    let pauses = 0
    while (await patience.pause()) pauses += 1
    expect(pauses).toBeGreaterThan(0)
    // A timer may fire a moment early, which leaves a rest to wait for.
    expect(pauses).toBeLessThanOrEqual(12)
    expect(patience.waitedMs).toBeGreaterThanOrEqual(29)
  })
})

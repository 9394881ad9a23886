import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backOff, conflictDelay, leaseRetryDelay, RetryBudget, yieldDelay } from '../../../src/store/backoff.ts'

describe('backOff', () => {
  it('jitters between 5 ms and a cap that doubles from 60 to 400', () => {
    expect([0, 1, 2, 3, 50, 5_000].map(attempt => backOff(attempt, () => 0))).toEqual([5, 5, 5, 5, 5, 5])
    expect([0, 1, 2, 3, 50, 5_000].map(attempt => backOff(attempt, () => 1))).toEqual([60, 120, 240, 400, 400, 400])
  })

  it('uses the whole range', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (attempt, random) => {
        const ms = backOff(attempt, () => random)
        expect(ms).toBeGreaterThanOrEqual(5)
        expect(ms).toBeLessThanOrEqual(400)
      }),
    )
  })
})

describe('leaseRetryDelay', () => {
  it('jitters between 5 ms and a third of the wait so far, from 20 to 60, then an eighth of it, up to 400', () => {
    expect([0, 90, 200, 800, 3_200, 60_000].map(waitedMs => leaseRetryDelay(waitedMs, () => 0))).toEqual([
      5, 5, 5, 5, 5, 5,
    ])
    const longest = [0, 90, 200, 800, 3_200, 60_000].map(waitedMs => leaseRetryDelay(waitedMs, () => 1))
    expect(longest).toEqual([20, 30, 60, 100, 400, 400])
  })
})

describe('conflictDelay', () => {
  it('jitters from zero to the longest first sleep of a waiter', () => {
    expect([0, 0.5, 1].map(random => conflictDelay(() => random))).toEqual([0, 10, 20])
  })
})

describe('yieldDelay', () => {
  it('is about as long as the turns of the others, at most a second, and longer than any first sleep of a waiter', () => {
    expect([0, 10, 100, 5_000].map(turnsMs => yieldDelay(turnsMs, () => 0))).toEqual([25, 25, 90, 1_000])
    expect([0, 10, 100, 5_000].map(turnsMs => yieldDelay(turnsMs, () => 1))).toEqual([30, 30, 108, 1_200])
    expect(yieldDelay(0, () => 0)).toBeGreaterThan(leaseRetryDelay(0, () => 1))
  })
})

describe('Patience', () => {
  it('allows no wait with a limit of 0', async () => {
    const patience = new RetryBudget({ limitMs: 0, random: () => 1 })
    expect(await patience.pause()).toBe(false)
    expect(patience.waitedMs).toBe(0)
  })

  it('ends when its pauses add up to the limit; the last one is shortened', async () => {
    const patience = new RetryBudget({ limitMs: 30, random: () => 0 })
    let pauses = 0
    while (await patience.pause()) pauses += 1
    expect(pauses).toBeGreaterThan(0)
    // A timer may fire a moment early, which leaves a remainder to wait.
    expect(pauses).toBeLessThanOrEqual(12)
    expect(patience.waitedMs).toBeGreaterThanOrEqual(29)
  })
})

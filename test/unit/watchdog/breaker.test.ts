import { describe, expect, it } from 'vitest'
import { Breaker } from '../../../src/watchdog/breaker.ts'
import { INTERVAL } from './watch-world.ts'

const breaker = (maxShare = 0.2) => new Breaker({ maxShare, intervalMs: INTERVAL })
const isOpen = (planned: number, openEvents: number, maxShare = 0.2) =>
  breaker(maxShare).judge(planned, openEvents, 0).isOpen

describe('the circuit breaker', () => {
  it('allows 50 events to be ended, whatever their share', () => {
    expect(isOpen(50, 50)).toBe(false)
    expect(isOpen(51, 51)).toBe(true)
  })

  it('allows exactly the share to be ended', () => {
    expect(isOpen(200, 1_000)).toBe(false)
    expect(isOpen(201, 1_000)).toBe(true)
    expect(isOpen(51, 255)).toBe(false)
    expect(isOpen(51, 254)).toBe(true)
  })

  it('allows all events to be ended with a share of 100 %, even if it counts some twice', () => {
    expect(isOpen(10_000, 10_000, 1)).toBe(false)
    expect(isOpen(10_001, 10_000, 1)).toBe(false)
  })

  it('stays closed if no event would be ended', () => {
    const it = breaker()
    it.ended(60, 0)
    expect(it.judge(0, 40, 1).isOpen).toBe(false)
  })

  it('counts events ended within the last interval, so that a series of small passes does not bypass it', () => {
    const it = breaker()
    it.ended(30, 0)
    expect(it.judge(20, 70, 1)).toEqual({ isOpen: false, wouldEnd: 50, openEvents: 100, maxShare: 0.2 })
    it.ended(20, 1)
    expect(it.judge(1, 50, 2)).toEqual({ isOpen: true, wouldEnd: 51, openEvents: 100, maxShare: 0.2 })
    // the first 30 are an interval ago
    expect(it.judge(30, 50, INTERVAL).isOpen).toBe(false)
    expect(it.judge(31, 50, INTERVAL).isOpen).toBe(true)
  })

  it('closes as soon as the share is low enough', () => {
    const it = breaker()
    expect(it.judge(100, 400, 0).isOpen).toBe(true)
    expect(it.judge(100, 500, 1).isOpen).toBe(false)
    expect(it.judge(80, 400, 2).isOpen).toBe(false)
  })
})

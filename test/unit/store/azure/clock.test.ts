import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServiceClock } from '../../../../src/store/azure/clock.ts'

const LOCAL = 1_767_323_045_678

const clock = (wallMs = LOCAL) => new ServiceClock({ wallMs: () => wallMs, monotonicMs: () => 0 })
const toSecond = (ms: number): number => Math.floor(ms / 1_000) * 1_000

describe('the service clock', () => {
  it('equals the local clock until an answer contradicts it', () => {
    const subject = clock()
    expect(subject.nowMs()).toBe(LOCAL)
    subject.observe(toSecond(LOCAL), LOCAL - 20, LOCAL)
    expect(subject.nowMs()).toBe(LOCAL)
  })

  it('is within a second plus the request time of the service, whatever the local clock is', () => {
    const hour = 3_600_000
    fc.assert(
      fc.property(
        fc.integer({ min: -24 * hour, max: 24 * hour }),
        fc.array(fc.record({ latency: fc.integer({ min: 0, max: 500 }), at: fc.integer({ min: 0, max: 10_000 }) }), {
          minLength: 1,
        }),
        (skew, answers) => {
          const subject = clock()
          for (const { latency } of answers) {
            const servedMs = LOCAL + skew - Math.floor(latency / 2)
            subject.observe(toSecond(servedMs), LOCAL - latency, LOCAL)
          }
          expect(Math.abs(subject.nowMs() - (LOCAL + skew))).toBeLessThanOrEqual(1_000 + 500)
        },
      ),
    )
  })

  it('moves by the smallest necessary amount, and stays if later answers agree', () => {
    const subject = clock()
    subject.observe(LOCAL + 60_000, LOCAL, LOCAL)
    expect(subject.nowMs()).toBe(LOCAL + 60_000)
    subject.observe(LOCAL + 59_500, LOCAL, LOCAL)
    expect(subject.nowMs()).toBe(LOCAL + 60_000)
  })

  it('ignores an unreadable date', () => {
    const subject = clock()
    subject.observe(Number.NaN, LOCAL, LOCAL)
    expect(subject.nowMs()).toBe(LOCAL)
    expect(subject.isKnown).toBe(false)
  })

  it('reports whether it has received the time', () => {
    const subject = clock()
    expect(subject.isKnown).toBe(false)
    subject.observe(toSecond(LOCAL), LOCAL - 20, LOCAL)
    expect(subject.isKnown).toBe(true)
  })
})

describe('the time of an answer is fresh', () => {
  const machine = { wallMs: () => LOCAL + wallMs, monotonicMs: () => passedMs }
  let wallMs = 0
  let passedMs = 0
  const pass = (ms: number) => {
    wallMs += ms
    passedMs += ms
  }

  it('for a second, or until the machine clock is set; before the first answer it is not fresh', () => {
    const subject = new ServiceClock(machine)
    expect(subject.isFresh).toBe(false)
    const answered = () => subject.observe(toSecond(machine.wallMs()), machine.wallMs() - 20, machine.wallMs())
    answered()
    expect(subject.isFresh).toBe(true)
    pass(999)
    expect(subject.isFresh).toBe(true)
    pass(1)
    expect(subject.isFresh).toBe(false)
    for (const set of [3_600_000, -3_600_000, 500, -500]) {
      answered()
      expect(subject.isFresh).toBe(true)
      wallMs += set
      expect(subject.isFresh).toBe(false)
    }
  })
})

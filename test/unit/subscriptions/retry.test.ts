import fc from 'fast-check'
import { expect, test } from 'vitest'
import { afterFailure } from '../../../src/subscriptions/retry.ts'
import type { HaltedStream } from '../../../src/subscriptions/types.ts'

const NOW = Date.UTC(2026, 0)
const RULES = { tries: 8, onPoison: 'park' } as const

/** Fails until it is parked; the time of each try. */
function triesUntilParked(random: number): { readonly times: readonly number[]; readonly last: HaltedStream } {
  let nowMs = NOW
  let halted: HaltedStream | undefined
  const times: number[] = []
  for (;;) {
    times.push(nowMs)
    const after = afterFailure({ kind: 'failed', why: 'no' }, halted, RULES, nowMs, random)
    if (after.kind !== 'halt') throw new Error(after.kind)
    halted = { ...after.halt, stream: 'a', born: 'b', version: 1 }
    if (halted.state === 'parked') return { times, last: halted }
    nowMs = halted.nextMs
  }
}

test('a delivery that fails is tried eight times within about a quarter of an hour, then parked', () => {
  const { times, last } = triesUntilParked(0.5)
  expect(times).toHaveLength(8)
  const tookMs = (times.at(-1) ?? 0) - NOW
  expect(tookMs).toBeGreaterThan(10 * 60_000)
  expect(tookMs).toBeLessThan(20 * 60_000)
  expect(last).toMatchObject({ tries: 8, attempts: 8, sinceMs: NOW, why: 'no' })
})

test('a delivery that is put off waits without an end, does not count as a try, and at least as long as asked', () => {
  fc.assert(
    fc.property(
      fc.nat(40),
      fc.nat(10_000_000),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (attempts, retryAfterMs, random) => {
        const before: HaltedStream = {
          ...{ stream: 'a', born: 'b', version: 1, state: 'waiting', tries: 3 },
          ...{ attempts, nextMs: NOW, why: 'busy', sinceMs: NOW },
        }
        const after = afterFailure({ kind: 'transient', why: 'busy', retryAfterMs }, before, RULES, NOW, random)
        if (after.kind !== 'halt') throw new Error(after.kind)
        expect(after.halt).toMatchObject({ state: 'waiting', tries: 3, attempts: attempts + 1 })
        expect(after.halt.nextMs - NOW).toBeGreaterThanOrEqual(retryAfterMs)
        expect(after.halt.nextMs - NOW).toBeLessThanOrEqual(Math.max(60_000, retryAfterMs))
      },
    ),
  )
})

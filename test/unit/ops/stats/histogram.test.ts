import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LogHistogram, RELATIVE_ERROR } from '../../../../src/ops/stats/histogram.ts'

function histogramOf(samples: readonly number[]): LogHistogram {
  const histogram = new LogHistogram()
  for (const ms of samples) histogram.add(ms)
  return histogram
}

/** By nearest rank, as in the histogram. */
function exact(samples: readonly number[], q: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN
}

const lengths = fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 300 * 365 * 86_400_000 }))

test('every quantile is within 1 % of the exact one', () => {
  fc.assert(
    fc.property(
      fc.array(lengths, { minLength: 1, maxLength: 200 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (samples, q) => {
        const found = histogramOf(samples).quantile(q) ?? Number.NaN
        const wanted = exact(samples, q)
        expect(Math.abs(found - wanted)).toBeLessThanOrEqual(RELATIVE_ERROR * wanted + 1e-6)
      },
    ),
    { numRuns: 300 },
  )
})

test('count, mean, minimum and maximum are exact', () => {
  fc.assert(
    fc.property(fc.array(lengths, { minLength: 1, maxLength: 50 }), samples => {
      const histogram = histogramOf(samples)
      expect(histogram.count).toBe(samples.length)
      expect(histogram.minMs).toBe(Math.min(...samples))
      expect(histogram.maxMs).toBe(Math.max(...samples))
      expect(histogram.meanMs).toBeCloseTo(samples.reduce((sum, ms) => sum + ms, 0) / samples.length, 3)
      expect([...histogram.buckets()].reduce((sum, { count }) => sum + count, 0)).toBe(samples.length)
    }),
    { numRuns: 100 },
  )
})

describe('at its edges', () => {
  test('without a sample there is no value', () => {
    const { count, minMs, maxMs, meanMs } = new LogHistogram()
    expect({ count, minMs, maxMs, meanMs }).toEqual({ count: 0, minMs: undefined, maxMs: undefined, meanMs: undefined })
    expect(new LogHistogram().quantile(0.5)).toBeUndefined()
  })

  test('one sample is every quantile, exactly', () => {
    for (const ms of [0, 0.5, 1, 1_234, 1e15]) {
      expect([0, 0.5, 1].map(q => histogramOf([ms]).quantile(q))).toEqual([ms, ms, ms])
    }
  })

  test('excessive durations are kept in the last bucket', () => {
    expect(histogramOf([1, 1e18, Number.MAX_SAFE_INTEGER]).count).toBe(3)
  })
})

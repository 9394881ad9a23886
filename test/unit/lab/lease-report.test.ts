import { describe, expect, test } from 'vitest'
import { jainIndex } from '../../../src/lab/lease-report.ts'

describe("Jain's index", () => {
  const cases: readonly (readonly [what: string, shares: readonly number[], index: number])[] = [
    ['is 1 where all got the same', [7, 7, 7], 1],
    ['is 1/n where one got it all', [12, 0, 0, 0], 0.25],
    ['is in between else', [3, 1], 0.8],
    ['does not depend on how much there was', [30, 10], 0.8],
    ['is 1 where there was nothing to share', [0, 0], 1],
    ['is 1 of nobody', [], 1],
  ]

  test.each(cases)('%s', (_, shares, index) => {
    expect(jainIndex(shares)).toBeCloseTo(index)
  })
})

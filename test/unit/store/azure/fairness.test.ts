import { describe, expect, it } from 'vitest'
import { jainIndex } from '../../../../src/lab/lease-report.ts'
import type { WriteMode } from '../../../../src/store/store.ts'
import { contend } from '../contenders.ts'

const RUNS = 40

describe.each<WriteMode>(['lease', 'optimistic'])('processes that contend for a stream, write: %s,', write => {
  it.each([
    [10, 2],
    [99, 2],
    [99, 5],
    [99, 10],
  ])('share %i changes among %i of them evenly', async (changes, processes) => {
    const indexes: number[] = []
    for (let run = 0; run < RUNS; run += 1) {
      const { shares } = await contend({ changes, processes, write, seed: `run ${run}` })
      indexes.push(jainIndex(shares))
    }
    indexes.sort((a, b) => a - b)
    expect(indexes[RUNS / 20]).toBeGreaterThanOrEqual(0.9)
    expect(indexes[RUNS / 2]).toBeGreaterThanOrEqual(0.95)
  })
})

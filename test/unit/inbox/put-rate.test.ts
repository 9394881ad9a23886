import { expect, test } from 'vitest'
import { placesBefore, putRate } from '../../../src/inbox/put-rate.ts'
import { recordLine } from '../../../src/inbox/record.ts'
import type { BlockLog } from '../../../src/store/block-log.ts'
import { MemoryBlockLog } from '../../../src/store/memory-log.ts'

const NOW_MS = Date.UTC(2026, 2, 1, 12)

/** A log of blocks of records that were put so long ago, ms. */
async function logOf(blocks: readonly (readonly number[])[], bytes = 10): Promise<BlockLog> {
  const log = new MemoryBlockLog(new Map(), 'x', () => {})
  const json = JSON.stringify('x'.repeat(bytes))
  for (const [n, agesMs] of blocks.entries())
    await log.append(Buffer.from(agesMs.map(ageMs => recordLine({ id: `${n}`, json }, NOW_MS - ageMs)).join('')))
  return log
}

async function rateOf(log: BlockLog): Promise<number> {
  const extent = await log.extent()
  if (extent === undefined) throw new Error('no log')
  return putRate(log, extent, NOW_MS)
}

const every = (count: number, ageMs: (n: number) => number) => Array.from({ length: count }, (_, n) => ageMs(n))

test('a few records are counted, those of the last minute alone', async () => {
  expect(await rateOf(await logOf([[3_600_000], [61_000, 59_000], [1_000]]))).toBeCloseTo(2 / 60)
  expect(await rateOf(await logOf([[3_600_000, 61_000]]))).toBe(0)
})

test('many records are estimated, in one block or in many', async () => {
  // 10 a second for five minutes, of 1 KiB
  const ages = every(3_000, n => (3_000 - n) * 100)
  for (const size of [1, 100]) {
    const blocks = Array.from({ length: ages.length / size }, (_, n) => ages.slice(n * size, (n + 1) * size))
    const rate = await rateOf(await logOf(blocks, 1_024))
    expect(rate).toBeGreaterThan(8)
    expect(rate).toBeLessThan(12)
  }
})

test('a burst after a quiet hour counts for the minute', async () => {
  const burst = every(1_000, () => 1_000)
  const blocks = Array.from({ length: 100 }, (_, n) => burst.slice(n * 10, (n + 1) * 10))
  const rate = await rateOf(await logOf([[3_600_000], ...blocks], 1_024))
  expect(rate).toBeGreaterThan(14.5)
  expect(rate).toBeLessThan(18)
})

test('lines that are no records are passed over', async () => {
  const log = await logOf([[1_000]])
  await log.append(Buffer.from('not a record\n'))
  expect(await rateOf(log)).toBeCloseTo(1 / 60)
})

test('places go back from the end to the beginning, each once', () => {
  const first = { segment: 2, offset: 0 }
  const places = [...placesBefore({ first, end: { segment: 9, offset: 100 }, bytes: 1 }, 10)]
  expect(places.map(({ segment, offset }) => `${segment}:${offset}`)).toEqual([
    '9:90',
    '9:60',
    '9:0',
    '8:0',
    '5:0',
    '2:0',
  ])
  const end = { segment: 2, offset: 5 }
  expect([...placesBefore({ first, end, bytes: 5 }, 10)]).toEqual([first])
})

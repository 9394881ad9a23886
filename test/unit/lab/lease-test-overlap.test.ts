import { expect, test } from 'vitest'
import { overlapsIn } from '../../../src/lab/lease-test.ts'

const held = (process: string, fromMs: number, toMs: number) => ({ process, fromMs, toMs })

test('consecutive turns do not overlap, in any order of reports', () => {
  expect(overlapsIn([held('b', 20, 30), held('a', 10, 20), held('a', 30, 31)])).toEqual([])
})

test('two holders at the same time are named, with the length of the overlap', () => {
  expect(overlapsIn([held('b', 15, 30), held('a', 10, 20)])).toEqual([{ first: 'a', second: 'b', ms: 5 }])
})

test('a long turn overlaps all turns that begin within it', () => {
  const found = overlapsIn([held('a', 0, 100), held('b', 10, 20), held('c', 30, 40)])
  expect(found).toEqual([
    { first: 'a', second: 'b', ms: 10 },
    { first: 'a', second: 'c', ms: 10 },
  ])
})

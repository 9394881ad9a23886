import { expect, test } from 'vitest'
import { Latest } from '../../../src/util/top-n.ts'

test('keeps the latest, oldest first, and counts what it dropped', () => {
  const latest = new Latest<string>(3)
  for (const ms of [5, 1, 9, 3, 7, 2, 8]) latest.add(ms, `at ${ms}`)
  expect(latest.dropped).toBe(4)
  expect(latest.items()).toEqual(['at 7', 'at 8', 'at 9'])
})

test('what happened at the same time stays in the order in which it was added', () => {
  const latest = new Latest<string>(3)
  for (const name of ['a', 'b', 'c', 'd']) latest.add(1, name)
  expect(latest.items()).toEqual(['b', 'c', 'd'])
})

test('there is no floor as long as there is room; then nothing earlier is kept', () => {
  const latest = new Latest<number>(2)
  latest.add(10, 10)
  latest.add(20, 20)
  expect(latest.floorMs).toBe(Number.NEGATIVE_INFINITY)
  latest.add(30, 30)
  expect(latest.floorMs).toBe(20)
  latest.add(15, 15)
  expect(latest.items()).toEqual([20, 30])
  expect(latest.dropped).toBe(2)
})

test('keeping none and keeping all', () => {
  const none = new Latest<number>(0)
  none.add(1, 1)
  expect(none.items()).toEqual([])
  expect(none.floorMs).toBe(Number.POSITIVE_INFINITY)
  const all = new Latest<number>(Number.POSITIVE_INFINITY)
  for (let at = 100; at > 0; at--) all.add(at, at)
  expect(all.items()).toHaveLength(100)
  expect(all.dropped).toBe(0)
})

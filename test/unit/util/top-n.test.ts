import { expect, test } from 'vitest'
import { Latest } from '../../../src/util/top-n.ts'

test('the collection keeps the latest items, oldest first, and counts dropped ones', () => {
  const latest = new Latest<string>(3)
  for (const ms of [5, 1, 9, 3, 7, 2, 8]) latest.add(ms, `at ${ms}`)
  expect(latest.dropped).toBe(4)
  expect(latest.items()).toEqual(['at 7', 'at 8', 'at 9'])
})

test('simultaneous items keep the order in which they were added', () => {
  const latest = new Latest<string>(3)
  for (const name of ['a', 'b', 'c', 'd']) latest.add(1, name)
  expect(latest.items()).toEqual(['b', 'c', 'd'])
})

test('there is no floor while there is room; afterwards no earlier item is kept', () => {
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

test('a limit of zero keeps no item, and no limit keeps all', () => {
  const none = new Latest<number>(0)
  none.add(1, 1)
  expect(none.items()).toEqual([])
  expect(none.floorMs).toBe(Number.POSITIVE_INFINITY)
  const all = new Latest<number>(Number.POSITIVE_INFINITY)
  for (let at = 100; at > 0; at--) all.add(at, at)
  expect(all.items()).toHaveLength(100)
  expect(all.dropped).toBe(0)
})

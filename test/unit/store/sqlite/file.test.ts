import { afterEach, expect, it, vi } from 'vitest'
import { LockWait, lockDelay, StandBack } from '../../../../src/store/sqlite/file.ts'

afterEach(() => void vi.useRealTimers())

it.each([
  [0, 0, 1],
  [0, 1, 3],
  [12, 1, 3],
  [40, 1, 10],
  [400, 0, 1],
  [10_000, 1, 60],
])('stands back little after a wait of %d ms, and never for long', (waitedMs, random, delayMs) => {
  expect(lockDelay(waitedMs, () => random)).toBe(delayMs)
})

it('lets all calls of the process come back at the time that the first of them set', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const delays = [1, 0]
  const standBack = new StandBack(() => delays.shift() ?? 0)
  standBack.begin(10_000)
  standBack.begin(0)
  expect(delays).toEqual([0])
  expect(standBack.leftMs).toBe(60)
})

it('asks once more of a call that does not wait', () => {
  const wait = new LockWait(0, undefined)
  wait.begin()
  expect(wait.isOver).toBe(true)
})

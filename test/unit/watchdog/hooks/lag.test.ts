import { expect, test } from 'vitest'
import { LagMonitor, paceText } from '../../../../src/watchdog/hooks/lag.ts'

function pace() {
  const told: string[] = []
  return { pace: new LagMonitor(100, one => told.push(paceText(one))), told }
}

test('a lag of hooks is reported once, and its end once', () => {
  const { pace: one, told } = pace()
  for (const waiting of [100, 101, 150, 90, 101, 10, 5, 0]) one.waits(waiting)
  expect(told).toEqual(['hooks are behind: 101 streams wait', 'hooks have caught up'])
})

test('a full backlog is reported once', () => {
  const { pace: one, told } = pace()
  one.waits(101)
  for (let at = 0; at < 3; at += 1) one.isFull(1_000)
  one.waits(0)
  expect(told).toEqual([
    'hooks are behind: 101 streams wait',
    'hooks are behind: 1000 streams wait, and the backlog is full: a later sweep finds further streams',
    'hooks have caught up',
  ])
})

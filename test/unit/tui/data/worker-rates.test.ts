import { expect, it } from 'vitest'
import type { Summary } from '../../../../src/stream/summary.ts'
import { runningItem } from '../../../../src/stream/summary-items.ts'
import { inLastMinute, WorkerRates } from '../../../../src/tui/data/worker-rates.ts'
import { summary } from '../../../contract/harness.ts'

const NOW = 1_700_000_000_000
const claim = (id: string, owner: string, attempt = 1) =>
  runningItem({ id, name: 'Pay', owner, attempt, sinceMs: NOW, lastSeenMs: NOW, claimEndMs: NOW + 60_000 })
const stream = (over: Partial<Summary>) => summary({ status: 'inprocess', running: [], ...over })

function minuteOf(rates: WorkerRates, owner: string, nowMs = NOW) {
  const rate = rates.get(owner)
  return [inLastMinute(rate?.done, nowMs), inLastMinute(rate?.failed, nowMs)]
}

function afterOne(before: Partial<Summary>, after: Partial<Summary>): WorkerRates {
  const rates = new WorkerRates()
  rates.add('a', stream({ version: 1, ...before }), stream({ version: 2, ...after }), NOW)
  return rates
}

it('a claim that is gone while more events are completed was completed by its owner', () => {
  const rates = afterOne({ running: [claim('01', 'w1'), claim('02', 'w2')] }, { running: [claim('02', 'w2')], done: 1 })
  expect(minuteOf(rates, 'w1')).toEqual([1, 0])
  expect(rates.get('w1')).toMatchObject({ stream: 'a', event: '01', atMs: NOW })
  expect(rates.get('w2')).toBeUndefined()
})

it('a failure counts for the owner of the failed event, whoever wrote it', () => {
  const running = [claim('01', 'w1'), claim('02', 'w2')]
  const rates = afterOne({ running }, { done: 1, failed: 1, failedId: '02', lastBy: 'watchdog' })
  expect([minuteOf(rates, 'w1'), minuteOf(rates, 'w2')]).toEqual([
    [1, 0],
    [0, 1],
  ])
  expect(rates.get('watchdog')).toBeUndefined()
})

it('work that began and ended between two looks counts for the last writer, the end of the root for nobody', () => {
  expect(minuteOf(afterOne({ done: 1 }, { done: 4, lastBy: 'w1' }), 'w1')).toEqual([3, 0])
  expect(minuteOf(afterOne({ done: 1 }, { done: 3, status: 'completed', lastBy: 'w1' }), 'w1')).toEqual([1, 0])
})

it('what a person aborts or cancels is nobody’s work', () => {
  const rates = afterOne({}, { failed: 4, canceled: 2, lastBy: 'eva' })
  expect([...rates.entries()]).toEqual([])
})

it('a heartbeat, a second attempt and a stream of another incarnation count nothing', () => {
  const running = [claim('01', 'w1')]
  expect([...afterOne({ running }, { running }).entries()]).toEqual([])
  expect([...afterOne({ running }, { running: [claim('01', 'w2', 2)] }).entries()]).toEqual([])
  expect([...afterOne({ running }, { born: 'other', done: 5 }).entries()]).toEqual([])
})

it('the last minute moves on', () => {
  const rates = afterOne({ running: [claim('01', 'w1')] }, { done: 1 })
  expect(minuteOf(rates, 'w1', NOW + 30_000)).toEqual([1, 0])
  expect(minuteOf(rates, 'w1', NOW + 75_000)).toEqual([0, 0])
})

it('a copy does not change with its original', () => {
  const rates = afterOne({ running: [claim('01', 'w1')] }, { done: 1 })
  const copy = new WorkerRates(rates)
  rates.add('b', stream({ version: 1, running: [claim('01', 'w1')] }), stream({ version: 2, done: 1 }), NOW)
  expect([minuteOf(rates, 'w1'), minuteOf(copy, 'w1')]).toEqual([
    [2, 0],
    [1, 0],
  ])
})

import { expect, test } from 'vitest'
import { openEvents } from '../../../src/ops/open-events.ts'
import { runningItem } from '../../../src/stream/summary-items.ts'

const NOW = 10_000

const claim = (id: string, name: string, claimEndMs?: number) =>
  runningItem({ id, name, owner: 'w', attempt: 1, sinceMs: 0, lastSeenMs: 0, claimEndMs })

const events = (over: Partial<Parameters<typeof openEvents>[0]>) =>
  openEvents(
    { status: 'inprocess', root: 'Order', waitingOn: [], ready: [], running: [], gated: [], ...over },
    NOW,
  ).map(({ id, name, state }) => `${id} ${name} ${state}`)

test('ids that no running event has are those of the ready events', () => {
  const lists = { waitingOn: ['01.00', '02.00', '03.00'], ready: ['Pay|', 'Ship%20it|x'] }
  expect(events({ ...lists, running: [claim('02.00', 'Search', NOW + 1)] })).toEqual([
    '01.00 Pay ready',
    '03.00 Ship it ready',
    '02.00 Search running',
  ])
})

test('ready events have no id where the numbers do not match or running events were cut', () => {
  expect(events({ waitingOn: ['01.00', '02.00'], ready: ['Pay|'] })).toEqual([' Pay ready'])
  expect(events({ waitingOn: ['01.00', '+3'], ready: ['Pay|', '+3'] })).toEqual(['01.00 Pay ready'])
  expect(events({ waitingOn: ['01.00'], ready: ['Pay|'], running: ['+2'] })).toEqual([' Pay ready'])
})

test('an event is abandoned from the moment its claim ends, and a claim without an end never is', () => {
  expect(events({ running: [claim('01', 'A', NOW), claim('02', 'B', NOW + 1), claim('03', 'C')] })).toEqual([
    '01 A abandoned',
    '02 B running',
    '03 C running',
  ])
})

test('a stream that was not started yet is held', () => {
  expect(events({ status: 'init', waitingOn: ['00'] })).toEqual(['00 Order held'])
})

import { expect, test } from 'vitest'
import type { StreamFilter } from '../../../src/ops/filter.ts'
import { type GroupBy, groupsOf, type StreamGroup } from '../../../src/ops/groups.ts'
import { type SummarizedStream, summaries } from '../../../src/ops/summaries.ts'
import type { Summary } from '../../../src/stream/summary.ts'
import { runningItem } from '../../../src/stream/summary-items.ts'
import { init, memoryStore, NOW, run } from './support.ts'

async function oneStream(): Promise<SummarizedStream> {
  const { store } = memoryStore()
  await run(store, 's', init(['A']))
  for await (const [item] of summaries(store, {})) if (item !== undefined) return item
  throw new Error('no stream')
}

const SAMPLE = await oneStream()

function stream(name: string, summary: Partial<Summary>, modifiedMs = NOW): SummarizedStream {
  const { listed, summary: usual } = SAMPLE
  if (usual === undefined) throw new Error('no summary')
  return { ...SAMPLE, listed: { ...listed, name, modifiedMs }, summary: { ...usual, ...summary } }
}

function grouped(by: GroupBy, items: readonly SummarizedStream[]): StreamGroup[] {
  const groups = groupsOf(by)
  groups.add(items, NOW)
  return groups.sorted()
}

const failed = (name: string, failure: string, minutesAgo: number, more: Partial<Summary> = {}) =>
  stream(name, { failed: 1, failure, failedId: '01.00', failedAtMs: NOW - minutesAgo * 60_000, ...more })

test('by failure: texts that differ in numbers are one group, with the latest as an example, largest first', () => {
  const items = [
    failed('a', 'no stock', 1),
    ...Array.from({ length: 300 }, (_, at) => failed(`s${at}`, `order ${4_000 + at}: timeout`, at)),
  ]
  expect(grouped('failure', items)).toEqual([
    {
      group: 'order #: timeout',
      root: 'Start',
      event: '01.00',
      count: 300,
      failed: 300,
      overdue: 0,
      abandoned: 0,
      oldestMs: NOW - 299 * 60_000,
      newestMs: NOW,
      example: 's0',
    },
    expect.objectContaining({ group: 'no stock', count: 1, example: 'a' }),
  ])
})

test('by failure: a group of several events or kinds of streams names none; streams that did not fail are in no group', () => {
  const groups = groupsOf('failure')
  groups.add([failed('a', 'x', 1), failed('b', 'x', 2, { failedId: '02.00' }), stream('c', {})], NOW)
  groups.add([failed('d', '', 3, { root: 'Import' })], NOW)
  const [x, none] = groups.sorted()
  expect(x).toMatchObject({ group: 'x', count: 2, root: 'Start' })
  expect(x?.event).toBeUndefined()
  expect(none).toMatchObject({ group: 'no message', root: 'Import' })
  expect(groups.counts).toEqual({ streams: 4, grouped: 3, unreadable: 0 })
})

test('by status: streams with errors and unreadable ones have their own groups', () => {
  const fault = { code: 'bad-document', message: 'line 1' }
  const items: SummarizedStream[] = [
    stream('a', { status: 'completed' }),
    stream('b', { status: 'completed', outcome: 'errors', failed: 1 }),
    stream('c', { status: 'completed' }),
    stream('d', { status: '' }),
    { ...SAMPLE, summary: undefined, fault },
    { ...SAMPLE, summary: undefined },
  ]
  expect(grouped('status', items).map(({ group, count }) => [group, count])).toEqual([
    ['completed', 2],
    ['completed (errors)', 1],
    ['no status', 1],
    ['not started', 1],
    ['unreadable', 1],
  ])
})

test('a group has its oldest and newest stream, an example, and the number of overdue and failed streams', () => {
  const [group] = grouped('status', [
    stream('b', { createdMs: NOW - 2_000, dueMs: NOW + 1 }),
    stream('a', { createdMs: NOW - 3_000, dueMs: NOW }),
    stream('c', { createdMs: undefined, failed: 2 }),
  ])
  expect(group).toMatchObject({
    oldestMs: NOW - 3_000,
    newestMs: NOW - 2_000,
    example: 'a',
    count: 3,
    overdue: 1,
    failed: 1,
  })
})

const claim = (id: string, name: string, owner: string, endMs: number) =>
  runningItem({ id, name, owner, attempt: 1, sinceMs: NOW, lastSeenMs: NOW, claimEndMs: endMs })

const WORKING = [
  stream('a', { waitingOn: ['01.00', '02.00'], ready: ['Search|find', 'Pay|'] }, NOW - 5_000),
  stream('b', { waitingOn: ['01.00', '02.00'], ready: ['Pay|'], running: [claim('01.00', 'Search', 'w1', NOW + 1)] }),
  stream('c', { waitingOn: [], ready: [] }),
  stream('d', { waitingOn: ['00'], ready: [], status: 'init' }),
  stream('e', {
    waitingOn: ['01.00', '02.00'],
    ready: [],
    running: [claim('01.00', 'Search', 'w1', NOW), claim('02.00', 'Search', 'w2', NOW)],
    claimEndMs: NOW,
  }),
]

test('streams are grouped by the name and the state of each event that they wait on', () => {
  const found = grouped('waiting-on', WORKING)
  expect(found.map(({ group, count, abandoned, example }) => [group, count, abandoned, example])).toEqual([
    ['Start: Pay ready', 2, 0, 'a'],
    ['Start: Search abandoned', 1, 1, 'e'],
    ['Start: Search ready', 1, 0, 'a'],
    ['Start: Search running', 1, 0, 'b'],
    ['Start: held', 1, 0, 'd'],
  ])
  expect(found[0]).toMatchObject({ oldestMs: NOW - 5_000, newestMs: NOW, root: 'Start', name: 'Pay', state: 'ready' })
})

test('a stream is in a group for each worker that has claimed one of its events', () => {
  const found = grouped('owner', WORKING)
  expect(found.map(({ owner, count }) => [owner, count])).toEqual([
    ['w1', 2],
    ['w2', 1],
  ])
})

test('only events that pass the filter of the listing make groups', () => {
  const names = (by: GroupBy, filter: StreamFilter) => {
    const groups = groupsOf(by, filter)
    groups.add(WORKING, NOW)
    return groups.sorted().map(({ group }) => group)
  }
  expect(names('waiting-on', { owner: ['w2'] })).toEqual(['Start: Search abandoned'])
  expect(names('waiting-on', { waitingOn: ['Pay'] })).toEqual(['Start: Pay ready'])
  expect(names('owner', { eventState: ['running'] })).toEqual(['w1'])
})

test('streams are grouped by the name and the topic of their root event', () => {
  const items = [stream('a', { topic: 'eu' }), stream('b', { topic: 'us', root: 'Import' }), stream('c', { topic: '' })]
  expect(grouped('root', items).map(({ group, count }) => [group, count])).toEqual([
    ['Start', 2],
    ['Import', 1],
  ])
  expect(grouped('topic', items).map(({ group, topic }) => [group, topic])).toEqual([
    ['eu', 'eu'],
    ['no topic', ''],
    ['us', 'us'],
  ])
})

test('canceled streams are in the groups of failures only with the filter of canceled streams', () => {
  const items = [failed('a', 'timeout', 1), failed('b', 'customer withdrew', 1, { failed: 0, canceled: 1 })]
  expect(grouped('failure', items).map(({ group }) => group)).toEqual(['timeout'])
  const groups = groupsOf('failure', { canceled: true })
  groups.add(items, NOW)
  expect(groups.sorted().map(({ group }) => group)).toEqual(['customer withdrew', 'timeout'])
})

test('failures that differ only in case are one group', () => {
  expect(grouped('failure', [failed('a', 'Timeout', 1), failed('b', 'timeout', 2)])).toMatchObject([{ count: 2 }])
})

test('memory is bounded: streams of groups beyond the limit are counted together, at the end', () => {
  const items = Array.from({ length: 2_100 }, (_, at) => stream(`s${at}`, { status: `odd-${at}` }))
  const found = grouped('status', items)
  expect(found).toHaveLength(2_001)
  expect(found.at(-1)).toMatchObject({ group: 'others', count: 100, others: true })
})

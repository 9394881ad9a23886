import { expect, test } from 'vitest'
import { type SummarizedStream, summaries } from '../../../src/ops/summaries.ts'
import { WorkerTally } from '../../../src/ops/workers.ts'
import type { Summary } from '../../../src/stream/summary.ts'
import { runningItem } from '../../../src/stream/summary-items.ts'
import { summary } from '../../contract/harness.ts'
import { storeWith } from '../commands/store-with.ts'
import { init, memoryStore, NOW, run } from './support.ts'

const MINUTE = 60_000

interface Claimed {
  readonly name?: string
  readonly owner?: string
  readonly attempt?: number
  /** Minutes ago. */
  readonly since: number
  readonly seen: number
  /** Minutes from now. */
  readonly left: number
}

const claim = (id: string, { name = 'Pay', owner = 'w1', attempt = 1, since, seen, left }: Claimed) =>
  runningItem({
    id,
    name,
    owner,
    attempt,
    sinceMs: NOW - since * MINUTE,
    lastSeenMs: NOW - seen * MINUTE,
    claimEndMs: NOW + left * MINUTE,
  })

function stream(name: string, over: Partial<Summary>): SummarizedStream {
  const listed = { name, etag: '"1"', size: 1, modifiedMs: NOW, lease: { state: 'available' } } as const
  return { listed, summary: { ...summary(), ...over }, fault: undefined, pin: {} }
}

const ITEMS = [
  stream('a', {
    waitingOn: ['01.00', '02.00', '03.00'],
    ready: ['Ship|'],
    running: [
      claim('01.00', { since: 50, seen: 45, left: -40, attempt: 3 }),
      claim('03.00', { name: 'Search', owner: 'w2', since: 2, seen: 1, left: 1 }),
    ],
  }),
  stream('b', {
    waitingOn: ['01.00', '02.00'],
    ready: [],
    running: [claim('01.00', { since: 3, seen: 2, left: 0 }), claim('02.00', { since: 9, seen: 3, left: 1 })],
  }),
  stream('held', { status: 'init', waitingOn: ['00'], ready: [], running: [] }),
]

function tallyOf(filter: ConstructorParameters<typeof WorkerTally>[0] = {}): WorkerTally {
  const tally = new WorkerTally(filter, { keepsEvents: true })
  for (const item of ITEMS) tally.add(item, NOW)
  return tally
}

test('a worker has its running and abandoned events, its earliest claim, its last sign of life and its highest attempt', () => {
  expect(tallyOf().workers()).toEqual([
    {
      owner: 'w1',
      ready: 0,
      running: 1,
      abandoned: 2,
      streams: 2,
      sinceMs: NOW - 50 * MINUTE,
      lastSeenMs: NOW - 2 * MINUTE,
      attempt: 3,
    },
    {
      owner: 'w2',
      ready: 0,
      running: 1,
      abandoned: 0,
      streams: 1,
      sinceMs: NOW - 2 * MINUTE,
      lastSeenMs: NOW - MINUTE,
      attempt: 1,
    },
  ])
})

test('a step counts its events that are ready, running and abandoned, and no held stream', () => {
  expect(tallyOf().steps()).toMatchObject([
    { step: 'Pay', ready: 0, running: 1, abandoned: 2, streams: 2 },
    { step: 'Search', ready: 0, running: 1, abandoned: 0, streams: 1 },
    { step: 'Ship', ready: 1, running: 0, abandoned: 0, streams: 1, sinceMs: undefined, attempt: 0 },
  ])
})

test('claimed events are listed with their stream, the earliest claim first', () => {
  const events = tallyOf().events()
  expect(events.map(({ stream, claim: { id } }) => `${stream} ${id}`)).toEqual([
    'a 01.00',
    'b 02.00',
    'b 01.00',
    'a 03.00',
  ])
})

test('only events that pass the filter are counted', () => {
  expect(tallyOf({ owner: ['w2'] }).steps()).toMatchObject([{ step: 'Search' }])
  expect(tallyOf({ eventState: ['abandoned'] }).workers()).toMatchObject([{ owner: 'w1', running: 0, abandoned: 2 }])
  expect(tallyOf({ eventState: ['abandoned'], waitingOn: ['Search'] }).events()).toEqual([])
})

test('workers beyond the limit are counted together', () => {
  const tally = new WorkerTally({}, { keepsEvents: false })
  const running = Array.from({ length: 2_010 }, (_, at) =>
    claim('01.00', { owner: `w${at}`, since: 1, seen: 1, left: 1 }),
  )
  tally.add(stream('a', { ready: [], running }), NOW)
  expect(tally.workers()).toHaveLength(2_001)
  expect(tally.workers().find(({ owner }) => owner === undefined)).toMatchObject({ running: 10, streams: 1 })
  expect(tally.events()).toEqual([])
})

test('the document is read where the summary leaves out events, and only there', async () => {
  const { store } = memoryStore()
  const names = Array.from({ length: 150 }, (_, at) => `Part${at}`)
  await run(store, 'big', init(names))
  await run(store, 'small', init(['A']))
  const read: string[] = []
  const counted = storeWith(store, {
    read: name => {
      read.push(name)
      return store.read(name)
    },
  })
  const tally = new WorkerTally({}, { keepsEvents: false })
  for await (const page of summaries(counted, {}, { wholeLists: true })) for (const item of page) tally.add(item, NOW)
  expect(tally.steps()).toHaveLength(151)
  expect(read).toEqual(['big'])
})

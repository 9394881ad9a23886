import { describe, expect, test } from 'vitest'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { triedEvents } from '../../../../src/ops/stats/attempts.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import type { Operation } from '../../../../src/stream/operations/operation.ts'
import { documentText } from '../../../support/stream-builder.ts'
import { init, memoryStore, NOW, resultOf, run, writeForeign } from '../support.ts'

const SECOND = 1_000

/** Plays operations on one stream, each a number of seconds after the previous one. */
async function played(...steps: readonly (readonly [afterS: number, operation: Operation])[]) {
  const { store, advance } = memoryStore()
  for (const [afterS, operation] of steps) {
    advance(afterS * SECOND)
    resultOf(await run(store, 's', operation))
  }
  return { store, advance, tried: await triedOf(store) }
}

/** Attempts by event: outcome, then waited, ran and took in seconds. */
async function triedOf(store: StreamStore) {
  const view = await readStream(store, 's')
  if (view === undefined) throw new Error('no stream')
  const seconds = (ms: number | undefined) => (ms === undefined ? '-' : ms / SECOND)
  return Object.fromEntries(
    triedEvents(view).map(({ event, attempts }) => [
      event.id,
      attempts.map(({ outcome, waitedMs, ranMs, tookMs }) =>
        [outcome, ...[waitedMs, ranMs, tookMs].map(seconds)].join(' '),
      ),
    ]),
  )
}

const start = (event: string): Operation => ({ op: 'start', event, owner: 'w', claimMs: 60_000 })
const complete = (event: string): Operation => ({ op: 'complete', event, owner: 'w' })
const fail = (event: string): Operation => ({ op: 'fail', event, owner: 'w', msg: 'no' })

test('waited lasts until a worker claims the event, ran until its own work ends, took covers both', async () => {
  const { tried } = await played([0, init(['A', 'B'])], [5, start('01.00')], [20, complete('01.00')])
  expect(tried).toEqual({
    '00': ['open - - -'],
    '01.00': ['completed 5 20 25'],
    '02.00': ['open - - -'],
  })
})

test('each attempt of an event that is retried counts for itself', async () => {
  const { tried } = await played(
    [0, init(['A', 'B'])],
    [5, start('01.00')],
    [20, fail('01.00')],
    [100, { op: 'retry', event: '01.00' }],
    [7, start('01.00')],
    [3, complete('01.00')],
  )
  expect(tried['01.00']).toEqual(['aborted 5 20 25', 'completed 7 3 10'])
})

test('a running event has waited, and has no ran or took yet', async () => {
  const { tried } = await played([0, init(['A'])], [5, start('01.00')])
  expect(tried['01.00']).toEqual(['open 5 - -'])
})

test('a released event is ready again: both waits count', async () => {
  const handedBack = [
    [0, init(['A'])],
    [5, start('01.00')],
    [20, { op: 'release', event: '01.00', owner: 'w' }],
  ] as const
  expect((await played(...handedBack)).tried['01.00']).toEqual(['open - - -'])
  const { tried } = await played(...handedBack, [2, start('01.00')], [1, complete('01.00')])
  expect(tried['01.00']).toEqual(['completed 7 21 28'])
})

test('an event canceled before a claim has neither waited nor run: it was not begun', async () => {
  const { tried } = await played([0, init(['A', 'B'])], [5, { op: 'cancel', event: '01.00' }])
  expect(tried['01.00']).toEqual(['canceled - - 5'])
})

test('an event completed without a claim has waited, and its run time is unknown', async () => {
  const { tried } = await played([0, init(['A', 'B'])], [5, { op: 'complete', event: '01.00' }])
  expect(tried['01.00']).toEqual(['completed 5 - 5'])
})

test('waiting for successors is not work', async () => {
  const { tried } = await played(
    [0, init(['A'])],
    [5, start('01.00')],
    [20, { op: 'advance', event: '01.00', owner: 'w', next: { name: 'C' }, forks: [] }],
    [300, start('01.01')],
    [1, complete('01.01')],
  )
  expect(tried['01.00']).toEqual(['completed 5 20 326'])
})

test('a join waits for its branches, then for a worker: only the latter counts', async () => {
  const { tried } = await played(
    [0, { ...init(['A']), join: { name: 'J' } } as Operation],
    [50, start('01.00')],
    [10, complete('01.00')],
    [4, start('01')],
    [2, complete('01')],
  )
  expect(tried['01']).toEqual(['completed 4 2 66'])
  expect(tried['00']).toEqual(['completed - - 66'])
})

describe('events of other writers', () => {
  test('of a stream that was never ours have counted ends and no durations', async () => {
    const { store } = memoryStore()
    await run(store, 's', init())
    const summary = (await store.read('s'))?.summary
    await store.remove('s', {})
    if (summary === undefined) throw new Error('no summary')
    const at = new Date(NOW - 60_000).toISOString()
    const text = documentText(
      { id: '00', status: 'inprocess', created: at, timestamp: at, next: '01.00|02.00' },
      { id: '01.00', status: 'completed', prev: '00', created: at, timestamp: new Date(NOW).toISOString() },
      { id: '02.00', status: 'aborted', prev: '00' },
    )
    await store.create('s', Buffer.from(text), summary)
    expect(await triedOf(store)).toEqual({
      '00': ['open - - -'],
      '01.00': ['completed - - -'],
      '02.00': ['aborted - - -'],
    })
  })

  test('that run and have no known creation have not waited 0 s', async () => {
    const { store } = memoryStore()
    await run(store, 's', init())
    const summary = (await store.read('s'))?.summary
    await store.remove('s', {})
    if (summary === undefined) throw new Error('no summary')
    const at = new Date(NOW - 60_000).toISOString()
    const text = documentText({ id: '00', status: 'inprocess', created: 'yesterday', timestamp: at })
    await store.create('s', Buffer.from(text), summary)
    expect(await triedOf(store)).toEqual({ '00': ['open - - -'] })
    resultOf(await run(store, 's', { op: 'set', event: '00', attributes: { tag: 'x' } }))
    expect(await triedOf(store)).toEqual({ '00': ['open - - -'] })
    resultOf(await run(store, 's', { op: 'complete', event: '00' }))
    expect(await triedOf(store)).toEqual({ '00': ['completed - - -'] })
  })

  test('that were running when they were first seen have no duration, their next attempt has', async () => {
    const { store, advance } = await played([0, init(['A', 'B'])])
    await writeForeign(store, 's', 'xmlns:lc="urn:leasectl:v1"', 'xmlns:lc="urn:gone"')
    advance(5 * SECOND)
    await writeForeign(store, 's', 'name="A" status="init"', 'name="A" status="inprocess"')
    const seen: Operation = { op: 'set', event: '02.00', attributes: { tag: 'x' } }
    for (const operation of [
      seen,
      { op: 'fail', event: '01.00' },
      { op: 'retry', event: '01.00' },
      start('01.00'),
    ] as const) {
      advance(10 * SECOND)
      resultOf(await run(store, 's', operation))
    }
    advance(3 * SECOND)
    await run(store, 's', complete('01.00'))
    expect((await triedOf(store))['01.00']).toEqual(['aborted - - -', 'completed 10 3 13'])
  })
})

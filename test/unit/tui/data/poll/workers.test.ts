import { expect, it } from 'vitest'
import { WorkerTally } from '../../../../../src/ops/workers.ts'
import { init, memoryStore, run } from '../../../ops/support.ts'
import { LISTED, polling } from '../support.ts'

const WORKERS = { ...LISTED, workers: true }
const start = (owner: string) => ({ op: 'start', event: '01.00', owner, claimMs: 60_000 }) as const

async function withClaims() {
  const world = memoryStore()
  for (const name of ['a', 'b', 'c']) await run(world.store, name, init(['Pay']))
  await run(world.store, 'a', start('w1'))
  await run(world.store, 'b', start('w2'))
  return world
}

it('rows and steps are those of the tally of the command', async () => {
  const { store } = await withClaims()
  const { data, stop } = await polling(store, WORKERS)
  const tally = new WorkerTally({}, { keepsEvents: true })
  for (const { item } of data.streams.values()) tally.add(item, store.nowMs())
  expect(data.workers).toMatchObject({ workers: 2 })
  expect(data.workers.steps).toEqual(tally.steps())
  expect(data.workers.steps).toMatchObject([{ step: 'Pay', ready: 1, running: 2, abandoned: 0 }])
  expect(data.workers.rows.map(({ stream, event, owner }) => [stream, event, owner])).toEqual([
    ['a', '01.00', 'w1'],
    ['b', '01.00', 'w2'],
  ])
  await stop()
})

it('counts also the events of which a summary of a large stream has only the number', async () => {
  const { store } = memoryStore()
  await run(store, 'large', init(Array.from({ length: 400 }, () => 'Load')))
  const { data, stop } = await polling(store, WORKERS)
  const { steps } = data.workers
  expect(steps.map(({ step }) => step)).toEqual(['Load', undefined])
  expect(steps.reduce((total, { ready }) => total + ready, 0)).toBe(400)
  await stop()
})

it('a claim that ends without a write is counted as abandoned', async () => {
  const { store, advance } = await withClaims()
  const { data, clock, stop } = await polling(store, WORKERS)
  advance(61_000)
  await clock.next()
  expect(data.workers.steps).toMatchObject([{ running: 0, abandoned: 2 }])
  await stop()
})

it('a worker without a claim is shown for two minutes with what it has ended', async () => {
  const { store, advance } = await withClaims()
  const { data, clock, stop } = await polling(store, WORKERS)
  await run(store, 'a', { op: 'complete', event: '01.00', owner: 'w1' })
  await clock.next()
  const idle = () => data.workers.rows.filter(({ claim }) => claim === undefined)
  expect(idle()).toMatchObject([{ owner: 'w1', stream: 'a', event: '01.00', done: 1, failed: 0 }])
  advance(121_000)
  await clock.next()
  expect(idle()).toEqual([])
  await stop()
})

it('time alone is no change, a heartbeat is one', async () => {
  const { store, advance } = await withClaims()
  const { data, clock, stop } = await polling(store, WORKERS)
  const { revision } = data
  advance(5_000)
  await clock.next()
  expect(data.revision).toBe(revision)
  await run(store, 'a', { op: 'touch', event: '01.00', owner: 'w1', claimMs: 60_000 })
  await clock.next()
  expect(data.workers.revision).toBe(2)
  await stop()
})

it('nothing is counted while the screen is not visible', async () => {
  const { store } = await withClaims()
  const { data, stop } = await polling(store, LISTED)
  expect(data.workers).toMatchObject({ revision: 0, rows: [] })
  await stop()
})

import { expect, test } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Job } from '../../../src/worker/types.ts'
import { init, resultOf, run, writeForeign } from '../ops/support.ts'
import { Bench } from './one-worker.ts'

const MINUTE = 60_000

/** The stream is removed and created again, and another worker gets the same event with the same fence. */
async function anewForAnother(store: StreamStore): Promise<void> {
  await store.remove('s', {})
  resultOf(await run(store, 's', init(['A'], 'b1')))
  const claimed = resultOf(await run(store, 's', { op: 'start', event: '01.00', owner: 'w2', claimMs: MINUTE }))
  expect(claimed.claim?.fence).toBe(2)
}

const event = async (store: StreamStore) => (await readStream(store, 's'))?.stream.find('01.00')

test('a result is not reported for an event in another incarnation of its stream, although the fence is equal', async () => {
  const bench = new Bench()
  await bench.stream()
  const outcome = await bench.settle(
    bench.work(async ({ fence }) => {
      expect(fence).toBe(2)
      await anewForAnother(bench.store)
      return { op: 'complete' }
    }),
  )
  expect(outcome).toMatchObject({ kind: 'unreported', undone: { kind: 'missing' } })
  expect(await event(bench.store)).toMatchObject({ status: 'inprocess', lc: { owner: 'w2' } })
})

test('a heartbeat does not keep a claim in another incarnation of the stream: the work is stopped', async () => {
  const bench = new Bench()
  await bench.stream()
  const until = async () => (await event(bench.store))?.lc.until
  let untilOfOther: string | undefined
  const outcome = await bench.settle(
    bench.work(async (job: Job) => {
      await anewForAnother(bench.store)
      untilOfOther = await until()
      await bench.lasting(10 * MINUTE)(job)
      return undefined
    }),
  )
  expect(outcome).toMatchObject({ kind: 'lost', lost: { code: 'stream-not-found' } })
  expect(await until()).toBe(untilOfOther)
})

/** A writer that creates the document element anew keeps its content, but neither version nor incarnation id. */
async function rebuilt(store: StreamStore): Promise<void> {
  const text = Buffer.from((await store.read('s'))?.body ?? []).toString()
  const start = /<EventStream [^>]*>/.exec(text)?.[0] ?? ''
  expect(start).toContain('lc:born="b0"')
  await writeForeign(store, 's', start, '<EventStream xmlns:lc="urn:leasectl:v1">')
}

const born = async (store: StreamStore) => (await readStream(store, 's'))?.document.born

test('a result is reported if another writer dropped the incarnation id, and the stream has it again', async () => {
  const bench = new Bench()
  await bench.stream()
  const outcome = await bench.settle(
    bench.work(async () => {
      await rebuilt(bench.store)
      return { op: 'complete' }
    }),
  )
  expect(outcome.kind).toBe('reported')
  expect(await event(bench.store)).toMatchObject({ status: 'completed' })
  expect(await born(bench.store)).toBe('b0')
})

test('a heartbeat keeps the claim if another writer dropped the incarnation id', async () => {
  const bench = new Bench()
  await bench.stream()
  const outcome = await bench.settle(
    bench.work(async (job: Job) => {
      await rebuilt(bench.store)
      await bench.lasting(10 * MINUTE)(job)
      return undefined
    }),
  )
  expect(outcome.kind).toBe('reported')
  expect(await born(bench.store)).toBe('b0')
})

import { expect, it } from 'vitest'
import { keepNoDocuments } from '../../../src/ops/transact/commit.ts'
import type { EventSpec, Operation } from '../../../src/stream/operations/operation.ts'
import { workLoop } from '../../../src/worker/loop.ts'
import { resultOf, run } from '../ops/support.ts'
import { Bench, START_MS } from './one-worker.ts'

const SECOND = 1_000

/** A worker that defers, and when it began each event, ms from the beginning. */
async function begunAt(bench: Bench, deferMs: number, forMs: number): Promise<[string, number][]> {
  const drain = new AbortController()
  bench.at(forMs, () => drain.abort())
  const begun: [string, number][] = []
  const options = { names: ['A'], owner: 'w2', timing: bench.timing, drain: drain.signal, deferMs, maxIdleMs: 60_000 }
  const loop = workLoop(bench.store, options, ({ stream }) => {
    begun.push([stream, bench.scheduler.nowMs - START_MS])
    return undefined
  })
  await bench.settle(loop)
  return begun
}

it('takes only what has been ready for so long, and takes it without any other write', async () => {
  const bench = new Bench()
  await bench.stream(['A', 'A'])
  const begun = await begunAt(bench, 15 * SECOND, 60 * SECOND)
  expect(begun).toHaveLength(2)
  for (const [, ms] of begun) {
    expect(ms).toBeGreaterThanOrEqual(15 * SECOND)
    expect(ms).toBeLessThan(17 * SECOND)
  }
})

it('leaves what the workers of the first region take in time', async () => {
  const bench = new Bench()
  await bench.stream(['A'], 'taken')
  await bench.stream(['A'], 'left')
  bench.at(5 * SECOND, () => void run(bench.store, 'taken', { op: 'complete', event: '01.00' }))
  expect((await begunAt(bench, 15 * SECOND, 60 * SECOND)).map(([stream]) => stream)).toEqual(['left'])
})

it('takes over the event of a dead worker so long after its claim has ended', async () => {
  const bench = new Bench()
  await bench.stream(['A'])
  resultOf(await run(bench.store, 's', { op: 'start', event: '01.00', owner: 'w1', claimMs: 20 * SECOND }))
  const [[, ms = 0] = []] = await begunAt(bench, 15 * SECOND, 120 * SECOND)
  expect(ms).toBeGreaterThanOrEqual(35 * SECOND)
  expect(ms).toBeLessThan(38 * SECOND)
})

it('counts the time of a timer from its end', async () => {
  const bench = new Bench()
  const forks: readonly EventSpec[] = [{ name: 'A', delay: '00:00:30' }]
  resultOf(await run(bench.store, 's', { op: 'init', root: { name: 'Start' }, forks, hold: false, born: 'b0' }))
  const [[, ms = 0] = []] = await begunAt(bench, 10 * SECOND, 120 * SECOND)
  expect(ms).toBeGreaterThanOrEqual(40 * SECOND)
  expect(ms).toBeLessThan(43 * SECOND)
})

it('counts the time of a timer from its end also in a stream that it has to read anew', async () => {
  const bench = new Bench()
  keepNoDocuments(bench.store)
  const forks: readonly EventSpec[] = [{ name: 'A', delay: '00:00:30' }]
  resultOf(await run(bench.store, 's', { op: 'init', root: { name: 'Start' }, forks, hold: false, born: 'b0' }))
  const [[, ms = 0] = []] = await begunAt(bench, 10 * SECOND, 120 * SECOND)
  expect(ms).toBeGreaterThanOrEqual(40 * SECOND)
  expect(ms).toBeLessThan(43 * SECOND)
})

it.each<[string, readonly Operation[]]>([
  [
    'released',
    [
      { op: 'start', event: '01.00', owner: 'w1', claimMs: SECOND },
      { op: 'release', event: '01.00', owner: 'w1' },
    ],
  ],
  ['resumed', [{ op: 'suspend' }, { op: 'resume' }]],
])('leaves what was %s just now', async (_, operations) => {
  const bench = new Bench()
  await bench.stream(['A'])
  bench.at(10 * SECOND, async () => {
    for (const operation of operations) resultOf(await run(bench.store, 's', operation))
  })
  const [[, ms = 0] = []] = await begunAt(bench, 15 * SECOND, 60 * SECOND)
  expect(ms).toBeGreaterThanOrEqual(25 * SECOND)
  expect(ms).toBeLessThan(28 * SECOND)
})

it('is not passed by a stream whose other events are older', async () => {
  const bench = new Bench()
  await bench.stream(['B'], 's')
  bench.at(
    10 * SECOND,
    () => void run(bench.store, 's', { op: 'advance', event: '01.00', next: { name: 'A' }, forks: [] }),
  )
  const [[, ms = 0] = []] = await begunAt(bench, 15 * SECOND, 60 * SECOND)
  expect(ms).toBeGreaterThanOrEqual(25 * SECOND)
})

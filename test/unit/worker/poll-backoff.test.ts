import { expect, it } from 'vitest'
import { workLoop } from '../../../src/worker/loop.ts'
import { Bench } from './one-worker.ts'

const WORKERS = 20

it('a worker that has just worked on many events looks for more as soon as after one', async () => {
  const bench = new Bench()
  const pauses: number[] = []
  const drain = new AbortController()
  for (let at = 0; at < WORKERS; at++) await bench.stream(['A'], `s${at}`)
  let worked = 0
  const timing = {
    ...bench.timing,
    random: () => 0.999,
    pause: (ms: number, signal: AbortSignal) => {
      if (worked === WORKERS) pauses.push(ms)
      return bench.timing.pause(ms, signal)
    },
  }
  const running = workLoop(
    bench.store,
    { names: ['A'], owner: 'w', concurrency: 2 * WORKERS, timing, drain: drain.signal },
    async ({ stream, signal }) => {
      // They end one after the other: each end wakes the loop, which finds nothing.
      await bench.timing.pause(10 * Number(stream.slice(1)), signal)
      worked += 1
      return undefined
    },
  )
  bench.at(60_000, () => drain.abort())
  await bench.settle(running)
  expect(worked).toBe(WORKERS)
  const [first = 0] = pauses.filter(ms => ms >= 100)
  expect(first).toBeLessThan(300)
  expect(Math.max(...pauses)).toBeGreaterThan(9_000)
})

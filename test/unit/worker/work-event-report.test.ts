import { expect, test } from 'vitest'
import { onDone } from '../../../src/library/worker.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { WorkResult } from '../../../src/worker/types.ts'
import { intercept } from '../ops/support.ts'
import { Bench } from './one-worker.ts'

/** A bench whose store applies writes but loses the next answers, as many as the test sets. */
function lossyBench() {
  const answers = { toLose: 0 }
  const bench = new Bench(store =>
    intercept(store, async (_, decide, go) => {
      const outcome = await go(decide)
      if (outcome.kind !== 'committed' || answers.toLose === 0) return outcome
      answers.toLose -= 1
      return { kind: 'unknown', cause: new StoreUnreachable('lost') }
    }),
  )
  return { bench, answers }
}

async function reportedWithoutAnswer(ending: WorkResult) {
  const { bench, answers } = lossyBench()
  await bench.stream()
  const outcome = await bench.settle(
    bench.work(() => {
      answers.toLose = 1
      return ending
    }),
  )
  expect(answers.toLose).toBe(0)
  if (outcome.kind !== 'reported') throw new Error(`expected reported, got ${outcome.kind}`)
  return outcome.result
}

test('a report that landed without an answer is the change of this worker, which is informed that the stream ended', async () => {
  const result = await reportedWithoutAnswer({ op: 'complete' })
  expect(result).toMatchObject({ outcome: 'done', duplicate: false, version: 3, closed: ['00'], done: true })
  const told: number[] = []
  await onDone(({ version }) => void told.push(version))(result)
  expect(told).toEqual([3])
})

test('a report that landed without an answer returns the events that it added', async () => {
  const result = await reportedWithoutAnswer({ op: 'advance', next: { name: 'B' } })
  expect(result).toMatchObject({ outcome: 'done', duplicate: false, added: ['01.01'], done: false })
})

import { describe, expect, it } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { workLoop } from '../../../src/worker/loop.ts'
import { ForeignWrites } from '../ops/foreign-writes.ts'
import { resultOf, run } from '../ops/support.ts'
import { Bench } from './one-worker.ts'

const MINUTE = 60_000

/** One worker of ours beside a writer that settles nothing, and a stream of branches `A` with the join `J`. */
async function joined(branches: number): Promise<{ bench: Bench; foreign: ForeignWrites }> {
  const others: ForeignWrites[] = []
  const bench = new Bench(base => {
    const foreign = new ForeignWrites(base)
    others.push(foreign)
    return foreign.store
  })
  const [foreign] = others
  if (foreign === undefined) throw new Error('the bench has a store')
  const forks = Array.from({ length: branches }, () => ({ name: 'A' }))
  resultOf(
    await run(bench.store, 's', {
      op: 'init',
      root: { name: 'R' },
      forks,
      join: { name: 'J' },
      hold: false,
      born: 'b0',
    }),
  )
  return { bench, foreign }
}

/** Works on all events of these names. @returns the ids of the processed events */
async function worked(bench: Bench, names: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  const options = { names, owner: 'w1', timing: bench.timing, until: 'until-empty' } as const
  await bench.settle(workLoop(bench.store, options, job => void ids.push(job.event.id)))
  return ids
}

describe('a worker beside writers that settle nothing', () => {
  it('claims a join whose last branch such a writer has ended, without a watchdog', async () => {
    const { bench, foreign } = await joined(2)
    resultOf(await run(bench.store, 's', { op: 'complete', event: '01.00' }))
    await foreign.end('s', '02.00')
    expect(await worked(bench, ['J'])).toEqual(['01'])
    const view = await readStream(bench.store, 's')
    expect(view?.stream.root).toMatchObject({ status: 'completed' })
    expect(view?.transactions().map(({ op }) => op)).toEqual(['init', 'complete', 'foreign', 'start', 'complete'])
  })

  it('claims the join if such a writer has dropped the attribute that marks it', async () => {
    const { bench, foreign } = await joined(1)
    await foreign.end('s', '01.00')
    await foreign.write('s', [' lc:wait="yes" lc:join="wait"', ''])
    expect(await worked(bench, ['J'])).toEqual(['01'])
  })

  it('claims such a join by its id', async () => {
    const { bench, foreign } = await joined(1)
    await foreign.end('s', '01.00')
    expect(await bench.settle(bench.work(() => undefined, {}, '01'))).toMatchObject({ kind: 'reported' })
  })

  it('leaves the join alone while a branch is open', async () => {
    const { bench, foreign } = await joined(2)
    await foreign.end('s', '02.00')
    expect(await worked(bench, ['J'])).toEqual([])
  })

  it('checks again when the claim that keeps the last branch open expires', async () => {
    const { bench, foreign } = await joined(1)
    resultOf(await run(bench.store, 's', { op: 'start', event: '01.00', owner: 'w2', claimMs: 5 * MINUTE }))
    // The event that such a writer has added below it has ended: it closes once its claim ends.
    const added = '<Event name="B" status="completed" id="01.01" prev="01.00"/>'
    await foreign.write('s', ['</EventStream>', `${added}</EventStream>`])
    const drain = new AbortController()
    bench.at(8 * MINUTE, () => drain.abort())
    const begunMs: number[] = []
    const options = { names: ['J'], owner: 'w1', timing: bench.timing, drain: drain.signal }
    await bench.settle(workLoop(bench.store, options, () => void begunMs.push(bench.timing.monotonicMs())))
    expect(begunMs).toHaveLength(1)
    expect(begunMs[0]).toBeGreaterThanOrEqual(5 * MINUTE)
  })
})

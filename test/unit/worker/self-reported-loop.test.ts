import { describe, expect, test } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import { type TimedLoopOptions, workLoop } from '../../../src/worker/loop.ts'
import type { Job, WorkerEvent } from '../../../src/worker/types.ts'
import { resultOf, run, writeForeign } from '../ops/support.ts'
import { Bench } from './one-worker.ts'

const MINUTE = 60_000

type Own = (store: StreamStore, job: Job) => Promise<void>

/** Work that changes its own event in the stream, and then returns as done. */
function loop(bench: Bench, own: Own, options: Partial<TimedLoopOptions> = {}) {
  const happenings: WorkerEvent[] = []
  const seen = { times: 0 }
  const observe = (happening: WorkerEvent) => void happenings.push(happening)
  const how = { names: ['A'], owner: 'w1', timing: bench.timing, until: 'until-empty', observe, ...options } as const
  const report = workLoop(bench.store, how, async job => {
    seen.times += 1
    // An endless run is stopped here, so that the test fails instead.
    if (seen.times < 100) await own(bench.store, job)
    return undefined
  })
  return { report: bench.settle(report), happenings, seen }
}

/** The same for a permanent worker, for this time. */
function lasting(bench: Bench, own: Own, forMs: number) {
  const drain = new AbortController()
  bench.at(forMs, () => drain.abort())
  const times: number[] = []
  const how = { names: ['A'], owner: 'w1', timing: bench.timing, drain: drain.signal }
  const report = workLoop(bench.store, how, async job => {
    times.push(bench.timing.monotonicMs())
    if (times.length < 100) await own(bench.store, job)
    // Time advances only during waits.
    await bench.actor.pause(10)
    return undefined
  })
  return { report: bench.settle(report), times }
}

const doing =
  (operation: (target: { readonly event: string; readonly fence: number }) => Operation): Own =>
  async (store, { stream, event, fence }) =>
    void resultOf(await run(store, stream, operation({ event: event.id, fence })))

const release = doing(target => ({ op: 'release', ...target }))

/** Like a writer without claims. */
const takenBack: Own = async (store, { stream, fence }) => {
  await writeForeign(store, stream, 'status="inprocess" id="01.00"', 'status="init" id="01.00"')
  const text = Buffer.from((await store.read(stream))?.body ?? []).toString()
  const claim = new RegExp(` lc:owner="w1" lc:fence="${fence}" lc:until="[^"]*"`).exec(text)?.[0] ?? 'no claim'
  await writeForeign(store, stream, claim, '')
}

describe('a change of the event by the work itself counts as its result', () => {
  test.each([
    ['complete', doing(target => ({ op: 'complete', ...target, msg: 'mine' })), { completed: 1 }],
    ['advance', doing(target => ({ op: 'advance', ...target, next: { name: 'B' }, forks: [] })), { completed: 1 }],
    ['fail', doing(target => ({ op: 'fail', ...target, msg: 'mine' })), { failed: 1 }],
    ['release', release, { released: 1 }],
  ] as const)('if it is %s', async (op, own, counts) => {
    const bench = new Bench()
    await bench.stream()
    const { report, happenings } = loop(bench, own)
    const nothing = { completed: 0, failed: 0, released: 0, lost: 0 }
    expect(await report).toMatchObject({ claimed: 1, ...nothing, ...counts })
    const outcome = happenings.find(({ kind }) => kind === 'outcome')
    expect(outcome).toMatchObject({
      outcome: { kind: 'unreported' },
      ownEnd: {
        op,
        version: 3,
        added: op === 'advance' ? ['01.01'] : [],
        done: op === 'complete' || op === 'fail',
        ...(op === 'complete' || op === 'fail' ? { msg: 'mine' } : {}),
      },
    })
  })

  test('also if a heartbeat saw it first', async () => {
    const bench = new Bench()
    await bench.stream()
    const complete = doing(target => ({ op: 'complete', ...target }))
    const { report, happenings } = loop(bench, async (store, job) => {
      await complete(store, job)
      await bench.actor.pause(5 * MINUTE, job.signal)
    })
    expect(await report).toMatchObject({ claimed: 1, completed: 1, lost: 0 })
    expect(happenings).toContainEqual(expect.objectContaining({ outcome: expect.objectContaining({ kind: 'lost' }) }))
  })

  test('but a result of another is not its own: the event is lost', async () => {
    const bench = new Bench()
    await bench.stream()
    const { report, happenings } = loop(
      bench,
      doing(({ event }) => ({ op: 'cancel', event })),
    )
    expect(await report).toMatchObject({ claimed: 1, completed: 0, lost: 1 })
    expect(happenings.find(({ kind }) => kind === 'outcome')).not.toHaveProperty('ownEnd')
  })
})

describe('an event that its work makes ready again', () => {
  const retried: Own = async (store, job) => {
    await doing(target => ({ op: 'fail', ...target }))(store, job)
    await doing(({ event }) => ({ op: 'retry', event }))(store, job)
  }
  const CASES = [
    ['handed back', release, { released: 1 }],
    ['failed and reopened', retried, { failed: 1 }],
    ['taken back by a writer that knows no claims', takenBack, { lost: 1 }],
  ] as const

  test.each(CASES)('is not claimed twice by a loop that ends when idle: %s', async (_, own, counts) => {
    const bench = new Bench()
    await bench.stream()
    const { report, seen } = loop(bench, own)
    expect(await report).toMatchObject({ claimed: 1, ...counts })
    expect(seen.times).toBe(1)
  })

  test.each(CASES)('is claimed more and more slowly by a permanent loop: %s', async (_, own) => {
    const bench = new Bench()
    await bench.stream()
    const { report, times } = lasting(bench, own, 10 * MINUTE)
    await report
    expect(times.length).toBeGreaterThan(5)
    expect(times.length).toBeLessThan(80)
    const pauses = times.slice(1).map((ms, at) => ms - (times[at] ?? 0))
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(5_000)
  })

  test('delays no other event in a loop that ends when idle', async () => {
    const bench = new Bench()
    await bench.stream(['A', 'A', 'A'])
    const { report } = loop(bench, async (store, job) => {
      if (job.event.id === '02.00') await release(store, job)
    })
    expect(await report).toMatchObject({ claimed: 3, completed: 2, released: 1 })
    expect((await readStream(bench.store, 's'))?.stream.find('02.00')?.status).toBe('init')
  })
})

import { describe, expect, it } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { parseJournal } from '../../../src/stream/journal/journal.ts'
import { type TimedLoopOptions, workLoop } from '../../../src/worker/loop.ts'
import type { Work } from '../../../src/worker/types.ts'
import { intercept, resultOf, run } from '../ops/support.ts'
import { Bench } from './one-worker.ts'

const FORKED = {
  op: 'init',
  root: { name: 'Start' },
  forks: [{ name: 'A' }, { name: 'A' }, { name: 'A' }],
  join: { name: 'J' },
  hold: false,
  born: 'b0',
} as const

/** A bench whose writes pass through `around`, and their number. */
function counted(around: (at: number) => 'answer' | 'lose the answer' | 'lose the request' = () => 'answer') {
  const writes = { many: 0 }
  const bench = new Bench(store =>
    intercept(store, async (_name, decide, go) => {
      const fate = around(writes.many)
      writes.many += 1
      if (fate === 'answer') return go(decide)
      const cause = new Error('no answer')
      if (fate === 'lose the answer') await go(decide)
      else
        await go((current, nowMs) => {
          decide(current, nowMs)
          return { kind: 'leave' }
        })
      return { kind: 'unknown', cause }
    }),
  )
  return { bench, writes }
}

function loop(bench: Bench, work: Work, options: Partial<TimedLoopOptions> = {}) {
  const given = { names: ['A', 'J'], owner: 'w1', timing: bench.timing, until: 'until-empty', ...options } as const
  return bench.settle(workLoop(bench.store, given, work))
}

async function claimsOf(bench: Bench, name = 's') {
  const document = (await readStream(bench.store, name))?.document
  const entries = parseJournal(document?.journal ?? '', document?.prefix ?? '')
  return entries.filter(({ op }) => op === 'start').map(({ on, by }) => ({ on, by }))
}

describe('the next event of a stream', () => {
  it('is claimed in the write that ends the one before, a join included', async () => {
    const { bench, writes } = counted()
    resultOf(await run(bench.store, 's', FORKED))
    writes.many = 0
    const report = await loop(bench, () => undefined)
    expect(report).toMatchObject({ claimed: 4, completed: 4, racesLost: 0 })
    // The first claim, three ends with the next claim, and the last end.
    expect(writes.many).toBe(5)
    expect(await claimsOf(bench)).toHaveLength(4)
  })

  it('is also one that the end itself adds', async () => {
    const { bench, writes } = counted()
    await bench.stream(['A'])
    writes.many = 0
    const report = await loop(bench, ({ event }) =>
      event.name === 'A' ? { op: 'advance', next: { name: 'J' } } : undefined,
    )
    expect(report).toMatchObject({ claimed: 2, completed: 2 })
    expect(writes.many).toBe(3)
  })

  it('is told to have started after the end of the one before was told', async () => {
    const { bench } = counted()
    resultOf(await run(bench.store, 's', FORKED))
    const told: string[] = []
    await loop(bench, () => undefined, {
      observe: event => void (event.kind === 'started' || event.kind === 'outcome' ? told.push(event.kind) : undefined),
    })
    expect(told).toEqual(Array.from({ length: 4 }, () => ['started', 'outcome']).flat())
  })

  it('is not one with another name', async () => {
    const { bench } = counted()
    resultOf(await run(bench.store, 's', FORKED))
    expect(await loop(bench, () => undefined, { names: ['A'] })).toMatchObject({ claimed: 3 })
  })

  it('waits for the other streams once the slot was with its stream for a second', async () => {
    const bench = new Bench()
    await bench.stream(
      Array.from({ length: 30 }, () => 'A'),
      'big',
    )
    await bench.stream(['A'], 'small/1')
    await bench.stream(['A'], 'small/2')
    const order: string[] = []
    await loop(bench, async job => {
      order.push(job.stream)
      await bench.actor.pause(400)
      return undefined
    })
    expect(order).toHaveLength(32)
    const last = Math.max(order.indexOf('small/1'), order.indexOf('small/2'))
    // Two turns of at most a second each, of three events, and the small streams.
    expect(last).toBeLessThan(8)
  })

  it('has its turn after each event if the work takes longer than a second', async () => {
    const bench = new Bench()
    await bench.stream(['A', 'A', 'A', 'A', 'A', 'A'], 'big')
    await bench.stream(['A', 'A', 'A'], 'small')
    const order: string[] = []
    await loop(bench, async job => {
      order.push(job.stream)
      await bench.actor.pause(2_000)
      return undefined
    })
    expect(order.slice(0, 6).filter(name => name === 'small')).toHaveLength(3)
  })

  it('is not claimed once the loop is drained', async () => {
    const bench = new Bench()
    await bench.stream(['A', 'A', 'A'])
    const drain = new AbortController()
    const report = await loop(
      bench,
      () => {
        drain.abort()
        return undefined
      },
      { drain: drain.signal },
    )
    expect(report).toMatchObject({ claimed: 1, completed: 1, released: 0 })
    expect(await claimsOf(bench)).toHaveLength(1)
  })

  it('is not claimed by a loop that ends after one event', async () => {
    const bench = new Bench()
    await bench.stream(['A', 'A', 'A'])
    expect(await loop(bench, () => undefined, { until: 'once' })).toMatchObject({ claimed: 1 })
    expect(await claimsOf(bench)).toHaveLength(1)
  })

  it('is not claimed in a stream that was suspended meanwhile', async () => {
    const bench = new Bench()
    await bench.stream(['A', 'A'])
    const work: Work = async () => {
      await run(bench.store, 's', { op: 'suspend', stop: false })
      return undefined
    }
    expect(await loop(bench, work)).toMatchObject({ claimed: 1, completed: 1 })
    expect(await claimsOf(bench)).toHaveLength(1)
  })

  it.each(['lose the answer', 'lose the request'] as const)(
    'is claimed once, and the end written once: %s',
    async fate => {
      for (let faulty = 0; faulty < 5; faulty++) {
        const { bench, writes } = counted(at => (at === faulty ? fate : 'answer'))
        resultOf(await run(bench.store, 's', FORKED))
        writes.many = 0
        const attempts: number[] = []
        const report = await loop(bench, job => void attempts.push(job.attempt))
        expect(report).toMatchObject({ claimed: 4, completed: 4, lost: 0, racesLost: 0 })
        expect(attempts).toEqual([1, 1, 1, 1])
        expect(await claimsOf(bench)).toHaveLength(4)
        expect(writes.many).toBeGreaterThan(5)
      }
    },
  )

  it('is taken over as its next attempt if its worker died right after the write', async () => {
    const bench = new Bench()
    await bench.stream(['A', 'A'])
    let begun = 0
    // From the second work on, nothing of it is written, heartbeats included: a dead process.
    const dying = intercept(bench.store, (_name, decide, go) => (begun < 2 ? go(decide) : new Promise(() => {})))
    void workLoop(dying, { names: ['A'], owner: 'dead', timing: bench.timing }, () =>
      ++begun < 2 ? undefined : new Promise(() => {}),
    )
    await bench.settle(bench.actor.pause(5_000))
    expect(begun).toBe(2)
    await bench.settle(bench.actor.pause(60_000))
    const seen: number[] = []
    await loop(bench, job => void seen.push(job.attempt), { owner: 'w2' })
    expect(seen).toEqual([2])
  })
})

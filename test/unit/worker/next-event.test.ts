import { describe, expect, it } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { isInPartition } from '../../../src/ops/shards/partition.ts'
import { parseBody } from '../../../src/ops/transact/plan.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { parseJournal } from '../../../src/stream/journal/journal.ts'
import { type TimedLoopOptions, workLoop } from '../../../src/worker/loop.ts'
import type { LoopOptions, Work } from '../../../src/worker/types.ts'
import { intercept, resultOf, run } from '../ops/support.ts'
import { Bench, START_MS } from './one-worker.ts'

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

/** A bench in which another writer acts once, between the decision of the second write and that write, which is decided anew. */
function overtaken(act: (store: StreamStore, chosen: string) => Promise<void>) {
  let writes = 0
  /** The event that the decision claimed that was not written. */
  const disturbed: string[] = []
  const bench = new Bench(store =>
    intercept(store, async (_name, decide, go) => {
      if (writes++ !== 1) return go(decide)
      await go((current, nowMs) => {
        const decision = decide(current, nowMs)
        if (decision.kind !== 'put') throw new Error('nothing would be written')
        const { events } = parseBody(decision.body, 's')
        disturbed.push(
          ...events.filter(({ status, lc }) => lc.owner === 'w1' && status === 'inprocess').map(({ id }) => id),
        )
        decision.discard?.()
        return { kind: 'leave' }
      })
      await act(store, disturbed[0] ?? '')
      return go(decide)
    }),
  )
  return { bench, disturbed }
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

  it('is not one of another topic', async () => {
    const bench = new Bench()
    const forks = ['mine', 'other', 'mine'].map(topic => ({ name: 'A', topic }))
    resultOf(await run(bench.store, 's', { ...FORKED, forks }))
    expect(await loop(bench, () => undefined, { names: ['A'], topic: 'mine' })).toMatchObject({ claimed: 2 })
    expect((await claimsOf(bench)).map(({ on }) => on).sort()).toEqual(['01.00', '03.00'])
  })

  it('is not one of a stream in another partition', async () => {
    const bench = new Bench()
    const partition = { index: 0, count: 2 }
    const names = Array.from({ length: 8 }, (_, at) => `s/${at}`)
    for (const name of names) await bench.stream(['A', 'A'], name)
    const ours = names.filter(name => isInPartition(name, partition))
    expect(ours.length % names.length).toBeGreaterThan(0)
    const report = await loop(bench, () => undefined, { partition })
    expect(report).toMatchObject({ claimed: 2 * ours.length })
    for (const name of names) expect(await claimsOf(bench, name)).toHaveLength(ours.includes(name) ? 2 : 0)
  })

  it('is not one that has been ready for less time than the worker defers by', async () => {
    const bench = new Bench()
    const [deferMs, drain] = [15_000, new AbortController()]
    await bench.stream(['A'])
    bench.at(120_000, () => drain.abort())
    const begun: [string, number][] = []
    const options = { names: ['A', 'J'], owner: 'w1', timing: bench.timing, deferMs, drain: drain.signal }
    const deferring = workLoop(bench.store, options, ({ event }) => {
      begun.push([event.name, bench.scheduler.nowMs - START_MS])
      return event.name === 'A' ? { op: 'advance', next: { name: 'J' } } : undefined
    })
    await bench.settle(deferring)
    const [[, first = 0] = [], [name, second = 0] = []] = begun
    expect([begun.length, name]).toEqual([2, 'J'])
    expect(second - first).toBeGreaterThanOrEqual(deferMs)
  })

  it.each([
    ['of the worker', {}, { maxAttempts: 1 }],
    ['of its own', { retry: '1' }, {}],
  ])('is failed instead if it has no attempts left, by a limit %s', async (_limit, policy, options) => {
    const { bench, writes } = counted()
    const forks = [{ name: 'A' }, { name: 'A', ...policy }]
    resultOf(await run(bench.store, 's', { op: 'init', root: { name: 'Start' }, forks, hold: false, born: 'b0' }))
    resultOf(await run(bench.store, 's', { op: 'start', event: '02.00', owner: 'dead', claimMs: 500 }))
    writes.many = 0
    const told: unknown[] = []
    const observe: LoopOptions['observe'] = event => void (event.kind === 'given-up' ? told.push(event) : undefined)
    const begun: string[] = []
    const work: Work = async ({ event }) => {
      begun.push(event.id)
      await bench.actor.pause(600)
      return undefined
    }
    expect(await loop(bench, work, { ...options, observe })).toMatchObject({ claimed: 1, completed: 1, givenUp: 1 })
    expect(begun).toEqual(['01.00'])
    const message = "02.00 has failed: given up after 1 attempt; the last was dead's"
    expect(told).toEqual([{ kind: 'given-up', stream: 's', event: '02.00', name: 'A', attempt: 1, message }])
    // The claim, and the end with the failure.
    expect(writes.many).toBe(2)
    const events = (await readStream(bench.store, 's'))?.document.events ?? []
    expect(events.slice(1).map(({ status }) => status)).toEqual(['completed', 'aborted'])
  })

  it('is another one if its first choice was claimed by another worker before the write', async () => {
    const { bench, disturbed } = overtaken(async (store, chosen) => {
      resultOf(await run(store, 's', { op: 'start', event: chosen, owner: 'other', claimMs: 3_600_000 }))
    })
    await bench.stream(['A', 'A', 'A'])
    expect(await loop(bench, () => undefined)).toMatchObject({ claimed: 2, completed: 2, lost: 0, racesLost: 0 })
    const claims = await claimsOf(bench)
    expect(disturbed).toHaveLength(1)
    expect(claims.map(({ by }) => by)).toEqual(['w1', 'tester', 'w1'])
    expect(new Set(claims.map(({ on }) => on)).size).toBe(3)
    const events = (await readStream(bench.store, 's'))?.document.events ?? []
    expect(events.filter(({ lc }) => lc.owner === 'other').map(({ id, status }) => [id, status])).toEqual([
      [disturbed[0], 'inprocess'],
    ])
  })

  it('is claimed and done although the one before was taken over before the write, and is not ended', async () => {
    let first = ''
    const { bench, disturbed } = overtaken(async store => {
      resultOf(await run(store, 's', { op: 'release', event: first, owner: 'w1' }))
      resultOf(await run(store, 's', { op: 'start', event: first, owner: 'other', claimMs: 3_600_000 }))
    })
    await bench.stream(['A', 'A'])
    const begun: string[] = []
    const work: Work = ({ event }) => {
      first ||= event.id
      begun.push(event.id)
      return undefined
    }
    expect(await loop(bench, work)).toMatchObject({ claimed: 2, completed: 1, released: 1 })
    expect(disturbed).toHaveLength(1)
    expect(new Set(begun).size).toBe(2)
    const events = (await readStream(bench.store, 's'))?.document.events.slice(1) ?? []
    const seen = events.map(({ id, status, lc }) => [id === first, status, lc.owner])
    expect(seen.sort()).toEqual([
      [false, 'completed', 'w1'],
      [true, 'inprocess', 'other'],
    ])
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

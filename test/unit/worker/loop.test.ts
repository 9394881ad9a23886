import { describe, expect, it } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { NotPermitted, StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { BadDocument } from '../../../src/stream/errors.ts'
import { type TimedLoopOptions, workLoop } from '../../../src/worker/loop.ts'
import type { Job, Work, WorkerEvent } from '../../../src/worker/types.ts'
import { HOLDER, init, intercept, run, writeForeign } from '../ops/support.ts'
import { Bench, START_MS } from './one-worker.ts'

const MINUTE = 60_000

/** Runs a loop on a bench, and records its notifications. */
function loop(bench: Bench, work: Work, options: Partial<TimedLoopOptions> = {}) {
  const happenings: WorkerEvent[] = []
  const report = workLoop(
    bench.store,
    {
      names: ['A'],
      owner: 'w1',
      timing: bench.timing,
      until: 'until-empty',
      observe: happening => happenings.push(happening),
      ...options,
    },
    work,
  )
  return { report: bench.settle(report), happenings }
}

/** The same for a permanent loop: drained after this time, ms from the beginning. */
function lasting(bench: Bench, work: Work, forMs: number) {
  const drain = new AbortController()
  bench.at(forMs, () => drain.abort())
  const happenings: WorkerEvent[] = []
  const { timing } = bench
  const options = {
    names: ['A'],
    owner: 'w1',
    timing,
    drain: drain.signal,
    observe: (h: WorkerEvent) => happenings.push(h),
  }
  return { report: bench.settle(workLoop(bench.store, options, work)), happenings }
}

const kinds = (happenings: readonly WorkerEvent[]) => happenings.map(({ kind }) => kind)

const LEASE = '11111111-1111-4111-8111-111111111111'

/** With a change token: an unchanged store is not listed again. */
function marked(store: StreamStore): StreamStore {
  let writes = 0
  const counted = intercept(store, (_name, decide, go) => {
    writes += 1
    return go(decide)
  })
  return new Proxy(counted, {
    get: (target, key) => (key === 'changeToken' ? async () => `${writes}` : Reflect.get(target, key)),
  })
}

/** As if all streams were written by programs without summaries. */
function withoutSummaries(store: StreamStore): StreamStore {
  const list: StreamStore['list'] = async function* (options) {
    for await (const page of store.list(options)) yield page.map(({ summary: _, ...listed }) => listed)
  }
  return new Proxy(store, { get: (target, key) => (key === 'list' ? list : Reflect.get(target, key)) })
}

/** A store in which calls of one method pass through `around`. */
function watched(store: StreamStore, calls: string[]): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        calls.push(String(key))
        return value.apply(target, args)
      }
    },
  })
}

describe('a worker loop', () => {
  it('works on events of its names and topic in streams of its glob, and on no others', async () => {
    const bench = new Bench()
    const forks = [
      { name: 'A', topic: 'eu' },
      { name: 'A', topic: 'us' },
      { name: 'B', topic: 'eu' },
    ]
    for (const name of ['orders/1', 'orders/x/2', 'other/1']) {
      await run(bench.store, name, { op: 'init', root: { name: 'R' }, forks, hold: false, born: name })
    }
    const seen: string[] = []
    const { report } = loop(bench, job => void seen.push(`${job.stream} ${job.event.id}`), {
      topic: 'eu',
      match: 'orders/*',
    })
    expect(await report).toMatchObject({ claimed: 1, completed: 1 })
    expect(seen).toEqual(['orders/1 01.00'])
  })

  it('claims events that its own work made ready: next steps and joins', async () => {
    const bench = new Bench()
    await run(bench.store, 's', { ...init(['A', 'A']), join: { name: 'J' } } as never)
    const names: string[] = []
    const work = (job: Job) => {
      names.push(job.event.name)
      return job.event.name === 'A' ? ({ op: 'advance', next: { name: 'N' } } as const) : undefined
    }
    await loop(bench, work, { names: ['A', 'N', 'J'] }).report
    expect(names.sort()).toEqual(['A', 'A', 'J', 'N', 'N'])
    expect((await readStream(bench.store, 's'))?.stream.done).toBe(true)
  })

  it('serves streams in turn: one with many events does not delay others', async () => {
    const bench = new Bench()
    await bench.stream(
      Array.from({ length: 30 }, () => 'A'),
      'big',
    )
    await bench.stream(['A'], 'small/1')
    await bench.stream(['A'], 'small/2')
    const order: string[] = []
    await loop(bench, job => void order.push(job.stream)).report
    expect(order.indexOf('small/1')).toBeLessThan(4)
    expect(order.indexOf('small/2')).toBeLessThan(4)
    expect(order).toHaveLength(32)
  })

  it('runs at most the configured number of events at a time', async () => {
    const bench = new Bench()
    await bench.stream(Array.from({ length: 12 }, () => 'A'))
    let [now, most] = [0, 0]
    const work: Work = async job => {
      most = Math.max(most, ++now)
      await bench.actor.pause(1_000, job.signal)
      now -= 1
      return undefined
    }
    await loop(bench, work, { concurrency: 4 }).report
    expect(most).toBe(4)
  })

  it('continues after work that threw', async () => {
    const bench = new Bench()
    await bench.stream(['A', 'A', 'A'])
    const { report } = loop(bench, job => {
      if (job.event.id === '01.00') throw new Error('boom')
      return undefined
    })
    expect(await report).toMatchObject({ claimed: 3, completed: 2, failed: 1 })
  })

  it('reads no document if the listing shows no work', async () => {
    const calls: string[] = []
    const bench = new Bench(store => watched(store, calls))
    await bench.stream(['B'])
    calls.length = 0
    expect(await loop(bench, () => undefined).report).toMatchObject({ claimed: 0 })
    expect([...new Set(calls)].sort()).toEqual(['list', 'nowMs'])
  })

  it('requests no listing if the store can tell that nothing was written', async () => {
    const calls: string[] = []
    const bench = new Bench(
      store =>
        new Proxy(watched(store, calls), {
          get: (target, key) => (key === 'changeToken' ? async () => 'same' : Reflect.get(target, key)),
        }),
    )
    await bench.stream(['B'])
    calls.length = 0
    await lasting(bench, () => undefined, 5 * MINUTE).report
    expect(calls.filter(call => call === 'list')).toHaveLength(1)
  })

  it('works on a single event on request', async () => {
    const bench = new Bench()
    await bench.stream(['A', 'A'])
    expect(await loop(bench, () => undefined, { until: 'once', concurrency: 3 }).report).toMatchObject({ claimed: 1 })
  })

  it('when drained, completes the work in progress and claims no more', async () => {
    const bench = new Bench()
    await bench.stream(['A', 'A'])
    const drain = new AbortController()
    bench.at(3_000, () => drain.abort())
    expect(await loop(bench, bench.lasting(10_000), { drain: drain.signal }).report).toMatchObject({
      claimed: 1,
      completed: 1,
    })
  })

  it('when drained during a claim, begins no work and releases the event', async () => {
    const bench = new Bench(store =>
      intercept(store, async (_, decide, go) => {
        if (isSlow) await bench.actor.pause(5_000)
        return go(decide)
      }),
    )
    let isSlow = false
    await bench.stream(['A'])
    isSlow = true
    const drain = new AbortController()
    bench.at(2_000, () => drain.abort())
    const { happenings, report } = loop(bench, () => undefined, { drain: drain.signal })
    expect(await report).toMatchObject({ claimed: 1, completed: 0, released: 1 })
    expect(kinds(happenings)).not.toContain('started')
  })

  it('when stopped, releases the events in progress', async () => {
    const bench = new Bench()
    await bench.stream(['A'])
    const stop = new AbortController()
    bench.at(3_000, () => stop.abort())
    const work: Work = async job => {
      await bench.actor.pause(MINUTE, job.signal)
      throw new Error('stopped')
    }
    expect(await loop(bench, work, { signal: stop.signal }).report).toMatchObject({ claimed: 1, released: 1 })
  })

  it('does not claim an event again that it has released itself, and ends', async () => {
    const bench = new Bench()
    await bench.stream(['A'])
    expect(await loop(bench, () => ({ op: 'release' })).report).toMatchObject({ claimed: 1, released: 1 })
  })

  it('begins nothing in a suspended stream, without reading it, and begins when it is resumed', async () => {
    const calls: string[] = []
    const bench = new Bench(store => watched(store, calls))
    await bench.stream(['A', 'A'])
    await run(bench.store, 's', { op: 'suspend' })
    calls.length = 0
    expect(await loop(bench, () => undefined).report).toMatchObject({ claimed: 0 })
    // Its summary is enough to leave it alone.
    expect([...new Set(calls)].sort()).toEqual(['list', 'nowMs'])
    await run(bench.store, 's', { op: 'resume' })
    expect(await loop(bench, () => undefined).report).toMatchObject({ completed: 2 })
  })

  it('leaves a suspended stream alone also if the listing has no summaries', async () => {
    const bench = new Bench(withoutSummaries)
    await bench.stream(['A'])
    await run(bench.store, 's', { op: 'suspend' })
    expect(await loop(bench, () => undefined).report).toMatchObject({ claimed: 0, racesLost: 0 })
  })

  it('takes over abandoned events, and fails those abandoned too often', async () => {
    const bench = new Bench()
    await bench.stream(['A'])
    const attempts: number[] = []
    const drain = new AbortController()
    for (let attempt = 1; attempt <= 3; attempt++) {
      await run(bench.store, 's', { op: 'start', event: '01.00', owner: `dead-${attempt}`, claimMs: 1_000 })
      await bench.scheduler.run(bench.scheduler.nowMs + 2_000)
    }
    const { report, happenings } = loop(bench, job => void attempts.push(job.attempt), {
      maxAttempts: 3,
      drain: drain.signal,
    })
    expect(await report).toMatchObject({ claimed: 0, givenUp: 1 })
    expect(happenings).toContainEqual({
      ...{ kind: 'given-up', stream: 's', event: '01.00', name: 'A', attempt: 3 },
      message: "01.00 has failed: given up after 3 attempts; the last was dead-3's",
    })
    const event = (await readStream(bench.store, 's'))?.stream.find('01.00')
    expect(event).toMatchObject({ status: 'aborted', msg: "given up after 3 attempts; the last was dead-3's" })
    await run(bench.store, 's', { op: 'retry', event: '01.00' })
    expect(await loop(bench, job => void attempts.push(job.attempt), { maxAttempts: 3 }).report).toMatchObject({
      completed: 1,
    })
  })

  it('throws an error that prevents its first poll', async () => {
    const bench = new Bench(
      store =>
        new Proxy(store, {
          get: (target, key) =>
            key === 'list'
              ? () => {
                  throw new NotPermitted('no')
                }
              : Reflect.get(target, key),
        }),
    )
    await expect(loop(bench, () => undefined).report).rejects.toThrow(NotPermitted)
  })

  it('reports an outage once, and continues after it', async () => {
    let isAway = false
    const bench = new Bench(store =>
      intercept(store, async (_, decide, go) => {
        if (isAway) throw new StoreUnreachable('away')
        return go(decide)
      }),
    )
    await bench.stream(['A', 'A', 'A'])
    bench.at(500, () => (isAway = true))
    bench.at(30_000, () => (isAway = false))
    const { report, happenings } = loop(bench, bench.lasting(2_000))
    expect(await report).toMatchObject({ claimed: 3, completed: 3 })
    expect(kinds(happenings).filter(kind => kind === 'interrupted' || kind === 'resumed')).toEqual([
      'interrupted',
      'resumed',
    ])
  })

  it('that should end when idle waits for streams that are briefly leased', async () => {
    const bench = new Bench(store => marked(store))
    await bench.stream(['A', 'A'], 'leased')
    await bench.stream(['A'], 'free')
    await bench.store.acquireLease('leased', { leaseId: LEASE, durationS: 20, holder: HOLDER })
    expect(await loop(bench, () => undefined, { leaseWaitMs: 0 }).report).toMatchObject({ completed: 3, locked: 0 })
  })

  it('reports streams with work under an infinite lease, and does not wait for them', async () => {
    const bench = new Bench()
    await bench.stream(['A'], 'leased')
    await bench.stream(['B'], 'of no interest')
    for (const name of ['leased', 'of no interest']) {
      await bench.store.acquireLease(name, { leaseId: LEASE, durationS: -1, holder: HOLDER })
    }
    expect(await loop(bench, () => undefined).report).toMatchObject({ claimed: 0, locked: 1 })
    expect(bench.scheduler.nowMs - START_MS).toBeLessThan(1_000)
  })

  it('inspects all streams with insufficient listing data before it reports that there is no work', async () => {
    const bench = new Bench(store => withoutSummaries(store))
    for (let at = 0; at < 2_500; at++) await bench.stream([at === 1_700 ? 'A' : 'B'], `s/${at}`)
    expect(await loop(bench, () => undefined).report).toMatchObject({ completed: 1 })
  })

  it('does not repeatedly claim at full speed an event that it releases', async () => {
    const bench = new Bench()
    await bench.stream(Array.from({ length: 100 }, () => 'A'))
    const { claimed } = await lasting(bench, () => ({ op: 'release' }), 10 * MINUTE).report
    expect(claimed).toBeGreaterThan(20)
    expect(claimed).toBeLessThan(100)
  })

  it('slows down after consecutive setbacks only, not after those between successes', async () => {
    const bench = new Bench()
    await bench.stream(Array.from({ length: 40 }, () => 'A'))
    let begun = 0
    const work: Work = () => (begun++ % 2 === 0 ? { op: 'release' } : undefined)
    expect((await lasting(bench, work, 2 * MINUTE).report).completed).toBe(40)
  })

  it('does not compete for an event that another loop of the same process is claiming', async () => {
    const bench = new Bench(store =>
      intercept(store, async (_, decide, go) => {
        await bench.actor.pause(20)
        return go(decide)
      }),
    )
    const stream = bench.stream(Array.from({ length: 12 }, () => 'A'))
    await bench.settle(stream)
    const loops = [1, 2, 3].map(() => loop(bench, () => undefined).report)
    const reports = await Promise.all(loops)
    expect(reports.map(({ racesLost }) => racesLost)).toEqual([0, 0, 0])
    expect(reports.reduce((sum, { completed }) => sum + completed, 0)).toBe(12)
  })

  it('without write permission tries each event once, counts that, and slows down if it should not end', async () => {
    const bench = new Bench(store =>
      intercept(store, async (name, decide, go) => {
        if (isReadOnly) throw new NotPermitted(`${name} cannot be written`)
        return go(decide)
      }),
    )
    let isReadOnly = false
    await bench.stream(Array.from({ length: 30 }, () => 'A'))
    isReadOnly = true
    expect(await loop(bench, () => undefined).report).toMatchObject({ claimed: 0, faults: 30 })
    const { happenings, report } = lasting(bench, () => undefined, 10 * MINUTE)
    expect((await report).faults).toBeLessThan(60)
    expect(kinds(happenings)).toContain('fault')
  })

  it('reports once a store without list permission, and ends if it should end when idle', async () => {
    let isForbidden = false
    const bench = new Bench(
      store =>
        new Proxy(store, {
          get(target, key) {
            if (key === 'list' && isForbidden) throw new NotPermitted('no')
            return Reflect.get(target, key)
          },
        }),
    )
    await bench.stream(['A'])
    const work: Work = () => {
      isForbidden = true
      return undefined
    }
    await expect(loop(bench, work).report).rejects.toThrow(NotPermitted)
    isForbidden = false
    await bench.stream(['A'], 't')
    const { happenings, report } = lasting(bench, work, 10 * MINUTE)
    await report
    expect(kinds(happenings).sort()).toEqual(['fault', 'outcome', 'started'])
  })

  it('counts an unreadable stream, and works on the others', async () => {
    const bench = new Bench(store => withoutSummaries(store))
    await bench.stream(['A'], 'bad')
    await bench.stream(['A'], 'good')
    await writeForeign(bench.store, 'bad', '<Event ', '<Event <')
    const { happenings, report } = loop(bench, () => undefined)
    expect(await report).toMatchObject({ completed: 1, faults: 1 })
    expect(happenings).toContainEqual({ kind: 'fault', stream: 'bad', error: expect.any(BadDocument) })
  })
})

import { describe, expect, it } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { NotPermitted, StoreUnreachable } from '../../../src/store/errors.ts'
import { attemptKey } from '../../../src/worker/claim.ts'
import type { Job, Work, WorkResult } from '../../../src/worker/types.ts'
import { intercept, run } from '../ops/support.ts'
import { Bench, START_MS } from './one-worker.ts'

const MINUTE = 60_000

async function event(bench: Bench, id = '01.00') {
  return (await readStream(bench.store, 's'))?.stream.find(id)
}

/** A stream whose event may be worked on for two minutes at a time. */
async function limitedAttempts({ store }: Bench): Promise<void> {
  const forks = [{ name: 'A', attemptTimeout: '00:02:00' }]
  const born = '11111111-2222-4333-8444-555555555555'
  await run(store, 's', { op: 'init', root: { name: 'Start' }, forks, hold: false, born })
}

describe('working on an event', () => {
  it('claims it, passes it to the work, and reports the result', async () => {
    const bench = new Bench()
    await bench.stream()
    const jobs: Job[] = []
    const outcome = await bench.settle(
      bench.work(job => {
        jobs.push(job)
        return { op: 'complete', msg: '12 results' }
      }),
    )
    expect(outcome).toMatchObject({ kind: 'reported', ending: { op: 'complete' } })
    expect(jobs[0]).toMatchObject({
      stream: 's',
      fence: 2,
      attempt: 1,
      attemptKey: 'b0_01.00_1',
      event: { name: 'A', status: 'inprocess' },
    })
    expect(await event(bench)).toMatchObject({ status: 'completed', msg: '12 results' })
  })

  it('completes an event without a result, and fails one whose work throws with its message, cleaned for a document', async () => {
    const bench = new Bench()
    await bench.stream(['A', 'B'])
    await bench.settle(bench.work(() => undefined))
    await bench.settle(bench.work(() => Promise.reject(new Error('\u001b[31mboom\u0000')), {}, '02.00'))
    expect(await event(bench)).toMatchObject({ status: 'completed' })
    expect(await event(bench, '02.00')).toMatchObject({ status: 'aborted', msg: 'boom\ufffd' })
  })

  it('leaves an event that failed for a passing reason waiting for its next attempt', async () => {
    const bench = new Bench()
    await bench.stream()
    const outcome = await bench.settle(
      bench.work(() => ({ op: 'fail', msg: '503', transient: true }), { maxAttempts: 2, backoff: '10s..10s' }),
    )
    expect(outcome).toMatchObject({ kind: 'reported', result: { changed: [{ id: '01.00', how: 'again' }] } })
    expect(await event(bench)).toMatchObject({ status: 'inprocess', msg: '503', lc: { wait: 'yes', attempt: '2' } })
    bench.at(MINUTE, () => {})
    await bench.scheduler.run(START_MS + MINUTE)
    await bench.settle(bench.work(() => ({ op: 'fail', msg: '503', transient: true }), { maxAttempts: 2 }))
    expect(await event(bench)).toMatchObject({ status: 'aborted', msg: 'given up after 2 attempts: 503' })
  })

  it('stops an attempt that runs longer than the event allows, and reports it as transient', async () => {
    const bench = new Bench()
    await limitedAttempts(bench)
    let reason: unknown
    const working = bench.work(async job => {
      await Promise.resolve(bench.lasting(10 * MINUTE)(job)).catch(() => {})
      reason = job.signal.reason
      if (job.signal.aborted) throw new Error('stopped')
      return { op: 'complete' }
    })
    const outcome = await bench.settle(working)
    expect(reason).toMatchObject({ kind: 'attempt-timeout', ms: 2 * MINUTE })
    expect(outcome).toMatchObject({ kind: 'reported', ending: { op: 'fail', transient: true } })
    expect(await event(bench)).toMatchObject({
      msg: 'the attempt ran longer than its attempt timeout of 2m',
      lc: { wait: 'yes', attempt: '2' },
    })
  })

  it('takes nothing that the work returns after that for its end, unless it is a result', async () => {
    for (const [ending, status] of [
      [undefined, 'inprocess'],
      [{ op: 'complete' } as const, 'completed'],
    ] as const) {
      const bench = new Bench()
      await limitedAttempts(bench)
      const working = bench.work(async job => {
        await Promise.resolve(bench.lasting(10 * MINUTE)(job)).catch(() => {})
        return ending
      })
      await bench.settle(working)
      expect(await event(bench)).toMatchObject({ status })
    }
  })

  it('does not count the time in which the stream was suspended for an attempt', async () => {
    const bench = new Bench()
    await limitedAttempts(bench)
    bench.at(MINUTE, () => void run(bench.store, 's', { op: 'suspend', stop: false }))
    bench.at(4 * MINUTE, () => void run(bench.store, 's', { op: 'resume' }))
    let endedMs = 0
    const outcome = await bench.settle(
      bench.work(async job => {
        await Promise.resolve(bench.lasting(20 * MINUTE)(job)).catch(() => {})
        endedMs = bench.store.nowMs() - START_MS
        throw new Error('stopped')
      }),
    )
    expect(outcome).toMatchObject({ kind: 'reported', ending: { op: 'fail', transient: true } })
    expect(endedMs).toBe(5 * MINUTE)
  })

  it('does not begin if the event is claimed', async () => {
    const bench = new Bench()
    await bench.stream()
    await run(bench.store, 's', { op: 'start', event: '01.00', owner: 'w2', claimMs: MINUTE })
    const outcome = await bench.settle(bench.work(() => Promise.reject(new Error('begun'))))
    expect(outcome).toMatchObject({ kind: 'not-claimed', undone: { kind: 'refused', refusal: { code: 'claimed' } } })
  })

  it('waits patiently for the answer to a heartbeat', async () => {
    let isSilent = false
    const bench = new Bench(store =>
      intercept(store, (_, decide, go) => (isSilent ? new Promise(() => {}) : go(decide))),
    )
    await bench.stream()
    bench.at(1_000, () => (isSilent = true))
    const working = bench.work(bench.lasting(10 * MINUTE))
    await bench.scheduler.run(START_MS + 30_000)
    const before = bench.scheduler.steps
    await bench.scheduler.run(START_MS + 40_000)
    expect(bench.scheduler.steps - before).toBeLessThan(50)
    working.catch(() => {})
  })

  it('keeps the claim for as long as the work takes', async () => {
    const bench = new Bench()
    await bench.stream()
    const working = bench.work(bench.lasting(10 * MINUTE))
    bench.at(
      9 * MINUTE,
      () => void run(bench.store, 's', { op: 'start', event: '01.00', owner: 'w2', claimMs: MINUTE }),
    )
    expect(await bench.settle(working)).toMatchObject({ kind: 'reported' })
    expect(await event(bench)).toMatchObject({ status: 'completed', lc: { owner: 'w1' } })
  })

  it.each([
    // the claim ends 60 s after the last one that was sent: at once, or after 20 s
    { what: 'claim', late: 0, endMs: 60_000 },
    { what: 'heartbeat', late: 1, endMs: 80_000 },
  ])('counts the time from the sending of a $what, not from its late answer', async ({ late, endMs }) => {
    let asked = -1
    const bench = new Bench(store =>
      intercept(store, async (_, decide, go) => {
        if (asked > late) throw new StoreUnreachable('gone')
        const outcome = await go(decide)
        if (asked++ === late) await bench.actor.pause(25_000)
        return outcome
      }),
    )
    await bench.stream()
    asked = 0
    let stoppedMs = 0
    const work: Work = async job => {
      await bench.actor.pause(5 * MINUTE, job.signal)
      stoppedMs = bench.scheduler.nowMs - START_MS
      return undefined
    }
    expect(await bench.settle(bench.work(work))).toMatchObject({ kind: 'lost', lost: { code: 'claim-expired' } })
    expect(stoppedMs).toBeGreaterThan(endMs - MINUTE / 3)
    expect(stoppedMs).toBeLessThan(endMs)
  })

  it.each([
    ['a name with a control character', { name: 'a\u0000b' }],
    ['a gate that can never open', { name: 'B', after: ['99.00'] }],
  ])('fails an event with an impossible result: %s', async (_, next) => {
    const bench = new Bench()
    await bench.stream()
    const outcome = await bench.settle(bench.work(() => ({ op: 'advance', next })))
    expect(outcome).toMatchObject({ kind: 'reported', ending: { op: 'fail' } })
    expect((await event(bench))?.msg).toMatch(/ended with advance, but /)
  })

  it('reports with one command id until there is an answer, and is done once', async () => {
    let lost = 0
    const bench = new Bench(store =>
      intercept(store, async (_, decide, go) => {
        const outcome = await go(decide)
        if (outcome.kind !== 'committed' || lost === 2) return outcome
        lost += 1
        return { kind: 'unknown', cause: new StoreUnreachable('lost') }
      }),
    )
    await bench.stream()
    expect(await bench.settle(bench.work(bench.lasting(1_000)))).toMatchObject({ kind: 'reported' })
    const view = await readStream(bench.store, 's')
    expect(view?.transactions().map(({ op }) => op)).toEqual(['init', 'start', 'complete'])
    expect(lost).toBe(2)
  })

  it('tries again when the claim is lost: an earlier report may have landed', async () => {
    let begun: Job | undefined
    let isAway = false
    const bench = new Bench(store =>
      intercept(store, async (_, decide, go) => {
        if (isAway && begun?.signal.aborted === false) throw new StoreUnreachable('gone')
        const outcome = await go(decide)
        if (begun === undefined || isAway) return outcome
        isAway = true
        return { kind: 'unknown', cause: new StoreUnreachable('lost') }
      }),
    )
    await bench.stream()
    const working = bench.work(job => {
      begun = job
      return undefined
    })
    expect(await bench.settle(working)).toMatchObject({
      kind: 'reported',
      result: { outcome: 'done', duplicate: false },
    })
  })

  it('releases a stopped event, unless it completed anyway', async () => {
    for (const [ends, status] of [
      [false, 'init'],
      [true, 'completed'],
    ] as const) {
      const bench = new Bench()
      await bench.stream()
      const stop = new AbortController()
      const reasons: unknown[] = []
      const working = bench.work(
        async job => {
          await bench.actor.pause(MINUTE, job.signal)
          reasons.push(job.signal.reason)
          if (!ends) throw new Error('stopped')
          return undefined
        },
        { signal: stop.signal },
      )
      bench.at(5_000, () => stop.abort('SIGTERM'))
      await bench.settle(working)
      expect(reasons).toEqual([{ kind: 'stopped', reason: 'SIGTERM' }])
      expect(await event(bench)).toMatchObject({ status, lc: {} })
    }
  })
})

describe('a claim', () => {
  it.each([
    ['canceled', { op: 'cancel' }, 'already-final'],
    ['aborted', { op: 'abort', event: '01.00' }, 'already-final'],
    ['handed back by a suspension', { op: 'suspend', stop: true }, 'suspended'],
  ] as const)('is lost when the event is %s: the work stops, nothing is reported', async (_, operation, code) => {
    const bench = new Bench()
    await bench.stream()
    const working = bench.work(bench.lasting(10 * MINUTE))
    bench.at(1_000, () => void run(bench.store, 's', operation))
    const outcome = await bench.settle(working, 25_000)
    expect(outcome).toMatchObject({ kind: 'lost', lost: { kind: 'lost', code } })
    expect((await readStream(bench.store, 's'))?.transactions().map(({ op }) => op)).not.toContain('complete')
  })

  it('is lost when no heartbeat is confirmed for five sixths of it, whatever the clock of the machine shows', async () => {
    for (const skewMs of [0, -3_600_000]) {
      let isAway = false
      const bench = new Bench(store =>
        intercept(store, async (_, decide, go) => {
          if (isAway) throw new StoreUnreachable('away')
          return go(decide)
        }),
      )
      await bench.stream()
      let stoppedMs = 0
      const working = bench.work(async job => {
        await bench.actor.pause(10 * MINUTE, job.signal)
        stoppedMs = bench.timing.monotonicMs()
      })
      bench.at(1_000, () => {
        isAway = true
        bench.skewMs = skewMs
      })
      expect(await bench.settle(working)).toMatchObject({ kind: 'lost', lost: { code: 'claim-expired' } })
      expect(stoppedMs).toBeGreaterThan(45_000)
      expect(stoppedMs).toBeLessThanOrEqual(50_010)
    }
  })

  it('survives a clock that was set ahead, if a heartbeat is confirmed at once', async () => {
    const bench = new Bench()
    await bench.stream()
    const working = bench.work(bench.lasting(MINUTE))
    bench.at(5_000, () => (bench.skewMs = 3_600_000))
    expect(await bench.settle(working)).toMatchObject({ kind: 'reported' })
  })

  it('does not survive a suspension of the machine unless a heartbeat confirms it', async () => {
    let isAway = false
    const bench = new Bench(store =>
      intercept(store, async (_, decide, go) => {
        if (isAway) throw new StoreUnreachable('away')
        return go(decide)
      }),
    )
    await bench.stream()
    const working = bench.work(bench.lasting(10 * MINUTE))
    bench.at(5_000, () => {
      isAway = true
      bench.skewMs = 3_600_000
    })
    expect(await bench.settle(working, 12_000)).toMatchObject({ kind: 'lost', lost: { code: 'claim-expired' } })
  })

  it('is neither held nor lost while heartbeats are unanswered, and continues when they are answered', async () => {
    let isAway = false
    const bench = new Bench(store =>
      intercept(store, async (_, decide, go) => {
        if (isAway) throw new NotPermitted('not now')
        return go(decide)
      }),
    )
    await bench.stream()
    const working = bench.work(bench.lasting(5 * MINUTE))
    bench.at(19_000, () => (isAway = true))
    bench.at(40_000, () => (isAway = false))
    expect(await bench.settle(working)).toMatchObject({ kind: 'reported' })
  })

  it('that is lost during the last step of the work is not reported', async () => {
    const bench = new Bench()
    await bench.stream()
    const outcome = await bench.settle(
      bench.work(async () => {
        await run(bench.store, 's', { op: 'cancel' })
        return undefined
      }),
    )
    expect(outcome).toMatchObject({ kind: 'unreported', undone: { refusal: { code: 'already-final' } } })
  })
})

describe('the key of an attempt', () => {
  it('is the same when the attempt is resumed, and another for the next attempt', async () => {
    const bench = new Bench()
    await bench.stream()
    const keys: string[] = []
    const noted =
      (ending?: WorkResult): Work =>
      job => {
        keys.push(job.attemptKey)
        return ending
      }
    await bench.settle(bench.work(noted({ op: 'release' })))
    await bench.settle(bench.work(noted({ op: 'fail' })))
    await run(bench.store, 's', { op: 'retry', event: '01.00' })
    await bench.settle(bench.work(noted()))
    expect(keys).toEqual(['b0_01.00_1', 'b0_01.00_1', 'b0_01.00_2'])
  })

  it('fits a command id and a file name, and distinguishes different attempts', () => {
    const odd = ["a/b:c'(*)~", 'a_b', 'ä', '\ud800', 'x'.repeat(5_000)]
    const keys = odd.flatMap(id => [attemptKey('b0', id, 1), attemptKey('b0_', id, 1), attemptKey('b0', id, 11)])
    expect(keys.filter(key => !/^[A-Za-z0-9._%-]{1,170}$/.test(key))).toEqual([])
    expect(new Set(keys).size).toBe(keys.length)
    expect(attemptKey('a', 'b_c', 1)).not.toBe(attemptKey('a_b', 'c', 1))
  })
})

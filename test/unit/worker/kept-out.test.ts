import { describe, expect, it } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { LeaseView, StreamStore } from '../../../src/store/store.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import type { EventWorkOptions, WorkOutcome } from '../../../src/worker/types.ts'
import { intercept, run } from '../ops/support.ts'
import { Bench } from './one-worker.ts'

const MINUTE = 60_000
/** The time that one attempt waits for a lease here, ms. */
const WAIT_MS = 2_000

/** A worker of a stream whose lease another may hold: changes are refused, and the document can be read. */
class Leased {
  readonly bench: Bench
  /** The number of refused heartbeats. */
  keptOut = 0
  /** The time at which the work was stopped, ms from the beginning. */
  stoppedMs: number | undefined
  #base: StreamStore | undefined
  #lease: LeaseView | undefined
  #isAway = false

  constructor() {
    this.bench = new Bench(base => {
      this.#base = base
      const leased = intercept(base, async (_, decide, go) => {
        if (this.#isAway) throw new StoreUnreachable('away')
        const lease = this.#lease
        if (lease === undefined) return go(decide)
        await this.bench.actor.pause(WAIT_MS)
        if (this.#lease === undefined) return go(decide)
        this.keptOut += 1
        return { kind: 'held', lease, waitedMs: WAIT_MS }
      })
      const read: StreamStore['read'] = async (...args) => {
        if (this.#isAway) throw new StoreUnreachable('away')
        return base.read(...args)
      }
      return new Proxy(leased, { get: (target, key) => (key === 'read' ? read : Reflect.get(target, key)) })
    })
  }

  held(fromMs: number, toMs: number, duration: 'fixed' | 'infinite' = 'fixed'): void {
    this.bench.at(fromMs, () => (this.#lease = { state: 'leased', duration }))
    this.bench.at(toMs, () => (this.#lease = undefined))
  }

  away(fromMs: number): void {
    this.bench.at(fromMs, () => (this.#isAway = true))
  }

  /** The changes of the lease holder under the lease, or of the first process after it. */
  changes(atMs: number, operation: Operation): void {
    this.bench.at(atMs, () => void this.#change(operation))
  }

  async #change(operation: Operation): Promise<void> {
    if (this.#base === undefined) throw new Error('the bench has a store')
    const outcome = await run(this.#base, 's', operation)
    if (outcome.kind !== 'done') throw new Error(`${operation.op}: ${outcome.kind}`)
  }

  /** Works for this time, with a claim of a minute. */
  async works(forMs: number, options: Partial<EventWorkOptions> = {}): Promise<WorkOutcome> {
    const { bench } = this
    const working = bench.work(async job => {
      job.signal.addEventListener('abort', () => (this.stoppedMs = bench.timing.monotonicMs()))
      await bench.actor.pause(forMs, job.signal)
      return undefined
    }, options)
    return bench.settle(working)
  }

  async event() {
    return (await readStream(this.bench.store, 's'))?.stream.find('01.00')
  }
}

async function leased(): Promise<Leased> {
  const world = new Leased()
  await world.bench.stream()
  return world
}

describe('a claim on a stream that another process has leased', () => {
  it('survives the lease of a dead process: the event could not be claimed', async () => {
    const world = await leased()
    // The next heartbeat is due at 20 s; the claim ends at 60 s, the lease at 75 s.
    world.held(15_000, 75_000)
    expect(await world.works(3 * MINUTE)).toMatchObject({ kind: 'reported' })
    expect(world.stoppedMs).toBeUndefined()
    expect(world.keptOut).toBeGreaterThan(10)
    expect(await world.event()).toMatchObject({ status: 'completed', lc: { owner: 'w1', attempt: '1' } })
  })

  it('survives an infinite lease, and a result of that time is reported after it', async () => {
    const world = await leased()
    world.held(15_000, 30 * MINUTE, 'infinite')
    expect(await world.works(10 * MINUTE)).toMatchObject({ kind: 'reported' })
    expect(world.stoppedMs).toBeUndefined()
    expect(world.bench.timing.monotonicMs()).toBeGreaterThanOrEqual(30 * MINUTE)
  })

  it('is lost to the holder of the lease during the lease', async () => {
    const world = await leased()
    world.held(15_000, 10 * MINUTE)
    world.changes(70_000, { op: 'cancel', event: '01.00' })
    expect(await world.works(20 * MINUTE)).toMatchObject({ kind: 'lost', lost: { code: 'already-final' } })
    expect(world.stoppedMs).toBeGreaterThanOrEqual(70_000)
    expect(world.stoppedMs).toBeLessThan(70_000 + WAIT_MS + 1_500)
  })

  it('is lost to the first one after the lease ended', async () => {
    const world = await leased()
    world.held(15_000, 75_000)
    world.changes(75_001, { op: 'start', event: '01.00', owner: 'w2', claimMs: MINUTE })
    expect(await world.works(10 * MINUTE)).toMatchObject({ kind: 'lost', lost: { code: 'fenced' } })
    expect(world.stoppedMs).toBeLessThan(75_001 + WAIT_MS + 1_500)
    expect(await world.event()).toMatchObject({ status: 'inprocess', lc: { owner: 'w2', attempt: '2' } })
  })

  it('is soon lost if reads fail too', async () => {
    const world = await leased()
    world.held(15_000, 10 * MINUTE)
    world.away(70_000)
    expect(await world.works(20 * MINUTE)).toMatchObject({ kind: 'lost', lost: { code: 'claim-expired' } })
    expect(world.stoppedMs).toBeGreaterThan(70_000)
    expect(world.stoppedMs).toBeLessThan(90_000)
  })

  it('is trusted no longer than any other once its worker is stopping', async () => {
    const world = await leased()
    world.held(15_000, 10 * MINUTE)
    const stop = new AbortController()
    world.bench.at(65_000, () => stop.abort('SIGTERM'))
    expect(await world.works(20 * MINUTE, { signal: stop.signal })).toMatchObject({ kind: 'unreported' })
    expect(world.bench.timing.monotonicMs()).toBeLessThan(80_000)
  })
})

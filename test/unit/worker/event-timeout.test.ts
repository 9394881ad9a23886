import { describe, expect, it } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { isoTime } from '../../../src/stream/time/dates.ts'
import { isDue } from '../../../src/stream/time/deadlines.ts'
import type { Job } from '../../../src/worker/types.ts'
import { intercept, resultOf, run } from '../ops/support.ts'
import { Bench, START_MS } from './one-worker.ts'

const MINUTE = 60_000

/** A worker of one event with a timeout, observed by a watchdog that would end it. */
class Limited {
  readonly bench: Bench
  /** The times of writes to the stream, ms from the beginning. */
  readonly writtenMs: number[] = []
  /** The times at which the event was observed past its timeout. */
  readonly dueMs: number[] = []

  /** @param isCheap the store can tell cheaply that nothing was written, as the embedded one can */
  constructor(isCheap = false) {
    this.bench = new Bench(base => {
      const counted = intercept(base, async (_, decide, go) => {
        const outcome = await go(decide)
        if (outcome.kind === 'committed') this.writtenMs.push(this.bench.timing.monotonicMs())
        return outcome
      })
      if (!isCheap) return counted
      const changeToken: StreamStore['changeToken'] = async () => `${this.writtenMs.length}`
      return new Proxy(counted, {
        get: (target, key) => (key === 'changeToken' ? changeToken : Reflect.get(target, key)),
      })
    })
  }

  async stream(timeout: string): Promise<void> {
    const forks = [{ name: 'A', timeout }]
    resultOf(await run(this.bench.store, 's', { op: 'init', root: { name: 'R' }, forks, hold: false, born: 'b0' }))
  }

  setTimeout(atMs: number, timeout: string): void {
    const set = { op: 'set', event: '01.00', attributes: { timeout }, owner: 'w1' } as const
    this.bench.at(atMs, () => void run(this.bench.store, 's', set))
  }

  /** Works for this time, and checks each quarter of a second whether the event is due. */
  async works(forMs: number, claimMs = MINUTE): Promise<Job | undefined> {
    const { bench } = this
    for (let ms = 250; ms < forMs; ms += 250) bench.at(ms, () => void this.#look())
    let job: Job | undefined
    const working = bench.work(
      async given => {
        job = given
        await bench.actor.pause(forMs, given.signal)
        return undefined
      },
      { claimMs },
    )
    expect(await bench.settle(working)).toMatchObject({ kind: 'reported', ending: { op: 'complete' } })
    return job
  }

  async #look(): Promise<void> {
    const view = await readStream(this.bench.store, 's')
    const event = view?.stream.find('01.00')
    const nowMs = this.bench.scheduler.nowMs
    if (view && event && isDue(view.stream, event, view.time, nowMs)) this.dueMs.push(nowMs - START_MS)
  }

  /** The longest time between two writes from then on, ms. */
  longestGapMs(fromMs: number): number {
    const times = this.writtenMs.filter(ms => ms >= fromMs)
    return Math.max(...times.slice(1).map((ms, at) => ms - (times[at] ?? 0)))
  }
}

describe('heartbeats of an event with a timeout of its own', () => {
  it('follow the timeout if it is shorter than the claim', async () => {
    const world = new Limited()
    await world.stream('00:00:09')
    const job = await world.works(2 * MINUTE)
    expect(world.dueMs).toEqual([])
    expect(world.longestGapMs(0)).toBeLessThanOrEqual(3_000 + 750)
    expect(job?.limitWarning).toBeUndefined()
  })

  it.each(['', '00:10:00', 'PT10M', isoTime(START_MS + 3_600_000), 'soon'])(
    'follow the claim if %j does not require more',
    async timeout => {
      const world = new Limited()
      await world.stream(timeout)
      const job = await world.works(5 * MINUTE)
      expect(world.longestGapMs(0)).toBeGreaterThanOrEqual(20_000)
      expect(job?.limitWarning).toBeUndefined()
    },
  )

  it('follow a timeout that is set during the work, from the next heartbeat on', async () => {
    const world = new Limited()
    await world.stream('')
    world.setTimeout(25_000, '00:00:18')
    world.setTimeout(2 * MINUTE, '')
    await world.works(4 * MINUTE)
    expect(world.dueMs).toEqual([])
    const asked = world.writtenMs.filter(ms => ms >= 25_000 && ms <= 2 * MINUTE)
    expect(asked.length).toBeGreaterThanOrEqual((2 * MINUTE - 40_000) / 7_000)
    expect(world.longestGapMs(2 * MINUTE + 20_000)).toBeGreaterThanOrEqual(20_000)
  })

  it('follow such a timeout at once if it can be read at little cost', async () => {
    const world = new Limited(true)
    await world.stream('')
    world.setTimeout(25_000, '00:00:06')
    await world.works(2 * MINUTE)
    expect(world.dueMs).toEqual([])
  })

  it.each([
    ['00:00:01', 'its timeout of 1s is too short for heartbeats, which keep up with 1.5s: '],
    ['00:00:00', 'its timeout is over: '],
    [isoTime(START_MS - 1), 'its timeout is over: '],
  ])('are reported as too slow for a timeout of %s', async (timeout, warning) => {
    const world = new Limited()
    await world.stream(timeout)
    const job = await world.works(MINUTE)
    expect(job?.limitWarning).toMatch(new RegExp(`^${warning}`))
    // Each heartbeat writes the whole document.
    expect(world.writtenMs.length).toBeLessThan(130)
  })

  it('ignore the timeout of the root, which applies to the whole stream', async () => {
    const { bench } = new Limited()
    const root = { name: 'R', timeout: '00:00:01' }
    resultOf(await run(bench.store, 's', { op: 'init', root, forks: [], hold: false, born: 'b0' }))
    let job: Job | undefined
    const work = (given: Job) => {
      job = given
      return undefined
    }
    await bench.settle(bench.work(work, {}, '00'))
    expect(job?.event.id).toBe('00')
    expect(job?.limitWarning).toBeUndefined()
  })
})

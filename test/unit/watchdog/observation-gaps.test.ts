import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Deadline } from '../../../src/stream/time/deadlines.ts'
import { type Gap, judgedDueMs, ObservationGaps, withGap } from '../../../src/watchdog/observation-gaps.ts'
import { RUNS } from '../../support/arbitraries.ts'
import { DAY, HOUR, INTERVAL, MINUTE, SECOND, START_MS } from './watch-world.ts'

const NEVER = Number.POSITIVE_INFINITY
const spot = (fromMs: number, toMs: number): Gap => ({ fromMs, toMs })
/** Without a heartbeat since 0, with a timeout of an hour. */
const silent: Deadline = { kind: 'no-sign-of-life', dueMs: HOUR, from: { ms: 0, timeoutMs: HOUR } }

describe('a deadline for heartbeats', () => {
  const judged = (spots: readonly Gap[]) => judgedDueMs(silent, spots)

  it('is kept as long as heartbeats were possible', () => {
    expect(judged([])).toBe(HOUR)
    expect(judged([spot(10 * MINUTE, 30 * MINUTE)])).toBe(HOUR)
  })

  it('is extended by a third of the timeout after a longer gap', () => {
    expect(judged([spot(10 * MINUTE, 31 * MINUTE)])).toBe(HOUR)
    expect(judged([spot(10 * MINUTE, 50 * MINUTE)])).toBe(70 * MINUTE)
    expect(judged([spot(50 * MINUTE, 5 * HOUR)])).toBe(5 * HOUR + 20 * MINUTE)
  })

  it('is unaffected by gaps before the last heartbeat or after the deadline', () => {
    expect(judged([spot(-HOUR, 0)])).toBe(HOUR)
    expect(judged([spot(HOUR, 5 * HOUR)])).toBe(HOUR)
  })

  it('is extended again by a gap in the extension', () => {
    expect(judged([spot(10 * MINUTE, 50 * MINUTE), spot(65 * MINUTE, 3 * HOUR)])).toBe(3 * HOUR + 20 * MINUTE)
  })

  it('follows the last of several gaps', () => {
    expect(judged([spot(10 * MINUTE, 45 * MINUTE), spot(46 * MINUTE, 2 * HOUR)])).toBe(2 * HOUR + 20 * MINUTE)
  })
})

describe('any other deadline', () => {
  it.each(['stream', 'never-started', 'absolute'] as const)('is kept: %s', kind => {
    expect(judgedDueMs({ ...silent, kind }, [spot(0, DAY)])).toBe(HOUR)
  })
})

describe('observation gaps', () => {
  it('that overlap are merged; adjacent ones are not: the store was there for a moment', () => {
    expect(withGap([spot(0, 10)], spot(5, 20))).toEqual([spot(0, 20)])
    expect(withGap([spot(0, 10)], spot(10, 20))).toEqual([spot(0, 10), spot(10, 20)])
  })

  it('are limited in number, and the longest are kept', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(lengths, numbers => {
        let spots: readonly Gap[] = []
        for (const [at, length] of numbers.entries()) spots = withGap(spots, spot(at * 2_000, at * 2_000 + length))
        expect(spots.length).toBeLessThanOrEqual(16)
        const kept = spots.map(({ fromMs, toMs }) => toMs - fromMs).sort((a, b) => b - a)
        expect(kept).toEqual([...numbers].sort((a, b) => b - a).slice(0, 16))
      }),
      { numRuns: RUNS },
    )
  })
})

/** The observations of a watchdog with ticks every 2.5 s: store's clock and machine's run alike by default. */
class Sight {
  atMs = 0
  offsetMs = 0
  readonly vision = new ObservationGaps({ intervalMs: INTERVAL, tickMs: 2_500 }, this.#now())

  #now() {
    return { nowMs: START_MS + this.atMs + this.offsetMs, atMs: this.atMs }
  }

  /** It runs and inspects, undisturbed. */
  works(ms: number): this {
    for (const endMs = this.atMs + ms; this.atMs < endMs; ) {
      this.atMs += 2_500
      this.vision.ticked(this.#now())
      this.answered()
    }
    this.vision.passed()
    return this
  }

  /** It runs, and the store does not answer. */
  outage(ms: number): this {
    for (const endMs = this.atMs + ms; this.atMs < endMs; ) {
      this.atMs += 2_500
      this.vision.ticked(this.#now())
      this.vision.failed()
    }
    return this
  }

  /** It runs, and does not inspect or waits for an answer. */
  runs(ms: number): this {
    for (const endMs = this.atMs + ms; this.atMs < endMs; ) {
      this.atMs += 2_500
      this.vision.ticked(this.#now())
    }
    return this
  }

  /** It does not run. */
  stands(ms: number): this {
    this.atMs += ms
    return this
  }

  answered(): this {
    this.vision.answered(this.#now())
    return this
  }

  get news(): string[] {
    return this.vision.takeReports().map(({ fromMs, toMs, why }) => `${why} ${toMs - fromMs}`)
  }

  get lengths(): number[] {
    return this.vision.gaps.map(({ fromMs, toMs }) => toMs - fromMs)
  }
}

describe('a watchdog', () => {
  it('has no gap while it runs and the store answers', () => {
    const sight = new Sight().works(HOUR)
    expect(sight.lengths).toEqual([])
    expect(sight.news).toEqual([])
    expect(sight.vision.epochMs).toBe(Number.NEGATIVE_INFINITY)
  })

  it('has a gap while the store does not answer: from the last answer of a good pass to the next answer', () => {
    const sight = new Sight().works(MINUTE).outage(HOUR)
    expect(sight.lengths).toEqual([])
    sight.works(2_500)
    expect(sight.lengths).toEqual([HOUR + 2_500])
    expect(sight.news).toEqual([`outage ${HOUR + 2_500}`])
    expect(sight.vision.epochMs).toBe(sight.atMs)
  })

  it('reports an outage once', () => {
    const sight = new Sight().works(MINUTE).outage(HOUR).works(MINUTE)
    expect(sight.news).toHaveLength(1)
    expect(sight.works(HOUR).news).toEqual([])
  })

  it('has a gap while the first passes do not complete', () => {
    const sight = new Sight()
    sight.answered()
    sight.outage(HOUR).answered()
    expect(sight.news).toEqual([`outage ${HOUR}`])
  })

  it('gives workers time after a short outage too, without discarding observations', () => {
    const sight = new Sight()
      .works(MINUTE)
      .outage(2 * INTERVAL)
      .works(2_500)
    expect(sight.lengths).toEqual([2 * INTERVAL + 2_500])
    expect(sight.news).toEqual([])
    expect(sight.vision.epochMs).toBe(Number.NEGATIVE_INFINITY)
  })

  it('with partial passes only has a gap until one completes', () => {
    const sight = new Sight().works(MINUTE)
    for (let pass = 0; pass < 10; pass++) {
      sight.outage(INTERVAL).answered()
      sight.vision.failed()
    }
    sight.works(2_500)
    expect(sight.lengths).toEqual([10 * INTERVAL + 2_500])
  })

  it('detects with the first answer that it was suspended, before any timer', () => {
    const sight = new Sight().works(MINUTE).stands(HOUR).answered()
    expect(sight.news).toEqual([`pause ${HOUR}`])
    expect(sight.vision.epochMs).toBe(sight.atMs)
    expect(sight.works(MINUTE).news).toEqual([])
  })

  it('detects that it was suspended for some seconds', () => {
    const sight = new Sight()
      .works(MINUTE)
      .stands(8 * SECOND)
      .works(MINUTE)
    expect(sight.lengths).toEqual([8 * SECOND + 2_500])
    expect(sight.news).toEqual([])
  })

  it('has no gap while its own observers are slow', () => {
    const sight = new Sight().works(MINUTE).runs(10 * MINUTE)
    sight.vision.beginRequest({ nowMs: START_MS + sight.atMs, atMs: sight.atMs })
    expect(sight.answered().lengths).toEqual([])
  })

  it('has a gap while it waits for an answer, and discards observations after a long wait', () => {
    const sight = new Sight()
      .works(MINUTE)
      .runs(2 * INTERVAL)
      .answered()
    expect(sight.lengths).toEqual([2 * INTERVAL])
    expect(sight.news).toEqual([])
    sight.works(HOUR).runs(MINUTE).answered()
    expect(sight.news).toEqual([`outage ${MINUTE}`])
  })

  it('does not discard observations repeatedly with a store that is always slow', () => {
    const sight = new Sight().works(MINUTE)
    for (let n = 0; n < 20; n++) sight.runs(MINUTE).answered().works(INTERVAL)
    expect(sight.news).toHaveLength(1)
    expect(sight.vision.gaps).toHaveLength(16)
    expect(sight.works(HOUR).runs(MINUTE).answered().news).toHaveLength(1)
  })

  it.each([HOUR, DAY])('discards observations after its clock was set forward', byMs => {
    const sight = new Sight().works(MINUTE)
    sight.offsetMs += byMs
    sight.works(2_500)
    expect(sight.news).toEqual([`clock ${byMs + 2_500}`])
    expect(sight.vision.epochMs).toBe(sight.atMs)
  })

  it('has no gap in times that a clock showed before it was set back', () => {
    const sight = new Sight().works(MINUTE)
    sight.offsetMs += DAY
    sight.works(MINUTE)
    sight.offsetMs -= DAY
    expect(sight.works(MINUTE).lengths).toEqual([MINUTE + 2_500])
    sight.outage(HOUR).works(2_500)
    expect(sight.lengths).toEqual([MINUTE + 2_500, HOUR + 2_500])
  })

  it('is notified once when the clock was set back', () => {
    const sight = new Sight().works(MINUTE)
    sight.offsetMs -= DAY
    sight.works(2_500)
    expect(sight.news).toEqual([])
    expect(sight.vision.takeSetBack()).toBe(true)
    expect(sight.vision.takeSetBack()).toBe(false)
  })

  it('accepts a clock that runs twice as fast, or half as fast', () => {
    for (const rate of [2, 0.5]) {
      const vision = new ObservationGaps({ intervalMs: INTERVAL, tickMs: 2_500 }, { nowMs: START_MS, atMs: 0 })
      for (let atMs = 0; atMs < HOUR; atMs += 2_500) {
        vision.ticked({ nowMs: START_MS + atMs * rate, atMs })
        vision.answered({ nowMs: START_MS + atMs * rate, atMs })
      }
      expect(vision.gaps).toEqual([])
      expect(vision.takeSetBack()).toBe(false)
    }
  })

  it("does not treat the offset of the store's clock in the first answer as a jump", () => {
    const vision = new ObservationGaps({ intervalMs: INTERVAL, tickMs: NEVER }, { nowMs: START_MS - DAY, atMs: 0 })
    vision.answered({ nowMs: START_MS, atMs: 100 })
    expect(vision.gaps).toEqual([])
  })
})

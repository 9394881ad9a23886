import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Deadline } from '../../../src/stream/time/deadlines.ts'
import { type Gap, judgedDueMs, ObservationGaps, withGap } from '../../../src/watchdog/observation-gaps.ts'
import { RUNS } from '../../support/arbitraries.ts'
import { DAY, HOUR, INTERVAL, MINUTE, SECOND, START_MS } from './watch-world.ts'

const NEVER = Number.POSITIVE_INFINITY
const spot = (fromMs: number, toMs: number): Gap => ({ fromMs, toMs })
/** Silent since 0, and for an hour at most. */
const silent: Deadline = { kind: 'no-sign-of-life', dueMs: HOUR, from: { ms: 0, timeoutMs: HOUR } }

describe('a limit for signs of life', () => {
  const judged = (spots: readonly Gap[]) => judgedDueMs(silent, spots)

  it('ends when it ends, as long as nobody was kept from giving one', () => {
    expect(judged([])).toBe(HOUR)
    expect(judged([spot(10 * MINUTE, 30 * MINUTE)])).toBe(HOUR)
  })

  it('ends a third of it after a stretch longer than that', () => {
    expect(judged([spot(10 * MINUTE, 31 * MINUTE)])).toBe(HOUR)
    expect(judged([spot(10 * MINUTE, 50 * MINUTE)])).toBe(70 * MINUTE)
    expect(judged([spot(50 * MINUTE, 5 * HOUR)])).toBe(5 * HOUR + 20 * MINUTE)
  })

  it('is not moved by what was over before the last sign, nor by what began after the limit', () => {
    expect(judged([spot(-HOUR, 0)])).toBe(HOUR)
    expect(judged([spot(HOUR, 5 * HOUR)])).toBe(HOUR)
  })

  it('is put off again by a stretch that begins in the time it was given', () => {
    expect(judged([spot(10 * MINUTE, 50 * MINUTE), spot(65 * MINUTE, 3 * HOUR)])).toBe(3 * HOUR + 20 * MINUTE)
  })

  it('goes by the last of several stretches', () => {
    expect(judged([spot(10 * MINUTE, 45 * MINUTE), spot(46 * MINUTE, 2 * HOUR)])).toBe(2 * HOUR + 20 * MINUTE)
  })
})

describe('any other limit', () => {
  it.each(['stream', 'never-started', 'absolute'] as const)('ends when it ends: %s', kind => {
    expect(judgedDueMs({ ...silent, kind }, [spot(0, DAY)])).toBe(HOUR)
  })
})

describe('blind spots', () => {
  it('that overlap are one; those that only meet are not: the store was there for a moment', () => {
    expect(withGap([spot(0, 10)], spot(5, 20))).toEqual([spot(0, 20)])
    expect(withGap([spot(0, 10)], spot(10, 20))).toEqual([spot(0, 10), spot(10, 20)])
  })

  it('are bounded, and the longest stay', () => {
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

/** What a watchdog sees that ticks each 2.5 s: store's clock and machine's run alike unless it is said otherwise. */
class Sight {
  atMs = 0
  offsetMs = 0
  readonly vision = new ObservationGaps({ intervalMs: INTERVAL, tickMs: 2_500 }, this.#now())

  #now() {
    return { nowMs: START_MS + this.atMs + this.offsetMs, atMs: this.atMs }
  }

  /** It runs and looks, undisturbed. */
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

  /** It runs, and does not look or waits for an answer. */
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
  it('sees as long as it runs and the store answers', () => {
    const sight = new Sight().works(HOUR)
    expect(sight.lengths).toEqual([])
    expect(sight.news).toEqual([])
    expect(sight.vision.epochMs).toBe(Number.NEGATIVE_INFINITY)
  })

  it('was blind while the store did not answer: from the last answer of a good pass to the next answer', () => {
    const sight = new Sight().works(MINUTE).outage(HOUR)
    expect(sight.lengths).toEqual([])
    sight.works(2_500)
    expect(sight.lengths).toEqual([HOUR + 2_500])
    expect(sight.news).toEqual([`outage ${HOUR + 2_500}`])
    expect(sight.vision.epochMs).toBe(sight.atMs)
  })

  it('tells of an outage once', () => {
    const sight = new Sight().works(MINUTE).outage(HOUR).works(MINUTE)
    expect(sight.news).toHaveLength(1)
    expect(sight.works(HOUR).news).toEqual([])
  })

  it('was blind while the first passes came to no end', () => {
    const sight = new Sight()
    sight.answered()
    sight.outage(HOUR).answered()
    expect(sight.news).toEqual([`outage ${HOUR}`])
  })

  it('gives workers time after a short outage too, without beginning anew', () => {
    const sight = new Sight()
      .works(MINUTE)
      .outage(2 * INTERVAL)
      .works(2_500)
    expect(sight.lengths).toEqual([2 * INTERVAL + 2_500])
    expect(sight.news).toEqual([])
    expect(sight.vision.epochMs).toBe(Number.NEGATIVE_INFINITY)
  })

  it('that sees only part of a pass is blind until one comes to its end', () => {
    const sight = new Sight().works(MINUTE)
    for (let pass = 0; pass < 10; pass++) {
      sight.outage(INTERVAL).answered()
      sight.vision.failed()
    }
    sight.works(2_500)
    expect(sight.lengths).toEqual([10 * INTERVAL + 2_500])
  })

  it('notices by the first answer after it stood still, before any timer', () => {
    const sight = new Sight().works(MINUTE).stands(HOUR).answered()
    expect(sight.news).toEqual([`pause ${HOUR}`])
    expect(sight.vision.epochMs).toBe(sight.atMs)
    expect(sight.works(MINUTE).news).toEqual([])
  })

  it('notices that it stood still for some seconds', () => {
    const sight = new Sight()
      .works(MINUTE)
      .stands(8 * SECOND)
      .works(MINUTE)
    expect(sight.lengths).toEqual([8 * SECOND + 2_500])
    expect(sight.news).toEqual([])
  })

  it('is not blind while its own observers take their time', () => {
    const sight = new Sight().works(MINUTE).runs(10 * MINUTE)
    sight.vision.beginRequest({ nowMs: START_MS + sight.atMs, atMs: sight.atMs })
    expect(sight.answered().lengths).toEqual([])
  })

  it('was blind while it waited for an answer, and begins anew for a long wait', () => {
    const sight = new Sight()
      .works(MINUTE)
      .runs(2 * INTERVAL)
      .answered()
    expect(sight.lengths).toEqual([2 * INTERVAL])
    expect(sight.news).toEqual([])
    sight.works(HOUR).runs(MINUTE).answered()
    expect(sight.news).toEqual([`outage ${MINUTE}`])
  })

  it('does not begin anew over and over with a store that is always late', () => {
    const sight = new Sight().works(MINUTE)
    for (let n = 0; n < 20; n++) sight.runs(MINUTE).answered().works(INTERVAL)
    expect(sight.news).toHaveLength(1)
    expect(sight.vision.gaps).toHaveLength(16)
    expect(sight.works(HOUR).runs(MINUTE).answered().news).toHaveLength(1)
  })

  it.each([HOUR, DAY])('begins anew after a clock that was set forward', byMs => {
    const sight = new Sight().works(MINUTE)
    sight.offsetMs += byMs
    sight.works(2_500)
    expect(sight.news).toEqual([`clock ${byMs + 2_500}`])
    expect(sight.vision.epochMs).toBe(sight.atMs)
  })

  it('was not blind in times that a clock showed before it was set back', () => {
    const sight = new Sight().works(MINUTE)
    sight.offsetMs += DAY
    sight.works(MINUTE)
    sight.offsetMs -= DAY
    expect(sight.works(MINUTE).lengths).toEqual([MINUTE + 2_500])
    sight.outage(HOUR).works(2_500)
    expect(sight.lengths).toEqual([MINUTE + 2_500, HOUR + 2_500])
  })

  it('is told when the clock was set back, once', () => {
    const sight = new Sight().works(MINUTE)
    sight.offsetMs -= DAY
    sight.works(2_500)
    expect(sight.news).toEqual([])
    expect(sight.vision.takeSetBack()).toBe(true)
    expect(sight.vision.takeSetBack()).toBe(false)
  })

  it('lets a clock run twice as fast, or half as fast', () => {
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

  it('takes what the first answer says of the store’s clock for no jump', () => {
    const vision = new ObservationGaps({ intervalMs: INTERVAL, tickMs: NEVER }, { nowMs: START_MS - DAY, atMs: 0 })
    vision.answered({ nowMs: START_MS, atMs: 100 })
    expect(vision.gaps).toEqual([])
  })
})

import { setImmediate as nextRound } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Clock } from './clock.ts'
import { Random } from './random.ts'
import { Actor, Scheduler } from './scheduler.ts'

function stage() {
  const scheduler = new Scheduler(1_000)
  const log: string[] = []
  const note = (what: string) => log.push(`${scheduler.nowMs} ${what}`)
  return { scheduler, log, note, actor: (name: string) => new Actor(scheduler, name, new Random('seed')) }
}

describe('the scheduler', () => {
  it('runs tasks by time, then in the order in which they were scheduled', async () => {
    const { scheduler, log, note } = stage()
    const asked = new Random('order')
    for (let at = 0; at < 200; at++) {
      const atMs = 1_000 + asked.whole(0, 20)
      scheduler.at(atMs, () => note(String(at)))
    }
    await scheduler.run(2_000)
    const sorted = [...log].sort((a, b) => {
      const [[x = 0, i = 0], [y = 0, j = 0]] = [a.split(' ').map(Number), b.split(' ').map(Number)]
      return x - y || i - j
    })
    expect(log).toHaveLength(200)
    expect(log).toEqual(sorted)
  })

  it('lets the reactions to a task complete before time advances: promises, and macrotasks of measuring code', async () => {
    const { scheduler, log, note, actor } = stage()
    actor('a').spawn(async () => {
      await actor('b').pause(5)
      for (let at = 0; at < 50; at++) await Promise.resolve()
      note('promises')
      performance.now()
      await nextRound()
      performance.now()
      await nextRound()
      note('turns')
    })
    scheduler.at(1_006, () => note('later'))
    await scheduler.run(2_000)
    expect(log).toEqual(['1005 promises', '1005 turns', '1006 later'])
  })

  it('lets earlier work complete before the first task', async () => {
    const { scheduler, log, note, actor } = stage()
    scheduler.at(1_500, () => note('first task'))
    actor('a').spawn(async () => {
      await Promise.resolve()
      note('begun')
    })
    await scheduler.run(2_000)
    expect(log).toEqual(['1000 begun', '1500 first task'])
  })

  it('stops at the end time, and leaves the rest for later', async () => {
    const { scheduler, log, note } = stage()
    scheduler.at(1_500, () => note('in'))
    scheduler.at(3_000, () => note('out'))
    await scheduler.run(2_000)
    expect(log).toEqual(['1500 in'])
    expect(scheduler.nowMs).toBe(2_000)
    await scheduler.run(3_000)
    expect(log).toEqual(['1500 in', '3000 out'])
  })

  it('provides its own time for measuring durations, and only while it runs', async () => {
    const { scheduler } = stage()
    const real = performance.now
    let seen = 0
    scheduler.at(1_234, () => {
      seen = performance.now()
    })
    await scheduler.run(2_000)
    expect(seen).toBe(1_234)
    expect(performance.now).toBe(real)
  })

  it('ends with the error of an actor', async () => {
    const { scheduler, actor } = stage()
    actor('a').spawn(async () => {
      await actor('a').pause(1)
      throw new Error('broken')
    })
    await expect(scheduler.run(2_000)).rejects.toThrow('broken')
  })
})

describe('an actor', () => {
  it('that is dead never wakes up', async () => {
    const { scheduler, log, note, actor } = stage()
    const [dying, living] = [actor('dying'), actor('living')]
    for (const one of [dying, living]) one.spawn(() => one.pause(10).then(() => void note(one.name)))
    scheduler.at(1_005, () => dying.die())
    await scheduler.run(2_000)
    expect(log).toEqual(['1010 living'])
  })

  it('wakes up early, once, when the signal aborts', async () => {
    const { scheduler, log, note, actor } = stage()
    const stop = new AbortController()
    const one = actor('a')
    one.spawn(async () => {
      await one.pause(500, stop.signal)
      note('woken')
      await one.pause(500, stop.signal)
      note('at once')
    })
    scheduler.at(1_100, () => stop.abort())
    await scheduler.run(2_000)
    expect(log).toEqual(['1100 woken', '1100 at once'])
  })
})

describe('the random source', () => {
  it('gives the same values for the same seed, and separate ones for each part', () => {
    const draws = (random: Random) => Array.from({ length: 5 }, () => random.fraction())
    expect(draws(new Random('a'))).toEqual(draws(new Random('a')))
    expect(draws(new Random('a'))).not.toEqual(draws(new Random('b')))
    expect(draws(new Random('a').for('x'))).not.toEqual(draws(new Random('a').for('y')))
  })

  it('stays within its bounds and reaches all values', () => {
    const random = new Random('bounds')
    const seen = new Set(Array.from({ length: 500 }, () => random.whole(3, 6)))
    expect([...seen].sort()).toEqual([3, 4, 5, 6])
    const spread = Array.from({ length: 500 }, () => random.spread(1, 48))
    expect(Math.min(...spread)).toBeGreaterThanOrEqual(1)
    expect(Math.max(...spread)).toBeLessThanOrEqual(48)
    expect(spread.filter(hours => hours < 7).length).toBeGreaterThan(200)
  })
})

describe('a clock', () => {
  it('has an offset, runs fast and can be set; the monotonic clock cannot be set', async () => {
    const { scheduler } = stage()
    const clock = new Clock(scheduler, { offsetMs: 500, rate: 2, jumps: [{ atMs: 1_100, byMs: -300 }] })
    expect(clock.nowMs()).toBe(1_500)
    await scheduler.run(1_050)
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([1_600, 100])
    await scheduler.run(1_200)
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([1_600, 400])
  })
})

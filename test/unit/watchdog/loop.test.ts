import { afterEach, describe, expect, it } from 'vitest'
import { NotPermitted, StoreUnreachable } from '../../../src/store/errors.ts'
import { runWatchdog } from '../../../src/watchdog/loop.ts'
import type { WatchdogOptions } from '../../../src/watchdog/options.ts'
import { DAY, HOUR, INTERVAL, MINUTE, Notes, optionsOf, rest, SECOND, World } from './watch-world.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** Jitter is half of a tenth. */
const ROUND = INTERVAL + 500

function start(world: World, more: Partial<WatchdogOptions> = {}) {
  const notes = new Notes()
  const abort = new AbortController()
  const { observers = [] } = more
  const running = runWatchdog(
    world.store,
    optionsOf(world, { ...more, observers: [notes, ...observers] }),
    abort.signal,
  )
  const stop = async () => {
    abort.abort()
    await running
  }
  stops.push(stop)
  return { notes, stop, abort, running }
}

const many = (count: number) => Array.from({ length: count }, (_, n) => `s${n}`)
const sweeps = ({ reports }: Notes) => reports.filter(({ kind }) => kind === 'sweep')

describe('the loop', () => {
  it('sweeps at each interval, with a little jitter', async () => {
    const world = new World()
    const { notes } = start(world)
    await world.run(10 * ROUND - 1)
    expect(sweeps(notes).map(({ startedMs }) => startedMs - (sweeps(notes)[0]?.startedMs ?? 0))).toEqual(
      Array.from({ length: 10 }, (_, n) => n * ROUND),
    )
    expect(notes.reports).toHaveLength(10)
  })

  it('has at most a second of jitter', async () => {
    const world = new World()
    const { notes } = start(world, { intervalMs: DAY, timing: { ...world.timing, random: () => 0.999 } })
    await world.run(DAY + SECOND)
    expect(sweeps(notes)).toHaveLength(2)
  })

  it('inspects a stream when its deadline passes, not at the next sweep', async () => {
    const world = new World()
    await world.worked('a', '00:00:33')
    const { notes } = start(world)
    await world.run(33 * SECOND)
    expect(await world.status('a')).toBe('inprocess')
    await world.run(10)
    expect(await world.status('a')).toBe('aborted')
    expect(notes.all[0]?.atMs).toBe(world.nowMs)
  })

  it('combines inspections whose deadlines are close together', async () => {
    const world = new World()
    for (let n = 0; n < 20; n++) {
      await world.worked(`s${n}`, '00:00:33')
      world.wait(50)
    }
    const { notes } = start(world, { maxShare: 1 })
    await world.run(40 * SECOND)
    expect(notes.all).toHaveLength(20)
    expect(notes.reports.filter(({ kind }) => kind === 'appointment').length).toBeLessThanOrEqual(6)
  })

  it('sleeps when there is nothing to do: overdue events that cannot be ended cause no more passes', async () => {
    const world = new World()
    await world.workedMany(many(60), '00:00:20')
    await world.worked('told', '00:00:20', { onDue: 'notify' })
    await world.worked('denied', '00:00:20')
    await world.worked('silent', '00:00:20')
    world.fault = (call, name) => {
      if (name === 'denied') return new NotPermitted('denied')
      return call !== 'list' && name === 'silent' ? new StoreUnreachable('silent') : undefined
    }
    const { notes } = start(world)
    await world.run(MINUTE)
    const before = world.calls.length
    const passes = notes.reports.length
    await world.run(10 * ROUND)
    expect(notes.reports.at(-1)?.breaker.isOpen).toBe(true)
    expect(notes.reports.length - passes).toBeLessThanOrEqual(40)
    // each is read about once an interval
    expect(world.calls.length - before).toBeLessThanOrEqual(10 * (62 + 2) * 1.2)
  })

  it('pauses after a sweep that takes longer than the interval, for a minute at most', async () => {
    const world = new World()
    let listMs = MINUTE
    world.before = async call => {
      if (call === 'list') world.wait(listMs)
    }
    const { notes } = start(world)
    await rest()
    await world.run(30 * SECOND - 1)
    expect(sweeps(notes)).toHaveLength(1)
    listMs = DAY
    await world.run(1)
    expect(sweeps(notes)).toHaveLength(2)
    listMs = 0
    await world.run(MINUTE)
    expect(sweeps(notes)).toHaveLength(3)
  })

  it('notifies its observers in order', async () => {
    const world = new World()
    const order: string[] = []
    const { notes } = start(world, {
      observers: [{ began: () => void order.push('first') }, { began: async () => void order.push('second') }],
    })
    await world.run(ROUND)
    expect(order).toEqual(['first', 'second', 'first', 'second'])
    expect(notes.order).toEqual(['began sweep', 'passed', 'began sweep', 'passed'])
  })

  it('continues when observers throw', async () => {
    const world = new World()
    const fails = () => {
      throw new Error('boom')
    }
    const { notes } = start(world, { observers: [{ began: fails, passed: fails, failed: fails, gap: fails }] })
    world.fault = () => new StoreUnreachable('no')
    await world.run(5 * ROUND)
    world.fault = () => undefined
    await world.run(5 * ROUND)
    expect(notes.failures.length).toBeGreaterThan(3)
    expect(sweeps(notes).length).toBeGreaterThan(3)
    expect(notes.troubles).toHaveLength(1)
  })
})

describe('a loop whose store is away for an hour', () => {
  it('sends a request at each interval, reports each failure, and ends nothing before it has observed again', async () => {
    const world = new World()
    await world.worked('lives', '00:20:00')
    await world.worked('dies', '00:20:00')
    await world.create('waits', [{ timeout: '00:30:00' }])
    const { notes } = start(world)
    await world.run(5 * MINUTE)
    world.fault = () => new StoreUnreachable('away')
    await world.run(HOUR)
    expect(notes.all).toEqual([])
    expect(notes.failures.length).toBeGreaterThan(300)
    expect(notes.failures.length).toBeLessThan(360)
    expect(notes.failures[0]).toMatchObject({ code: 'store-unreachable', message: 'away' })
    expect(new Set(notes.failures.map(({ sinceMs }) => sinceMs)).size).toBe(1)
    expect(notes.spots).toEqual([])
    world.fault = () => undefined
    await world.run(ROUND)
    expect(notes.spots).toHaveLength(1)
    expect(notes.spots[0]).toMatch(/^outage 36\d{5}$/)
    expect(await world.status('lives')).toBe('inprocess')
    await world.run(4 * MINUTE)
    await world.touch('lives')
    await world.run(5 * MINUTE)
    expect(await world.status('lives')).toBe('inprocess')
    expect(await world.status('dies')).toBe('aborted')
    expect(await world.status('waits')).toBe('aborted')
    expect(notes.outcomes.sort()).toEqual(['dies abort-event ended', 'waits abort-event ended'])
  })

  it('does not count earlier observations, for any kind of deadline', async () => {
    const world = new World()
    await world.create('a', [{ timeout: '00:30:00' }])
    start(world)
    await world.run(30 * MINUTE + 5 * SECOND)
    world.fault = () => new StoreUnreachable('away')
    await world.run(HOUR)
    world.fault = () => undefined
    await world.run(ROUND)
    expect(await world.status('a')).toBe('init')
    await world.run(ROUND + SECOND)
    expect(await world.status('a')).toBe('aborted')
  })
})

describe('a loop that has lost its permissions', () => {
  it('reports it with each pass, and continues when they are back', async () => {
    const world = new World()
    await world.worked('a')
    const { notes } = start(world)
    world.fault = () => new NotPermitted('no rights')
    await world.run(5 * ROUND)
    expect(notes.failures.map(({ code }) => code)).toEqual(Array.from({ length: 6 }, () => 'not-permitted'))
    world.fault = () => undefined
    await world.run(2 * MINUTE)
    expect(await world.status('a')).toBe('aborted')
  })

  it('to write only, reports it for each decision, and continues when they are back', async () => {
    const world = new World()
    await world.worked('a')
    const { notes } = start(world)
    world.fault = call => (call === 'change' ? new NotPermitted('read only') : undefined)
    await world.run(2 * MINUTE)
    expect(notes.all.length).toBeGreaterThan(3)
    expect(new Set(notes.all.map(({ outcome, code }) => `${outcome} ${code}`))).toEqual(
      new Set(['failed not-permitted']),
    )
    expect(notes.failures).toEqual([])
    world.fault = () => undefined
    await world.run(ROUND)
    expect(await world.status('a')).toBe('aborted')
  })

  it('or gets an unexpected error, continues', async () => {
    const world = new World()
    const { notes } = start(world)
    world.fault = () => new TypeError('oops')
    await world.run(2 * ROUND)
    expect(notes.failures[0]).toMatchObject({ code: 'unexpected', message: 'oops', error: expect.any(TypeError) })
    world.fault = () => undefined
    await world.run(ROUND)
    expect(sweeps(notes)).toHaveLength(1)
  })
})

describe('a loop whose clock is set', () => {
  it('forward by a day gives workers time for a heartbeat, and ends events without one', async () => {
    const world = new World()
    await world.worked('lives', '00:30:00')
    await world.worked('dies', '00:30:00')
    const { notes } = start(world)
    await world.run(5 * MINUTE)
    world.clockOffsetMs = DAY
    await world.run(9 * MINUTE)
    await world.touch('lives')
    await world.run(3 * MINUTE)
    expect(notes.spots).toHaveLength(1)
    expect(notes.spots[0]).toMatch(/^clock /)
    expect(await world.status('lives')).toBe('inprocess')
    expect(await world.status('dies')).toBe('aborted')
  })

  it('back by hours ends events by its clock, hours later', async () => {
    const world = new World()
    await world.worked('a', '00:30:00')
    const { notes } = start(world, { intervalMs: MINUTE })
    await world.run(MINUTE)
    world.clockOffsetMs = -5 * HOUR
    await world.run(5 * HOUR + 29 * MINUTE - SECOND)
    expect(notes.all).toEqual([])
    expect(notes.spots).toEqual([])
    await world.run(2 * SECOND)
    expect(await world.status('a')).toBe('aborted')
  })

  it('forth and back ends events when it would have ended them', async () => {
    const world = new World()
    await world.worked('a', '01:00:00')
    start(world)
    await world.run(MINUTE)
    world.clockOffsetMs = DAY
    await world.run(5 * MINUTE)
    world.clockOffsetMs = 0
    await world.run(54 * MINUTE - SECOND)
    expect(await world.status('a')).toBe('inprocess')
    await world.run(2 * SECOND)
    expect(await world.status('a')).toBe('aborted')
  })

  it('back between two observations keeps the first', async () => {
    const world = new World()
    await world.worked('a', '00:30:00')
    await world.create('b', [{ timeout: '00:30:00' }])
    world.wait(3 * DAY)
    start(world)
    await world.run(SECOND)
    world.clockOffsetMs = -DAY
    await world.run(3 * ROUND)
    expect(await world.status('a')).toBe('aborted')
    expect(await world.status('b')).toBe('aborted')
  })

  it('to run twice as fast is believed: heartbeats have its time too', async () => {
    const world = new World()
    world.clockRate = 2
    await world.worked('lives', '00:10:00')
    await world.worked('dies', '00:10:00')
    const { notes } = start(world)
    for (let beat = 0; beat < 20; beat++) {
      await world.run(100 * SECOND)
      await world.touch('lives')
    }
    expect(notes.spots).toEqual([])
    expect(notes.outcomes).toEqual(['dies abort-event ended'])
  })
})

describe('a loop whose process was suspended', () => {
  it('gives workers that were suspended with it time for a heartbeat', async () => {
    const world = new World()
    await world.worked('a', '00:10:00')
    const { notes } = start(world)
    await world.run(5 * MINUTE)
    world.wait(HOUR)
    await world.run(SECOND)
    expect(notes.spots[0]).toMatch(/^pause /)
    await world.run(2 * MINUTE)
    await world.touch('a')
    await world.run(9 * MINUTE)
    expect(notes.all).toEqual([])
    await world.run(2 * MINUTE)
    expect(await world.status('a')).toBe('aborted')
  })

  it('in the middle of a pass detects it too', async () => {
    const world = new World()
    await world.worked('a', '00:10:00')
    const { notes } = start(world)
    await world.run(5 * MINUTE)
    world.before = async call => {
      if (call !== 'list') return
      world.before = () => undefined
      world.wait(HOUR)
    }
    await world.run(ROUND + SECOND)
    expect(notes.spots[0]).toMatch(/^pause /)
    expect(notes.all).toEqual([])
    await world.run(2 * MINUTE)
    expect(await world.status('a')).toBe('inprocess')
    await world.run(2 * MINUTE)
    expect(await world.status('a')).toBe('aborted')
  })

  it('for less than two intervals detects it too', async () => {
    const world = new World()
    await world.worked('a', '00:00:30')
    const { notes } = start(world)
    await world.run(21 * SECOND)
    world.wait(18 * SECOND)
    await world.run(5 * SECOND)
    expect(notes.all).toEqual([])
    await world.run(20 * SECOND)
    expect(await world.status('a')).toBe('aborted')
  })
})

describe('a loop that is stopped', () => {
  it('while it sleeps ends at once', async () => {
    const world = new World()
    const { notes, stop } = start(world)
    await world.run(SECOND)
    await stop()
    await world.run(DAY)
    expect(notes.reports).toHaveLength(1)
  })

  it('before it has begun does nothing', async () => {
    const world = new World()
    await runWatchdog(world.store, optionsOf(world), AbortSignal.abort())
    expect(world.calls).toEqual([])
  })

  it('in the middle of a pass begins no further change; those in flight complete', async () => {
    const world = new World()
    await world.workedMany(many(40), '00:00:20')
    const { notes, abort, running } = start(world, { maxShare: 1 })
    await world.run(15 * SECOND)
    let changes = 0
    world.before = async call => {
      if (call === 'change' && ++changes === 3) abort.abort()
    }
    await world.run(10 * SECOND)
    await running
    expect(notes.failures).toEqual([])
    expect(changes).toBeGreaterThanOrEqual(3)
    expect(changes).toBeLessThan(12)
    expect(notes.all.every(({ outcome }) => outcome === 'ended')).toBe(true)
    expect(notes.all).toHaveLength(changes)
  })

  it('in the middle of its inspections ends nothing', async () => {
    const world = new World()
    await world.workedMany(many(40), '00:00:20')
    const { notes, abort, running } = start(world, { maxShare: 1 })
    await world.run(15 * SECOND)
    world.before = async call => {
      if (call === 'read') abort.abort()
    }
    await world.run(10 * SECOND)
    await running
    expect(notes.all).toEqual([])
    expect(notes.failures).toEqual([])
  })
})

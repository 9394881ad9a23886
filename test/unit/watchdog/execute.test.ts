import { describe, expect, it } from 'vitest'
import { NotPermitted, StoreFull, StoreUnreachable } from '../../../src/store/errors.ts'
import type { ChangeOutcome, StreamStore } from '../../../src/store/store.ts'
import type { ExecutedDecision } from '../../../src/watchdog/decision.ts'
import { storeWith } from '../commands/store-with.ts'
import { DAY, dogOf, HOUR, INTERVAL, MINUTE, SECOND, World } from './watch-world.ts'

/** Streams with one event each without heartbeats, and a watchdog that has observed them, at their deadline. */
async function due(
  world: World,
  names: readonly string[],
  more: Parameters<typeof dogOf>[1] = {},
  store?: StreamStore,
) {
  await world.workedMany(names)
  const dog = dogOf(world, { maxShare: 1, ...more }, store ?? world.store)
  for (; world.atMs < MINUTE; world.wait(INTERVAL)) await dog.sweep()
  return dog
}

const many = (count: number, prefix = 's') =>
  Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(3, '0')}`)

describe('several due events of one stream', () => {
  it('are ended by one write, with an entry each', async () => {
    const world = new World()
    await world.create('a', [{ timeout: '00:01:00' }, { timeout: '00:01:00' }, { timeout: '00:01:00' }, {}])
    for (const event of ['01.00', '02.00', '03.00', '04.00']) await world.start('a', event)
    const { sweep, notes } = dogOf(world)
    await sweep()
    world.wait(MINUTE)
    expect(await sweep()).toMatchObject({ endedEvents: 3, outcomes: { ended: 3 } })
    expect(world.count('change')).toBe(1)
    const entries = await world.entries('a')
    expect(entries.map(({ on, commandId }) => `${on} ${commandId}`)).toEqual(
      ['01.00', '02.00', '03.00'].map(id => `${id} watchdog:${id}:1:2026-03-01T12:01:00.000Z`),
    )
    expect(entries[0]).toMatchObject({
      op: 'abort',
      by: 'watchdog@test',
      why: expect.stringContaining('no sign of life'),
    })
    expect(notes.all.map(({ ended, version }) => `${ended} ${version}`)).toEqual(['01.00 6', '02.00 7', '03.00 8'])
  })

  it('above and below each other are ended together, and each is counted once', async () => {
    const world = new World()
    await world.create('a', [{ timeout: '2026-03-01T12:01:00.000Z' }, {}])
    await world.start('a')
    await world.change('a', {
      op: 'advance',
      event: '01.00',
      owner: 'w1',
      forks: [{ name: 'X', timeout: '2026-03-01T12:01:00.000Z' }, { name: 'Y' }],
    })
    const { sweep } = dogOf(world)
    world.wait(MINUTE)
    await sweep()
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ endedEvents: 3, outcomes: { ended: 1 } })
    expect(await world.statuses('a')).toEqual([
      '00 inprocess',
      '01.00 aborted',
      '02.00 init',
      '01.01.00 canceled',
      '01.02.00 canceled',
    ])
  })
})

describe('a stream that has changed since it was planned', () => {
  it('is left alone if it is gone', async () => {
    const world = new World()
    const { sweep, notes } = await due(world, ['a'])
    world.before = call => (call === 'change' ? world.remove('a') : undefined)
    await sweep()
    expect(notes.outcomes).toEqual(['a abort-event gone'])
    expect(await sweep()).toMatchObject({ total: 0 })
  })

  it('is left alone if it has ended otherwise', async () => {
    const world = new World()
    const { sweep, notes } = await due(world, ['a'])
    world.before = call => (call === 'change' ? world.change('a', { op: 'cancel', event: '01.00' }) : undefined)
    await sweep()
    expect(notes.outcomes).toEqual(['a abort-event already'])
    expect(await world.status('a')).toBe('canceled')
    expect(await world.entries('a')).toEqual([])
  })

  it('is reported, left unchanged and inspected again if it is unreadable', async () => {
    const world = new World()
    const { sweep, notes } = await due(world, ['a'])
    const text = await world.text('a')
    world.before = call => (call === 'change' ? world.rewrite('a', () => '<Event') : undefined)
    expect(await sweep()).toMatchObject({ outcomes: { failed: 1 }, endedEvents: 0, overdue: 1 })
    expect(notes.all[0]).toMatchObject({ code: 'bad-document', message: expect.stringContaining('a:') })
    expect(await world.text('a')).toBe('<Event')
    world.before = () => undefined
    await sweep()
    expect(notes.faults).toEqual(['a'])
    await world.rewrite('a', () => text)
    await sweep()
    world.wait(INTERVAL)
    await sweep()
    expect(await world.status('a')).toBe('aborted')
  })

  it('is busy if another holds its lease, and handled as soon as it is free', async () => {
    const world = new World()
    const { sweep, appointment, notes, watch } = await due(world, ['a', 'b'])
    const release = await world.lease('a')
    await sweep()
    expect(notes.outcomes.sort()).toEqual(['a abort-event busy', 'b abort-event ended'])
    expect(watch.nextInspectionMs()).toBe(world.nowMs + INTERVAL)
    await release()
    world.wait(INTERVAL)
    await appointment()
    expect(notes.outcomes.at(-1)).toBe('a abort-event ended')
  })

  it('is inspected again before a long interval ends if another holds its lease', async () => {
    const world = new World()
    await world.worked('a', '01:00:00')
    const { sweep, watch } = dogOf(world, { intervalMs: 10 * MINUTE })
    for (; world.atMs < HOUR; world.wait(10 * MINUTE)) await sweep()
    await world.lease('a')
    await sweep()
    expect(watch.nextInspectionMs()).toBe(world.nowMs + 15 * SECOND)
  })

  it('may have been ended in another way by another watchdog, which counts', async () => {
    const world = new World()
    const { sweep, notes } = await due(world, ['a'])
    const other = dogOf(world, { onDue: 'abort-stream' })
    await other.sweep()
    world.wait(INTERVAL)
    world.before = call => {
      world.before = () => undefined
      return call === 'change' ? undefined : other.sweep()
    }
    await sweep()
    expect(other.notes.outcomes).toEqual(['a abort-stream ended'])
    expect(notes.outcomes.filter(each => !each.endsWith('already'))).toEqual([])
    expect(await world.entries('a')).toHaveLength(1)
  })
})

describe('an event that a foreign writer left to be closed', () => {
  const close = (text: string) =>
    text.replace(/(id="0[12]\.00"[^>]*)/g, '$1').replaceAll('status="init"', 'status="completed"')

  it('is closed once, by a settling of its own', async () => {
    const world = new World()
    await world.create('a', [{}, {}])
    const { sweep, notes } = dogOf(world)
    await sweep()
    await world.rewrite('a', close)
    const report = await sweep()
    expect(report).toMatchObject({ outcomes: { settled: 1 }, endedEvents: 0, overdue: 0 })
    expect(await world.statuses('a')).toEqual(['00 completed', '01.00 completed', '02.00 completed'])
    for (let pass = 0; pass < 3; pass++) await sweep()
    expect(notes.outcomes).toEqual(['a settle settled'])
    expect(await world.entries('a')).toMatchObject([{ op: 'settle', commandId: 'watchdog:settle:2' }])
  })

  it('is closed with due events of the same stream, without a separate settling', async () => {
    const world = new World()
    await world.create('a', [{ timeout: '00:01:00' }, {}])
    await world.start('a')
    await world.change('a', {
      op: 'advance',
      event: '02.00',
      forks: [{ name: 'X' }],
    })
    const { sweep, notes } = dogOf(world)
    world.wait(MINUTE)
    await world.rewrite('a', close)
    await sweep()
    expect(notes.outcomes).toEqual(['a settle settled'])
    world.wait(INTERVAL)
    await world.rewrite('a', text => text.replace('name="Start"', 'name="Begin"'))
    await sweep()
    expect(notes.outcomes).toEqual(['a settle settled', 'a abort-event ended'])
    expect(await world.status('a', '00')).toBe('completed')
  })

  it('does not count as overdue if the closing cannot be written', async () => {
    const world = new World()
    await world.create('a', [{}])
    await world.rewrite('a', close)
    world.fault = call => (call === 'change' ? new StoreFull('full') : undefined)
    const { sweep } = dogOf(world)
    expect(await sweep()).toMatchObject({ outcomes: { failed: 1 }, overdue: 0, next: [] })
    world.fault = () => undefined
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ outcomes: { settled: 1 } })
  })
})

describe('a limit on changes per pass', () => {
  it('takes the soonest due first, and the rest in the next passes', async () => {
    const world = new World()
    for (const [n, name] of ['late', 'later', 'soon', 'latest'].entries()) {
      await world.worked(name, `00:00:${[30, 40, 20, 50][n]}`)
    }
    const { sweep, notes } = dogOf(world, { maxPerPass: 2, maxShare: 1 })
    await sweep()
    world.wait(MINUTE)
    expect(await sweep()).toMatchObject({ deferred: 2, overdue: 2, endedEvents: 2 })
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ deferred: 0, overdue: 0 })
    expect(notes.all.map(({ decision }) => decision.stream)).toEqual(['soon', 'late', 'later', 'latest'])
  })

  it('postpones notifications too; each is sent later, once', async () => {
    const world = new World()
    const { sweep, notes } = await due(world, ['a', 'b', 'c'], { onDue: 'notify', maxPerPass: 1 })
    for (let pass = 0; pass < 6; pass++) {
      await sweep()
      world.wait(INTERVAL)
    }
    expect(notes.outcomes).toEqual(['a', 'b', 'c'].map(name => `${name} notify notified`))
    expect(notes.reports.at(-1)).toMatchObject({ overdue: 3, deferred: 0, documents: 0 })
  })
})

describe('failing changes and a limit on changes per pass', () => {
  const refusing = (world: World, streams: readonly string[]) => {
    world.fault = (call, name) => (call === 'change' && streams.includes(name) ? new NotPermitted('denied') : undefined)
  }
  const tried = ({ all }: { all: ExecutedDecision[] }) => all.splice(0).map(({ decision }) => decision.stream)

  it('do not prevent other streams from being ended: they come last in the next pass', async () => {
    const world = new World()
    const stuck = many(3, 'stuck')
    await world.workedMany(stuck)
    world.wait(SECOND)
    await world.worked('victim')
    refusing(world, stuck)
    const { sweep } = dogOf(world, { maxPerPass: 3, maxShare: 1 })
    await sweep()
    world.wait(MINUTE)
    expect(await sweep()).toMatchObject({ outcomes: { failed: 3 }, deferred: 1 })
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ outcomes: { ended: 1, failed: 2 }, deferred: 1 })
    expect(await world.status('victim')).toBe('aborted')
  })

  it('are retried in turn as capacity allows, and succeed once that is possible', async () => {
    const world = new World()
    const stuck = many(4)
    refusing(world, stuck)
    const { sweep, notes } = await due(world, stuck, { maxPerPass: 3 })
    const rounds: string[][] = []
    for (let pass = 0; pass < 4; pass++, world.wait(INTERVAL)) {
      await sweep()
      rounds.push(tried(notes))
    }
    expect(rounds).toEqual([
      ['s000', 's001', 's002'],
      ['s003', 's000', 's001'],
      ['s002', 's000', 's001'],
      ['s003', 's000', 's001'],
    ])
    refusing(world, ['s000', 's001', 's003'])
    expect(await sweep()).toMatchObject({ outcomes: { ended: 1, failed: 2 } })
    expect(await world.status('s002')).toBe('aborted')
  })

  it('take from each of several streams in the first pass, however many changes one of them has', async () => {
    const world = new World()
    await world.create('stuck', Array(4).fill({ timeout: '00:01:00' }))
    for (const event of ['01.00', '02.00', '03.00', '04.00']) await world.start('stuck', event)
    world.wait(SECOND)
    await world.worked('victim')
    await world.lease('stuck')
    const { sweep } = dogOf(world, { maxPerPass: 3, maxShare: 1 })
    await sweep()
    world.wait(MINUTE)
    expect(await sweep()).toMatchObject({ outcomes: { busy: 2, ended: 1 }, deferred: 2 })
    expect(await world.status('victim')).toBe('aborted')
  })

  it('do not keep out others by closings for foreign writers, which do not count for the limit of a pass', async () => {
    const world = new World()
    const stuck = many(3, 'stuck')
    for (const name of stuck) {
      await world.create(name, [{}])
      await world.rewrite(name, text => text.replace('status="init"', 'status="completed"'))
    }
    await world.worked('victim')
    refusing(world, stuck)
    const { sweep } = dogOf(world, { maxPerPass: 1, maxShare: 1 })
    await sweep()
    world.wait(MINUTE)
    expect(await sweep()).toMatchObject({ outcomes: { ended: 1, failed: 3 }, deferred: 0 })
  })
})

describe('an event with notification only', () => {
  it('is notified once, however its stream changes, and again if it had a sign of life meanwhile', async () => {
    const world = new World()
    await world.create('a', [{ timeout: '00:01:00' }, {}])
    await world.start('a')
    await world.start('a', '02.00')
    const { sweep, notes } = dogOf(world, { onDue: 'notify' })
    for (; world.atMs < 5 * MINUTE; world.wait(INTERVAL)) {
      await world.touch('a', '02.00')
      await sweep()
    }
    expect(notes.outcomes).toEqual(['a notify notified'])
    await world.touch('a')
    for (; world.atMs < 10 * MINUTE; world.wait(INTERVAL)) await sweep()
    expect(notes.outcomes).toHaveLength(2)
    expect(await world.status('a')).toBe('inprocess')
    expect(world.count('change')).toBe(0)
  })
})

describe('a stream that cannot be changed', () => {
  it.each([
    ['no write permission', new NotPermitted('denied'), 'not-permitted'],
    ['no space', new StoreFull('full'), 'store-full'],
    ['an unexpected error', new TypeError('oops'), 'unexpected'],
  ])('is reported, retried each interval, and does not delay other streams: %s', async (_, error, code) => {
    const world = new World()
    const { sweep, notes } = await due(world, [...many(6, 'a'), 'z'])
    world.fault = (call, name) => (call === 'change' && name !== 'z' ? error : undefined)
    expect(await sweep()).toMatchObject({ outcomes: { failed: 6, ended: 1 }, overdue: 6 })
    expect(notes.all[0]).toMatchObject({ outcome: 'failed', code, message: error.message })
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ outcomes: { failed: 6 } })
    world.fault = () => undefined
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ outcomes: { ended: 6 }, overdue: 0 })
  })

  it('for lack of an answer is ended later, even if it never changes', async () => {
    const world = new World()
    const { sweep } = await due(world, ['a', 'b'])
    world.fault = (call, name) => (call === 'change' && name === 'a' ? new StoreUnreachable('silent') : undefined)
    expect(await sweep()).toMatchObject({ outcomes: { failed: 1, ended: 1 } })
    world.fault = () => undefined
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ outcomes: { ended: 1 }, overdue: 0 })
  })

  it('leaves the rest to the next pass if no requests are answered, and none is forgotten', async () => {
    const world = new World()
    const { sweep } = await due(world, many(30))
    world.fault = call => (call === 'change' ? new StoreUnreachable('silent') : undefined)
    const report = await sweep()
    expect(report.outcomes.failed).toBeLessThanOrEqual(8)
    expect(report.overdue).toBe(30)
    world.fault = () => undefined
    let ended = 0
    for (let pass = 0; pass < 3; pass++) {
      ended += (await sweep()).endedEvents
      world.wait(INTERVAL)
    }
    expect(ended).toBe(30)
  })

  it('with an unknown outcome is inspected again: the command id shows the outcome', async () => {
    const world = new World()
    let isLost = false
    const lossy = storeWith(world.store, {
      update: async (name, decide, options): Promise<ChangeOutcome> => {
        const outcome = await world.store.update(name, decide, options)
        return isLost ? { kind: 'unknown', cause: 'lost' } : outcome
      },
    })
    const { sweep, notes } = await due(world, ['a'], {}, lossy)
    isLost = true
    await sweep()
    expect(notes.outcomes).toEqual(['a abort-event unknown'])
    isLost = false
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ overdue: 0, openEvents: 0 })
    expect(await world.entries('a')).toHaveLength(1)
  })
})

describe('leases that others hold for a long time', () => {
  it('delay a pass for only a few waits', async () => {
    const world = new World()
    const waits: number[] = []
    const leased = storeWith(world.store, {
      update: async (_, __, { waitMs }): Promise<ChangeOutcome> => {
        waits.push(waitMs)
        return { kind: 'held', lease: { state: 'leased' }, waitedMs: waitMs }
      },
    })
    const { sweep } = await due(world, many(100), {}, leased)
    expect(await sweep()).toMatchObject({ outcomes: { busy: 100 } })
    const waited = waits.filter(waitMs => waitMs > 0).length
    expect(waited).toBeGreaterThanOrEqual(20)
    expect(waited).toBeLessThan(30)
  })
})

describe('the circuit breaker', () => {
  it('stops a pass that would end too many events: none is ended, and all are reported', async () => {
    const world = new World()
    const { sweep, notes } = await due(world, many(51), { maxShare: 0.2 })
    const report = await sweep()
    expect(report).toMatchObject({
      endedEvents: 0,
      overdue: 51,
      breaker: { isOpen: true, wouldEnd: 51, openEvents: 102, maxShare: 0.2 },
    })
    expect(notes.all).toEqual([])
    expect(world.count('change')).toBe(0)
  })

  it('allows 50 events to be ended at once', async () => {
    const world = new World()
    const { sweep } = await due(world, many(50), { maxShare: 0.2 })
    expect(await sweep()).toMatchObject({ endedEvents: 50, breaker: { isOpen: false } })
  })

  it('counts open events below the ended ones', async () => {
    const world = new World()
    for (const name of many(30)) await world.create(name, [{ timeout: '00:01:00', onDue: 'abort-stream' }])
    const { sweep } = dogOf(world)
    world.wait(MINUTE)
    await sweep()
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ breaker: { isOpen: true, wouldEnd: 60, openEvents: 60 } })
  })

  it('stays open while scheduled inspections find few more events, and ends none of those either', async () => {
    const world = new World()
    await world.workedMany(many(60))
    world.wait(5 * SECOND)
    for (const name of many(5, 'later')) await world.worked(name)
    const { sweep, appointment } = dogOf(world)
    for (; world.atMs < MINUTE; world.wait(INTERVAL)) await sweep()
    world.atMs = MINUTE
    expect(await sweep()).toMatchObject({ breaker: { isOpen: true, wouldEnd: 60 } })
    world.wait(5 * SECOND)
    expect(await appointment()).toMatchObject({ documents: 5, breaker: { isOpen: true, wouldEnd: 65 }, endedEvents: 0 })
    world.wait(SECOND)
    expect(await appointment()).toMatchObject({ documents: 0, breaker: { isOpen: true, wouldEnd: 65 } })
  })

  it('causes one read of each stream it holds back, as long as that does not change', async () => {
    const world = new World()
    const { sweep, watch } = await due(world, many(60), { maxShare: 0.2 })
    await sweep()
    expect(watch.nextInspectionMs()).toBe(Number.POSITIVE_INFINITY)
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ documents: 0, overdue: 60, breaker: { isOpen: true, wouldEnd: 60 } })
  })

  it('lets the next pass through as soon as the share is low enough', async () => {
    const world = new World()
    const { sweep } = await due(world, many(60), { maxShare: 0.2 })
    expect(await sweep()).toMatchObject({ breaker: { isOpen: true } })
    for (const name of many(20)) await world.touch(name)
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ endedEvents: 40, breaker: { isOpen: false, wouldEnd: 40 } })
  })

  it('prevents neither notifications nor settling', async () => {
    const world = new World()
    await world.workedMany(many(60))
    await world.worked('told', '00:01:00', { onDue: 'notify' })
    await world.create('settled', [{}])
    const { sweep, notes } = dogOf(world)
    for (; world.atMs < MINUTE; world.wait(INTERVAL)) await sweep()
    await world.rewrite('settled', text => text.replace('status="init"', 'status="completed"'))
    expect(await sweep()).toMatchObject({ breaker: { isOpen: true }, outcomes: { settled: 1, notified: 1 } })
    expect(notes.all).toHaveLength(2)
  })

  it('is not bypassed by a series of small passes', async () => {
    const world = new World()
    for (let n = 0; n < 100; n++) {
      await world.worked(`s${n}`, '01:00:00')
      world.wait(100)
    }
    const { sweep, appointment } = dogOf(world, { intervalMs: MINUTE })
    for (; world.atMs < HOUR - INTERVAL; world.wait(MINUTE)) await sweep()
    world.atMs = HOUR
    let ended = 0
    for (let step = 0; step < 40; step++) {
      ended += (await appointment()).endedEvents
      world.wait(250)
    }
    expect(ended).toBeLessThanOrEqual(50)
    expect(ended).toBeGreaterThan(40)
    expect(await sweep()).toMatchObject({ breaker: { isOpen: true } })
  })
})

describe('very many simultaneously due events', () => {
  it('are held back, and cost one inspection each', async () => {
    const world = new World()
    await world.workedMany(many(1_000))
    const { sweep } = dogOf(world)
    world.wait(DAY)
    await sweep()
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({
      breaker: { isOpen: true, wouldEnd: 1_000 },
      documents: 1_000,
      overdue: 1_000,
    })
    expect(world.count('read')).toBe(2_000)
  })
})

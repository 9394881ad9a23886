import { describe, expect, it } from 'vitest'
import { globOf } from '../../../src/ops/glob.ts'
import { NotPermitted, StoreUnreachable } from '../../../src/store/errors.ts'
import { documentText, type EventText } from '../../support/stream-builder.ts'
import { DAY, dogOf, HOUR, INTERVAL, MINUTE, SECOND, START_MS, World } from './watch-world.ts'

/** A stream as the .NET library writes it: no attributes of ours, dates in a culture, TimeSpans. */
const legacy = (more: EventText = {}) =>
  `<EventStream>
  <Event name="OrderStart" status="inprocess" id="00" created="3/1/2026 8:00:00 AM" timestamp="3/1/2026 8:00:00 AM" next="01.00" />
  <Event name="Search" status="inprocess" id="01.00" prev="00" created="3/1/2026 9:00:00 AM" timestamp="3/1/2026 11:58:00 AM" timeout="00:05:00"${Object.entries(
    more,
  )
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('')} />
</EventStream>`

describe('an event without heartbeats', () => {
  it('is ended once its deadline has passed and two observations an interval apart found it without one', async () => {
    const world = new World()
    await world.worked('a')
    const { sweep, notes } = dogOf(world)
    for (; world.atMs < MINUTE; world.wait(INTERVAL)) await sweep()
    expect(await world.status('a')).toBe('inprocess')
    await sweep()
    expect(await world.status('a')).toBe('aborted')
    expect(notes.outcomes).toEqual(['a abort-event ended'])
    expect(notes.all[0]).toMatchObject({ ended: ['01.00'], version: 3, atMs: world.nowMs })
  })

  it('is inspected on time between two sweeps, and ended by that inspection', async () => {
    const world = new World()
    await world.worked('a')
    const { sweep, appointment, watch } = dogOf(world)
    await sweep()
    expect(watch.nextInspectionMs()).toBe(world.nowMs + MINUTE)
    world.wait(MINUTE)
    const report = await appointment()
    expect(report).toMatchObject({
      kind: 'appointment',
      documents: 1,
      endedEvents: 1,
      overdue: 0,
      outcomes: { ended: 1 },
    })
    expect(world.count('list')).toBe(1)
  })

  it('is only observed by a watchdog that has just started, and ended an interval later', async () => {
    const world = new World()
    await world.worked('a')
    world.wait(DAY)
    const { sweep } = dogOf(world)
    expect(await sweep()).toMatchObject({ endedEvents: 0, overdue: 1 })
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ endedEvents: 1, overdue: 0 })
  })

  it('is ended at its deadline plus an interval in a stream that constantly changes', async () => {
    const world = new World()
    await world.create('a', [{ timeout: '00:01:00' }, {}])
    await world.start('a')
    await world.start('a', '02.00')
    const { sweep } = dogOf(world)
    while (world.atMs < MINUTE + INTERVAL) {
      await world.touch('a', '02.00')
      await sweep()
      expect(await world.status('a')).toBe('inprocess')
      world.wait(INTERVAL)
    }
    await world.touch('a', '02.00')
    await sweep()
    expect(await world.statuses('a')).toEqual(['00 inprocess', '01.00 aborted', '02.00 inprocess'])
  })

  it('and with one at the last moment continues, as long as it sends them', async () => {
    const world = new World()
    await world.worked('a')
    const { sweep, notes } = dogOf(world)
    await sweep()
    for (let beat = 0; beat < 20; beat++) {
      world.wait(MINUTE - 1)
      await world.touch('a')
      world.wait(1)
      await sweep()
    }
    expect(notes.all).toEqual([])
  })

  it('and with one between inspection and lease is spared, and nothing is written', async () => {
    const world = new World()
    await world.worked('a')
    const { sweep, appointment, notes, watch } = dogOf(world)
    await sweep()
    world.wait(MINUTE)
    world.before = call => (call === 'change' ? world.touch('a') : undefined)
    await appointment()
    expect(notes.outcomes).toEqual(['a abort-event showed-life'])
    expect(notes.all[0]).toMatchObject({ code: 'showed-life' })
    expect(await world.status('a')).toBe('inprocess')
    expect(await world.entries('a')).toEqual([])
    expect(watch.nextInspectionMs() - world.nowMs).toBe(SECOND)
  })

  it('of a document of the .NET library is ended: old dates, TimeSpans, and none of our attributes', async () => {
    const world = new World()
    await world.put('a', legacy())
    const { sweep, notes } = dogOf(world)
    await sweep()
    expect(notes.reports.at(-1)).toMatchObject({ documents: 1, openEvents: 2, streams: { inprocess: 1 } })
    world.wait(3 * MINUTE - 1)
    await sweep()
    world.wait(1)
    await sweep()
    expect(await world.statuses('a')).toEqual(['00 completed', '01.00 aborted'])
    expect(await world.text('a')).toContain('no sign of life since 2026-03-01T11:58:00.000Z')
  })

  it('is not read again while its stream is unchanged and its time has not come', async () => {
    const world = new World()
    await world.put('a', legacy())
    const { sweep } = dogOf(world)
    for (let pass = 0; pass < 5; pass++) await sweep()
    expect(world.count('read')).toBe(1)
  })
})

describe('a deadline independent of heartbeats', () => {
  it.each([
    ['a branch that is never started', [{ timeout: '00:01:00' }], {}, ['00 completed', '01.00 aborted']],
    ['an absolute time', [{ timeout: '2026-03-01T12:01:00.000Z' }], {}, ['00 completed', '01.00 aborted']],
    ['the stream', [{}], { timeout: '00:01:00' }, ['00 aborted', '01.00 canceled']],
  ])('has passed when two observations an interval apart found it due: %s', async (_, forks, root, end) => {
    const world = new World()
    await world.create('a', forks, root)
    const { sweep, appointment } = dogOf(world)
    await sweep()
    world.wait(MINUTE)
    await appointment()
    world.wait(INTERVAL - 1)
    await appointment()
    expect(await world.status('a', '00')).toBe('inprocess')
    world.wait(1)
    await appointment()
    expect(await world.statuses('a')).toEqual(end)
  })
})

describe('the watchdog never changes', () => {
  it('an unreadable document: it is reported once for each state', async () => {
    const world = new World()
    await world.put('bad', '<EventStream><Event')
    await world.put('good', legacy())
    const before = await world.text('bad')
    const { sweep, notes } = dogOf(world)
    for (; world.atMs <= HOUR; world.wait(MINUTE)) await sweep()
    expect(notes.faults).toEqual(['bad'])
    expect(await world.text('bad')).toBe(before)
    expect(await world.status('good')).toBe('aborted')
    expect(notes.reports.at(-1)).toMatchObject({
      unreadable: [{ stream: 'bad', message: expect.stringMatching(/^line 1/) }],
      streams: { unreadable: 1, completed: 1 },
    })
    await world.rewrite('bad', () => '<EventStream><Even')
    await sweep()
    expect(notes.faults).toEqual(['bad', 'bad'])
    await world.rewrite('bad', () => legacy())
    expect(await sweep()).toMatchObject({ unreadable: [], streams: { inprocess: 1, completed: 1 } })
  })

  it('a stream that waits to be started, a waiting join, an ended stream, one without events', async () => {
    const world = new World()
    await world.change('held', {
      op: 'init',
      root: { name: 'Start', timeout: '00:00:01' },
      forks: [{ name: 'A', timeout: '00:00:01' }],
      hold: true,
      born: 'b1',
    })
    await world.change('join', {
      op: 'init',
      root: { name: 'Start' },
      forks: [{ name: 'A' }],
      join: { name: 'J', timeout: '00:00:01' },
      hold: false,
      born: 'b2',
    })
    await world.create('done', [], { timeout: '00:00:01' })
    await world.change('done', { op: 'complete', event: '00' })
    await world.put('empty', '<EventStream/>')
    const { sweep, notes } = dogOf(world)
    for (; world.atMs <= HOUR; world.wait(MINUTE)) await sweep()
    expect(notes.all).toEqual([])
    expect(notes.reports.at(-1)?.streams).toEqual({ init: 1, inprocess: 1, completed: 1, 'not-started': 1 })
  })

  it('streams of other names, and those of other watchdogs', async () => {
    const world = new World()
    for (const name of ['mine/1', 'mine/2', 'yours/1']) await world.worked(name)
    const { sweep } = dogOf(world, {
      names: globOf('mine/*'),
      ownership: { owns: name => name !== 'mine/2' },
    })
    let report = await sweep()
    for (; world.atMs <= HOUR; world.wait(MINUTE)) report = await sweep()
    expect(await world.status('mine/1')).toBe('aborted')
    expect(await world.status('mine/2')).toBe('inprocess')
    expect(await world.status('yours/1')).toBe('inprocess')
    expect(report).toMatchObject({ total: 2, watched: 1 })
    expect(world.calls.filter(call => /read (mine.2|yours)/.test(call))).toEqual([])
  })
})

describe('a stream that this watchdog takes over', () => {
  it('is watched from then on', async () => {
    const world = new World()
    await world.worked('a')
    let owns = false
    const { sweep, appointment, watch } = dogOf(world, { ownership: { owns: () => owns } })
    await sweep()
    world.wait(HOUR)
    await appointment()
    expect(watch.nextInspectionMs()).toBe(world.nowMs + INTERVAL)
    owns = true
    world.wait(INTERVAL)
    expect(await appointment()).toMatchObject({ endedEvents: 1, watched: 1 })
  })

  it('and loses between plan and execution is left to its new owner', async () => {
    const world = new World()
    await world.worked('a')
    let owns = true
    const { sweep, notes } = dogOf(world, { ownership: { owns: () => owns } })
    await sweep()
    world.wait(MINUTE)
    world.before = async call => {
      if (call === 'read') owns = false
    }
    await sweep()
    expect(world.count('read')).toBe(1)
    expect(notes.all).toEqual([])
    expect(world.count('change')).toBe(0)
  })
})

describe('observers of changes', () => {
  const moves = async (world: World, more = {}) => {
    const dog = dogOf(world, { wantsMoved: true, ...more })
    const said = () =>
      dog.notes.moves.splice(0).map(({ listed, summary, before }) => [listed.name, summary?.version, before])
    return { ...dog, said }
  }

  it('are notified of each stream once, then of changes, with the last reported version', async () => {
    const world = new World()
    await world.worked('a')
    await world.put('b', legacy())
    const { sweep, said } = await moves(world)
    await sweep()
    expect(said()).toEqual([
      ['a', 2, undefined],
      ['b', 0, undefined],
    ])
    await sweep()
    expect(said()).toEqual([])
    await world.complete('a')
    await sweep()
    expect(said()).toEqual([['a', 3, 2]])
  })

  it('are notified of a change that an inspection found before the sweep', async () => {
    const world = new World()
    await world.worked('a')
    const { sweep, appointment, said } = await moves(world)
    await sweep()
    said()
    world.wait(MINUTE)
    await world.complete('a')
    await appointment()
    expect(said()).toEqual([['a', 3, 2]])
    await sweep()
    expect(said()).toEqual([])
  })

  it("are notified of the watchdog's own changes", async () => {
    const world = new World()
    await world.worked('a')
    const { sweep, appointment, said } = await moves(world)
    await sweep()
    world.wait(MINUTE)
    await appointment()
    said()
    await sweep()
    expect(said()).toEqual([['a', 3, 2]])
  })

  it('are notified of changes while the stream belonged to another watchdog', async () => {
    const world = new World()
    await world.worked('a')
    await world.put('b', legacy())
    let owns = false
    const { sweep, said } = await moves(world, { ownership: { owns: () => owns } })
    await sweep()
    expect(said()).toEqual([])
    owns = true
    await sweep()
    expect(said()).toEqual([
      ['a', 2, undefined],
      ['b', 0, undefined],
    ])
    owns = false
    await world.complete('a')
    await sweep()
    expect(said()).toEqual([])
    owns = true
    await sweep()
    expect(said()).toEqual([['a', 3, 2]])
    await sweep()
    expect(said()).toEqual([])
  })

  it('are notified only on request', async () => {
    const world = new World()
    await world.worked('a')
    await world.put('b', legacy())
    const { sweep, notes } = dogOf(world)
    await sweep()
    expect(notes.moves).toEqual([])
  })
})

describe('a removed stream', () => {
  it('is forgotten by the inspection that misses it, or the sweep that does not list it', async () => {
    const world = new World()
    await world.worked('a')
    await world.worked('b')
    const { sweep, appointment, notes } = dogOf(world)
    await sweep()
    await world.remove('a')
    expect(await sweep()).toMatchObject({ total: 1 })
    world.wait(MINUTE)
    await world.remove('b')
    expect(await appointment()).toMatchObject({ total: 0, documents: 0 })
    expect(notes.all).toEqual([])
  })

  it('and created again under its name is a new stream', async () => {
    const world = new World()
    await world.worked('a')
    const { sweep, appointment } = dogOf(world)
    await sweep()
    world.wait(MINUTE - 1)
    await world.remove('a')
    await world.worked('a')
    world.wait(1)
    await appointment()
    await sweep()
    expect(await world.status('a')).toBe('inprocess')
  })
})

describe('one stream that cannot be inspected', () => {
  const boom: readonly [string, () => Error][] = [
    ['no right to read it', () => new NotPermitted('denied')],
    ['something that nobody thought of', () => new TypeError('undefined is not a function')],
  ]

  it.each(boom)('does not affect other streams: %s', async (_, error) => {
    const world = new World()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'z']) await world.worked(name)
    const { sweep, notes } = dogOf(world)
    await sweep()
    world.fault = (call, name) => (call === 'read' && name !== 'z' ? error() : undefined)
    for (let pass = 0; pass < 8; pass++) {
      world.wait(MINUTE)
      await sweep()
    }
    expect(await world.status('z')).toBe('aborted')
    expect(notes.faults).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(notes.reports.at(-1)).toMatchObject({ overdue: 5, streams: { unreadable: 5 } })
    world.fault = () => undefined
    world.wait(MINUTE)
    expect(await sweep()).toMatchObject({ endedEvents: 5, unreadable: [], overdue: 0 })
  })

  it('for lack of an answer is inspected again after an interval, not at once', async () => {
    const world = new World()
    await world.worked('a')
    await world.worked('b')
    const { sweep, appointment, watch } = dogOf(world)
    for (; world.atMs < MINUTE; world.wait(INTERVAL)) await sweep()
    world.fault = (call, name) => (call === 'read' && name === 'a' ? new StoreUnreachable('silent') : undefined)
    expect(await appointment()).toMatchObject({ endedEvents: 1, overdue: 1 })
    expect(watch.nextInspectionMs()).toBe(world.nowMs + INTERVAL)
    world.fault = () => undefined
    world.wait(INTERVAL)
    expect(await appointment()).toMatchObject({ endedEvents: 1, overdue: 0 })
  })

  it('gets time for a heartbeat when it answers again after a long time', async () => {
    const world = new World()
    for (const name of ['a', 'b']) await world.worked(name, '00:03:00')
    const { sweep } = dogOf(world)
    for (; world.atMs < 3 * MINUTE; world.wait(INTERVAL)) await sweep()
    world.fault = (_, name) => (name === 'a' ? new StoreUnreachable('silent') : undefined)
    for (; world.atMs < HOUR; world.wait(INTERVAL)) await sweep()
    expect(await world.status('b')).toBe('aborted')
    world.fault = () => undefined
    for (; world.atMs < HOUR + MINUTE; world.wait(INTERVAL)) {
      await sweep()
      expect(await world.status('a')).toBe('inprocess')
    }
    await sweep()
    expect(await world.status('a')).toBe('aborted')
  })

  it('is not an outage, however many there are, as long as other requests are answered', async () => {
    const world = new World()
    for (let n = 0; n < 20; n++) await world.worked(`dead/${n}`)
    for (let n = 0; n < 20; n++) await world.worked(`live/${n}`)
    const { sweep } = dogOf(world, { maxShare: 1 })
    await sweep()
    world.wait(MINUTE)
    world.fault = (_, name) => (name.startsWith('dead') ? new StoreUnreachable('silent') : undefined)
    let ended = 0
    for (let pass = 0; pass < 20; pass++) {
      ended += await sweep().then(
        ({ endedEvents }) => endedEvents,
        () => 0,
      )
      world.wait(INTERVAL)
    }
    expect(ended).toBe(20)
  })
})

describe('a store that does not answer', () => {
  it('ends the pass: at the listing, or if no document can be read', async () => {
    const world = new World()
    for (let n = 0; n < 20; n++) await world.worked(`s${n}`)
    const { sweep } = dogOf(world)
    await sweep()
    world.wait(MINUTE)
    world.fault = call => (call === 'read' ? new StoreUnreachable('silent') : undefined)
    await expect(sweep()).rejects.toThrow()
    expect(world.count('read')).toBeLessThanOrEqual(8)
    world.fault = call => (call === 'list' ? new StoreUnreachable('silent') : undefined)
    await expect(sweep()).rejects.toThrow('silent')
  })

  it('does not discard plans: unchanged overdue events are ended when it is back', async () => {
    const world = new World()
    for (let n = 0; n < 40; n++) await world.worked(`s${n}`)
    const { sweep, notes } = dogOf(world, { maxShare: 1 })
    await sweep()
    world.wait(MINUTE)
    // some are read, then no request is answered any more
    let reads = 0
    world.fault = call =>
      call === 'list' || (call === 'read' && ++reads <= 10) ? undefined : new StoreUnreachable('no')
    await sweep()
    world.fault = () => new StoreUnreachable('no')
    await expect(sweep()).rejects.toThrow('no')
    world.fault = () => undefined
    for (let pass = 0; pass < 6; pass++) {
      world.wait(INTERVAL)
      await sweep()
    }
    expect(notes.all.filter(({ outcome }) => outcome === 'ended')).toHaveLength(40)
  })

  it('gives events time for a heartbeat when it is back, and those without one are ended', async () => {
    const world = new World()
    for (const name of ['lives', 'dies']) await world.worked(name, '00:10:00')
    const { sweep } = dogOf(world)
    await sweep()
    world.fault = () => new StoreUnreachable('no')
    for (; world.atMs < HOUR; world.wait(INTERVAL)) await expect(sweep()).rejects.toThrow('no')
    world.fault = () => undefined
    expect(await sweep()).toMatchObject({ endedEvents: 0 })
    world.wait(3 * MINUTE)
    await world.touch('lives')
    for (; world.atMs < HOUR + 4 * MINUTE; world.wait(INTERVAL)) await sweep()
    expect(await world.status('lives')).toBe('inprocess')
    expect(await world.status('dies')).toBe('aborted')
  })

  it('does so too after an absence of at most two intervals', async () => {
    const world = new World()
    await world.worked('a', '00:00:30')
    const { sweep } = dogOf(world)
    await sweep()
    world.wait(20 * SECOND)
    await sweep()
    world.fault = () => new StoreUnreachable('no')
    world.wait(INTERVAL)
    await expect(sweep()).rejects.toThrow('no')
    world.fault = () => undefined
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ endedEvents: 0, overdue: 1 })
    world.wait(INTERVAL - 1)
    await sweep()
    expect(await world.status('a')).toBe('inprocess')
    world.wait(1)
    await sweep()
    expect(await world.status('a')).toBe('aborted')
  })

  it('at the start invalidates observations before its first answer', async () => {
    const world = new World()
    await world.worked('a', '00:10:00')
    const { sweep } = dogOf(world)
    world.fault = call => (call === 'read' ? new StoreUnreachable('no') : undefined)
    for (let n = 0; n < 5; n++) await world.put(`legacy/${n}`, legacy({ timeout: '' }))
    await expect(sweep()).rejects.toThrow('no')
    world.wait(HOUR)
    world.fault = () => undefined
    expect(await sweep()).toMatchObject({ endedEvents: 0 })
    expect(await world.status('a')).toBe('inprocess')
  })
})

describe('a store that delays its answers', () => {
  it.each(['list', 'read'])('delayed the workers as well: they get time for a heartbeat (%s)', async slow => {
    const world = new World()
    for (const name of ['lives', 'dies']) await world.worked(name, '00:01:00')
    const { sweep, notes } = dogOf(world)
    await sweep()
    world.wait(INTERVAL)
    for (const name of ['lives', 'dies']) await world.touch(name)
    await sweep()
    world.wait(50 * SECOND)
    if (slow === 'read') world.wait(11 * SECOND)
    let isFirst = true
    world.before = async call => {
      if (call === slow && isFirst) world.wait(30 * SECOND)
      if (call === slow) isFirst = false
    }
    expect(await sweep()).toMatchObject({ endedEvents: 0, overdue: 2 })
    expect(notes.spots).toEqual(['outage 30000'])
    world.wait(INTERVAL)
    await world.touch('lives')
    for (const endMs = world.atMs + 20 * SECOND; world.atMs < endMs; world.wait(INTERVAL)) await sweep()
    expect(await world.status('lives')).toBe('inprocess')
    expect(await world.status('dies')).toBe('aborted')
  })

  it.each(['list', 'read'])('repeatedly does not keep events alive forever (%s)', async slow => {
    const world = new World()
    for (const name of ['lives', 'dies']) await world.worked(name, '00:20:00')
    await world.worked('busy', '1.00:00:00')
    const { sweep, notes } = dogOf(world)
    world.before = async call => {
      if (call === slow) world.wait(40 * SECOND)
    }
    while (world.atMs < 30 * MINUTE) {
      if (world.atMs % (5 * MINUTE) < MINUTE) await world.touch('lives')
      await world.rewrite('busy', text => text.replace(/ tag="[^"]*"|(?=\/>)/, ` tag="${world.atMs}"`))
      await sweep()
      world.wait(INTERVAL)
    }
    expect(notes.outcomes).toEqual(['dies abort-event ended'])
  })

  it('is not assumed while observers of changes are slow', async () => {
    const world = new World()
    for (let n = 0; n < 3; n++) await world.put(`legacy/${n}`, legacy({ timeout: '' }))
    const slow = { moved: () => world.wait(MINUTE) }
    const { sweep, notes } = dogOf(world, { observers: [slow], wantsMoved: true, concurrency: 1 })
    await sweep()
    expect(notes.spots).toEqual([])
  })
})

describe('a foreign writer that reopens ended events', () => {
  it('does not prevent a deadline: the event is ended again, with another command id', async () => {
    const world = new World()
    await world.create('a', [{ timeout: '2026-03-01T12:00:30.000Z' }])
    const { sweep, notes } = dogOf(world)
    const passes = async (count: number) => {
      for (let pass = 0; pass < count; pass++) {
        world.wait(INTERVAL)
        await sweep()
      }
    }
    await passes(6)
    expect(await world.status('a')).toBe('aborted')
    await world.rewrite('a', text =>
      text.replace('status="aborted"', 'status="init"').replace('status="completed"', 'status="inprocess"'),
    )
    expect(await world.status('a')).toBe('init')
    await passes(4)
    expect(await world.status('a')).toBe('aborted')
    const ids = (await world.entries('a')).map(({ commandId }) => commandId)
    expect(ids).toHaveLength(2)
    expect(ids[1]).toMatch(`${ids[0]}:v`)
    expect(notes.outcomes.filter(outcome => outcome.endsWith('already'))).toEqual([])
  })
})

describe('a watchdog that is restarted', () => {
  it('cannot know whether the store was away before: workers get time for a heartbeat', async () => {
    const world = new World()
    for (const name of ['lives', 'dies']) await world.worked(name, '00:03:00')
    const lastSeenMs = world.nowMs
    world.wait(5 * MINUTE)
    const { sweep } = dogOf(world, { lastSeenMs })
    await sweep()
    world.wait(50 * SECOND)
    expect(await sweep()).toMatchObject({ endedEvents: 0, overdue: 2 })
    await world.touch('lives')
    world.wait(10 * SECOND)
    await sweep()
    world.wait(INTERVAL)
    await sweep()
    expect(await world.status('lives')).toBe('inprocess')
    expect(await world.status('dies')).toBe('aborted')
  })

  it('continues without a break after a short absence', async () => {
    const world = new World()
    await world.worked('dies', '00:03:00')
    world.wait(5 * MINUTE)
    const { sweep, notes } = dogOf(world, { lastSeenMs: world.nowMs - 2 * SECOND })
    await sweep()
    world.wait(INTERVAL)
    await sweep()
    expect(await world.status('dies')).toBe('aborted')
    expect(notes.spots).toEqual([])
  })
})

describe('a slow listing', () => {
  it('does not backdate the observation of a stream: two observations stay an interval apart', async () => {
    const world = new World()
    await world.worked('a', '00:00:20')
    const { sweep } = dogOf(world)
    world.wait(30 * SECOND)
    // the page comes a minute after the sweep began
    world.before = async call => {
      if (call === 'list') world.wait(MINUTE)
    }
    expect(await sweep()).toMatchObject({ endedEvents: 0, overdue: 1 })
    expect(await world.status('a')).toBe('inprocess')
  })

  it('does not backdate the reading of a document', async () => {
    const world = new World()
    await world.worked('a', '00:00:20')
    const { sweep, appointment } = dogOf(world)
    world.wait(30 * SECOND)
    // a write between listing and read, and a slow answer
    world.before = async call => {
      if (call === 'read') await world.rewrite('a', text => text.replace('name="Start"', 'name="Begin"'))
      if (call === 'read') world.wait(9 * SECOND)
    }
    await sweep()
    world.wait(INTERVAL - 1)
    world.before = () => undefined
    await appointment()
    expect(await world.status('a')).toBe('inprocess')
    world.wait(1)
    await appointment()
    expect(await world.status('a')).toBe('aborted')
  })
})

describe('a pass report', () => {
  it('counts a notified limit as overdue, and not among the next ones: nothing more happens to it', async () => {
    const world = new World()
    await world.worked('a', '00:01:00')
    await world.worked('b', '00:10:00')
    const { sweep, notes } = dogOf(world, { onDue: 'notify' })
    for (let sweeps = 0; sweeps < 8; sweeps++, world.wait(INTERVAL)) await sweep()
    world.wait(MINUTE)
    const report = await sweep()
    expect(notes.outcomes).toEqual(['a notify notified'])
    expect(report).toMatchObject({ overdue: 1, notified: 1, next: [{ stream: 'b' }] })
  })

  it('has the current state, the next deadline, and the clock difference', async () => {
    const world = new World()
    await world.worked('a', '00:01:00')
    await world.worked('b', '00:02:00')
    await world.create('c')
    const { sweep } = dogOf(world)
    expect(await sweep()).toEqual({
      kind: 'sweep',
      startedMs: world.nowMs,
      tookMs: 0,
      listedMs: 0,
      streams: { inprocess: 3 },
      total: 3,
      watched: 3,
      openEvents: 5,
      overdue: 0,
      notified: 0,
      next: [
        { stream: 'a', dueMs: world.nowMs + MINUTE },
        { stream: 'b', dueMs: world.nowMs + 2 * MINUTE },
      ],
      work: { failed: 0, abandoned: 0, suspended: 0, ready: [], readySinceMs: undefined },
      documents: 0,
      outcomes: {},
      endedEvents: 0,
      deferred: 0,
      breaker: { isOpen: false, wouldEnd: 0, openEvents: 5, maxShare: 0.2 },
      unreadable: [],
      skewMs: 0,
    })
  })

  it.each([
    ['a listing', []],
    ['documents, where a listing has no summary', ['a', 'b', 'c']],
  ])('It has failures, silent workers and ready events from %s.', async (_, foreign) => {
    const world = new World()
    for (const name of ['a', 'b', 'c']) {
      await world.create(name, [{ name: 'Pay' }, { name: 'Ship' }])
      world.wait(SECOND)
    }
    await world.change('a', { op: 'fail', event: '01.00', msg: 'no route' })
    await world.change('b', { op: 'start', event: '01.00', owner: 'w', claimMs: MINUTE })
    for (const name of foreign) world.foreign.add(name)
    world.wait(2 * MINUTE)
    const { sweep } = dogOf(world)
    expect(await sweep()).toMatchObject({
      documents: foreign.length,
      work: {
        ...{ failed: 1, abandoned: 1 },
        ready: [
          { step: 'Ship', count: 3 },
          { step: 'Pay', count: 1 },
        ],
        readySinceMs: START_MS,
      },
    })
    await world.change('a', { op: 'ack' })
    expect(await sweep()).toMatchObject({ work: { failed: 0 } })
  })

  it('follows all notifications it covers, for each observer in order', async () => {
    const world = new World()
    await world.worked('a')
    await world.worked('b')
    const second: string[] = []
    const { sweep, appointment, notes } = dogOf(world, {
      wantsMoved: true,
      observers: [{ executed: () => void second.push(notes.order.at(-1) ?? '') }],
    })
    await sweep()
    world.wait(MINUTE)
    await appointment()
    const carried = ['carried ended', 'carried ended']
    expect(notes.order).toEqual(['began sweep', 'moved a,b', 'passed', 'began appointment', ...carried, 'passed'])
    expect(second).toEqual(carried)
  })
})

describe('an observer that throws', () => {
  it('prevents neither the other notifications nor any change; they are sent once', async () => {
    const world = new World()
    await world.worked('a')
    const fails = () => {
      throw new Error('boom')
    }
    const rejects = async () => fails()
    const broken = { began: fails, moved: rejects, carried: rejects, passed: fails, unreadable: fails, faulty: fails }
    const { sweep, notes } = dogOf(world, { wantsMoved: true, observers: [broken, { passed: fails }] })
    await sweep()
    world.wait(MINUTE)
    await sweep()
    expect(await world.status('a')).toBe('aborted')
    expect(notes.reports).toHaveLength(2)
    expect(notes.troubles).toHaveLength(2)
  })
})

describe('a stream without a summary', () => {
  it('is read once per change, however often it changes', async () => {
    const world = new World()
    await world.put('a', documentText({ id: '00', status: 'inprocess' }))
    const { sweep } = dogOf(world)
    await sweep()
    await world.rewrite('a', text => text.replace('inprocess', 'completed'))
    await sweep()
    await sweep()
    expect(world.count('read')).toBe(2)
  })
})

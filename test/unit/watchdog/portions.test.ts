import { describe, expect, it } from 'vitest'
import { runWatchdog } from '../../../src/watchdog/loop.ts'
import { dogOf, INTERVAL, MINUTE, Notes, optionsOf, SECOND, World } from './watch-world.ts'

/** A stream with this number of events that are due a minute after its beginning, and are ended ten seconds later. */
async function largeWorld(events = 50): Promise<World> {
  const world = new World()
  await world.create('large', Array(events).fill({ timeout: '00:01:00' }))
  return world
}

const openIn = async (world: World) => (await world.statuses('large')).filter(each => each.endsWith(' init')).length

describe('a stream with very many due events', () => {
  it('is changed in portions, all in one pass if there is time', async () => {
    const world = await largeWorld()
    const { sweep } = dogOf(world, { maxShare: 1 })
    for (; world.atMs <= MINUTE; world.wait(INTERVAL)) await sweep()
    expect(await sweep()).toMatchObject({ endedEvents: 50, deferred: 0, overdue: 0 })
    expect(world.count('change')).toBe(3)
  })

  it('does not delay other streams whose deadline passes meanwhile', async () => {
    const world = await largeWorld(200)
    await world.worked('small', '00:01:12')
    const dueMs = world.nowMs + 72 * SECOND
    world.before = async (call, name) => {
      if (call === 'change' && name === 'large') world.wait(1_500)
    }
    const notes = new Notes()
    const abort = new AbortController()
    const running = runWatchdog(world.store, optionsOf(world, { maxShare: 1, observers: [notes] }), abort.signal)
    await world.run(2 * MINUTE)
    expect(notes.all.map(({ outcome }) => outcome)).toEqual(Array(201).fill('ended'))
    const small = notes.all.findIndex(({ decision }) => decision.stream === 'small')
    expect(small).toBeLessThan(100)
    expect((notes.all[small]?.atMs ?? 0) - dueMs).toBeLessThan(4 * SECOND)
    expect(notes.reports.map(({ deferred }) => deferred).filter(each => each > 0)).toEqual([160, 120, 80, 40])
    abort.abort()
    await running
  })

  it('is left from the portion on at which the watchdog stops', async () => {
    const world = await largeWorld()
    const abort = new AbortController()
    world.before = async call => {
      if (call === 'change') abort.abort()
    }
    const running = runWatchdog(world.store, optionsOf(world, { maxShare: 1 }), abort.signal)
    await world.run(2 * MINUTE)
    await running
    expect(world.count('change')).toBe(1)
    expect(await openIn(world)).toBe(30)
  })

  it('is not retried for each portion if another holds its lease', async () => {
    const world = await largeWorld()
    const { sweep, notes } = dogOf(world, { maxShare: 1 })
    for (; world.atMs <= MINUTE; world.wait(INTERVAL)) await sweep()
    const release = await world.lease('large')
    expect(await sweep()).toMatchObject({ outcomes: { busy: 20 }, deferred: 30, endedEvents: 0 })
    await release()
    world.wait(INTERVAL)
    expect(await sweep()).toMatchObject({ outcomes: { ended: 50 }, deferred: 0 })
    expect(notes.outcomes.filter(each => each.endsWith('busy'))).toHaveLength(20)
  })
})

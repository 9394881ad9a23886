import { describe, expect, it } from 'vitest'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { WatchdogOptions } from '../../../src/watchdog/options.ts'
import { runOnce } from '../../../src/watchdog/pass.ts'
import { INTERVAL, MINUTE, NEVER_ABORTED, Notes, optionsOf, World } from './watch-world.ts'

async function once(
  world: World,
  { isDryRun = false, ...more }: Partial<WatchdogOptions> & { isDryRun?: boolean } = {},
) {
  const notes = new Notes()
  const options = optionsOf(world, { ...more, observers: [notes] })
  const report = await runOnce(world.store, options, { isDryRun, signal: NEVER_ABORTED })
  return { notes, report }
}

/** The whole content of the store. */
async function contents(world: World): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const page of world.base.list({})) for (const row of page) all.push(await world.base.read(row.name))
  return all
}

/** All permissions of a watchdog. */
async function busyWorld(): Promise<World> {
  const world = new World()
  await world.worked('silent')
  await world.worked('told', '00:01:00', { onDue: 'notify' })
  await world.create('stream', [{}], { timeout: '00:01:00' })
  await world.create('settled', [{}])
  await world.rewrite('settled', text => text.replace('status="init"', 'status="completed"'))
  await world.put('bad', '<')
  world.wait(2 * MINUTE)
  return world
}

describe('a single pass', () => {
  it('trusts the clock alone: one observation is enough', async () => {
    const world = await busyWorld()
    const { notes, report } = await once(world)
    expect(notes.outcomes.sort()).toEqual([
      'settled settle settled',
      'silent abort-event ended',
      'stream abort-stream ended',
      'told notify notified',
    ])
    expect(report).toMatchObject({ kind: 'sweep', endedEvents: 3, unreadable: [{ stream: 'bad' }] })
    expect(await world.status('stream', '00')).toBe('aborted')
  })

  it('spares events with a heartbeat between inspection and lease', async () => {
    const world = new World()
    await world.worked('a')
    world.wait(MINUTE)
    world.before = call => (call === 'change' ? world.touch('a') : undefined)
    const { notes } = await once(world)
    expect(notes.outcomes).toEqual(['a abort-event showed-life'])
    expect(await world.status('a')).toBe('inprocess')
  })

  it('is stopped by the circuit breaker, unless an operator allows everything', async () => {
    const world = new World()
    for (let n = 0; n < 60; n++) await world.worked(`s${n}`)
    world.wait(MINUTE)
    expect((await once(world)).report).toMatchObject({ endedEvents: 0, breaker: { isOpen: true, wouldEnd: 60 } })
    expect((await once(world, { maxShare: 1 })).report).toMatchObject({ endedEvents: 60, breaker: { isOpen: false } })
  })

  it('fails with the error of a store that does not answer', async () => {
    const world = await busyWorld()
    world.fault = call => (call === 'list' ? new StoreUnreachable('silent') : undefined)
    await expect(once(world)).rejects.toThrow('silent')
  })
})

describe('a dry run', () => {
  it('changes nothing, and reports all decisions', async () => {
    const world = await busyWorld()
    const before = await contents(world)
    const { notes, report } = await once(world, { isDryRun: true, maxPerPass: 1 })
    expect(notes.plans.map(({ kind, stream }) => `${stream} ${kind}`).sort()).toEqual([
      'settled settle',
      'silent abort-event',
      'stream abort-stream',
      'told notify',
    ])
    expect(notes.all).toEqual([])
    expect(report).toMatchObject({ endedEvents: 0, outcomes: {}, overdue: 3 })
    expect(await contents(world)).toEqual(before)
    expect(world.count('change')).toBe(0)
  })

  it('reports the decisions that the circuit breaker would stop, too', async () => {
    const world = new World()
    for (let n = 0; n < 60; n++) await world.worked(`s${n}`)
    world.wait(MINUTE)
    const { notes, report } = await once(world, { isDryRun: true })
    expect(notes.plans).toHaveLength(60)
    expect(report.breaker).toMatchObject({ isOpen: true, wouldEnd: 60 })
  })

  it('reports nothing that is not due yet', async () => {
    const world = new World()
    await world.worked('a')
    world.wait(MINUTE - INTERVAL)
    expect((await once(world, { isDryRun: true })).notes.plans).toEqual([])
  })
})

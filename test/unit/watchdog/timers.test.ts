import { describe, expect, it } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { StoreFull } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { storeWith } from '../commands/store-with.ts'
import { dogOf, INTERVAL, MINUTE, rest, SECOND, World } from './watch-world.ts'

const STREAM = 'reminders/1'
const DELAY_MS = 5 * MINUTE

/** A stream with one gate that opens after the delay, and when that is. */
async function withTimer(world: World): Promise<number> {
  await world.create(STREAM, [{ delay: '00:05:00' }])
  return world.nowMs + DELAY_MS
}

/** When the gate of `01.00` was opened, by the times in the journal. */
async function openings(world: World): Promise<number[]> {
  const view = await readStream(world.base, STREAM)
  const entries = view?.transactions() ?? []
  return entries
    .filter(({ changes }) => changes.some(({ event, how }) => event === '01.00' && how === 'gate'))
    .filter(({ op }) => op !== 'init')
    .map(({ at }) => Date.parse(at))
}

/** Replaces the document by one that cannot be read, with the same summary. */
async function damage({ base }: World): Promise<void> {
  const summary = (await base.read(STREAM))?.summary
  if (summary === undefined) throw new Error('it has a summary')
  const holder = { by: 'x', host: 'h', pid: 1, purpose: 'damage', sinceMs: 0 }
  await base.update(STREAM, () => ({ kind: 'put', body: Buffer.from('<'), summary }), { holder, waitMs: 0 })
}

/** A store as a host sees it that dies before its next change, or after it. */
function dyingStore(store: StreamStore, when: 'before' | 'after') {
  const { promise: died, resolve: die } = Promise.withResolvers<void>()
  const dying = storeWith(store, {
    update: async (...args) => {
      if (when === 'after') await store.update(...args)
      die()
      return new Promise<never>(() => {})
    },
  })
  return { dying, died }
}

describe('a timer', () => {
  it('opens a second gate of the stream on time as well', async () => {
    const world = new World()
    await world.create(STREAM, [{ delay: '00:05:00' }, { delay: '00:05:03' }])
    const { sweep, appointment } = dogOf(world)
    await sweep()
    world.wait(5 * MINUTE)
    await appointment()
    expect(await world.status(STREAM, '01.00')).toBe('init')
    world.wait(3 * SECOND)
    await appointment()
    expect(await world.status(STREAM, '02.00')).toBe('init')
  })

  it('is opened by another host if the one that watched it is gone', async () => {
    const world = new World()
    const wakesMs = await withTimer(world)
    const gone = dogOf(world)
    await gone.sweep()
    world.wait(DELAY_MS)
    const other = dogOf(world)
    await other.sweep()
    await other.appointment()
    expect(await world.status(STREAM, '01.00')).toBe('init')
    expect(await openings(world)).toEqual([wakesMs])
  })

  it.each(['before', 'after'] as const)('is opened once if its host dies %s the write that opens it', async when => {
    const world = new World()
    const wakesMs = await withTimer(world)
    const { dying, died } = dyingStore(world.base, when)
    const host = dogOf(world, {}, dying)
    const other = dogOf(world)
    await host.sweep()
    await other.sweep()
    world.wait(DELAY_MS)
    await Promise.race([host.appointment(), died])
    expect(await world.status(STREAM, '01.00')).toBe(when === 'after' ? 'init' : 'inprocess')
    world.wait(SECOND)
    await other.appointment()
    await other.sweep()
    expect(await world.status(STREAM, '01.00')).toBe('init')
    expect(await openings(world)).toEqual([when === 'after' ? wakesMs : wakesMs + SECOND])
  })

  it('needs no watchdog: a worker that comes later claims the event behind it', async () => {
    const world = new World()
    const wakesMs = await withTimer(world)
    await expect(world.start(STREAM)).rejects.toThrow(/waiting/)
    world.wait(DELAY_MS)
    await world.start(STREAM)
    expect(await world.status(STREAM, '01.00')).toBe('inprocess')
    expect(await openings(world)).toEqual([wakesMs])
  })

  it.each([10 * MINUTE, -10 * MINUTE])('is not early or late if the clock of a host is off by %i ms', async offMs => {
    const world = new World()
    const wakesMs = await withTimer(world)
    const host = dogOf(world, { timing: { ...world.timing, wallMs: () => world.nowMs + offMs } })
    await host.sweep()
    for (let waited = 0; waited < DELAY_MS - INTERVAL; waited += INTERVAL) {
      world.wait(INTERVAL)
      await host.sweep()
      await host.appointment()
    }
    expect(await openings(world)).toEqual([])
    world.wait(wakesMs - world.nowMs)
    await host.appointment()
    expect(await openings(world)).toEqual([wakesMs])
  })

  it('opens when the clock of the store says so, however far that clock is set', async () => {
    for (const stepMs of [10 * MINUTE, -10 * MINUTE]) {
      const world = new World()
      const wakesMs = await withTimer(world)
      const host = dogOf(world)
      await host.sweep()
      world.clockOffsetMs = stepMs
      for (let sweeps = 0; sweeps < 100 && (await openings(world)).length === 0; sweeps++) {
        world.wait(INTERVAL)
        await host.sweep()
      }
      const [openedMs = 0, ...again] = await openings(world)
      expect(again).toEqual([])
      expect(openedMs).toBeGreaterThanOrEqual(wakesMs)
      expect(openedMs).toBeLessThanOrEqual(Math.max(wakesMs, world.nowMs))
    }
  })

  it('costs nothing until its time has come: sweeps do not read or change its stream', async () => {
    const world = new World()
    await withTimer(world)
    const host = dogOf(world)
    await host.sweep()
    const before = world.calls.filter(call => !call.startsWith('list')).length
    for (let sweeps = 0; sweeps < 20; sweeps++) {
      world.wait(INTERVAL)
      await host.sweep()
      await host.appointment()
    }
    expect(world.calls.filter(call => !call.startsWith('list'))).toHaveLength(before)
  })
})

describe('a due timer that the listing shows', () => {
  const opened = 'reminders/1 settle settled'

  /** Two watchdogs that have listed the stream, at the time when its gate opens. */
  async function atItsTime(more: { readonly timeout?: string } = {}) {
    const world = new World()
    await world.create(STREAM, [{ delay: '00:05:00' }, { timeout: '00:05:00', ...more }])
    const [host, other] = [dogOf(world), dogOf(world)]
    await Promise.all([host.sweep(), other.sweep()])
    world.calls.length = 0
    world.wait(DELAY_MS)
    return { world, host, other }
  }

  it('is opened by one write, without reading the document for an inspection before', async () => {
    const { world, host } = await atItsTime({ timeout: '' })
    expect(await host.appointment()).toMatchObject({ documents: 0, outcomes: { settled: 1 } })
    expect(host.notes.outcomes).toEqual([opened])
    expect(await world.status(STREAM, '01.00')).toBe('init')
    expect([world.count('read'), world.count('change')]).toEqual([0, 1])
    world.wait(INTERVAL)
    await host.appointment()
    await host.sweep()
    expect([world.count('read'), world.count('change')]).toEqual([0, 1])
  })

  it('is inspected if a deadline of the stream has expired too', async () => {
    const { world, host } = await atItsTime()
    expect(await host.appointment()).toMatchObject({ documents: 1 })
    expect(await world.status(STREAM, '01.00')).toBe('init')
  })

  it('is inspected and opened after a write that failed', async () => {
    const { world, host } = await atItsTime({ timeout: '' })
    world.fault = call => (call === 'change' ? new StoreFull('full') : undefined)
    expect(await host.appointment()).toMatchObject({ documents: 0, outcomes: { failed: 1 } })
    world.fault = () => undefined
    world.wait(INTERVAL)
    expect(await host.appointment()).toMatchObject({ documents: 1, outcomes: { settled: 1 } })
    expect(await openings(world)).toEqual([world.nowMs])
  })

  it('that another watchdog has opened since is known by the summary: the document is not read', async () => {
    const { world, host, other } = await atItsTime({ timeout: '' })
    await host.appointment()
    await damage(world)
    await other.appointment()
    expect(other.notes.outcomes).toEqual(['reminders/1 settle already'])
  })

  it('is looked at in the document while the summary says that it is closed', async () => {
    const { world, host } = await atItsTime({ timeout: '' })
    await damage(world)
    await host.appointment()
    expect(host.notes.outcomes).toEqual(['reminders/1 settle failed'])
  })

  it('stays closed if the stream was suspended since', async () => {
    const { world, host } = await atItsTime({ timeout: '' })
    await world.change(STREAM, { op: 'suspend' })
    const before = await world.text(STREAM)
    await host.appointment()
    expect(host.notes.outcomes).toEqual(['reminders/1 settle already'])
    expect(await world.text(STREAM)).toBe(before)
    await host.sweep()
    world.calls.length = 0
    for (let sweeps = 0; sweeps < 5; sweeps++) {
      world.wait(INTERVAL)
      await host.sweep()
      await host.appointment()
    }
    expect([world.count('read'), world.count('change')]).toEqual([0, 0])
  })
})

describe('many timers of one second', () => {
  it('are opened by three watchdogs, each once and none early, however few events a pass may end', async () => {
    const world = new World()
    const names = Array.from({ length: 100 }, (_, at) => `reminders/${at}`)
    await world.create('reminders/0', [{ delay: '00:05:00' }])
    const wakesMs = world.nowMs + DELAY_MS
    const stored = await world.base.read('reminders/0')
    if (stored?.summary === undefined) throw new Error('it has a summary')
    for (const name of names.slice(1)) await world.base.create(name, stored.body, stored.summary)
    const hosts = [1, 2, 3].map(() => dogOf(world, { maxPerPass: 10 }))
    await Promise.all(hosts.map(({ sweep }) => sweep()))
    world.wait(DELAY_MS)
    await Promise.all(hosts.map(({ appointment }) => appointment()))
    await rest()
    for (const name of names) {
      const view = await readStream(world.base, name)
      const opened = view?.transactions().filter(({ op }) => op === 'settle') ?? []
      expect(opened.map(({ at }) => Date.parse(at))).toEqual([wakesMs])
      expect(view?.stream.find('01.00')?.status).toBe('init')
    }
  })
})

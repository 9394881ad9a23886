import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { streamFindings } from '../../../src/ops/doctor/stream.ts'
import { readStream, viewOf } from '../../../src/ops/read-stream.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import { runOnce } from '../../../src/watchdog/pass.ts'
import { DAY, dogOf, HOUR, INTERVAL, MINUTE, NEVER_ABORTED, optionsOf, START_MS, World } from './watch-world.ts'

const YEAR = 365 * DAY

/** A stream with a second branch; the worker that claims its first one has a clock ahead by this. */
async function claimedAhead(aheadMs: number): Promise<World> {
  const world = new World()
  await world.create('a', [{ timeout: '00:30:00' }, {}])
  world.clockOffsetMs = aheadMs
  await world.start('a')
  world.clockOffsetMs = 0
  return world
}

/** The time a watchdog needs to end the event, ms; `Infinity` for more than a day. */
async function endedAfter(world: World, each: () => Promise<void> = async () => {}): Promise<number> {
  const { sweep } = dogOf(world)
  for (; world.atMs < DAY; world.wait(INTERVAL)) {
    await sweep()
    if ((await world.status('a')) === 'aborted') return world.atMs
    await each()
  }
  return Number.POSITIVE_INFINITY
}

describe('an event that a worker with a clock ahead claimed and then abandoned', () => {
  it.each([
    ['an hour', HOUR],
    ['a day', DAY],
    ['a year', YEAR],
  ])('is ended at its deadline, counted from its first observation: %s ahead', async (_, aheadMs) => {
    const ms = await endedAfter(await claimedAhead(aheadMs))
    expect(ms).toBeGreaterThanOrEqual(30 * MINUTE)
    expect(ms).toBeLessThanOrEqual(32 * MINUTE)
  })

  it('is ended at its deadline although others continually work in the same stream', async () => {
    const world = await claimedAhead(YEAR)
    await world.start('a', '02.00')
    const ms = await endedAfter(world, () => world.touch('a', '02.00'))
    expect(ms).toBeLessThanOrEqual(31 * MINUTE)
    expect(await world.status('a', '02.00')).toBe('inprocess')
  })

  it('is spared while its worker sends heartbeats, by whatever clock', async () => {
    const world = await claimedAhead(YEAR)
    const ms = await endedAfter(world, async () => {
      if (world.atMs % (5 * MINUTE) !== 0) return
      world.clockOffsetMs = YEAR
      await world.touch('a')
      world.clockOffsetMs = 0
    })
    expect(ms).toBe(Number.POSITIVE_INFINITY)
    expect(await world.entries('a')).toEqual([])
  })
})

describe('on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-ahead-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('separate passes end it too; doctor reports it until the times are correct', async () => {
    let nowMs = START_MS
    const store = openSqliteStore(join(folder, 'x.db'), { clock: () => nowMs })
    const change = (operation: Operation) =>
      transact(store, 'a', operation, { commandId: randomUUID(), by: 'tester', leaseWaitMs: 0 })
    const forks = [{ name: 'Step', timeout: '00:30:00' }]
    await change({ op: 'init', root: { name: 'Start' }, forks, hold: false, born: randomUUID() })
    nowMs += YEAR
    await change({ op: 'start', event: '01.00', owner: 'w1', claimMs: MINUTE })
    nowMs -= YEAR
    const look = async () => {
      const stored = await store.read('a')
      const codes = stored === undefined ? [] : streamFindings(viewOf(stored, nowMs)).map(({ code }) => code)
      const status = (await readStream(store, 'a'))?.stream.find('01.00')?.status
      return { codes, status }
    }
    const pass = () =>
      runOnce(store, optionsOf(new World()), { isDryRun: false, signal: NEVER_ABORTED }).then(() => look())
    expect(await look()).toMatchObject({ codes: expect.arrayContaining(['time-ahead']) })
    expect(await pass()).toEqual({ codes: [], status: 'inprocess' })
    nowMs += 29 * MINUTE
    expect((await pass()).status).toBe('inprocess')
    nowMs += MINUTE
    expect((await pass()).status).toBe('aborted')
    await store.close()
  })
})

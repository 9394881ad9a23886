import { describe, expect, it } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { run } from '../ops/support.ts'
import { Colony, type ColonySettings } from './colony.ts'

const HOUR = 3_600_000
const BAD = { requestLost: 0.05, answerLost: 0.05, unknown: 0.02 }

/** The number of ends of each event, by the journals. */
async function endsIn(store: StreamStore): Promise<number[]> {
  const ends: number[] = []
  for await (const page of store.list({})) {
    for (const { name } of page) {
      const view = await readStream(store, name)
      for (const { id } of view?.stream.events ?? []) {
        const changes = view?.transactions().flatMap(tx => tx.changes.filter(({ event }) => event === id)) ?? []
        ends.push(changes.filter(({ to }) => ['completed', 'aborted', 'canceled'].includes(to)).length)
      }
    }
  }
  return ends
}

/** The events that were aborted. */
async function endedBy(store: StreamStore, who: string): Promise<string[]> {
  const ended: string[] = []
  for await (const page of store.list({})) {
    for (const { name } of page) {
      const aborts = (await readStream(store, name))
        ?.transactions()
        .filter(({ by, op }) => by === who && op === 'abort')
      ended.push(...(aborts ?? []).map(({ on }) => `${name} ${on}`))
    }
  }
  return ended
}

const WORLDS: readonly ColonySettings[] = [
  { seed: 'good', streams: 12, workers: 5, kills: 0 },
  { seed: 'kills', streams: 12, workers: 6, kills: 4 },
  { seed: 'lost answers', streams: 10, workers: 5, kills: 2, rates: BAD },
  { seed: 'again', streams: 10, workers: 5, kills: 3, rates: BAD },
  {
    seed: 'outages',
    streams: 4,
    workers: 4,
    kills: 1,
    rates: BAD,
    workMs: [60_000, 300_000],
    outages: [
      { fromMs: 60_000, toMs: 200_000, who: '*' },
      { fromMs: 220_000, toMs: 900_000, who: 'worker-2' },
      { fromMs: 500_000, toMs: 1_200_000, who: 'worker-1' },
    ],
  },
]

describe('many worker loops', () => {
  it.each(WORLDS)('run no attempt twice, never two for one event, and end each event once: $seed', async settings => {
    const colony = new Colony(settings)
    expect(await colony.live(3 * HOUR)).toEqual([])
    expect([...colony.runs].filter(([, times]) => times > 1)).toEqual([])
    expect(colony.clashes).toEqual([])
    expect((await endsIn(colony.base)).filter(times => times !== 1)).toEqual([])
  })

  it('lose no work because of abandoned leases', async () => {
    const settings = { seed: 'leases', streams: 6, workers: 6, kills: 0, workMs: [30_000, 300_000] } as const
    const colony = new Colony({ ...settings, deadLeases: 40 })
    expect(await colony.live(3 * HOUR)).toEqual([])
    expect(colony.expired).toBe(0)
    expect([...colony.runs].filter(([, times]) => times > 1)).toEqual([])
    expect(colony.clashes).toEqual([])
    expect((await endsIn(colony.base)).filter(times => times !== 1)).toEqual([])
  })

  it('keep their events from being ended by a watchdog, whatever messages are lost', async () => {
    const settings = { seed: 'timeouts', streams: 2, workers: 6, kills: 0, workMs: [30_000, 300_000] } as const
    const colony = new Colony({
      ...settings,
      timeout: '00:00:18',
      rates: { requestLost: 0.02, answerLost: 0.02, unknown: 0 },
    })
    expect(await colony.live(HOUR)).toEqual([])
    expect(await endedBy(colony.base, 'watchdog')).toEqual([])
    // It is active: abandoned events are ended.
    await run(colony.base, 't', {
      op: 'init',
      root: { name: 'R' },
      forks: [{ name: 'X', timeout: '00:00:30' }],
      hold: false,
      born: 't',
    })
    await colony.scheduler.run(colony.scheduler.nowMs + 120_000)
    expect(await endedBy(colony.base, 'watchdog')).toEqual(['t 01.00'])
  })

  it('take over the events of dead workers, as the next attempt', async () => {
    const colony = new Colony({ seed: 'kills', streams: 12, workers: 6, kills: 4 })
    await colony.live(HOUR)
    expect([...colony.runs.keys()].filter(key => key.endsWith('_2')).length).toBeGreaterThan(0)
  })
})

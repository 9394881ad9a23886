import { describe, expect, it } from 'vitest'
import { readStream } from '../../src/ops/read-stream.ts'
import type { EventStore } from '../../src/store/store.ts'
import { Colony, type ColonySettings } from './colony.ts'

const HOUR = 3_600_000
const BAD = { requestLost: 0.05, answerLost: 0.05, unknown: 0.02 }

/** How often each event came to an end, by the journals. */
async function endsIn(store: EventStore): Promise<number[]> {
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
  it.each(WORLDS)('run no attempt twice, never two at an event, and end each event once: $seed', async settings => {
    const colony = new Colony(settings)
    expect(await colony.live(3 * HOUR)).toEqual([])
    expect([...colony.runs].filter(([, times]) => times > 1)).toEqual([])
    expect(colony.clashes).toEqual([])
    expect((await endsIn(colony.base)).filter(times => times !== 1)).toEqual([])
  })

  it('lose no work to leases that others have left behind', async () => {
    const settings = { seed: 'leases', streams: 6, workers: 6, kills: 0, workMs: [30_000, 300_000] } as const
    const colony = new Colony({ ...settings, deadLeases: 40 })
    expect(await colony.live(3 * HOUR)).toEqual([])
    expect(colony.expired).toBe(0)
    expect([...colony.runs].filter(([, times]) => times > 1)).toEqual([])
    expect(colony.clashes).toEqual([])
    expect((await endsIn(colony.base)).filter(times => times !== 1)).toEqual([])
  })

  it('take over what the dead have left, as the next attempt', async () => {
    const colony = new Colony({ seed: 'kills', streams: 12, workers: 6, kills: 4 })
    await colony.live(HOUR)
    expect([...colony.runs.keys()].filter(key => key.endsWith('_2')).length).toBeGreaterThan(0)
  })
})

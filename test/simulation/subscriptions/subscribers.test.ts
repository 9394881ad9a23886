import { afterEach, describe, expect, it, vi } from 'vitest'
import { DeliveredStreams } from '../../../src/subscriptions/position/delivered.ts'
import { ShardPosition } from '../../../src/subscriptions/position/position.ts'
import { MARGIN_MS } from '../../../src/subscriptions/position/transactions.ts'
import { HeldShard } from '../../../src/subscriptions/shard.ts'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../../guarantees/size.ts'
import { runSubscribers, type SubscribersOutcome } from './subscribers.ts'

const FILE = 'test/simulation/subscriptions'
const row = trustRow('subscriptions')
const FIRST = trustSeed(1)
const [RUNS, REPLAYS] = sized([2, 1], [300, 20])
/** Seeds in which a missing protection has to show: the small size begins with the first that does. */
const MOST_SEEDS = 20
const timeout = sized(120_000, 4 * 3_600_000)

const EXPECTED_FAULTS = [
  'killed',
  'stopped',
  'suspended',
  'position not written',
  'change of a position: answer-lost',
  'change of a position: unknown-late',
  'change of a stream: unknown-late',
]

afterEach(() => {
  vi.restoreAllMocks()
})

describe('processes of a subscription in one simulated system', { timeout }, () => {
  const outcomes = new Map<number, SubscribersOutcome>()

  it('hand over every transaction of every matching stream in order, and repeat few, under any fault', async () => {
    const counts = new Map<string, number>()
    let [missed, beyond, repeated] = [0, 0, 0]
    for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
      const outcome = await runSubscribers(String(seed))
      outcomes.set(seed, outcome)
      expect(outcome.violations, repeatWith(FILE, seed)).toEqual([])
      expect(outcome.beyond, repeatWith(FILE, seed)).toBe(0)
      expect(outcome.handled.length).toBeGreaterThan(100)
      missed += outcome.violations.length
      beyond += outcome.beyond
      repeated += outcome.repeated
      for (const [kind, count] of outcome.faults) counts.set(kind, (counts.get(kind) ?? 0) + count)
    }
    // Without a repetition no kill hit a delivery.
    expect(repeated).toBeGreaterThan(0)
    expect([...counts.keys()]).toEqual(expect.arrayContaining(EXPECTED_FAULTS))
    for (const [kind, count] of counts) row.injected(`simulated: ${kind}`, count)
    row.figure('kills', `${counts.get('killed')} simulated`)
    row.figure('missed or out of order', missed, '0')
    row.figure('repeated beyond the bound', beyond, '0')
  })

  it('hand over the same deliveries again from the same seed', async () => {
    for (let seed = FIRST; seed < FIRST + REPLAYS; seed++) {
      const first = outcomes.get(seed) ?? (await runSubscribers(String(seed)))
      const again = await runSubscribers(String(seed))
      expect(again.handled, repeatWith(FILE, seed)).toEqual(first.handled)
    }
  })

  it('miss transactions if positions do not tell what is being delivered', async () => {
    const { document } = ShardPosition.prototype
    vi.spyOn(ShardPosition.prototype, 'document').mockImplementation(function (this: ShardPosition, status) {
      const { streams, ...written } = document.call(this, status)
      return { ...written, streams: streams.filter(({ state }) => state !== 'running') }
    })
    const isCaught = await isWrong(3, ({ violations }) => violations.length > 0)
    expect(isCaught).toBe(true)
    row.control('positions do not tell what is being delivered', isCaught)
  })

  it('miss writes that arrive late if deliveries are remembered for a minute only', async () => {
    vi.spyOn(DeliveredStreams.prototype, 'forgottenUntilMs').mockImplementation(handledMs => handledMs - MARGIN_MS)
    vi.spyOn(DeliveredStreams.prototype, 'forgottenMs', 'get').mockReturnValue(Number.MAX_SAFE_INTEGER)
    const isCaught = await isWrong(6, ({ violations }) => violations.length > 0)
    expect(isCaught).toBe(true)
    row.control('deliveries are remembered for a minute only', isCaught)
  })

  it('repeat more than the bound if deliveries do not wait for positions', async () => {
    vi.spyOn(HeldShard.prototype, 'mayDeliver', 'get').mockReturnValue(true)
    const isCaught = await isWrong(8, ({ beyond }) => beyond > 0)
    expect(isCaught).toBe(true)
    row.control('deliveries do not wait for positions', isCaught)
  })
})

async function isWrong(firstThatShows: number, judge: (outcome: SubscribersOutcome) => boolean): Promise<boolean> {
  const from = sized(firstThatShows, 1)
  for (let seed = from; seed < from + MOST_SEEDS; seed++) {
    if (judge(await runSubscribers(`control ${seed}`))) return true
  }
  return false
}

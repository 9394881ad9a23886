import { beforeEach, describe, expect, it } from 'vitest'
import { WriterFairness } from '../../../../../src/store/azure/change/fairness.ts'
import type { ChangeOptions, EventStore, Stored, WriteMode } from '../../../../../src/store/store.ts'
import { changeOptions, given, leased, put, text } from '../../../../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../../../../support/azurite.ts'
import { startFaultProxy } from '../../../../support/fault-proxy.ts'

let nowMs = 0
let fairness: WriterFairness

beforeEach(() => {
  nowMs = 1_000_000
  fairness = new WriterFairness(
    () => nowMs,
    () => 0.5,
  )
})

interface Made {
  readonly pauseMs?: number
  readonly name?: string
  readonly tookMs?: number
  /** Who wrote lately, and how long the turns took. */
  readonly others?: number
  readonly turnMs?: number
}

/** One change that takes so long, `pauseMs` after the one before; how long it stood back. */
function change({ pauseMs = 10, name = 's', tookMs = 10, others = 0, turnMs }: Made = {}): number {
  nowMs += pauseMs
  const backMs = fairness.yieldDelayMs(name, false)
  nowMs += backMs
  fairness.changeStarted(name)
  nowMs += tookMs
  fairness.recordChange(name, `etag ${nowMs}`, () => ({ count: others, turnMs }))
  return Math.round(backMs * 10) / 10
}

/** How long each of so many changes stood back. */
function backsOf(count: number, options: Made = {}): number[] {
  return Array.from({ length: count }, () => change(options))
}

describe('standing back where others were met', () => {
  it('comes after the first two changes in a row, then after each four', () => {
    fairness.contentionSeen('s')
    expect(backsOf(11, { pauseMs: 0 })).toEqual([0, 0, 69.3, 0, 0, 0, 69.3, 0, 0, 0, 69.3])
  })

  it('is at least until the first sleep of a waiter is over', () => {
    fairness.contentionSeen('s')
    expect(backsOf(3, { pauseMs: 0, tookMs: 1 })).toEqual([0, 0, 24.2])
  })

  it('is for as long as the turns of all others take, says the history', () => {
    fairness.contentionSeen('s')
    expect(backsOf(7, { pauseMs: 0, others: 2, turnMs: 50 })).toEqual([0, 0, 99, 0, 0, 0, 99])
  })

  it('is for no longer than four own turns for each of them, who may write seldom, and than a good second', () => {
    fairness.contentionSeen('s')
    expect(backsOf(3, { pauseMs: 0, others: 1, turnMs: 2_000 })).toEqual([0, 0, 158.4])
    fairness.contentionSeen('many')
    expect(backsOf(3, { name: 'many', pauseMs: 0, others: 100, turnMs: 50 })).toEqual([0, 0, 1_100])
  })

  it('makes turns the shorter the more others there are', () => {
    const turnsWith = (others: number) => {
      fairness.contentionSeen(`with ${others}`)
      const backs = backsOf(12, { name: `with ${others}`, pauseMs: 0, others, turnMs: 10 })
      return backs.map(ms => (ms > 0 ? '|' : '.')).join('')
    }
    expect([1, 5, 9].map(turnsWith)).toEqual(['..|...|...|.', '..|..|..|..|', '..|.|.|.|.|.'])
  })

  it('comes in the middle of a turn once more others have written than were known', () => {
    fairness.contentionSeen('s')
    backsOf(3, { pauseMs: 0, others: 1, turnMs: 30 })
    expect(change({ pauseMs: 0, others: 2, turnMs: 30 })).toBe(0)
    expect(change({ pauseMs: 0, others: 2, turnMs: 30 })).toBe(59.4)
    expect(change({ pauseMs: 0, others: 1, turnMs: 30 })).toBe(0)
  })

  it('does not count how long it waited for the turn', () => {
    fairness.contentionSeen('s')
    backsOf(2, { pauseMs: 0 })
    nowMs += 300
    expect(fairness.yieldDelayMs('s', false)).toBe(0)
    expect(backsOf(5, { pauseMs: 0 })).toEqual([0, 0, 0, 0, 69.3])
  })

  it('counts from when the lease was given back, where that was only now', () => {
    fairness.contentionSeen('s')
    backsOf(2)
    nowMs += 20
    expect(fairness.yieldDelayMs('s', false)).toBeCloseTo(49.3)
    expect(fairness.yieldDelayMs('s', true)).toBeCloseTo(69.3)
    nowMs += 60
    expect(fairness.yieldDelayMs('s', false)).toBe(0)
  })

  it('is for the stream alone on which they were met', () => {
    fairness.contentionSeen('s')
    backsOf(3, { name: 'other' })
    expect([fairness.isContended('s'), fairness.isContended('other')]).toEqual([true, false])
  })

  it('is not for who leaves time between its changes', () => {
    fairness.contentionSeen('s')
    expect(backsOf(10, { pauseMs: 50 })).toEqual(backsOf(10, { pauseMs: 50 }).fill(0))
  })

  it('does not come again after a change that wrote nothing, which is none of the turn', () => {
    fairness.contentionSeen('s')
    backsOf(2, { pauseMs: 0 })
    expect(change({ pauseMs: 0 })).toBeGreaterThan(0)
    for (let at = 0; at < 5; at += 1) {
      expect(fairness.yieldDelayMs('s', false)).toBe(0)
      fairness.recordSkip('s', 'etag')
    }
    expect(backsOf(4, { pauseMs: 0 })).toEqual([0, 0, 0, 69.3])
  })
})

describe('standing back where nobody was met', () => {
  it('comes once after the first turn: others who wait for a lease leave no sign', () => {
    expect(backsOf(200, { pauseMs: 0 })).toEqual([0, 0, 69.3, ...Array.from({ length: 197 }, () => 0)])
  })

  it('comes again after a few seconds, and at once when the signs of others are old', () => {
    backsOf(3, { pauseMs: 0 })
    nowMs += 4_980
    expect(backsOf(5, { pauseMs: 0 }).filter(ms => ms > 0)).toHaveLength(1)
    fairness.contentionSeen('s')
    nowMs += 2_000
    expect(fairness.isContended('s')).toBe(false)
  })

  it('takes less than two hundredths of the time of one process alone, on one stream or many', () => {
    for (const streams of [1, 10, 400]) {
      const fromMs = nowMs
      let backMs = 0
      for (let at = 0; at < 4_000; at += 1)
        backMs += change({ name: `of ${streams}: ${Math.floor((at * streams) / 4_000)}`, pauseMs: 1, tookMs: 10 })
      expect(backMs / (nowMs - fromMs)).toBeLessThan(0.02)
      expect(backMs).toBeGreaterThan(0)
    }
  })

  it('comes on each stream again once others were met on one', () => {
    const isCareful = (name: string) => backsOf(3, { name, pauseMs: 0 }).some(ms => ms > 0)
    const streams = Array.from({ length: 6 }, (_, at) => isCareful(`s${at}`))
    expect(streams).toEqual([true, true, true, true, false, false])
    fairness.contentionSeen('another')
    expect(isCareful('next')).toBe(true)
  })
})

describe('a turn', () => {
  it('is in its middle after a change, and over after a few, or with the time that goes by', () => {
    const middles = Array.from({ length: 7 }, () => {
      change()
      return fairness.isActive('s')
    })
    expect(middles).toEqual([true, false, true, true, true, false, true])
    nowMs += 50
    fairness.yieldDelayMs('s', false)
    expect(fairness.isActive('s')).toBe(false)
  })
})

describe('a sign of others', () => {
  it('is a state that another wrote since the own write of a moment ago', () => {
    fairness.recordChange('s', 'mine')
    fairness.observeEtag('s', 'mine')
    expect(fairness.isContended('s')).toBe(false)
    fairness.observeEtag('s', 'theirs')
    expect(fairness.isContended('s')).toBe(true)
  })

  it('is not what was written in a long time, or to a stream never written here', () => {
    fairness.recordChange('s', 'mine')
    nowMs += 2_000
    fairness.observeEtag('s', 'theirs')
    fairness.observeEtag('new', 'theirs')
    expect([fairness.isContended('s'), fairness.isContended('new')]).toEqual([false, false])
  })

  it('is forgotten of the streams used least when there are many', () => {
    for (let at = 0; at <= 1_000; at += 1) fairness.contentionSeen(`s${at}`)
    expect([fairness.isContended('s0'), fairness.isContended('s1'), fairness.isContended('s1000')]).toEqual([
      false,
      true,
      true,
    ])
  })
})

describe.each<WriteMode>(['lease', 'optimistic'])('a change, write: %s,', write => {
  it('stands back after its turn where another held the lease a moment ago, before it sends anything', async () => {
    const { port } = await sharedAzurite()
    const proxy = await startFaultProxy({ target: { port } })
    const direct = await openAzuriteStore(port)
    // A moment ago, however slow the machine is.
    const now = Date.now()
    const machine = { wallMs: () => now, monotonicMs: () => 0 }
    const store = await openAzuriteStore(proxy.port, { container: direct.container, random: () => 0.999, machine })
    const changed = (options: Partial<ChangeOptions> = {}) =>
      store.changeUnderLease('s', appended, changeOptions({ write, ...options }))
    await given(direct, 's', '')
    const leaseId = await leased(direct, 's')
    expect(await changed({ waitMs: 0 })).toMatchObject({ kind: 'held' })
    await direct.release('s', leaseId)
    await haveTurn(store, write)
    proxy.reset()
    const stop = new AbortController()
    const changing = changed({ signal: stop.signal })
    setTimeout(() => stop.abort(new Error('stop')), 10)
    await expect(changing).rejects.toThrow('stop')
    expect(text((await direct.read('s'))?.body)).toBe('..')
    const sent = proxy.requests.filter(({ operation }) => operation !== 'release')
    await Promise.all([store.close(), direct.close()])
    await proxy.stop()
    expect(sent).toEqual([])
  })
})

const appended = (current: Stored) => put(`${text(current.body)}.`)()

async function haveTurn(store: EventStore, write: WriteMode): Promise<void> {
  for (let at = 0; at < 2; at += 1) await store.changeUnderLease('s', appended, changeOptions({ write }))
}

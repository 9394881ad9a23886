import { beforeEach, describe, expect, it } from 'vitest'
import { WriterFairness } from '../../../../../src/store/azure/change/fairness.ts'
import type { ChangeOptions, StreamSnapshot, StreamStore, WriteMode } from '../../../../../src/store/store.ts'
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
  /** The recent writers, and the duration of their turns. */
  readonly others?: number
  readonly turnMs?: number
}

/** One change that takes `tookMs`, `pauseMs` after the previous one. Returns the time it yielded. */
function change({ pauseMs = 10, name = 's', tookMs = 10, others = 0, turnMs }: Made = {}): number {
  nowMs += pauseMs
  const yieldMs = fairness.yieldDelayMs(name, false)
  nowMs += yieldMs
  fairness.changeStarted(name)
  nowMs += tookMs
  fairness.recordChange(name, `etag ${nowMs}`, () => ({ count: others, turnMs }))
  return Math.round(yieldMs * 10) / 10
}

/** The time that each of `count` changes yielded. */
function yieldsOf(count: number, options: Made = {}): number[] {
  return Array.from({ length: count }, () => change(options))
}

describe('a writer that has met other writers yields', () => {
  it('after the first two changes in a row, then after every four', () => {
    fairness.contentionSeen('s')
    expect(yieldsOf(11, { pauseMs: 0 })).toEqual([0, 0, 34.7, 0, 0, 0, 69.3, 0, 0, 0, 69.3])
  })

  it('at least until the first sleep of a waiter is over', () => {
    fairness.contentionSeen('s')
    expect(yieldsOf(3, { pauseMs: 0, tookMs: 1 })).toEqual([0, 0, 27.5])
  })

  it('for as long as the turns of all others take according to the history', () => {
    fairness.contentionSeen('s')
    expect(yieldsOf(7, { pauseMs: 0, others: 2, turnMs: 50 })).toEqual([0, 0, 99, 0, 0, 0, 99])
  })

  it('for at most four of its own turns for each other writer, and at most about a second', () => {
    fairness.contentionSeen('s')
    expect(yieldsOf(3, { pauseMs: 0, others: 1, turnMs: 2_000 })).toEqual([0, 0, 79.2])
    fairness.contentionSeen('many')
    expect(yieldsOf(3, { name: 'many', pauseMs: 0, others: 100, turnMs: 50 })).toEqual([0, 0, 1_100])
  })

  it('after shorter turns if there are more others', () => {
    const turnsWith = (others: number) => {
      fairness.contentionSeen(`with ${others}`)
      const yields = yieldsOf(12, { name: `with ${others}`, pauseMs: 0, others, turnMs: 10 })
      return yields.map(ms => (ms > 0 ? '|' : '.')).join('')
    }
    expect([1, 5, 9].map(turnsWith)).toEqual(['..|...|...|.', '..|..|..|..|', '..|.|.|.|.|.'])
  })

  it('during a turn if more writers wrote than it knew of', () => {
    fairness.contentionSeen('s')
    yieldsOf(3, { pauseMs: 0, others: 1, turnMs: 30 })
    expect(change({ pauseMs: 0, others: 2, turnMs: 30 })).toBe(0)
    expect(change({ pauseMs: 0, others: 2, turnMs: 30 })).toBe(59.4)
    expect(change({ pauseMs: 0, others: 1, turnMs: 30 })).toBe(0)
  })

  it('without counting its own wait for its turn', () => {
    fairness.contentionSeen('s')
    yieldsOf(2, { pauseMs: 0 })
    nowMs += 300
    expect(fairness.yieldDelayMs('s', false)).toBe(0)
    expect(yieldsOf(5, { pauseMs: 0 })).toEqual([0, 0, 0, 0, 69.3])
  })

  it('from the release of the lease on, if that has just happened', () => {
    fairness.contentionSeen('s')
    yieldsOf(2)
    nowMs += 20
    expect(fairness.yieldDelayMs('s', false)).toBeCloseTo(14.65)
    expect(fairness.yieldDelayMs('s', true)).toBeCloseTo(34.65)
    nowMs += 60
    expect(fairness.yieldDelayMs('s', false)).toBe(0)
  })

  it('only on the stream where it met them', () => {
    fairness.contentionSeen('s')
    yieldsOf(3, { name: 'other' })
    expect([fairness.isContended('s'), fairness.isContended('other')]).toEqual([true, false])
  })

  it('never if it pauses between its changes', () => {
    fairness.contentionSeen('s')
    expect(yieldsOf(10, { pauseMs: 50 })).toEqual(yieldsOf(10, { pauseMs: 50 }).fill(0))
  })

  it('not again after a change that wrote nothing, which does not count for the turn', () => {
    fairness.contentionSeen('s')
    yieldsOf(2, { pauseMs: 0 })
    expect(change({ pauseMs: 0 })).toBeGreaterThan(0)
    for (let at = 0; at < 5; at += 1) {
      expect(fairness.yieldDelayMs('s', false)).toBe(0)
      fairness.recordSkip('s', 'etag')
    }
    expect(yieldsOf(4, { pauseMs: 0 })).toEqual([0, 0, 0, 69.3])
  })
})

describe('a writer that has met no other writer yields', () => {
  it('once after the first turn, because writers that wait for a lease leave no sign', () => {
    expect(yieldsOf(200, { pauseMs: 0 })).toEqual([0, 0, 34.7, ...Array.from({ length: 197 }, () => 0)])
  })

  it('again after a few seconds, without counting contention once its signs are old', () => {
    yieldsOf(3, { pauseMs: 0 })
    nowMs += 9_980
    expect(yieldsOf(5, { pauseMs: 0 }).filter(ms => ms > 0)).toHaveLength(1)
    fairness.contentionSeen('s')
    nowMs += 2_000
    expect(fairness.isContended('s')).toBe(false)
  })

  it('for less than a hundredth of its time, on one stream or many', () => {
    for (const streams of [1, 10, 400]) {
      const fromMs = nowMs
      let yieldMs = 0
      for (let at = 0; at < 4_000; at += 1)
        yieldMs += change({ name: `of ${streams}: ${Math.floor((at * streams) / 4_000)}`, pauseMs: 1, tookMs: 10 })
      expect(yieldMs / (nowMs - fromMs)).toBeLessThan(0.01)
      expect(yieldMs).toBeGreaterThan(0)
    }
  })

  it('on each stream again once it has met others on one', () => {
    const isCareful = (name: string) => yieldsOf(3, { name, pauseMs: 0 }).some(ms => ms > 0)
    const streams = Array.from({ length: 6 }, (_, at) => isCareful(`s${at}`))
    expect(streams).toEqual([true, true, false, false, false, false])
    fairness.contentionSeen('another')
    expect(isCareful('next')).toBe(true)
  })
})

describe('a turn of a writer', () => {
  it('is active after a change, and over after a few changes or some time', () => {
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

describe('a sign of other writers', () => {
  it('is a state that another wrote after its own recent write', () => {
    fairness.recordChange('s', 'mine')
    fairness.observeEtag('s', 'mine')
    expect(fairness.isContended('s')).toBe(false)
    fairness.observeEtag('s', 'theirs')
    expect(fairness.isContended('s')).toBe(true)
  })

  it('is not a write of another long after its own, or to a stream it never wrote', () => {
    fairness.recordChange('s', 'mine')
    nowMs += 2_000
    fairness.observeEtag('s', 'theirs')
    fairness.observeEtag('new', 'theirs')
    expect([fairness.isContended('s'), fairness.isContended('new')]).toEqual([false, false])
  })

  it('is forgotten for the oldest of more than a thousand streams', () => {
    for (let at = 0; at <= 1_000; at += 1) fairness.contentionSeen(`s${at}`)
    expect([fairness.isContended('s0'), fairness.isContended('s1'), fairness.isContended('s1000')]).toEqual([
      false,
      true,
      true,
    ])
  })
})

describe.each<WriteMode>(['lease', 'optimistic'])('a change, write: %s,', write => {
  it('yields after its turn, before it sends a request, if another held the lease recently', async () => {
    const { port } = await sharedAzurite()
    const proxy = await startFaultProxy({ target: { port } })
    const direct = await openAzuriteStore(port)
    // Recently, however slow the machine is.
    const now = Date.now()
    const machine = { wallMs: () => now, monotonicMs: () => 0 }
    const store = await openAzuriteStore(proxy.port, { container: direct.container, random: () => 0.999, machine })
    const changed = (options: Partial<ChangeOptions> = {}) =>
      store.update('s', appended, changeOptions({ write, ...options }))
    await given(direct, 's', '')
    const leaseId = await leased(direct, 's')
    expect(await changed({ waitMs: 0 })).toMatchObject({ kind: 'held' })
    await direct.releaseLease('s', leaseId)
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

const appended = (current: StreamSnapshot) => put(`${text(current.body)}.`)()

async function haveTurn(store: StreamStore, write: WriteMode): Promise<void> {
  for (let at = 0; at < 2; at += 1) await store.update('s', appended, changeOptions({ write }))
}

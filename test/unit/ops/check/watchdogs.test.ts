import { describe, expect, test } from 'vitest'
import {
  judgeWatchdogs,
  type LagRule,
  sweepingOf,
  type WatchdogSeen,
  watchedBy,
} from '../../../../src/ops/check/watchdogs.ts'
import { NOW, watchdog } from './support.ts'

const NONE = { count: 0, examples: [] }

function judged(watchdogs: readonly WatchdogSeen[], rule: Partial<LagRule> = {}, withLimit = 3, damaged = false) {
  const look = { withLimit, unwatched: NONE, unsettled: NONE, nowMs: NOW }
  return judgeWatchdogs({ watchdogs, damaged }, look, { isRequired: false, ...rule })
}

const kinds = (...given: Parameters<typeof judged>) => judged(...given).faults.map(({ kind, status }) => [kind, status])

const swept = (agoMs: number, more: Partial<WatchdogSeen> = {}) => watchdog({ lastSweepMs: NOW - agoMs, ...more })

describe('without a watchdog', () => {
  test('a stream with a deadline is a warning, none is fine, and a required watchdog is critical', () => {
    expect(kinds([])).toEqual([['missing', 'warning']])
    expect(kinds([], {}, 0)).toEqual([])
    expect(kinds([], { isRequired: true }, 0)).toEqual([['missing', 'critical']])
  })

  test('a watchdog that has stopped properly does not count', () => {
    expect(kinds([watchdog({ stoppedMs: NOW - 1_000 })])).toEqual([['missing', 'warning']])
    expect(kinds([watchdog({ stoppedMs: NOW - 1_000 }), watchdog()])).toEqual([])
  })

  test('an unreadable watchdog record does not prove that there is no watchdog', () => {
    expect(kinds([], {}, 0, true)).toEqual([['damaged', 'warning']])
    expect(kinds([], { isRequired: true }, 0, true)).toEqual([['damaged', 'critical']])
    expect(kinds([watchdog()], {}, 0, true)).toEqual([])
  })
})

describe('lag', () => {
  test('a sweep time further ahead than clock differences does not count as a sweep', () => {
    expect(kinds([swept(-60_000)])).toEqual([])
    expect(kinds([swept(-3_600_000)])).toEqual([['late', 'critical']])
    expect(sweepingOf([swept(-3_600_000)], { isRequired: false }, NOW)).toEqual([])
  })

  test('three intervals and 10 s are late, ten intervals and a minute critical', () => {
    expect(kinds([swept(39_999)])).toEqual([])
    expect(kinds([swept(40_000)])).toEqual([['late', 'warning']])
    expect(kinds([swept(159_999)])).toEqual([['late', 'warning']])
    expect(kinds([swept(160_000)])).toEqual([['late', 'critical']])
    expect(judged([swept(4_000)])).toMatchObject({ lagMs: 4_000, warnMs: 40_000, critMs: 160_000 })
  })

  test('if a sweep takes longer than the interval, its duration counts', () => {
    expect(kinds([swept(100_000, { tookMs: 60_000 })])).toEqual([])
    expect(kinds([swept(190_000, { tookMs: 60_000 })])).toEqual([['late', 'warning']])
  })

  test('setting one threshold moves the other', () => {
    expect(judged([swept(4_000)], { warnMs: 300_000 })).toMatchObject({ warnMs: 300_000, critMs: 300_000 })
    expect(judged([swept(4_000)], { critMs: 20_000 })).toMatchObject({ warnMs: 20_000, critMs: 20_000 })
    expect(kinds([swept(20_000)], { critMs: 20_000 })).toEqual([['late', 'critical']])
  })

  test('one sweeping watchdog is enough, and before its first sweep its start counts', () => {
    expect(kinds([swept(9e6, { id: 'dead' }), swept(4_000)])).toEqual([])
    expect(kinds([watchdog({ lastSweepMs: undefined, startedMs: NOW - 5_000 })])).toEqual([])
    expect(kinds([watchdog({ lastSweepMs: undefined, startedMs: NOW - 50_000 })])).toEqual([['late', 'warning']])
  })

  test('a clock ahead of ours is not lag', () => {
    expect(judged([swept(-5_000)])).toMatchObject({ lagMs: 0, faults: [] })
  })
})

describe('watchdogs of different names', () => {
  const of = (match: string | undefined, agoMs: number) =>
    swept(agoMs, { id: `${match}`, settings: { ...watchdog().settings, match } })

  test('each pattern needs a sweeping watchdog', () => {
    expect(kinds([of('a/**', 4_000), of('b/**', 9e6)])).toEqual([['late', 'critical']])
    expect(judged([of('a/**', 4_000), of('b/**', 9e6)]).best?.id).toBe('b/**')
  })

  test('a watchdog of all names makes up for the others, and so does one of the checked names', () => {
    expect(kinds([of(undefined, 4_000), of('b/**', 9e6)])).toEqual([])
    expect(kinds([of('a/**', 4_000), of('b/**', 9e6)], { match: 'a/**' })).toEqual([])
    expect(kinds([of('a/**', 4_000), of('b/**', 9e6)], { match: 'b/**' })).toEqual([['late', 'critical']])
  })
})

describe('names that match no pattern', () => {
  const watching = (match: string | undefined, more: Partial<WatchdogSeen> = {}) =>
    watchdog({ settings: { ...watchdog().settings, match }, ...more })

  test('are unwatched, unless a running watchdog watches all names', () => {
    const isWatched = watchedBy([watching('b/*'), watching('c/*'), watching('d/*', { stoppedMs: NOW })])
    expect(['b/1', 'c/1', 'd/1'].map(name => isWatched?.(name))).toEqual([true, true, false])
    expect(watchedBy([watching('b/*'), watching(undefined)])?.('d/1')).toBe(true)
    expect(watchedBy([watching('b/*', { stoppedMs: NOW })])).toBeUndefined()
  })

  test('are a warning if streams with a deadline have them', () => {
    const unwatched = { count: 1, examples: [{ stream: 'd/1', dueMs: NOW }] }
    const judge = (...watchdogs: readonly WatchdogSeen[]) =>
      judgeWatchdogs(
        { watchdogs, damaged: false },
        { withLimit: 3, unwatched, unsettled: NONE, nowMs: NOW },
        { isRequired: false },
      )
    expect(judge(watching('b/*')).faults).toEqual([{ kind: 'unwatched', status: 'warning', streams: unwatched }])
    // all have ended meanwhile: that is a statement about all streams
    expect(judge().faults).toMatchObject([{ kind: 'missing', withLimit: 3 }])
  })
})

test('streams that are not settled are a warning, with a watchdog and without one', () => {
  const unsettled = { count: 1, examples: [{ stream: 's', sinceMs: NOW - 60_000 }] }
  const look = { withLimit: 0, unwatched: NONE, unsettled, nowMs: NOW }
  for (const watchdogs of [[], [watchdog()]]) {
    const { faults } = judgeWatchdogs({ watchdogs, damaged: false }, look, { isRequired: false })
    expect(faults).toEqual([{ kind: 'unsettled', status: 'warning', streams: unsettled }])
  }
})

test('a watchdog that has stopped or is late does not count as sweeping', () => {
  const all = [watchdog(), swept(41_000), watchdog({ stoppedMs: NOW })]
  expect(sweepingOf(all, { isRequired: false }, NOW)).toEqual([all[0]])
})

describe('circuit breaker', () => {
  const breaker = { isOpen: true, wouldEnd: 120, openEvents: 300, maxShare: 0.2 }

  test('an open circuit breaker is critical', () => {
    expect(kinds([watchdog({ breaker })])).toEqual([['breaker-open', 'critical']])
    expect(kinds([watchdog({ breaker: { ...breaker, isOpen: false } })])).toEqual([])
  })

  test('the circuit breaker of a stopped watchdog is not', () => {
    expect(kinds([watchdog(), swept(9e6, { breaker })])).toEqual([])
  })
})

describe('shards', () => {
  const holding = (held: readonly number[], total = 4, agoMs = 4_000) => swept(agoMs, { shards: { held, total } })

  test('each shard needs a holder', () => {
    expect(kinds([holding([0, 1]), holding([2, 3])])).toEqual([])
    expect(judged([holding([0, 1]), holding([3])]).faults).toEqual([
      { kind: 'shards-unheld', status: 'warning', shards: [2], total: 4 },
    ])
  })

  test('the shards of a stopped watchdog count as unheld', () => {
    expect(judged([holding([0, 1]), holding([2, 3], 4, 50_000)]).faults).toMatchObject([{ shards: [2, 3] }])
  })

  test('a watchdog of all shards covers each; of two shard counts the better covered one counts', () => {
    expect(kinds([holding([0]), watchdog()])).toEqual([])
    expect(kinds([holding([0, 1], 2), holding([0], 8)])).toEqual([])
  })
})

test('the worst result comes first', () => {
  const breaker = { isOpen: true, wouldEnd: 120, openEvents: 300, maxShare: 0.2 }
  expect(kinds([watchdog({ shards: { held: [0], total: 2 }, breaker })])).toEqual([
    ['breaker-open', 'critical'],
    ['shards-unheld', 'warning'],
  ])
})

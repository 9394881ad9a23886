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
  test('it is a warning where something has a limit, nothing where nothing has, critical where one is required', () => {
    expect(kinds([])).toEqual([['missing', 'warning']])
    expect(kinds([], {}, 0)).toEqual([])
    expect(kinds([], { isRequired: true }, 0)).toEqual([['missing', 'critical']])
  })

  test('one that has ended in good order is not there', () => {
    expect(kinds([watchdog({ stoppedMs: NOW - 1_000 })])).toEqual([['missing', 'warning']])
    expect(kinds([watchdog({ stoppedMs: NOW - 1_000 }), watchdog()])).toEqual([])
  })

  test('what they wrote and nobody understands is no proof that there is none', () => {
    expect(kinds([], {}, 0, true)).toEqual([['damaged', 'warning']])
    expect(kinds([], { isRequired: true }, 0, true)).toEqual([['damaged', 'critical']])
    expect(kinds([watchdog()], {}, 0, true)).toEqual([])
  })
})

describe('lag', () => {
  test('what comes from further ahead than clocks differ is no sign that it sweeps', () => {
    expect(kinds([swept(-60_000)])).toEqual([])
    expect(kinds([swept(-3_600_000)])).toEqual([['late', 'critical']])
    expect(sweepingOf([swept(-3_600_000)], { isRequired: false }, NOW)).toEqual([])
  })

  test('three intervals and 10 s are late, ten and a minute critical', () => {
    expect(kinds([swept(39_999)])).toEqual([])
    expect(kinds([swept(40_000)])).toEqual([['late', 'warning']])
    expect(kinds([swept(159_999)])).toEqual([['late', 'warning']])
    expect(kinds([swept(160_000)])).toEqual([['late', 'critical']])
    expect(judged([swept(4_000)])).toMatchObject({ lagMs: 4_000, warnMs: 40_000, critMs: 160_000 })
  })

  test('where a sweep takes longer than the interval, its length counts', () => {
    expect(kinds([swept(100_000, { tookMs: 60_000 })])).toEqual([])
    expect(kinds([swept(190_000, { tookMs: 60_000 })])).toEqual([['late', 'warning']])
  })

  test('a limit that is given moves the other', () => {
    expect(judged([swept(4_000)], { warnMs: 300_000 })).toMatchObject({ warnMs: 300_000, critMs: 300_000 })
    expect(judged([swept(4_000)], { critMs: 20_000 })).toMatchObject({ warnMs: 20_000, critMs: 20_000 })
    expect(kinds([swept(20_000)], { critMs: 20_000 })).toEqual([['late', 'critical']])
  })

  test('one that sweeps is enough, and before its first sweep its start counts', () => {
    expect(kinds([swept(9e6, { id: 'dead' }), swept(4_000)])).toEqual([])
    expect(kinds([watchdog({ lastSweepMs: undefined, startedMs: NOW - 5_000 })])).toEqual([])
    expect(kinds([watchdog({ lastSweepMs: undefined, startedMs: NOW - 50_000 })])).toEqual([['late', 'warning']])
  })

  test('a clock ahead of ours is no lag', () => {
    expect(judged([swept(-5_000)])).toMatchObject({ lagMs: 0, faults: [] })
  })
})

describe('watchdogs of different names', () => {
  const of = (match: string | undefined, agoMs: number) =>
    swept(agoMs, { id: `${match}`, settings: { ...watchdog().settings, match } })

  test('each pattern needs one that sweeps', () => {
    expect(kinds([of('a/**', 4_000), of('b/**', 9e6)])).toEqual([['late', 'critical']])
    expect(judged([of('a/**', 4_000), of('b/**', 9e6)]).best?.id).toBe('b/**')
  })

  test('one of all names makes up for the others, and so does one of the names that are checked', () => {
    expect(kinds([of(undefined, 4_000), of('b/**', 9e6)])).toEqual([])
    expect(kinds([of('a/**', 4_000), of('b/**', 9e6)], { match: 'a/**' })).toEqual([])
    expect(kinds([of('a/**', 4_000), of('b/**', 9e6)], { match: 'b/**' })).toEqual([['late', 'critical']])
  })
})

describe('names that no pattern has', () => {
  const watching = (match: string | undefined, more: Partial<WatchdogSeen> = {}) =>
    watchdog({ settings: { ...watchdog().settings, match }, ...more })

  test('are watched by nobody, unless one of those that are there watches all', () => {
    const isWatched = watchedBy([watching('b/*'), watching('c/*'), watching('d/*', { stoppedMs: NOW })])
    expect(['b/1', 'c/1', 'd/1'].map(name => isWatched?.(name))).toEqual([true, true, false])
    expect(watchedBy([watching('b/*'), watching(undefined)])?.('d/1')).toBe(true)
    expect(watchedBy([watching('b/*', { stoppedMs: NOW })])).toBeUndefined()
  })

  test('are a warning where streams with a limit have them', () => {
    const unwatched = { count: 1, examples: [{ stream: 'd/1', dueMs: NOW }] }
    const judge = (...watchdogs: readonly WatchdogSeen[]) =>
      judgeWatchdogs(
        { watchdogs, damaged: false },
        { withLimit: 3, unwatched, unsettled: NONE, nowMs: NOW },
        { isRequired: false },
      )
    expect(judge(watching('b/*')).faults).toEqual([{ kind: 'unwatched', status: 'warning', streams: unwatched }])
    // all have ended meanwhile: that is said of all streams
    expect(judge().faults).toMatchObject([{ kind: 'missing', withLimit: 3 }])
  })
})

test('what nobody settles is a warning, with a watchdog and without one', () => {
  const unsettled = { count: 1, examples: [{ stream: 's', sinceMs: NOW - 60_000 }] }
  const look = { withLimit: 0, unwatched: NONE, unsettled, nowMs: NOW }
  for (const watchdogs of [[], [watchdog()]]) {
    const { faults } = judgeWatchdogs({ watchdogs, damaged: false }, look, { isRequired: false })
    expect(faults).toEqual([{ kind: 'unsettled', status: 'warning', streams: unsettled }])
  }
})

test('one that has ended or is late does not sweep', () => {
  const all = [watchdog(), swept(41_000), watchdog({ stoppedMs: NOW })]
  expect(sweepingOf(all, { isRequired: false }, NOW)).toEqual([all[0]])
})

describe('breaker', () => {
  const breaker = { isOpen: true, wouldEnd: 120, openEvents: 300, maxShare: 0.2 }

  test('one that is open is critical', () => {
    expect(kinds([watchdog({ breaker })])).toEqual([['breaker-open', 'critical']])
    expect(kinds([watchdog({ breaker: { ...breaker, isOpen: false } })])).toEqual([])
  })

  test('that of a watchdog that is gone is not', () => {
    expect(kinds([watchdog(), swept(9e6, { breaker })])).toEqual([])
  })
})

describe('shards', () => {
  const holding = (held: readonly number[], total = 4, agoMs = 4_000) => swept(agoMs, { shards: { held, total } })

  test('each needs one that holds it', () => {
    expect(kinds([holding([0, 1]), holding([2, 3])])).toEqual([])
    expect(judged([holding([0, 1]), holding([3])]).faults).toEqual([
      { kind: 'shards-unheld', status: 'warning', shards: [2], total: 4 },
    ])
  })

  test('what one that is gone held counts as held by nobody', () => {
    expect(judged([holding([0, 1]), holding([2, 3], 4, 50_000)]).faults).toMatchObject([{ shards: [2, 3] }])
  })

  test('one that watches all leaves none out; of two numbers of shards the better held counts', () => {
    expect(kinds([holding([0]), watchdog()])).toEqual([])
    expect(kinds([holding([0, 1], 2), holding([0], 8)])).toEqual([])
  })
})

test('the worst stands first', () => {
  const breaker = { isOpen: true, wouldEnd: 120, openEvents: 300, maxShare: 0.2 }
  expect(kinds([watchdog({ shards: { held: [0], total: 2 }, breaker })])).toEqual([
    ['breaker-open', 'critical'],
    ['shards-unheld', 'warning'],
  ])
})

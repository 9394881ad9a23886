import { describe, expect, test } from 'vitest'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import { openLiveness, touching } from '../../../../src/watchdog/http/liveness.ts'
import { openReadiness, type ReadyState, ready } from '../../../../src/watchdog/http/readiness.ts'
import { AT, carried, failedPass, OPEN_BREAKER, sweepReport } from '../reports.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

const SWEPT: ReadyState = { intervalMs: 10 * SECOND, isStopping: false, swept: { atMs: 0, tookMs: 100 } }

describe('a watchdog is ready or not:', () => {
  const cases: readonly [rule: string, state: ReadyState, atMs: number, ok: boolean, reason: RegExp][] = [
    ['before the first sweep it is not', { intervalMs: 1, isStopping: false }, 0, false, /no sweep is completed yet$/],
    [
      'nor does a first pass that failed make it so, and it says why',
      { intervalMs: 1, isStopping: false, failure: 'not-permitted' },
      0,
      false,
      /no sweep is completed yet; the last pass failed: not-permitted/,
    ],
    ['after a sweep it is', SWEPT, 1, true, /^ready$/],
    ['three intervals and 10 s may pass', SWEPT, 40 * SECOND, true, /^ready$/],
    ['and not more', SWEPT, 40 * SECOND + 1, false, /^the last sweep ended 40s ago, more than 40s$/],
    [
      'an outage is named by its code',
      { ...SWEPT, failure: 'store-unreachable' },
      3600 * SECOND,
      false,
      /the last sweep ended 3600s ago.*the last pass failed: store-unreachable/,
    ],
    ['one failed pass is no outage', { ...SWEPT, failure: 'store-unreachable' }, 12 * SECOND, true, /^ready$/],
    [
      'sweeps longer than the interval get their own time',
      { ...SWEPT, swept: { atMs: 0, tookMs: MINUTE } },
      3 * MINUTE,
      true,
      /^ready$/,
    ],
    [
      'an open breaker is told with its numbers',
      { ...SWEPT, breaker: OPEN_BREAKER },
      1,
      false,
      /breaker is open: 312 of 900 open events would be ended, more than --max-share 20 %/,
    ],
    [
      'a watchdog without shards stands by',
      { ...SWEPT, shards: { held: 0, total: 8 } },
      1,
      true,
      /^standby: holds none of 8/,
    ],
    ['one with shards does not', { ...SWEPT, shards: { held: 2, total: 8 } }, 1, true, /^ready$/],
    [
      'one that may not write is not, and says why',
      { ...SWEPT, undone: 'not-permitted' },
      1,
      false,
      /^no decision of the last pass could be executed: not-permitted$/,
    ],
    ['one that drains is not ready', { ...SWEPT, isStopping: true }, 1, false, /^stopping$/],
  ]
  test.each(cases)('%s', (_, state, atMs, ok, reason) => {
    const health = ready(state, atMs)
    expect(health.ok).toBe(ok)
    expect(health.reasons).toContainEqual(expect.stringMatching(reason))
  })

  test('all problems are listed at once', () => {
    const state = { ...SWEPT, isStopping: true, breaker: OPEN_BREAKER }
    expect(ready(state, 3600 * SECOND).reasons).toHaveLength(3)
  })
})

describe('readiness follows the passes', () => {
  test('a scheduled inspection is not a sweep, and a good pass ends a failure', async () => {
    let nowMs = 0
    const readiness = openReadiness(10 * SECOND, () => nowMs)
    await readiness.passed?.(sweepReport({ kind: 'appointment' }))
    expect(readiness.health().ok).toBe(false)
    await readiness.passed?.(sweepReport())
    expect(readiness.health().ok).toBe(true)
    nowMs = 41 * SECOND
    await readiness.failed?.(failedPass())
    expect(readiness.health().reasons).toEqual([expect.stringContaining('store-unreachable')])
    await readiness.passed?.(sweepReport({ breaker: OPEN_BREAKER }))
    expect(readiness.health().reasons).toEqual([expect.stringContaining('breaker')])
    await readiness.passed?.(sweepReport())
    expect(readiness.health()).toEqual({ ok: true, reasons: ['ready'] })
  })

  test('taking and releasing shards changes readiness, and so does stopping', async () => {
    const readiness = openReadiness(10 * SECOND, () => 0)
    await readiness.passed?.(sweepReport())
    await readiness.shards?.([], 4)
    expect(readiness.health().reasons).toContain('standby: holds none of 4 shards')
    await readiness.shards?.([3], 4)
    expect(readiness.health().reasons).toEqual(['ready'])
    readiness.stopping()
    expect(readiness.health()).toEqual({ ok: false, reasons: ['stopping'] })
  })
})

describe('a store that refuses every change', () => {
  async function after(...reports: readonly Parameters<typeof sweepReport>[0][]): Promise<boolean> {
    const readiness = openReadiness(10 * SECOND, () => 0)
    for (const report of reports) await readiness.passed?.(sweepReport(report))
    return readiness.health().ok
  }
  const NOTHING = { outcomes: { failed: 2, unknown: 1 }, overdue: 3 }

  test('makes the watchdog not ready, with the code of the last error', async () => {
    const readiness = openReadiness(10 * SECOND, () => 0)
    await readiness.executed?.(carried('failed', { code: 'store-full' }))
    await readiness.passed?.(sweepReport({ outcomes: { failed: 1 }, overdue: 1 }))
    expect(readiness.health().reasons).toEqual([expect.stringContaining('store-full')])
  })

  test('is not assumed if one of the decisions was carried out, or needed no change', async () => {
    expect(await after(NOTHING)).toBe(false)
    expect(await after({ outcomes: { failed: 2, ended: 1 }, overdue: 2 })).toBe(true)
    expect(await after({ outcomes: { failed: 2, 'showed-life': 1 }, overdue: 2 })).toBe(true)
  })

  test('remains assumed over passes without a decision, until one is carried out or no deadline has passed', async () => {
    expect(await after(NOTHING, { overdue: 3 })).toBe(false)
    expect(await after(NOTHING, { kind: 'appointment', overdue: 0 })).toBe(false)
    expect(await after(NOTHING, { outcomes: { ended: 1 }, overdue: 2 })).toBe(true)
    expect(await after(NOTHING, { overdue: 0 })).toBe(true)
    expect(await after(NOTHING, { overdue: 2, notified: 1 })).toBe(false)
    expect(await after(NOTHING, { overdue: 2, notified: 2 })).toBe(true)
  })
})

describe('liveness', () => {
  const INTERVAL = 30 * MINUTE

  function setUp() {
    const clock = { nowMs: 0 }
    return { clock, heart: openLiveness(INTERVAL, () => clock.nowMs) }
  }

  test('lasts for ten minutes without progress, and no longer', async () => {
    const { clock, heart } = setUp()
    await heart.began?.('sweep', AT)
    clock.nowMs = 10 * MINUTE
    expect(heart.health()).toEqual({ ok: true, reasons: ['alive'] })
    clock.nowMs += 1
    expect(heart.health()).toEqual({ ok: false, reasons: ['dead: the loop made no progress for 600s'] })
  })

  test('pauses for an interval after a pass, also after a failed one', async () => {
    const { clock, heart } = setUp()
    await heart.passed?.(sweepReport())
    clock.nowMs = INTERVAL + 10 * MINUTE
    expect(heart.health().ok).toBe(true)
    await heart.failed?.(failedPass())
    clock.nowMs += INTERVAL + 10 * MINUTE
    expect(heart.health().ok).toBe(true)
    await heart.began?.('sweep', AT)
    clock.nowMs += 11 * MINUTE
    expect(heart.health().ok).toBe(false)
  })

  test('survives an outage of hours, as long as requests complete', async () => {
    const { clock, heart } = setUp()
    for (let tries = 0; tries < 100; tries++) {
      clock.nowMs += 9 * MINUTE
      await heart.failed?.(failedPass())
      expect(heart.health().ok).toBe(true)
    }
  })

  test('ends when the loop has ended', () => {
    const { heart } = setUp()
    heart.stop()
    heart.touch()
    expect(heart.health().ok).toBe(false)
  })
})

describe('an observed store', () => {
  test('reports each completed request, failed or not, and each stream of a listing, skipped ones too', async () => {
    let touches = 0
    const store = openMemoryStore({ clock: () => AT, random: () => 0.5 })
    const touched = touching(store, () => touches++)
    for (const name of ['a', 'b']) await touched.create(name, Buffer.from('<EventStream/>'), summary())
    await Promise.resolve()
    expect(touches).toBe(2)
    touches = 0
    for await (const _ of touched.list({ skip: () => true })) expect.unreachable()
    expect(touches).toBe(2)
    for await (const page of touched.list({})) expect(page).toHaveLength(2)
    expect(touches).toBe(3)
    const refused = touched.acquireLease('a', {
      leaseId: 'x',
      durationS: 1,
      holder: { by: '', host: '', pid: 1, purpose: '', sinceMs: 0 },
    })
    await expect(refused).rejects.toThrow()
    expect(touches).toBe(4)
    expect(touched.nowMs()).toBe(AT)
    expect(touches).toBe(4)
  })
})

function summary() {
  return {} as Parameters<ReturnType<typeof openMemoryStore>['create']>[2]
}

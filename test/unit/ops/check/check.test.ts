import { expect, test } from 'vitest'
import { type CheckLimits, judge } from '../../../../src/ops/check/check.ts'
import { StoreScanner } from '../../../../src/ops/check/scan.ts'
import type { SummarizedStream } from '../../../../src/ops/summaries.ts'
import { heldFor, listed, NOW } from './support.ts'

const LIMITS: CheckLimits = {
  overdue: { warn: 2, crit: 3 },
  failed: { warn: 1, crit: 3 },
  abandoned: { warn: 1, crit: 3 },
  waiting: { warnMs: 60_000, critMs: 120_000 },
  stuck: { warn: 1, crit: 2 },
  unreadable: { warn: 1 },
  lag: { isRequired: false },
  subscriptionLag: { warnMs: 300_000 },
  inboxes: { age: { warnMs: 300_000 }, dead: { warn: 1 } },
}

function judged(page: readonly SummarizedStream[]) {
  const looking = new StoreScanner({
    ...{ overdueForMs: 0, failedSinceMs: 60_000, waitingForMs: 60_000, stuckAfterMs: 0 },
    ...{ host: 'here', isRunning: () => true },
  })
  looking.add(page, NOW)
  // these streams are unwatched, which another test covers
  const look = { ...looking.result(NOW), withLimit: 0 }
  const { status, checks } = judge(look, { watchdogs: [], damaged: false }, LIMITS)
  return { status, checks: Object.fromEntries(checks.map(check => [check.name, check.status])) }
}

const overdue = (name: string) => listed(name, { summary: { dueMs: NOW - 1 } })
const WELL = {
  overdue: 'ok',
  failed: 'ok',
  blocked: 'ok',
  undo: 'ok',
  abandoned: 'ok',
  waiting: 'ok',
  stuck: 'ok',
  unreadable: 'ok',
  watchdog: 'ok',
}

test('a count is bad from its limit on, and the worst check decides', () => {
  expect(judged([overdue('a')])).toEqual({ status: 'ok', checks: WELL })
  expect(judged([overdue('a'), overdue('b')])).toEqual({ status: 'warning', checks: { ...WELL, overdue: 'warning' } })
  expect(judged([overdue('a'), overdue('b'), overdue('c'), listed('d', { lease: heldFor(1) })])).toEqual({
    status: 'critical',
    checks: { ...WELL, overdue: 'critical', stuck: 'warning' },
  })
})

test('one stream that could not undo what it did is critical, one that is blocked a warning', () => {
  const of = (outcome: 'blocked' | 'compensation-failed', ackMs?: number) =>
    listed('s', { summary: { failed: 1, failedAtMs: NOW - 30 * 86_400_000, outcome, ackMs } })
  expect(judged([of('compensation-failed')])).toEqual({ status: 'critical', checks: { ...WELL, undo: 'critical' } })
  expect(judged([of('blocked')])).toEqual({ status: 'warning', checks: { ...WELL, blocked: 'warning' } })
  expect(judged([of('compensation-failed', NOW)])).toEqual({ status: 'ok', checks: WELL })
})

test('without a critical limit a count is never critical', () => {
  const bad = Array.from({ length: 1_000 }, (_, at) => listed(`s${at}`, { fault: 'cut off' }))
  expect(judged(bad)).toEqual({ status: 'warning', checks: { ...WELL, unreadable: 'warning' } })
})

test('A store with many failed and abandoned streams is critical.', () => {
  const failed = listed('f', { summary: { failed: 1, failedAtMs: NOW } })
  const abandoned = listed('a', { summary: { claimEndMs: NOW } })
  expect(judged([failed, abandoned])).toEqual({
    status: 'warning',
    checks: { ...WELL, failed: 'warning', abandoned: 'warning' },
  })
  expect(judged([failed, failed, failed, abandoned, abandoned, abandoned])).toEqual({
    status: 'critical',
    checks: { ...WELL, failed: 'critical', abandoned: 'critical' },
  })
})

test.each([
  [59_999, 'ok'],
  [60_000, 'warning'],
  [120_000, 'critical'],
])('An event that has been ready for %i ms is %s.', (ms, status) => {
  const { checks } = judged([listed('a', { summary: { readySinceMs: NOW - ms } })])
  expect(checks).toEqual({ ...WELL, waiting: status })
})

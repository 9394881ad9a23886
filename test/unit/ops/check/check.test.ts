import { expect, test } from 'vitest'
import { type CheckLimits, judge } from '../../../../src/ops/check/check.ts'
import { StoreScanner } from '../../../../src/ops/check/scan.ts'
import type { SummarizedStream } from '../../../../src/ops/summaries.ts'
import { heldFor, listed, NOW } from './support.ts'

const LIMITS: CheckLimits = {
  overdue: { warn: 2, crit: 3 },
  stuck: { warn: 1, crit: 2 },
  unreadable: { warn: 1 },
  lag: { isRequired: false },
}

function judged(page: readonly SummarizedStream[]) {
  const looking = new StoreScanner({ overdueForMs: 0, stuckAfterMs: 0, host: 'here', isRunning: () => true })
  looking.add(page, NOW)
  // these streams are unwatched, which another test covers
  const look = { ...looking.result(NOW), withLimit: 0 }
  const { status, checks } = judge(look, { watchdogs: [], damaged: false }, LIMITS)
  return { status, checks: Object.fromEntries(checks.map(check => [check.name, check.status])) }
}

const overdue = (name: string) => listed(name, { summary: { dueMs: NOW - 1 } })
const WELL = { overdue: 'ok', stuck: 'ok', unreadable: 'ok', watchdog: 'ok' }

test('a count is bad from its limit on, and the worst check decides', () => {
  expect(judged([overdue('a')])).toEqual({ status: 'ok', checks: WELL })
  expect(judged([overdue('a'), overdue('b')])).toEqual({ status: 'warning', checks: { ...WELL, overdue: 'warning' } })
  expect(judged([overdue('a'), overdue('b'), overdue('c'), listed('d', { lease: heldFor(1) })])).toEqual({
    status: 'critical',
    checks: { ...WELL, overdue: 'critical', stuck: 'warning' },
  })
})

test('without a critical limit a count is never critical', () => {
  const bad = Array.from({ length: 1_000 }, (_, at) => listed(`s${at}`, { fault: 'cut off' }))
  expect(judged(bad)).toEqual({ status: 'warning', checks: { ...WELL, unreadable: 'warning' } })
})

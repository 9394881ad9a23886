import { expect, it } from 'vitest'
import { totalsOf } from '../../../src/watchdog/pass-report.ts'
import type { PendingKind, PendingWork } from '../../../src/watchdog/registry/pending-work.ts'
import { StreamRegistry } from '../../../src/watchdog/registry/registry.ts'
import { seededRandom } from '../../support/faults.ts'

const NOW = 1_000
const NEVER = Number.POSITIVE_INFINITY
const now = { nowMs: NOW, atMs: 0 }
const all = () => true

function registryOf(...dues: readonly number[]): StreamRegistry {
  const registry = new StreamRegistry()
  for (const [n, dueMs] of dues.entries()) {
    registry.sawRow(
      `s${n}`,
      '1',
      { status: n % 2 === 0 ? 'inprocess' : 'completed', openEvents: n, dueMs, nextInspectionMs: dueMs },
      now,
    )
  }
  return registry
}

it('a report counts streams by status, open events, and overdue streams', () => {
  const survey = totalsOf(registryOf(NOW, NOW + 1, NOW - 5, Number.POSITIVE_INFINITY), NOW, all)
  expect(survey).toEqual({
    streams: { inprocess: 2, completed: 2 },
    total: 4,
    watched: 4,
    openEvents: 6,
    overdue: 2,
    notified: 0,
    work: { failed: 0, abandoned: 0, suspended: 0, ready: [], readySinceMs: undefined },
    next: [
      { stream: 's2', dueMs: NOW - 5 },
      { stream: 's0', dueMs: NOW },
      { stream: 's1', dueMs: NOW + 1 },
    ],
  })
})

it('foreign statuses with the names of object members are counted', () => {
  const names = ['constructor', 'toString', '__proto__', 'constructor']
  const registry = new StreamRegistry()
  names.forEach((status, at) => {
    registry.sawRow(`s${at}`, '1', { status, openEvents: 1, dueMs: NOW, nextInspectionMs: NOW }, now)
  })
  const { streams } = totalsOf(registry, NOW, all)
  expect(Object.entries(streams).sort()).toEqual([
    ['__proto__', 1],
    ['constructor', 2],
    ['toString', 1],
  ])
  expect(JSON.stringify(streams)).toContain('"__proto__":1')
})

it('streams of other watchdogs are only in the total', () => {
  const survey = totalsOf(registryOf(NOW, NOW, NOW), NOW, name => name === 's1')
  expect(survey).toMatchObject({ total: 3, watched: 1, openEvents: 1, overdue: 1, streams: { completed: 1 } })
})

it('names the 20 soonest of very many', () => {
  const random = seededRandom(7)
  const dues = Array.from({ length: 3_000 }, () => Math.floor(random() * 1_000))
  const { next } = totalsOf(registryOf(...dues), NOW, all)
  expect(next.map(({ dueMs }) => dueMs)).toEqual([...dues].sort((a, b) => a - b).slice(0, 20))
})

it('a stream that was not inspected has no status', () => {
  const registry = new StreamRegistry()
  registry.sawRow('s', '1', undefined, now)
  expect(totalsOf(registry, NOW, all)).toMatchObject({ total: 1, streams: {}, overdue: 0, next: [] })
})

it('Failures, silent workers and ready events of the own streams add up.', () => {
  const registry = new StreamRegistry()
  const row = (name: string, work: Partial<PendingKind & PendingWork>) => {
    const { hasFailed = false, isSuspended = false, ready = [], claimEndMs = NEVER, readySinceMs = NEVER } = work
    const none = { kind: { hasFailed, isSuspended, ready }, claimEndMs, readySinceMs }
    registry.sawRow(
      name,
      '1',
      { status: 'inprocess', openEvents: 1, dueMs: NEVER, nextInspectionMs: NEVER, work: none },
      now,
    )
  }
  row('failed', { hasFailed: true, ready: ['Pay|', 'Ship%20it|t'], readySinceMs: NOW })
  row('silent', { claimEndMs: NOW })
  row('alive', { claimEndMs: NOW + 1 })
  row('ready', { ready: ['Pay|', '+3'], readySinceMs: NOW - 1_000 })
  row('stopped', { isSuspended: true })
  row('foreign', { hasFailed: true, ready: ['Pay|'], readySinceMs: NOW - 1_000 })
  expect(totalsOf(registry, NOW, name => name !== 'foreign').work).toEqual({
    failed: 1,
    abandoned: 1,
    suspended: 1,
    ready: [
      { step: 'Pay', count: 2 },
      { step: 'Ship it', count: 1 },
      { step: 'other', count: 3 },
    ],
    readySinceMs: NOW - 1_000,
  })
})

it('Of very many different lists of ready events only the numbers are kept.', () => {
  const registry = new StreamRegistry()
  for (let at = 0; at < 1_500; at++) {
    const kind = { hasFailed: false, isSuspended: false, ready: [`Step${at}|`, 'x|'] }
    const work = { kind, claimEndMs: NEVER, readySinceMs: NOW }
    registry.sawRow(`s${at}`, '1', { status: 'i', openEvents: 2, dueMs: NEVER, nextInspectionMs: NEVER, work }, now)
  }
  expect(registry.get('s999')?.pending?.ready).toEqual(['Step999|', 'x|'])
  expect(registry.get('s1000')?.pending?.ready).toEqual(['+2'])
  const { ready } = totalsOf(registry, NOW, all).work
  expect(ready).toHaveLength(51)
  expect(ready.reduce((sum, { count }) => sum + count, 0)).toBe(3_000)
})

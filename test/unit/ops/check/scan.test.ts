import { expect, test } from 'vitest'
import { MAX_EXAMPLES, type ScanRule, StoreScanner } from '../../../../src/ops/check/scan.ts'
import type { SummarizedStream } from '../../../../src/ops/summaries.ts'
import { heldFor, listed, NOW, notStarted } from './support.ts'

const RULE: ScanRule = { overdueForMs: 60_000, stuckAfterMs: 600_000, host: 'here', isRunning: pid => pid === 41 }

function look(page: readonly SummarizedStream[], rule: Partial<ScanRule> = {}) {
  const looking = new StoreScanner({ ...RULE, ...rule })
  looking.add(page, NOW)
  return looking.result(NOW)
}

test('streams are counted by status, with foreign statuses together and streams without a status', () => {
  const found = look([
    listed('a'),
    listed('b', { summary: { status: 'completed', open: 0 } }),
    listed('c', { summary: { status: 'parked' } }),
    listed('d', { summary: { status: '' } }),
    listed('e', { fault: 'cut off' }),
    notStarted('f'),
  ])
  expect(found).toMatchObject({ streams: 6, openEvents: 6, withLimit: 0, leased: 0, nowMs: NOW })
  expect(found.byStatus).toEqual({
    init: 0,
    inprocess: 1,
    completed: 1,
    aborted: 0,
    canceled: 0,
    other: 2,
    'not-started': 1,
    unreadable: 1,
  })
})

test('overdue counts only streams that have been overdue for the tolerance, oldest first', () => {
  const due = (name: string, ms: number) => listed(name, { summary: { dueMs: NOW + ms } })
  const found = look([due('soon', 1), due('just', -59_999), due('now', -60_000), due('long', -7_200_000)])
  expect(found.withLimit).toBe(4)
  expect(found.overdue).toEqual({
    count: 2,
    examples: [
      { stream: 'long', dueMs: NOW - 7_200_000 },
      { stream: 'now', dueMs: NOW - 60_000 },
    ],
  })
})

test('streams with a deadline and no watchdog are counted, soonest first', () => {
  const due = (name: string, ms: number) => listed(name, { summary: { dueMs: NOW + ms } })
  const page = [due('b/1', 1), due('d/2', 2), due('d/1', 1), listed('d/3')]
  expect(look(page, { isWatched: name => name.startsWith('b/') }).unwatched).toEqual({
    count: 2,
    examples: [
      { stream: 'd/1', dueMs: NOW + 1 },
      { stream: 'd/2', dueMs: NOW + 2 },
    ],
  })
  expect(look(page).unwatched.count).toBe(0)
})

test('the oldest of very many streams are kept as examples, and all are counted', () => {
  const page = Array.from({ length: 500 }, (_, at) =>
    listed(`s${at}`, { summary: { dueMs: NOW - 60_000 - ((at * 37) % 500) } }),
  )
  const { overdue } = look(page)
  expect(overdue.count).toBe(500)
  expect(overdue.examples.map(({ dueMs }) => NOW - 60_000 - dueMs)).toEqual(
    Array.from({ length: MAX_EXAMPLES }, (_, at) => 499 - at),
  )
})

test('a lease is stuck once it is held for longer than the limit', () => {
  const found = look([
    listed('free'),
    listed('short', { lease: heldFor(600_000) }),
    listed('long', { lease: heldFor(600_001) }),
    listed('breaking', { lease: { ...heldFor(9e6), state: 'breaking' } }),
  ])
  expect(found.leased).toBe(3)
  expect(found.stuck.examples).toMatchObject([{ stream: 'long', reasons: ['held-long'] }])
})

test('a lease that a person took and whose process has ended is stuck only after that time', () => {
  expect(look([listed('a', { lease: heldFor(61_000, 42) })]).stuck.count).toBe(0)
  expect(look([listed('a', { lease: heldFor(601_000, 42) })]).stuck.count).toBe(1)
})

test('an infinite lease of an unknown holder is stuck', () => {
  const found = look([listed('a', { lease: { state: 'leased', duration: 'infinite' } })])
  expect(found.stuck).toMatchObject({ count: 1, examples: [{ stream: 'a', reasons: ['holder-unknown'] }] })
})

test('unreadable documents are named with the reason', () => {
  expect(look([listed('a'), listed('bad', { fault: 'cut off' })]).unreadable).toEqual({
    count: 1,
    examples: [{ stream: 'bad', message: 'cut off' }],
  })
})

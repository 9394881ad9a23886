import { describe, expect, test } from 'vitest'
import { MAX_EXAMPLES, type ScanRule, StoreScanner } from '../../../../src/ops/check/scan.ts'
import type { SummarizedStream } from '../../../../src/ops/summaries.ts'
import type { Summary } from '../../../../src/stream/summary.ts'
import { runningItem } from '../../../../src/stream/summary-items.ts'
import { heldFor, listed, NOW, notStarted } from './support.ts'

const RULE: ScanRule = {
  ...{ overdueForMs: 60_000, failedSinceMs: 3_600_000, waitingForMs: 3_600_000, stuckAfterMs: 600_000 },
  host: 'here',
  isRunning: pid => pid === 41,
}

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

describe('failures', () => {
  const failed = (name: string, agoMs: number | undefined, more: Partial<Summary> = {}) => {
    const failedAtMs = agoMs === undefined ? undefined : NOW - agoMs
    const texts = { failedId: '01.00', failedName: 'Pay', failure: 'no route' }
    return listed(name, { summary: { failed: 1, failedAtMs, ...texts, ...more } })
  }

  test('A failure counts while it is recent and nobody has acknowledged it.', () => {
    const found = look([
      failed('old', 3_600_001),
      failed('recent', 3_600_000),
      failed('acknowledged', 1_000, { ackMs: NOW - 500 }),
      failed('again', 1_000, { ackMs: NOW - 1_500 }),
      listed('canceled', { summary: { canceled: 1, failedAtMs: NOW, failedId: '01.00' } }),
    ])
    expect(found.failed).toEqual({
      count: 2,
      examples: [
        { stream: 'recent', failedAtMs: NOW - 3_600_000, event: 'Pay', failure: 'no route' },
        { stream: 'again', failedAtMs: NOW - 1_000, event: 'Pay', failure: 'no route' },
      ],
    })
    expect(found.unacknowledged).toBe(3)
  })

  test('A failure without a readable time counts from the last change of its stream.', () => {
    const { failed: found } = look([failed('a', undefined, { failedName: '' })])
    expect(found.examples).toEqual([{ stream: 'a', failedAtMs: NOW, event: '01.00', failure: 'no route' }])
  })
})

describe('work', () => {
  const running = (name: string, endsInMs: number | undefined) =>
    runningItem({
      ...{ id: '01.00', name, owner: 'pay@aks-9', attempt: 1, sinceMs: NOW, lastSeenMs: NOW },
      claimEndMs: endsInMs === undefined ? undefined : NOW + endsInMs,
    })

  test('A stream is abandoned once a claim has been over for the grace period, and names its worker.', () => {
    const claimed = (name: string, endsInMs: number) =>
      listed(name, { summary: { claimEndMs: NOW + endsInMs, running: [running('Pay', endsInMs)] } })
    const { abandoned } = look([claimed('alive', 1), claimed('just', -59_999), claimed('silent', -60_000)])
    expect(abandoned).toMatchObject({
      count: 1,
      examples: [{ stream: 'silent', claimEndMs: NOW - 60_000, event: { name: 'Pay', owner: 'pay@aks-9' } }],
    })
  })

  test('A stream whose summary has no room for its running events is abandoned all the same.', () => {
    const { abandoned } = look([listed('a', { summary: { claimEndMs: NOW - 60_000, running: ['+3'] } })])
    expect(abandoned.examples).toEqual([{ stream: 'a', claimEndMs: NOW - 60_000, event: undefined }])
  })

  test('The oldest ready event is known, and the streams that wait too long.', () => {
    const ready = (name: string, agoMs: number) => listed(name, { summary: { readySinceMs: NOW - agoMs } })
    const found = look([ready('new', 1), ready('old', 7_200_000), ready('just', 3_600_000), listed('none')])
    expect(found.readySinceMs).toBe(NOW - 7_200_000)
    expect(found.waiting).toEqual({
      count: 2,
      examples: [
        { stream: 'old', readySinceMs: NOW - 7_200_000 },
        { stream: 'just', readySinceMs: NOW - 3_600_000 },
      ],
    })
    expect(look([listed('none')]).readySinceMs).toBeUndefined()
  })

  test('Events are counted by step, each in one number.', () => {
    const summary: Partial<Summary> = {
      ...{ failed: 1, failedAtMs: NOW, failedName: 'Pay', failedId: '02.00' },
      ready: ['Pay|t', 'Pay|', 'Ship%20it|', '+4'],
      running: [running('Pay', 1), running('Pay', 0), running('Pay', undefined), '+2'],
    }
    expect(look([listed('a', { summary })]).steps).toEqual([
      { step: 'Pay', ready: 2, running: 2, abandoned: 1, failed: 1 },
      { step: 'Ship it', ready: 1, running: 0, abandoned: 0, failed: 0 },
      { step: 'other', ready: 4, running: 2, abandoned: 0, failed: 0 },
    ])
  })

  test('Of very many steps the largest are counted apart.', () => {
    const many = Array.from({ length: 5_000 }, (_, at) => listed(`s${at}`, { summary: { ready: [`Step${at}|`] } }))
    const { steps } = look([
      ...many,
      ...Array.from({ length: 2 }, () => listed('x', { summary: { ready: ['Step7|'] } })),
    ])
    expect(steps).toHaveLength(51)
    expect(steps[0]).toMatchObject({ step: 'Step7', ready: 3 })
    expect(steps.at(-1)).toMatchObject({ step: 'other', ready: 5_002 - 3 - 49 })
  })
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

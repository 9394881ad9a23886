import { describe, expect, test } from 'vitest'
import { type Filtered, mayPass, type StreamFilter, verdictOf } from '../../../src/ops/filter.ts'
import { anyGlobOf, globOf } from '../../../src/ops/glob.ts'
import type { LeaseView } from '../../../src/store/store.ts'
import type { Summary } from '../../../src/stream/summary.ts'
import { runningItem } from '../../../src/stream/summary-items.ts'

const NOW = 10_000

const SUMMARY: Summary = {
  version: 3,
  born: 'b',
  status: 'inprocess',
  outcome: '',
  lastBy: 'me',
  root: 'Order',
  createdMs: 1_000,
  key: '4711',
  topic: 'orders',
  tag: 'blue',
  trackingId: 't-1',
  failedAtMs: undefined,
  failedId: '',
  failedName: '',
  ackMs: undefined,
  suspendedMs: undefined,
  suspendedBy: '',
  suspendedWhy: '',
  failure: '',
  open: 2,
  failed: 0,
  done: 0,
  canceled: 0,
  total: 3,
  dueMs: undefined,
  claimEndMs: undefined,
  readySinceMs: undefined,
  waitingOn: [],
  ready: [],
  running: [],
  gated: [],
  wakeMs: undefined,
}

function item(summary: Partial<Summary> | undefined, more: { modifiedMs?: number; lease?: LeaseView } = {}): Filtered {
  const listed = {
    name: 'a',
    etag: 'e',
    size: 1,
    modifiedMs: 5_000,
    lease: { state: 'available' } as LeaseView,
    ...more,
  }
  return { listed, summary: summary && { ...SUMMARY, ...summary } }
}

const passes = (filtered: Filtered, filter: StreamFilter) => verdictOf(filtered, filter, NOW)

describe('each filter alone', () => {
  test.each<[string, StreamFilter, Filtered, Filtered]>([
    ['status', { status: ['aborted', 'canceled'] }, item({ status: 'canceled' }), item({})],
    ['failed', { failed: true }, item({ failed: 1 }), item({})],
    ['overdue', { overdue: true }, item({ dueMs: NOW }), item({ dueMs: NOW + 1 })],
    ['overdue without a limit', { overdue: true }, item({ dueMs: 0 }), item({})],
    ['locked', { locked: true }, item({}, { lease: { state: 'leased' } }), item({}, { lease: { state: 'expired' } })],
    ['locked while breaking', { locked: true }, item({}, { lease: { state: 'breaking' } }), item({})],
    ['key', { key: ['4711'] }, item({}), item({ key: '47110' })],
    ['topic', { topic: ['orders'] }, item({}), item({ topic: 'Orders' })],
    ['tag', { tag: ['blue'] }, item({}), item({ tag: '' })],
    ['tracking id', { trackingId: ['t-1'] }, item({}), item({ trackingId: 't-' })],
    ['since', { sinceMs: 5_000 }, item({}), item({}, { modifiedMs: 4_999 })],
    [
      'failed since',
      { failed: true, sinceMs: 7_000 },
      item({ failed: 1, failedAtMs: 7_000 }),
      item({ failed: 1, failedAtMs: 6_999 }),
    ],
    [
      'failed at an unknown time',
      { failed: true, sinceMs: 5_000 },
      item({ failed: 1 }),
      item({ failed: 1 }, { modifiedMs: 1 }),
    ],
  ])('%s', (_name, filter, inside, outside) => {
    expect(passes(inside, filter)).toBe('yes')
    expect(passes(outside, filter)).toBe('no')
  })
})

test('failed since uses the failure, not the last change', () => {
  const filter = { failed: true, sinceMs: 7_000 }
  expect(passes(item({ failed: 1, failedAtMs: 8_000 }, { modifiedMs: 6_000 }), filter)).toBe('yes')
  expect(passes(item({ failed: 1, failedAtMs: 6_000 }, { modifiedMs: 8_000 }), filter)).toBe('no')
})

test('all filters must match', () => {
  const filter = { key: ['4711'], status: ['inprocess'] }
  expect(passes(item({}), filter)).toBe('yes')
  expect(passes(item({ status: 'completed' }), filter)).toBe('no')
  expect(passes(item({ key: 'x' }), filter)).toBe('no')
})

test('an unreadable document passes only filters that need no summary', () => {
  expect(passes(item(undefined), {})).toBe('yes')
  expect(passes(item(undefined), { sinceMs: 5_000 })).toBe('yes')
  expect(passes(item(undefined, { lease: { state: 'leased' } }), { locked: true })).toBe('yes')
  for (const filter of [{ status: ['init'] }, { failed: true }, { overdue: true }, { key: ['k'] }, { tag: ['t'] }])
    expect(passes(item(undefined), filter)).toBe('no')
})

test('a text that is cut in the summary is compared in the document', () => {
  expect(passes(item({ key: 'abc…' }), { key: ['abcdef'] })).toBe('unsure')
  expect(passes(item({ key: 'abc…' }), { key: ['abc…'] })).toBe('yes')
  expect(passes(item({ key: 'abc…' }), { key: ['abx'] })).toBe('no')
  expect(passes(item({ key: 'abc…', tag: 'other' }), { key: ['abcdef'], tag: ['blue'] })).toBe('no')
})

test('documents that name, lease or last change exclude are not read', () => {
  const { listed } = item(undefined)
  expect(mayPass(listed, { status: ['aborted'], key: ['k'], overdue: true })).toBe(true)
  expect(mayPass(listed, { names: globOf('a') })).toBe(true)
  expect(mayPass(listed, { names: globOf('b*') })).toBe(false)
  expect(mayPass(listed, { locked: true })).toBe(false)
  expect(mayPass(listed, { sinceMs: 5_001 })).toBe(false)
  expect(mayPass(listed, { sinceMs: 5_001, failed: true })).toBe(true)
})

describe('failures', () => {
  const failed = { failed: 1, failedId: '01.00', failure: 'gateway: HTTP 503', failedAtMs: 7_000 }

  test('are left out once they are acknowledged, until the next one', () => {
    expect(passes(item({ ...failed, ackMs: 7_000 }), { failed: true })).toBe('no')
    expect(passes(item({ ...failed, ackMs: 7_000 }), { failed: true, acknowledged: true })).toBe('yes')
    expect(passes(item({ ...failed, ackMs: 6_999 }), { failed: true })).toBe('yes')
  })

  test('are no cancels, and cancels no failures', () => {
    expect(passes(item({ canceled: 1 }), { failed: true })).toBe('no')
    expect(passes(item({ canceled: 1 }), { canceled: true })).toBe('yes')
    expect(passes(item(failed), { canceled: true })).toBe('no')
  })

  test('a message of a canceled event is selected only with a filter of canceled streams', () => {
    const canceled = item({ canceled: 1, failedId: '01.00', failure: 'customer withdrew' })
    const failure = [{ matches: (text: string) => text.includes('withdrew') }]
    expect(passes(canceled, { failure })).toBe('no')
    expect(passes(canceled, { failure, canceled: true })).toBe('yes')
    expect(passes(canceled, { failure, withCanceled: true })).toBe('yes')
  })

  test('a message is matched as it is and without its numbers', () => {
    const matching = (pattern: RegExp) => [{ matches: (text: string) => pattern.test(text) }]
    const order = item({ ...failed, failure: 'order 4711:  no stock' })
    expect(passes(order, { failure: matching(/4711/) })).toBe('yes')
    expect(passes(order, { failure: matching(/^order #: no stock$/) })).toBe('yes')
    expect(passes(order, { failure: matching(/^order 4712/) })).toBe('no')
  })

  test.each([
    ['503 for request #', 'yes'],
    ['gateway: # for request #', 'yes'],
    ['503  FOR request #', 'yes'],
    ['504 for request #', 'no'],
    ['gateway: # for order #', 'no'],
    ['(#)', 'no'],
  ])('a text with # for a number or id is found beside numbers as they are: %s', (text, verdict) => {
    const failure = [{ text, matches: (whole: string) => whole.includes(text) }]
    expect(passes(item({ ...failed, failure: 'payment gateway: 503 for request 884712' }), { failure })).toBe(verdict)
  })

  test('a code is no number', () => {
    const failure = [{ text: 'HTTP # from', matches: () => false }]
    expect(passes(item({ ...failed, failure: 'HTTP 503 from shop 7' }), { failure })).toBe('no')
  })

  test('are selected by their message', () => {
    const failure = [{ matches: (text: string) => text.includes('503') }]
    expect(passes(item(failed), { failure })).toBe('yes')
    expect(passes(item({ ...failed, failure: 'HTTP 404' }), { failure })).toBe('no')
    expect(passes(item({}), { failure: [{ matches: () => true }] })).toBe('no')
  })

  test('are selected by when they happened', () => {
    expect(passes(item(failed), { failed: true, untilMs: 7_000 })).toBe('yes')
    expect(passes(item(failed), { failed: true, untilMs: 6_999 })).toBe('no')
    expect(passes(item({}), { untilMs: 4_999 })).toBe('no')
    expect(passes(item({}), { untilMs: 5_000 })).toBe('yes')
  })
})

describe('open events', () => {
  const running = ['01.00|Pay|w%401|1||k|', '02.00|Scan|w-2|1||k|']
  const open = { running, ready: ['Pack%20it|eu'] }

  test('are selected by worker and name', () => {
    expect(passes(item(open), { owner: ['w@1'] })).toBe('yes')
    expect(passes(item(open), { owner: ['w'] })).toBe('no')
    expect(passes(item(open), { waitingOn: ['Ship', 'Pack it'] })).toBe('yes')
    expect(passes(item(open), { waitingOn: ['Scan'], owner: ['w-3'] })).toBe('no')
    expect(passes(item({ ...open, failedName: 'Book' }), { eventName: ['Book'] })).toBe('yes')
    expect(passes(item({ ...open, failedName: 'Book' }), { waitingOn: ['Book'] })).toBe('no')
  })

  test('that the summary does not list are left to the document', () => {
    expect(passes(item({ ...open, running: [...running, '+3'] }), { owner: ['w-9'] })).toBe('unsure')
    expect(passes(item({ ...open, ready: ['A|', '+3'] }), { waitingOn: ['B'] })).toBe('unsure')
    expect(passes(item({ ...open, ready: ['A|', '+3'] }), { owner: ['w-9'] })).toBe('no')
  })

  test('are abandoned once a claim has ended', () => {
    expect(passes(item({ claimEndMs: NOW }), { abandoned: true })).toBe('yes')
    expect(passes(item({ claimEndMs: NOW + 1 }), { abandoned: true })).toBe('no')
    expect(passes(item({}), { abandoned: true })).toBe('no')
  })
})

test('names may be left out', () => {
  const { listed } = item(undefined)
  expect(mayPass(listed, { notNames: globOf(listed.name) })).toBe(false)
  expect(mayPass(listed, { notNames: globOf('other') })).toBe(true)
})

test('several patterns match what any of them does, behind what they have in common', () => {
  const glob = anyGlobOf(['orders/a*', 'orders/b?', 'orders/**/x'])
  expect(glob.prefix).toBe('orders/')
  expect(['orders/ab', 'orders/b1', 'orders/1/2/x', 'orders/c'].map(name => glob.matches(name))).toEqual([
    true,
    true,
    true,
    false,
  ])
  expect(anyGlobOf(['a*', 'b']).prefix).toBe('')
})

test('name, owner and state of a filter must hold for the same event', () => {
  const claim = (id: string, name: string, owner: string, claimEndMs: number) =>
    runningItem({ id, name, owner, attempt: 1, sinceMs: 0, lastSeenMs: 0, claimEndMs })
  const open = item({
    waitingOn: ['01.00', '02.00', '03.00'],
    ready: ['Ship|'],
    running: [claim('01.00', 'Pay', 'w1', NOW), claim('02.00', 'Search', 'w2', NOW + 1)],
  })
  expect(passes(open, { waitingOn: ['Pay'], owner: ['w1'], eventState: ['abandoned'] })).toBe('yes')
  expect(passes(open, { waitingOn: ['Pay'], owner: ['w2'] })).toBe('no')
  expect(passes(open, { owner: ['w2'], eventState: ['abandoned'] })).toBe('no')
  expect(passes(open, { waitingOn: ['Ship'], eventState: ['ready', 'running'] })).toBe('yes')
  expect(passes(open, { eventState: ['held'] })).toBe('no')
  expect(passes(item({ status: 'init', waitingOn: ['00'] }), { eventState: ['held'] })).toBe('yes')
})

test('completed streams are selected with and without errors', () => {
  const errors = item({ status: 'completed', outcome: 'errors' })
  expect(passes(errors, { status: ['completed'] })).toBe('yes')
  expect(passes(errors, { status: ['errors'] })).toBe('yes')
  expect(passes(errors, { status: ['success'] })).toBe('no')
  expect(passes(item({ status: 'completed' }), { status: ['success'] })).toBe('yes')
  expect(passes(item({ outcome: 'errors' }), { status: ['errors'] })).toBe('no')
})

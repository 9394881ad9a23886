import { describe, expect, test } from 'vitest'
import { nagiosLines, nagiosUnknown } from '../../../../src/formats/check/nagios.ts'
import { type CheckLimits, judge } from '../../../../src/ops/check/check.ts'
import { StoreScanner } from '../../../../src/ops/check/scan.ts'
import type { WatchdogSeen } from '../../../../src/ops/check/watchdogs.ts'
import type { SummarizedStream } from '../../../../src/ops/summaries.ts'
import type { WatchdogState } from '../../../../src/ops/watchdog-state/state.ts'
import { runningItem } from '../../../../src/stream/summary-items.ts'
import { heldFor, listed, NOW, watchdog } from '../../ops/check/support.ts'

const LIMITS: CheckLimits = {
  overdue: { warn: 1, crit: 10 },
  failed: { warn: 1, crit: 10 },
  abandoned: { warn: 1, crit: 10 },
  waiting: { warnMs: 86_400_000 },
  stuck: { warn: 1, crit: 10 },
  unreadable: { warn: 1 },
  lag: { isRequired: false },
  subscriptionLag: { warnMs: 300_000 },
  inboxes: { age: { warnMs: 300_000 }, dead: { warn: 1 } },
}

function lines(page: readonly SummarizedStream[], watchdogs: readonly WatchdogSeen[] = []): string[] {
  const looking = new StoreScanner({
    ...{ overdueForMs: 60_000, failedSinceMs: 86_400_000, waitingForMs: 86_400_000, stuckAfterMs: 600_000 },
    ...{ host: 'here', isRunning: () => true },
  })
  looking.add(page, NOW)
  const state = { watchdogs, damaged: false } as unknown as WatchdogState
  return nagiosLines(judge(looking.result(NOW), state, LIMITS))
}

const overdue = (name: string, ms: number) => listed(name, { summary: { dueMs: NOW - ms } })

test('the output is one line with the problems, worst first, and the performance data', () => {
  const many = Array.from({ length: 11 }, (_, at) => overdue(`orders/${at}`, 3_600_000 + at * 60_000))
  const [first] = lines([listed('bad', { fault: 'cut off' }), ...many, overdue('orders/17', 7_200_000)], [watchdog()])
  expect(first).toBe(
    'LEASECTL CRITICAL - 12 overdue (oldest 2h, orders/17), 1 unreadable (bad), 13 streams, last sweep 4s ago | ' +
      'overdue=12;1;10;0 failed=0;1;10;0 blocked=0;1;;0 undo=0;1;1;0 abandoned=0;1;10;0 stuck=0;1;10;0 unreadable=1;1;;0 oldest_overdue=7200s;;;0 ' +
      'oldest_ready=0s;86400;;0 unacknowledged=0;;;0 suspended=0;;;0 streams=13;;;0 open_events=24;;;0 ' +
      'watchdogs=1;;;0 lag=4s;40;160;0',
  )
})

const TROUBLE = [
  listed('orders/17', {
    summary: { failed: 1, failedAtMs: NOW - 7_200_000, failedName: 'Pay', failure: 'gateway: 503' },
  }),
  listed('orders/18', { summary: { failed: 1, failedAtMs: NOW - 60_000, failedName: 'Pay' } }),
  listed('orders/19', {
    summary: {
      claimEndMs: NOW - 2_400_000,
      running: [
        runningItem({
          ...{ id: '01.00', name: 'Ship', owner: 'ship@aks-9', attempt: 1, sinceMs: NOW, lastSeenMs: NOW },
          claimEndMs: NOW - 2_400_000,
        }),
      ],
    },
  }),
  listed('orders/20', { summary: { readySinceMs: NOW - 2 * 86_400_000, ready: ['Pack|'] } }),
]

test('Failures, silent workers and waiting events are in the first line, with examples below.', () => {
  const [first = '', ...examples] = lines(TROUBLE, [watchdog()])
  const [sentence, data = ''] = first.split(' | ')
  expect(sentence).toBe(
    'LEASECTL WARNING - 2 failed (first 2h ago, orders/17), 1 abandoned (40m, orders/19), ' +
      '1 waiting for a worker (2d, orders/20), 4 streams, nothing overdue for 1m or longer, last sweep 4s ago',
  )
  expect(data).toContain('failed=2;1;10;0 blocked=0;1;;0 undo=0;1;1;0 abandoned=1;1;10;0 ')
  expect(data).toContain(' oldest_ready=172800s;86400;;0 unacknowledged=2;;;0 suspended=0;;;0 ')
  expect(examples.slice(0, 4)).toEqual([
    'failed: orders/17 2h ago, Pay: gateway: 503',
    'failed: orders/18 1m ago, Pay',
    'abandoned: orders/19 for 40m, Ship by ship@aks-9',
    'waiting: orders/20 for 2d',
  ])
})

test('An old failure that nobody has acknowledged is mentioned and no problem.', () => {
  const old = listed('a', { summary: { failed: 1, failedAtMs: NOW - 2 * 86_400_000 } })
  expect(lines([old], [watchdog()])[0]).toMatch(
    /^LEASECTL OK - 1 stream, nothing overdue for 1m or longer, 1 unacknowledged failure in all, last sweep 4s ago \|/,
  )
})

test('The first line alone says what is wrong about a watchdog.', () => {
  const found = lines([overdue('a', 1)])
  expect(found).toHaveLength(1)
  expect(found[0]).toContain('no watchdog for 1 stream with a time limit')
})

test('Counts have no blanks that monitoring would cut at.', () => {
  const page = Array.from({ length: 1_100 }, (_, at) => overdue(`orders/${at}`, 120_000))
  expect(lines(page, [watchdog()])[0]).toMatch(/ - 1100 overdue \(.*, 1100 streams, .* overdue=1100;/)
})

test('without problems the line has the number of streams and the time of the sweep', () => {
  expect(lines([listed('a')], [watchdog()])[0]).toMatch(
    /^LEASECTL OK - 1 stream, nothing overdue for 1m or longer, last sweep 4s ago \| overdue=0;/,
  )
  expect(lines([])[0]).toMatch(/^LEASECTL OK - 0 streams, nothing overdue for 1m or longer \| /)
})

test('without a watchdog the performance data have no lag', () => {
  expect(lines([])[0]).not.toContain('lag=')
})

test('the following lines have examples, one watchdog each', () => {
  const page = [overdue('a', 120_000), listed('b', { lease: heldFor(3_600_000) }), listed('c', { fault: 'cut off' })]
  const failure = { startedMs: NOW, sinceMs: NOW, code: 'store-unreachable', message: 'no route' }
  const watchdogs = [
    watchdog({ shards: { held: [0, 2], total: 3 }, failure }),
    watchdog({ pid: 78, stoppedMs: NOW - 60_000, settings: { ...watchdog().settings, match: 'a/**' } }),
  ]
  expect(lines(page, watchdogs).slice(1)).toEqual([
    'overdue: a for 2m',
    'stuck lease: b, held by w@here (pid 41) for 1h, "repair"',
    'unreadable: c: cut off',
    'watchdog pid 77 on host-3: last sweep 4s ago, every 10s, 2 of 3 shards, last pass failed: no route [store-unreachable]',
    'watchdog pid 78 on host-3: stopped 1m ago, every 10s, of a/**',
  ])
})

test('a late watchdog is reported as late and not counted', () => {
  const found = lines(
    [listed('a')],
    [watchdog({ lastSweepMs: NOW - 53_000, shards: { held: [0], total: 6 } }), watchdog()],
  )
  expect(found[0]).toContain(' watchdogs=1;;;0 ')
  expect(found[1]).toBe('watchdog pid 77 on host-3: late, last sweep 53s ago, every 10s')
  expect(found[2]).toBe('watchdog pid 77 on host-3: last sweep 4s ago, every 10s')
})

test('of very many examples 20 are printed, and the number of others', () => {
  const page = Array.from({ length: 431 }, (_, at) => overdue(`orders/${at}`, 120_000))
  const found = lines(page, [watchdog()])
  expect(found).toHaveLength(1 + 20 + 1 + 1)
  expect(found[21]).toBe('and 411 more')
})

test('Many findings of one check leave room for examples of the others.', () => {
  const page = Array.from({ length: 431 }, (_, at) => overdue(`orders/${at}`, 120_000))
  const found = lines([...page, ...TROUBLE])
  expect(found.slice(1).map(line => line.split(':')[0])).toEqual([
    ...Array.from({ length: 5 }, () => 'overdue'),
    ...['failed', 'failed', 'abandoned', 'waiting', 'and 426 more'],
  ])
})

describe('a problem of the watchdog', () => {
  const sentence = (one: WatchdogSeen) =>
    lines([listed('a', { summary: { dueMs: NOW + 1 } })], [one])[0]?.split(' | ')[0]

  test.each<[string, Partial<WatchdogSeen>]>([
    ['no sweep for 5m (pid 77 on host-3, every 10s)', { lastSweepMs: NOW - 300_000 }],
    [
      'no sweep since its start for 1m (pid 77 on host-3, every 10s)',
      { lastSweepMs: undefined, startedMs: NOW - 60_000 },
    ],
    [
      'breaker open: 120 of 300 open events would be ended',
      { breaker: { isOpen: true, wouldEnd: 120, openEvents: 300, maxShare: 0.2 } },
    ],
    ['9 of 10 shards not held (1 2 3 4 5 6 7 8 +1)', { shards: { held: [0], total: 10 } }],
    ['no watchdog for 1 stream with a time limit', { stoppedMs: NOW }],
  ])('%s', (text, more) => {
    expect(sentence(watchdog(more))).toContain(` - ${text}, 1 stream, nothing overdue`)
  })
})

describe('foreign text', () => {
  test('cannot start performance data, end the line or control a terminal', () => {
    const name = 'a|x=1\n\u001b[2J\u0085b'
    for (const line of lines([overdue(name, 120_000), listed(name, { fault: name, lease: heldFor(9e8) })])) {
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
      expect(line.split('|').length).toBe(line.startsWith('LEASECTL') ? 2 : 1)
    }
    expect(nagiosUnknown(name, 'x', [name]).join('')).not.toMatch(/[|\u0000-\u001f\u007f-\u009f]/)
  })

  test('does not produce lines that monitoring would cut', () => {
    const long = 'x'.repeat(1_000)
    for (const line of lines([overdue(long, 120_000), listed(long, { fault: long, lease: heldFor(9e8) })])) {
      expect(line.length).toBeLessThan(600)
    }
  })
})

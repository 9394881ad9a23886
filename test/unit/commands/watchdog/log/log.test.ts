import { describe, expect, test } from 'vitest'
import { AT, carried, expiry, failedPass, OPEN_BREAKER, sweepReport } from '../../../watchdog/reports.ts'
import { logWorld } from './world.ts'

const MINUTE = 60_000

/** Level and kind of each line. */
function heads(entries: readonly Record<string, unknown>[]): string[] {
  return entries.map(({ level, kind }) => `${level} ${kind}`)
}

describe('the outcome of a decision', () => {
  test('is logged with all fields that a program may need', async () => {
    const { log, entries } = await logWorld()
    await log.executed?.(carried('ended', { version: 9, ended: ['01.02.00', '01.02.00.00'] }))
    expect(entries()).toEqual([
      {
        level: 'info',
        time: '2026-03-01T14:02:11.000Z',
        kind: 'ended',
        stream: 'orders/4711',
        event: '01.02.00',
        name: 'Search',
        action: 'abort-event',
        outcome: 'ended',
        commandId: expiry().commandId,
        limit: 'no-sign-of-life',
        due: '2026-03-01T14:02:10.600Z',
        latencyMs: 400,
        version: 9,
        ended: ['01.02.00', '01.02.00.00'],
        endedEvents: 2,
        msg: 'no sign of life since 2026-03-01T14:00:11.000Z (timeout 00:02:00), 0.4s late, 2 events ended',
      },
    ])
  })

  test.each([
    ['ended', 'info'],
    ['settled', 'info'],
    ['notified', 'info'],
    ['already', 'debug'],
    ['showed-life', 'info'],
    ['busy', 'info'],
    ['gone', 'debug'],
    ['refused', 'warn'],
    ['failed', 'error'],
    ['unknown', 'warn'],
  ] as const)('%s is of level %s', async (outcome, level) => {
    const { log, entries } = await logWorld({ verbose: true })
    await log.executed?.(carried(outcome))
    expect(heads(entries())).toEqual([`${level} ${outcome}`])
  })

  test('that stays the same is logged once, and again when it changes', async () => {
    const { log, entries } = await logWorld()
    const busy = carried('busy', { code: 'lease-held', message: 'another process holds the lease' })
    for (let passes = 0; passes < 3; passes++) await log.executed?.(busy)
    await log.executed?.(carried('failed', { code: 'bad-document', message: 'line 1: no' }))
    await log.executed?.({ ...busy, decision: expiry({ stream: 'orders/4712' }) })
    expect(entries().map(({ stream, msg }) => [stream, msg])).toEqual([
      ['orders/4711', 'another process holds the lease [lease-held]'],
      ['orders/4711', 'line 1: no [bad-document]'],
      ['orders/4712', 'another process holds the lease [lease-held]'],
    ])
  })

  test('has at most twenty ids in a line, and their number', async () => {
    const { log, entries } = await logWorld()
    await log.executed?.(carried('ended', { ended: Array.from({ length: 5_000 }, (_, at) => `01.${at}`) }))
    const [entry] = entries()
    expect(entry?.ended).toHaveLength(20)
    expect(entry?.endedEvents).toBe(5_000)
  })
})

describe('passes', () => {
  test('are logged if they did something, and so is the first one; with -v all of them', async () => {
    for (const [options, kinds] of [
      [{}, 2],
      [{ verbose: true }, 3],
    ] as const) {
      const { log, entries } = await logWorld(options)
      await log.passed?.(sweepReport())
      await log.passed?.(sweepReport({ outcomes: { already: 3, busy: 1 } }))
      await log.passed?.(sweepReport({ outcomes: { ended: 1 }, endedEvents: 1 }))
      expect(entries().filter(({ kind, level }) => kind === 'pass' && level)).toHaveLength(kinds)
    }
  })

  test('without changes are logged every ten minutes, with the next deadline', async () => {
    const world = await logWorld()
    const { log } = world
    await log.passed?.(sweepReport({ endedEvents: 2 }))
    world.lines()
    world.nowMs += 10 * MINUTE - 1
    await log.passed?.(sweepReport())
    expect(world.lines()).toEqual([])
    world.nowMs += 1
    const next = [{ stream: 'orders/17', dueMs: AT + 60 * MINUTE }]
    await log.passed?.(sweepReport({ next, overdue: 1 }))
    expect(world.entries()).toMatchObject([
      {
        kind: 'summary',
        passes: 3,
        endedEvents: 2,
        next: { stream: 'orders/17', due: '2026-03-01T15:02:11.000Z' },
        msg: 'watching 2 streams with 6 open events; 2 events ended in 10m; 1 stream overdue; next is orders/17, due 2026-03-01T15:02:11.000Z',
      },
    ])
    await log.passed?.(sweepReport())
    expect(world.lines()).toEqual([])
  })

  test('leave only warnings and errors with -q', async () => {
    const world = await logWorld({ quiet: true })
    await world.log.executed?.(carried('ended'))
    world.nowMs += 11 * MINUTE
    await world.log.passed?.(sweepReport({ outcomes: { ended: 1 } }))
    expect(world.lines()).toEqual([])
    await world.log.executed?.(carried('refused'))
    expect(heads(world.entries())).toEqual(['warn refused'])
  })
})

describe('an outage', () => {
  test('is logged once, then its end with its duration', async () => {
    const world = await logWorld({ quiet: true })
    const { log } = world
    for (let tries = 0; tries < 100; tries++) {
      await log.failed?.(failedPass())
      world.nowMs += MINUTE
    }
    expect(world.entries()).toMatchObject([
      {
        level: 'error',
        kind: 'outage',
        code: 'store-unreachable',
        since: '2026-03-01T14:02:11.000Z',
        msg: 'passes fail, so no event is ended: the store does not answer [store-unreachable]',
      },
    ])
    for (let passes = 0; passes < 2; passes++) await log.passed?.(sweepReport())
    expect(world.entries()).toMatchObject([{ kind: 'recovered', lastedMs: 100 * MINUTE }])
  })

  test('that turns into another error is logged again', async () => {
    const { log, entries } = await logWorld()
    for (const code of ['store-unreachable', 'store-unreachable', 'not-permitted']) {
      await log.failed?.(failedPass({ code }))
    }
    expect(entries().map(({ code }) => code)).toEqual(['store-unreachable', 'not-permitted'])
  })

  test('that recurs is logged again', async () => {
    const { log, entries } = await logWorld({ quiet: true })
    await log.failed?.(failedPass())
    await log.passed?.(sweepReport())
    await log.failed?.(failedPass())
    expect(heads(entries())).toEqual(['error outage', 'warn recovered', 'error outage'])
  })
})

test('the circuit breaker is logged when it opens and closes, with its numbers and advice', async () => {
  const { log, entries } = await logWorld({ quiet: true })
  for (const breaker of [OPEN_BREAKER, OPEN_BREAKER]) await log.passed?.(sweepReport({ breaker }))
  for (let passes = 0; passes < 2; passes++) await log.passed?.(sweepReport())
  const told = entries()
  expect(heads(told)).toEqual(['error breaker', 'warn breaker'])
  expect(told[0]?.msg).toMatch(/312 of 900 open events.*--max-share 20%.*--once --max-share 100%/)
})

test('gaps, unreadable documents and shards are logged', async () => {
  const { log, entries } = await logWorld()
  await log.gap?.(AT - 60 * MINUTE, AT, 'outage')
  await log.unreadable?.('orders/9', 'line 3, column 4: mismatched tag')
  await log.shards?.([1, 2], 8)
  await log.shards?.([2, 3], 8)
  await log.shards?.([], 8)
  expect(entries()).toMatchObject([
    { level: 'warn', kind: 'blind', from: '2026-03-01T13:02:11.000Z', why: 'outage' },
    {
      level: 'warn',
      kind: 'unreadable',
      stream: 'orders/9',
      msg: 'line 3, column 4: mismatched tag; it is never aborted',
    },
    { held: [1, 2], taken: [1, 2], left: [], msg: 'holds 2 of 8 shards; took 1 2' },
    { held: [2, 3], taken: [3], left: [1], msg: 'holds 2 of 8 shards; took 3; released 1' },
    { held: [], msg: 'standby: holds none of 8; released 2 3' },
  ])
})

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Metrics, openMetrics } from '../../../../src/watchdog/metrics/metrics.ts'
import { AT, carried, expiry, failedPass, OPEN_BREAKER, sweepReport } from '../reports.ts'

const PREFIX = 'leasectl_watchdog_'

const QUIET = { read: () => ({ p50: 0, p99: 0, max: 0 }), close: () => {} }

function metricsOf(more: Partial<Parameters<typeof openMetrics>[0]> = {}): Promise<Metrics> {
  return openMetrics({ version: '1.2.3', nowMs: () => AT, loopDelay: QUIET, ofProcess: false, ...more })
}

/** The value of a series, named without the prefix. */
async function seriesValue(metrics: Metrics, series: string): Promise<number | undefined> {
  const line = (await metrics.text()).split('\n').find(text => text.startsWith(`${PREFIX}${series} `))
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')))
}

test('docs/watchdog-metrics.md lists exactly the existing metrics with type and labels', async () => {
  expect(described(await (await metricsOf()).text())).toEqual(documented())
})

test('every series of an outcome, a status and a code exists from the beginning', async () => {
  const metrics = await metricsOf()
  for (const series of [
    'decisions_total{outcome="unknown"}',
    'streams{status="unreadable"}',
    'failed_passes_total{code="not-permitted"}',
    'pass_duration_seconds_count{kind="appointment"}',
    'hook_deliveries_total{hook="failed",outcome="given-up"}',
    'last_sweep_timestamp_seconds',
    'breaker_open',
  ]) {
    expect(await seriesValue(metrics, series), series).toBe(0)
  }
})

describe('streams by status', () => {
  test('are those of the last report: a status without streams is 0 again', async () => {
    const metrics = await metricsOf()
    await metrics.passed?.(sweepReport({ streams: { inprocess: 2, aborted: 1 } }))
    await metrics.passed?.(sweepReport({ streams: { completed: 3, 'not-started': 1, unreadable: 2 } }))
    expect(await seriesValue(metrics, 'streams{status="inprocess"}')).toBe(0)
    expect(await seriesValue(metrics, 'streams{status="completed"}')).toBe(3)
    expect(await seriesValue(metrics, 'streams{status="unreadable"}')).toBe(2)
  })

  test('have one series for all foreign statuses', async () => {
    const metrics = await metricsOf()
    const strange = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`st"r\n${at}`, 1]))
    await metrics.passed?.(sweepReport({ streams: { ...strange, constructor: 1, inprocess: 1 } }))
    expect(await seriesValue(metrics, 'streams{status="other"}')).toBe(101)
    expect((await metrics.text()).match(/^leasectl_watchdog_streams\{/gm)).toHaveLength(8)
  })
})

test('a report becomes gauges, in seconds', async () => {
  const metrics = await metricsOf()
  const next = [{ stream: 'a', dueMs: AT + 60_000 }]
  await metrics.passed?.(sweepReport({ overdue: 2, deferred: 7, skewMs: -1500, next, total: 9, endedEvents: 4 }))
  expect(await seriesValue(metrics, 'overdue_streams')).toBe(2)
  expect(await seriesValue(metrics, 'deferred_decisions')).toBe(7)
  expect(await seriesValue(metrics, 'clock_skew_seconds')).toBe(-1.5)
  expect(await seriesValue(metrics, 'next_due_timestamp_seconds')).toBe(AT / 1000 + 60)
  expect(await seriesValue(metrics, 'listed_streams')).toBe(9)
  expect(await seriesValue(metrics, 'open_events')).toBe(6)
  expect(await seriesValue(metrics, 'expired_events_total')).toBe(4)
  expect(await seriesValue(metrics, 'documents_read_total')).toBe(1)
  expect(await seriesValue(metrics, 'pass_duration_seconds_sum{kind="sweep"}')).toBe(0.3)
  expect(await seriesValue(metrics, 'listing_duration_seconds_sum')).toBe(0.2)
})

test('Failures, silent workers and ready events are gauges; a step without events has no series.', async () => {
  const metrics = await metricsOf()
  const ready = [
    { step: 'Pay', count: 3 },
    { step: 'x"\n', count: 1 },
    { step: `${'y'.repeat(100)}1`, count: 1 },
    { step: `${'y'.repeat(100)}2`, count: 1 },
  ]
  await metrics.passed?.(
    sweepReport({ work: { failed: 180, abandoned: 80, suspended: 7, ready, readySinceMs: AT - 60_000 } }),
  )
  expect(await seriesValue(metrics, 'failed_streams')).toBe(180)
  expect(await seriesValue(metrics, 'abandoned_streams')).toBe(80)
  expect(await seriesValue(metrics, 'suspended_streams')).toBe(7)
  expect(await seriesValue(metrics, 'ready_events{step="Pay"}')).toBe(3)
  expect(await seriesValue(metrics, 'ready_events{step="x\\"␊"}')).toBe(1)
  expect(await seriesValue(metrics, `ready_events{step="${'y'.repeat(100)}"}`)).toBe(2)
  expect(await seriesValue(metrics, 'oldest_ready_timestamp_seconds')).toBe(AT / 1000 - 60)
  await metrics.passed?.(sweepReport())
  expect(await seriesValue(metrics, 'failed_streams')).toBe(0)
  expect(await seriesValue(metrics, 'ready_events{step="Pay"}')).toBeUndefined()
  expect(await seriesValue(metrics, 'oldest_ready_timestamp_seconds')).toBe(0)
})

test('only a complete sweep updates the time of the last sweep', async () => {
  let nowMs = AT
  const metrics = await metricsOf({ nowMs: () => nowMs })
  await metrics.passed?.(sweepReport())
  nowMs += 5_000
  await metrics.passed?.(sweepReport({ kind: 'appointment' }))
  await metrics.failed?.(failedPass())
  expect(await seriesValue(metrics, 'last_sweep_timestamp_seconds')).toBe(AT / 1000)
  expect(await seriesValue(metrics, 'last_pass_timestamp_seconds')).toBe(AT / 1000 + 5)
})

test('unexpected codes of failed passes are one series', async () => {
  const metrics = await metricsOf()
  for (const code of ['store-unreachable', 'x-1', 'x-2']) await metrics.failed?.(failedPass({ code }))
  expect(await seriesValue(metrics, 'failed_passes_total{code="store-unreachable"}')).toBe(1)
  expect(await seriesValue(metrics, 'failed_passes_total{code="other"}')).toBe(2)
})

test('decisions are counted by outcome, and refused and unknown ones separately too', async () => {
  const metrics = await metricsOf()
  for (const outcome of ['ended', 'refused', 'unknown', 'unknown'] as const) await metrics.executed?.(carried(outcome))
  expect(await seriesValue(metrics, 'decisions_total{outcome="unknown"}')).toBe(2)
  expect(await seriesValue(metrics, 'refused_total')).toBe(1)
  expect(await seriesValue(metrics, 'unknown_total')).toBe(2)
})

test('the latency runs from due to ended, never below 0, only for ended events', async () => {
  const metrics = await metricsOf()
  await metrics.executed?.(carried('ended'))
  await metrics.executed?.(carried('ended', { decision: expiry({ dueMs: AT + 5_000 }) }))
  await metrics.executed?.(carried('busy', { decision: expiry({ dueMs: AT - 60_000 }) }))
  expect(await seriesValue(metrics, 'expiry_latency_seconds_sum')).toBe(0.4)
  expect(await seriesValue(metrics, 'expiry_latency_seconds_count')).toBe(2)
})

test('a circuit breaker that stays open has tripped once', async () => {
  const metrics = await metricsOf()
  for (const breaker of [OPEN_BREAKER, OPEN_BREAKER]) await metrics.passed?.(sweepReport({ breaker }))
  expect(await seriesValue(metrics, 'breaker_open')).toBe(1)
  expect(await seriesValue(metrics, 'breaker_would_end_events')).toBe(312)
  expect(await seriesValue(metrics, 'breaker_trips_total')).toBe(1)
  await metrics.passed?.(sweepReport())
  await metrics.passed?.(sweepReport({ breaker: OPEN_BREAKER }))
  expect(await seriesValue(metrics, 'breaker_trips_total')).toBe(2)
})

test('a purge counts the streams that it removed, or its failure', async () => {
  const metrics = await metricsOf()
  expect(await seriesValue(metrics, 'purged_streams_total')).toBe(0)
  metrics.purged(3)
  metrics.purged(2)
  metrics.purged()
  expect(await seriesValue(metrics, 'purged_streams_total')).toBe(5)
  expect(await seriesValue(metrics, 'failed_purges_total')).toBe(1)
})

test('values that are not numbers are omitted instead of thrown', async () => {
  const metrics = await metricsOf()
  await metrics.passed?.(sweepReport({ skewMs: Number.NaN, overdue: Number.NaN }))
  await metrics.executed?.(carried('ended', { atMs: Number.NaN }))
  expect(await seriesValue(metrics, 'clock_skew_seconds')).toBe(0)
})

test('shards, observation gaps and hooks are counted', async () => {
  const metrics = await metricsOf()
  await metrics.shards?.([1, 4], 8)
  await metrics.gap?.(AT, AT + 1, 'outage')
  metrics.delivery({ kind: 'done', outcome: 'given-up' })
  metrics.hooksPending(() => 3)
  expect(await seriesValue(metrics, 'shards_held')).toBe(2)
  expect(await seriesValue(metrics, 'shards')).toBe(8)
  expect(await seriesValue(metrics, 'blind_spots_total{why="outage"}')).toBe(1)
  expect(await seriesValue(metrics, 'hook_deliveries_total{hook="done",outcome="given-up"}')).toBe(1)
  expect(await seriesValue(metrics, 'hook_deliveries_pending')).toBe(3)
})

test('the lag of the event loop is measured since the last scrape', async () => {
  const lags = [0.5, 0.001]
  const loopDelay = { ...QUIET, read: () => ({ p50: 0, p99: 0, max: lags.shift() ?? 0 }) }
  const metrics = await metricsOf({ loopDelay })
  expect(await seriesValue(metrics, 'event_loop_lag_seconds{quantile="1"}')).toBe(0.5)
  expect(await seriesValue(metrics, 'event_loop_lag_seconds{quantile="1"}')).toBe(0.001)
})

test('two watchdogs in one process have their own metrics, with those of the process', async () => {
  const first = await metricsOf({ ofProcess: true })
  const second = await openMetrics({ version: '1.2.3', nowMs: () => AT })
  await first.passed?.(sweepReport({ overdue: 5 }))
  expect(await seriesValue(second, 'overdue_streams')).toBe(0)
  const text = await second.text()
  expect(text).toMatch(/^process_resident_memory_bytes \d+/m)
  expect(text).toMatch(/^leasectl_watchdog_event_loop_lag_seconds\{quantile="0.99"\} [\d.e-]+$/m)
  expect(text).not.toContain('nodejs_eventloop_lag')
  expect(second.contentType).toMatch(/^text\/plain; version=0\.0\.4/)
  second.close()
})

type Row = readonly [name: string, type: string, labels: string]

function described(text: string): Row[] {
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  return types
    .map(([, name = '', type = '']): Row => {
      const series = new RegExp(`^${name}(?:_bucket)?\\{(.*)\\} `, 'm').exec(text)?.[1] ?? ''
      const labels = [...series.matchAll(/(\w+)="/g)].map(([, label]) => label).filter(label => label !== 'le')
      return [name.replace(PREFIX, ''), type, labels.sort().join(' ')]
    })
    .sort(byName)
}

function documented(): Row[] {
  const page = readFileSync(new URL('../../../../docs/watchdog-metrics.md', import.meta.url), 'utf8')
  const rows = page.matchAll(/^\| `(\w+)` \| (gauge|counter|histogram) \|([^|]*)\|/gm)
  return [...rows]
    .map(([, name = '', type = '', labels = '']): Row => {
      return [
        name,
        type,
        [...labels.matchAll(/\w+/g)]
          .map(([label]) => label)
          .sort()
          .join(' '),
      ]
    })
    .sort(byName)
}

function byName([a]: Row, [b]: Row): number {
  return a < b ? -1 : 1
}

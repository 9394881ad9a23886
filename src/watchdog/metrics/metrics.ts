import { type LoopDelay, watchLoopDelay } from '../../http/instruments.ts'
import { stepLabel } from '../../ops/steps.ts'
import type { ExecutedDecision } from '../decision.ts'
import type { DeliveryReport } from '../hooks/attempt.ts'
import type { Observer, PassReport } from '../report.ts'
import {
  FAILURE_CODES,
  type Instruments,
  known,
  OUTCOMES,
  openInstruments,
  resetReady,
  STATUSES,
} from './instruments.ts'

export interface MetricsOptions {
  /** Version of leasectl, for `build_info`. */
  readonly version: string
  /** The clock of this machine, epoch ms: Prometheus compares it with its own. */
  nowMs(): number
  /** The lag of the event loop; default: measured. */
  readonly loopDelay?: LoopDelay
  /** Also metrics of the process: CPU, memory, garbage collection; default true. */
  readonly ofProcess?: boolean
}

/** Metrics of a watchdog for Prometheus; docs/watchdog-metrics.md lists their names. */
export interface Metrics extends Observer {
  readonly contentType: string
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>
  /** Counts an attempt to deliver to a hook. */
  delivery(report: Pick<DeliveryReport, 'kind' | 'outcome'>): void
  /** Counts the streams that a purge removed; without a number it failed. */
  purged(streams?: number): void
  /** Sets the source of the number of deliveries that wait or are in progress, read at each scrape. */
  hooksPending(count: () => number): void
  /** Stops measuring. */
  close(): void
}

/** Opens metrics in a new registry. Loads prom-client. */
export async function openMetrics(options: MetricsOptions): Promise<Metrics> {
  const client = await import('prom-client')
  const loopDelay = options.loopDelay ?? watchLoopDelay()
  let pending = (): number => 0
  const { registry, instruments } = openInstruments(client, { ...options, loopDelay, hooksPending: () => pending() })
  return {
    ...observerOf(instruments, options),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    delivery: ({ kind, outcome }) => instruments.hookDeliveries.inc({ hook: kind, outcome }),
    purged: streams => (streams === undefined ? instruments.purgeFailures.inc() : instruments.purged.inc(streams)),
    hooksPending: count => {
      pending = count
    },
    close: () => loopDelay.close(),
  }
}

function observerOf(instruments: Instruments, { nowMs }: MetricsOptions): Observer {
  let wasOpen = false
  return {
    executed: carried => countCarried(instruments, carried),
    passed(report) {
      passed(instruments, report, nowMs())
      if (report.breaker.isOpen && !wasOpen) instruments.breakerTrips.inc()
      wasOpen = report.breaker.isOpen
    },
    failed: ({ code }) => {
      instruments.lastPass.set(nowMs() / 1000)
      instruments.failedPasses.inc({ code: known(FAILURE_CODES, code) })
    },
    gap: (_fromMs, _toMs, why) => instruments.blind.inc({ why }),
    shards(held, total) {
      instruments.shards.set(total)
      instruments.shardsHeld.set(held.length)
    },
  }
}

function countCarried(instruments: Instruments, { decision, outcome, atMs }: ExecutedDecision): void {
  instruments.decisions.inc({ outcome: known(OUTCOMES, outcome) })
  if (outcome === 'refused') instruments.refused.inc()
  if (outcome === 'unknown') instruments.unknown.inc()
  if (outcome !== 'ended' || decision.kind === 'settle') return
  const latencyMs = atMs - decision.dueMs
  if (Number.isFinite(latencyMs)) instruments.latency.observe(Math.max(0, latencyMs) / 1000)
}

function passed(instruments: Instruments, report: PassReport, nowMs: number): void {
  instruments.lastPass.set(nowMs / 1000)
  instruments.passSeconds.observe({ kind: report.kind }, report.tookMs / 1000)
  instruments.documents.inc(report.documents)
  instruments.expiredEvents.inc(report.endedEvents)
  set(instruments.overdue, report.overdue)
  set(instruments.deferred, report.deferred)
  set(instruments.skew, report.skewMs / 1000)
  set(instruments.nextDue, (report.next[0]?.dueMs ?? 0) / 1000)
  instruments.breakerOpen.set(report.breaker.isOpen ? 1 : 0)
  set(instruments.breakerWouldEnd, report.breaker.wouldEnd)
  if (report.kind === 'sweep') instruments.lastSweep.set(nowMs / 1000)
  if (report.listedMs !== undefined) instruments.listingSeconds.observe(report.listedMs / 1000)
  countStreams(instruments, report)
}

function countStreams(instruments: Instruments, report: PassReport): void {
  set(instruments.listed, report.total)
  set(instruments.watched, report.watched)
  set(instruments.openEvents, report.openEvents)
  countWork(instruments, report.work)
  for (const [status, count] of byStatus(report.streams)) instruments.streams.set({ status }, count)
}

/** Steps that are gone lose their series: an alert on a backlog has to end. */
function countWork(
  instruments: Instruments,
  { failed, abandoned, suspended, ready, readySinceMs = 0 }: PassReport['work'],
): void {
  set(instruments.failed, failed)
  set(instruments.abandoned, abandoned)
  set(instruments.suspended, suspended)
  set(instruments.oldestReady, readySinceMs / 1000)
  resetReady(instruments)
  for (const { step, count } of ready) instruments.ready.inc({ step: stepLabel(step) }, count)
}

/** Statuses of foreign streams are untrusted: unknown ones count as `other`. */
function byStatus(streams: PassReport['streams']): ReadonlyMap<string, number> {
  const counts = new Map<string, number>(STATUSES.map(status => [status, 0]))
  for (const [status, count = 0] of Object.entries(streams)) {
    const label = known(STATUSES, status)
    counts.set(label, (counts.get(label) ?? 0) + count)
  }
  return counts
}

/** A gauge throws for NaN and infinities; an observer must not. */
function set(gauge: { set(value: number): void }, value: number): void {
  if (Number.isFinite(value)) gauge.set(value)
}

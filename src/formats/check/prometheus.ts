import type { Check, CheckResult } from '../../ops/check/check.ts'
import type { InboxSeen } from '../../ops/check/inboxes.ts'
import { STATUS_KINDS, type StoreScan } from '../../ops/check/scan.ts'
import type { SubscriptionSeen } from '../../ops/check/subscriptions.ts'
import { STEP_COUNTS, type StepWork, stepLabel } from '../../ops/steps.ts'
import { visibleText } from '../../util/visible-text.ts'
import { type CheckContext, EXITS } from './json.ts'

/** The result of a check as metrics. Each carries the store, so that the metrics of several stores can be combined. */
export function checkMetrics(result: CheckResult, context: CheckContext): string {
  return exposition(checkGauges(result, context))
}

export function checkGauges(result: CheckResult, context: CheckContext): Gauge[] {
  return labelled([statusGauge(EXITS[result.status]), ...foundGauges(result), ...timeGauges(context)], context)
}

/** The metrics of a check that did not complete: a comment has the reason, unknown values are left out. */
export function unknownMetrics(message: string, code: string, context: CheckContext): string {
  return unknownComment(message, code) + exposition(unknownGauges(context))
}

export function unknownComment(message: string, code: string): string {
  return `# unknown: ${visibleText(message)} [${code}]\n`
}

export function unknownGauges(context: CheckContext): Gauge[] {
  return labelled([statusGauge(EXITS.unknown), ...timeGauges(context)], context)
}

/** Checks with different patterns over one store are different sets of metrics. */
function labelled(gauges: readonly Gauge[], { name, store, match }: CheckContext): Gauge[] {
  return gauges.map(({ samples, ...gauge }) => ({
    ...gauge,
    samples: samples.map(({ labels, value }) => ({ labels: { context: name, store, match, ...labels }, value })),
  }))
}

function statusGauge(value: number): Gauge {
  return gauge('status', 'The worst of all checks: 0 ok, 1 warning, 2 critical, 3 unknown.', value)
}

function timeGauges({ atMs, tookMs }: CheckContext): Gauge[] {
  return [
    gauge('timestamp_seconds', 'Time of the check, seconds since 1970: alert when it grows old.', atMs / 1_000),
    ...(tookMs === undefined ? [] : [gauge('duration_seconds', 'Duration of the check.', tookMs / 1_000)]),
  ]
}

function foundGauges({ checks, look, sweeping, subscriptions, inboxes }: CheckResult): Gauge[] {
  const oldest = look.overdue.examples[0]
  return [
    gaugeOf('result', 'Result of each check: 0 ok, 1 warning, 2 critical.', checks.map(resultOf)),
    gaugeOf(
      'streams',
      'Streams by the status of their root.',
      STATUS_KINDS.map(status => ({ labels: { status }, value: look.byStatus[status] })),
    ),
    gauge('open_events', 'Events that have not ended.', look.openEvents),
    gauge('limited_streams', 'Streams with an event that has a time limit.', look.withLimit),
    gauge('overdue_streams', 'Streams with an overdue event.', look.overdue.count),
    gauge('overdue_oldest_seconds', 'Time since the oldest of them became overdue.', secondsSince(oldest?.dueMs, look)),
    gauge('failed_streams', 'Streams with an unacknowledged failure within --failed-since.', look.failed.count),
    gauge('unacknowledged_streams', 'Streams with an unacknowledged failure, however old.', look.unacknowledged),
    gauge('suspended_streams', 'Streams that an operator has suspended.', look.suspended),
    gauge('abandoned_streams', 'Streams with a silent worker: a claim has ended.', look.abandoned.count),
    gauge(
      'abandoned_oldest_seconds',
      'Time since the first of their claims ended.',
      secondsSince(look.abandoned.examples[0]?.claimEndMs, look),
    ),
    gauge(
      'ready_oldest_seconds',
      'Age of the oldest event that is ready, but that no worker has started.',
      secondsSince(look.readySinceMs, look),
    ),
    gaugeOf(
      'step_events',
      'Events by name (step) and status: ready, running, abandoned; failed: unacknowledged first failures.',
      stepSamples(look.steps),
    ),
    gauge('held_leases', 'Leases that are held.', look.leased),
    gauge('stuck_leases', 'Leases that look abandoned.', look.stuck.count),
    gauge('unsettled_streams', 'Streams that other programs left unsettled.', look.unsettled.count),
    gauge('unreadable_streams', 'Documents that cannot be read.', look.unreadable.count),
    gauge('watchdogs', 'Watchdogs that sweep: neither stopped nor late.', sweeping.length),
    ...subscriptionGauges(subscriptions),
    ...inboxGauges(inboxes),
    ...checks.flatMap(watchdogGauges),
  ]
}

/** 0 for what there is not. */
function secondsSince(ms: number | undefined, { nowMs }: StoreScan): number {
  return ms === undefined ? 0 : Math.max(0, nowMs - ms) / 1_000
}

/** Names that look the same in a label are one step: a series must not be there twice. */
function stepSamples(steps: readonly StepWork[]): Sample[] {
  const labels = Map.groupBy(steps, ({ step }) => stepLabel(step))
  return [...labels].flatMap(([step, same]) =>
    STEP_COUNTS.map(status => ({
      labels: { step, status },
      value: same.reduce((sum, work) => sum + work[status], 0),
    })),
  )
}

/** Gauges without samples are left out: a store without subscriptions has none. */
function subscriptionGauges(subscriptions: readonly SubscriptionSeen[]): Gauge[] {
  const readable = subscriptions.filter(({ error }) => error === undefined)
  const of = (name: string, help: string, value: (seen: SubscriptionSeen) => number) =>
    gaugeOf(
      `subscription_${name}`,
      help,
      readable.map(seen => ({ labels: { subscription: seen.name }, value: value(seen) })),
    )
  return [
    of('lag_seconds', 'Age of the oldest transaction that a subscription has not handled.', seen => seen.lagMs / 1_000),
    of('parked_streams', 'Streams that do not go on until someone decides.', seen => seen.parked),
    of('waiting_streams', 'Streams that are tried again by themselves.', seen => seen.waiting),
    of('unheld_shards', 'Shards that no process runs.', seen => seen.shards - seen.held),
  ]
}

function inboxGauges(inboxes: readonly InboxSeen[]): Gauge[] {
  const readable = inboxes.filter(({ partitions }) => partitions > 0)
  const of = (name: string, help: string, value: (seen: InboxSeen) => number) =>
    gaugeOf(
      `inbox_${name}`,
      help,
      readable.map(seen => ({ labels: { inbox: seen.name }, value: value(seen) })),
    )
  return [
    of('waiting_records', 'Records that are not drained; an estimate where there are many.', seen => seen.records),
    of('oldest_seconds', 'Age of the oldest record that is not drained.', seen => (seen.ageMs ?? 0) / 1_000),
    of('put_per_second', 'Records put a second in the last minute.', seen => seen.rate.in),
    of('drained_per_second', 'Records drained a second in the last minute.', seen => seen.rate.out),
    of('dead_letters', 'Dead letters that nobody has retried or dropped.', seen => seen.dead),
    of('undrained_partitions', 'Partitions that no drain has.', seen => seen.partitions - seen.owned),
  ]
}

function watchdogGauges(check: Check): Gauge[] {
  if (check.name !== 'watchdog' || check.verdict.lagMs === undefined) return []
  const { lagMs, faults } = check.verdict
  const unheld = faults.find(fault => fault.kind === 'shards-unheld')?.shards.length ?? 0
  const isOpen = faults.some(({ kind }) => kind === 'breaker-open')
  return [
    gauge('watchdog_lag_seconds', 'Time since the last sweep of the watchdog that swept last.', lagMs / 1_000),
    gauge('watchdog_breaker_open', '1 while a circuit breaker keeps a watchdog from ending events.', isOpen ? 1 : 0),
    gauge('watchdog_unheld_shards', 'Shards that no watchdog holds.', unheld),
  ]
}

function resultOf({ name, status }: Check): Sample {
  return { labels: { check: name }, value: EXITS[status] }
}

function gauge(name: string, help: string, value: number): Gauge {
  return gaugeOf(name, help, [{ value }])
}

function gaugeOf(name: string, help: string, samples: readonly Sample[]): Gauge {
  return { name: `leasectl_check_${name}`, help, samples }
}

/** One value of a gauge, with its labels. */
interface Sample {
  readonly labels?: { readonly [label: string]: string | undefined }
  readonly value: number
}

/** A gauge; its name ends with its unit. */
export interface Gauge {
  readonly name: string
  readonly help: string
  readonly samples: readonly Sample[]
}

/**
 * The text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats). Gauges without samples
 * and labels without a value are left out. Untrusted texts cannot break out of their label.
 */
export function exposition(gauges: readonly Gauge[]): string {
  return gauges
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, help, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} gauge`,
      ...samples.map(sample => `${name}${labelsText(sample)} ${sample.value}`),
    ])
    .map(line => `${line}\n`)
    .join('')
}

function labelsText({ labels = {} }: Sample): string {
  const pairs = Object.entries(labels).flatMap(([label, text]) => (text ? [`${label}="${escapeLabel(text)}"`] : []))
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/** Line breaks need no escape: `visibleText` has replaced them by a symbol. */
function escapeLabel(text: string): string {
  return visibleText(text.toWellFormed()).replace(/[\\"]/g, '\\$&')
}

import type { Check, CheckResult } from '../../ops/check/check.ts'
import { STATUS_KINDS } from '../../ops/check/scan.ts'
import { visibleText } from '../../util/visible-text.ts'
import { type CheckContext, EXITS } from './json.ts'

/** What a check found, as metrics. All carry the store, so that those of several stores can stand side by side. */
export function checkMetrics(result: CheckResult, context: CheckContext): string {
  return exposition(
    labelled([statusGauge(EXITS[result.status]), ...foundGauges(result), ...timeGauges(context)], context),
  )
}

/** The same of a check that came to no end: a comment says why, what was not found is not there. */
export function unknownMetrics(message: string, code: string, context: CheckContext): string {
  return (
    `# unknown: ${visibleText(message)} [${code}]\n` +
    exposition(labelled([statusGauge(EXITS.unknown), ...timeGauges(context)], context))
  )
}

/** Two patterns over one store are two sets of metrics. */
function labelled(gauges: readonly Gauge[], { store, match }: CheckContext): Gauge[] {
  return gauges.map(({ samples, ...gauge }) => ({
    ...gauge,
    samples: samples.map(({ labels, value }) => ({ labels: { store, match, ...labels }, value })),
  }))
}

function statusGauge(value: number): Gauge {
  return one('status', 'The worst of all checks: 0 ok, 1 warning, 2 critical, 3 unknown.', value)
}

function timeGauges({ atMs, tookMs }: CheckContext): Gauge[] {
  return [
    one('timestamp_seconds', 'When it was looked, seconds since 1970: alert when it grows old.', atMs / 1_000),
    ...(tookMs === undefined ? [] : [one('duration_seconds', 'How long it took.', tookMs / 1_000)]),
  ]
}

function foundGauges({ checks, look, sweeping }: CheckResult): Gauge[] {
  const oldest = look.overdue.examples[0]
  return [
    many('result', 'How each check went: 0 ok, 1 warning, 2 critical.', checks.map(resultOf)),
    many(
      'streams',
      'Streams by the status of their root.',
      STATUS_KINDS.map(status => ({ labels: { status }, value: look.byStatus[status] })),
    ),
    one('open_events', 'Events that have not ended.', look.openEvents),
    one('limited_streams', 'Streams with an event under a time limit.', look.withLimit),
    one('overdue_streams', 'Streams with an event that has outlived its time limit.', look.overdue.count),
    one(
      'overdue_oldest_seconds',
      'For how long the oldest of them has been overdue.',
      oldest === undefined ? 0 : (look.nowMs - oldest.dueMs) / 1_000,
    ),
    one('held_leases', 'Leases that are held.', look.leased),
    one('stuck_leases', 'Leases that look left behind.', look.stuck.count),
    one('unsettled_streams', 'Streams that other programs left to be settled.', look.unsettled.count),
    one('unreadable_streams', 'Documents that cannot be read.', look.unreadable.count),
    one('watchdogs', 'Watchdogs that sweep: they have not ended and are not late.', sweeping.length),
    ...checks.flatMap(watchdogGauges),
  ]
}

function watchdogGauges(check: Check): Gauge[] {
  if (check.name !== 'watchdog' || check.verdict.lagMs === undefined) return []
  const { lagMs, faults } = check.verdict
  const unheld = faults.find(fault => fault.kind === 'shards-unheld')?.shards.length ?? 0
  const isOpen = faults.some(({ kind }) => kind === 'breaker-open')
  return [
    one('watchdog_lag_seconds', 'Time since the last sweep of the watchdog that swept last.', lagMs / 1_000),
    one('watchdog_breaker_open', '1 while a breaker lets a watchdog end nothing.', isOpen ? 1 : 0),
    one('watchdog_unheld_shards', 'Shards that no watchdog holds.', unheld),
  ]
}

function resultOf({ name, status }: Check): Sample {
  return { labels: { check: name }, value: EXITS[status] }
}

function one(name: string, help: string, value: number): Gauge {
  return many(name, help, [{ value }])
}

function many(name: string, help: string, samples: readonly Sample[]): Gauge {
  return { name: `leasectl_check_${name}`, help, samples }
}

/** One value that goes up and down, with its labels. */
interface Sample {
  readonly labels?: { readonly [label: string]: string | undefined }
  readonly value: number
}

/** What is measured, in a unit that its name ends with. */
interface Gauge {
  readonly name: string
  readonly help: string
  readonly samples: readonly Sample[]
}

/**
 * The text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats). Gauges without samples are
 * left out, labels without a value too. Texts of strangers cannot leave their label.
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
  const pairs = Object.entries(labels).flatMap(([label, text]) => (text ? [`${label}="${escaped(text)}"`] : []))
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/** No text has a line break here: `visibleText` shows it as a sign. */
function escaped(text: string): string {
  return visibleText(text.toWellFormed()).replace(/[\\"]/g, '\\$&')
}

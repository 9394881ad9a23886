import type { Registry } from 'prom-client'
import { type LoopDelay, loopLag, type Maker, makerOf, ofProcess, type PromClient } from '../../http/instruments.ts'
import type { DecisionOutcome } from '../decision.ts'
import type { DeliveryReport } from '../hooks/attempt.ts'
import { HOOK_KINDS } from '../hooks/target.ts'

/** Prefix of all metrics of the watchdog itself. */
const METRIC_PREFIX = 'leasectl_watchdog_'

const PASS_BUCKETS_S = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
const LATENCY_BUCKETS_S = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600]

export type Instruments = ReturnType<typeof instrumentsOf>

export interface InstrumentOptions {
  readonly version: string
  readonly loopDelay: LoopDelay
  readonly ofProcess?: boolean
  hooksPending(): number
}

export function openInstruments(
  client: PromClient,
  options: InstrumentOptions,
): { readonly registry: Registry; readonly instruments: Instruments } {
  const registry = new client.Registry()
  const maker = makerOf(client, registry, METRIC_PREFIX)
  const instruments = instrumentsOf(maker)
  startAtZero(instruments)
  loopLag(maker, options.loopDelay)
  pending(maker, options)
  maker
    .gauge('build_info', 'Always 1; the versions of leasectl and Node', ['version', 'node'])
    .set({ version: options.version, node: process.version }, 1)
  if (options.ofProcess !== false) ofProcess(client, registry)
  return { registry, instruments }
}

function instrumentsOf(maker: Maker) {
  return {
    ...passInstruments(maker),
    ...streamInstruments(maker),
    ...decisionInstruments(maker),
    ...breakerInstruments(maker),
    ...otherInstruments(maker),
  }
}

function passInstruments({ gauge, counter, histogram }: Maker) {
  return {
    passSeconds: histogram(
      'pass_duration_seconds',
      'Duration of passes: a sweep lists all streams, an appointment inspects those with a deadline that just expired',
      PASS_BUCKETS_S,
      ['kind'],
    ),
    listingSeconds: histogram('listing_duration_seconds', 'Duration of the listing of a sweep', PASS_BUCKETS_S),
    failedPasses: counter('failed_passes_total', 'Failed passes, by error code', ['code']),
    lastPass: gauge('last_pass_timestamp_seconds', 'When the last pass ended, completed or failed; 0 before the first'),
    lastSweep: gauge('last_sweep_timestamp_seconds', 'When the last sweep was completed; 0 before the first'),
    documents: counter('documents_read_total', 'Documents read because their summaries did not suffice'),
    blind: counter('blind_spots_total', 'Gaps in observation, after which observation started again', ['why']),
  }
}

function streamInstruments({ gauge }: Maker) {
  return {
    streams: gauge('streams', 'Watched streams by status, as of the last sweep', ['status']),
    listed: gauge('listed_streams', 'Streams listed by the last sweep, including those of other shards'),
    watched: gauge('watched_streams', 'Streams watched by this process'),
    openEvents: gauge('open_events', 'Open events of the watched streams'),
    overdue: gauge('overdue_streams', 'Streams with an open event past its deadline'),
    suspended: gauge('suspended_streams', 'Streams that an operator has suspended'),
    failed: gauge('failed_streams', 'Streams with a failure that nobody has acknowledged'),
    abandoned: gauge('abandoned_streams', 'Streams with a silent worker: a claim has ended'),
    ready: gauge('ready_events', 'Events that are ready, but that no worker has started, by name', ['step']),
    oldestReady: gauge('oldest_ready_timestamp_seconds', 'Since when the oldest of them is ready; 0 without one'),
    nextDue: gauge('next_due_timestamp_seconds', 'The earliest deadline; 0 without one'),
  }
}

function decisionInstruments({ gauge, counter, histogram }: Maker) {
  return {
    decisions: counter('decisions_total', 'Decisions executed or attempted, by outcome', ['outcome']),
    refused: counter('refused_total', 'Decisions refused because of the state of the stream'),
    unknown: counter('unknown_total', 'Decisions without an answer, which may have been applied'),
    deferred: gauge('deferred_decisions', 'Decisions deferred by the last pass'),
    expiredEvents: counter('expired_events_total', 'Events ended by this process'),
    latency: histogram('expiry_latency_seconds', 'Time from a deadline to the end of the event', LATENCY_BUCKETS_S),
  }
}

function breakerInstruments({ gauge, counter }: Maker) {
  return {
    breakerOpen: gauge('breaker_open', '1 while the circuit breaker is open and no event is ended, otherwise 0'),
    breakerWouldEnd: gauge(
      'breaker_would_end_events',
      'Events that the last pass would have ended, as counted by the circuit breaker',
    ),
    breakerTrips: counter('breaker_trips_total', 'Times the circuit breaker opened'),
  }
}

function otherInstruments({ gauge, counter }: Maker) {
  return {
    skew: gauge('clock_skew_seconds', "The store's clock minus that of this machine"),
    shards: gauge('shards', 'Total number of shards; 0 without --shards'),
    shardsHeld: gauge('shards_held', 'Shards held by this process'),
    purged: counter('purged_streams_total', 'Old streams removed by this process'),
    purgeFailures: counter('failed_purges_total', 'Searches for old streams that failed'),
    hookDeliveries: counter('hook_deliveries_total', 'Attempts to deliver to hooks', ['hook', 'outcome']),
  }
}

/** Initializes all series, since alerts need series that exist. */
function startAtZero(instruments: Instruments): void {
  const { streams, decisions, failedPasses, blind, hookDeliveries, passSeconds } = instruments
  resetReady(instruments)
  for (const status of STATUSES) streams.set({ status }, 0)
  for (const outcome of OUTCOMES) decisions.inc({ outcome }, 0)
  for (const code of FAILURE_CODES) failedPasses.inc({ code }, 0)
  for (const why of ['outage', 'pause', 'clock', 'start']) blind.inc({ why }, 0)
  for (const kind of ['sweep', 'appointment']) passSeconds.zero({ kind })
  for (const hook of HOOK_KINDS) for (const outcome of HOOK_OUTCOMES) hookDeliveries.inc({ hook, outcome }, 0)
}

/** Removes the series of all steps but `other`, which alerts on sums need. */
export function resetReady({ ready }: Pick<Instruments, 'ready'>): void {
  ready.reset()
  ready.set({ step: OTHER }, 0)
}

function pending({ gauge }: Maker, { hooksPending }: InstrumentOptions): void {
  const help = 'Deliveries to hooks that wait or are in progress'
  gauge('hook_deliveries_pending', help, [], waiting => waiting.set(hooksPending()))
}

/** Replaces unknown values, which bounds the number of series against untrusted input. */
const OTHER = 'other'

/** Statuses of streams with a series of their own. */
export const STATUSES = [
  'init',
  'inprocess',
  'completed',
  'aborted',
  'canceled',
  'unreadable',
  'not-started',
  OTHER,
] as const

export const OUTCOMES: readonly DecisionOutcome[] = [
  'ended',
  'settled',
  'notified',
  'already',
  'showed-life',
  'busy',
  'gone',
  'refused',
  'failed',
  'unknown',
]

/** Error codes of failed passes. */
export const FAILURE_CODES = [
  'store-unreachable',
  'not-permitted',
  'container-missing',
  'store-full',
  'store-damaged',
  'store-incompatible',
  'lease-lost',
  'timed-out',
  'unexpected',
  OTHER,
] as const

const HOOK_OUTCOMES: readonly DeliveryReport['outcome'][] = ['delivered', 'retrying', 'given-up', 'left']

/** The value if it is one of these, otherwise `other`. */
export function known(values: readonly string[], value: string): string {
  return values.includes(value) ? value : OTHER
}

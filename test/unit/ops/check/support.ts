import type { WatchdogSeen } from '../../../../src/ops/check/watchdogs.ts'
import type { SummarizedStream } from '../../../../src/ops/summaries.ts'
import type { LeaseView } from '../../../../src/store/store.ts'
import type { Summary } from '../../../../src/stream/summary.ts'

export const NOW = Date.UTC(2026, 10, 20, 12)

const SUMMARY: Summary = {
  version: 1,
  born: 'b',
  status: 'inprocess',
  outcome: '',
  lastBy: 'w',
  root: 'Order',
  createdMs: NOW,
  key: '',
  topic: '',
  tag: '',
  trackingId: '',
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

interface Shape {
  readonly summary?: Partial<Summary> | undefined
  readonly lease?: LeaseView
  readonly fault?: string
  readonly modifiedMs?: number
}

/** A row of a listing. */
export function listed(name: string, { summary = {}, lease, fault, modifiedMs = NOW }: Shape = {}): SummarizedStream {
  return {
    listed: { name, etag: 'e', size: 1, modifiedMs, lease: lease ?? { state: 'available' } },
    summary: fault === undefined ? { ...SUMMARY, ...summary } : undefined,
    fault: fault === undefined ? undefined : { code: 'bad-document', message: fault },
    pin: {},
  }
}

/** A row without an event. */
export function notStarted(name: string): SummarizedStream {
  return { ...listed(name), summary: undefined }
}

/** A lease held for this time. */
export function heldFor(ms: number, pid = 41): LeaseView {
  const holder = { by: 'w', host: 'here', pid, purpose: 'repair', sinceMs: NOW - ms }
  return { state: 'leased', duration: 'fixed', holder }
}

/** A watchdog that swept 4 s ago and does so every 10 s. */
export function watchdog(more: Partial<WatchdogSeen> = {}): WatchdogSeen {
  return {
    id: 'w1',
    host: 'host-3',
    pid: 77,
    startedMs: NOW - 3_600_000,
    stoppedMs: undefined,
    lastSweepMs: NOW - 4_000,
    intervalMs: 10_000,
    tookMs: 200,
    settings: { match: undefined, onDue: 'abort-event', maxPerPass: 100, maxShare: 0.2 },
    breaker: undefined,
    shards: undefined,
    failure: undefined,
    ...more,
  }
}

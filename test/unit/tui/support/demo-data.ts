import { searchOrder } from '../../../../src/demo/search-order.ts'
import type { EventLimit } from '../../../../src/ops/event-limits.ts'
import type { WatchdogEntry } from '../../../../src/ops/watchdog-state/state.ts'
import { type RunningEvent, runningItem } from '../../../../src/stream/summary-items.ts'
import type {
  Activity,
  StreamEntry,
  StreamLimit,
  WatchdogView,
  WorkerRow,
  WorkersView,
} from '../../../../src/tui/data/types.ts'
import { BORN, Play } from '../../../support/stream-builder.ts'
import { activity, NOW_MS, streamEntry } from './world.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** SearchOrder in the middle of the demo: two searches are running, one is left, one has failed. */
export function searchOrderPlay(): Play {
  const play = new Play()
  play.nowMs = NOW_MS - 134 * SECOND
  const claim = { claimMs: MINUTE }
  const search = (name: string) => ({ name, topic: 'search', timeout: '00:05:00' })
  play.do(searchOrder(BORN), { by: 'shop', why: 'order 4711' })
  play.wait(SECOND).do({ op: 'start', event: '01.00', owner: 'worker-2', ...claim }, { by: 'worker-2' })
  play.do({ op: 'start', event: '02.00', owner: 'worker-7', ...claim }, { by: 'worker-7' })
  play.do({ op: 'start', event: '03.00', owner: 'worker-3', ...claim }, { by: 'worker-3' })
  play
    .wait(10 * SECOND)
    .do({ op: 'fail', event: '03.00', owner: 'worker-3', msg: 'supplier 3 does not answer' }, { by: 'worker-3' })
  const forks = ['Search', 'Search', 'Search', 'Search'].map(search)
  play
    .wait(13 * SECOND)
    .do(
      { op: 'advance', event: '01.00', owner: 'worker-2', next: { name: 'SearchDone' }, forks: [] },
      { by: 'worker-2' },
    )
  play.wait(2 * SECOND).do({ op: 'start', event: '01.01', owner: 'worker-2', ...claim }, { by: 'worker-2' })
  play.wait(30 * SECOND).do({ op: 'advance', event: '01.01', owner: 'worker-2', forks }, { by: 'worker-2' })
  play.wait(10 * SECOND).do({ op: 'start', event: '01.01.00', owner: 'worker-2', ...claim }, { by: 'worker-2' })
  play.wait(20 * SECOND).do({ op: 'start', event: '01.02.00', owner: 'worker-7', ...claim }, { by: 'worker-7' })
  play
    .wait(9 * SECOND)
    .do({ op: 'complete', event: '01.01.00', owner: 'worker-2', msg: '12 results' }, { by: 'worker-2' })
  return play
}

/** Streams of a shop in all kinds of states, by name. */
export const DEMO_STREAMS: readonly StreamEntry[] = [
  streamEntry(
    'imports/eu/2024-05-01',
    {
      root: 'Import',
      lastBy: 'importer',
      createdMs: NOW_MS - 26 * HOUR,
      open: 41,
      total: 1_200,
      waitingOn: ['17.03', '17.04', '18.00', '+38'],
    },
    {
      lease: held('importer', 'aks-12', 314, 'lease run nightly-import', 26 * HOUR, 'infinite'),
      rate: [0, 1, 4, 9, 30, 70, 12, 3],
    },
  ),
  streamEntry('orders/4709', {
    status: 'completed',
    open: 0,
    total: 11,
    createdMs: NOW_MS - 3 * HOUR,
    waitingOn: [],
    root: 'OrderStart',
  }),
  streamEntry('orders/4710', {
    status: 'completed',
    outcome: 'errors',
    open: 0,
    failed: 1,
    total: 11,
    createdMs: NOW_MS - 55 * MINUTE,
    waitingOn: [],
    root: 'OrderStart',
    failedId: '03.00',
    failure: 'supplier 3 does not answer',
    failedAtMs: NOW_MS - 50 * MINUTE,
  }),
  streamEntry(
    'orders/4711',
    {
      root: 'OrderStart',
      key: '4711',
      topic: 'orders',
      version: 47,
      createdMs: NOW_MS - 134 * SECOND,
      open: 5,
      failed: 1,
      canceled: 3,
      total: 11,
      dueMs: NOW_MS + 22 * SECOND,
      waitingOn: ['01.02.00', '01.04.00', '02.03.00'],
      failedId: '03.00',
      failedName: 'SearchStart',
      failure: 'supplier 3 does not answer',
      failedAtMs: NOW_MS - 122 * SECOND,
      lastBy: 'worker-2',
    },
    { rate: [0, 0, 2, 1, 3, 6, 2, 4] },
  ),
  streamEntry('orders/4712', {
    root: 'OrderStart',
    key: '4712',
    createdMs: NOW_MS - 12 * MINUTE,
    dueMs: NOW_MS - 134 * SECOND,
  }),
  streamEntry('orders/4713', {
    root: 'OrderStart',
    status: 'init',
    open: 1,
    total: 1,
    createdMs: NOW_MS - 9 * SECOND,
    dueMs: NOW_MS + 8 * MINUTE,
  }),
  streamEntry('orders/4714', {
    root: 'OrderStart',
    status: 'aborted',
    open: 0,
    failed: 4,
    total: 7,
    createdMs: NOW_MS - 2 * HOUR,
    waitingOn: [],
    failedId: '00',
    failure: 'timed out',
  }),
  streamEntry('orders/4715', {
    root: 'OrderStart',
    status: 'canceled',
    open: 0,
    canceled: 3,
    total: 5,
    createdMs: NOW_MS - 4 * HOUR,
    waitingOn: [],
    failedId: '00',
    failedName: 'OrderStart',
    failure: 'the customer withdrew',
    failedAtMs: NOW_MS - 3 * HOUR,
  }),
  streamEntry('orders/4716', {
    root: 'OrderStart',
    createdMs: NOW_MS - 90 * MINUTE,
    claimEndMs: NOW_MS - 40 * MINUTE,
    waitingOn: ['01.00'],
    running: [
      runningItem({
        id: '01.00',
        name: 'Pay',
        owner: 'pay@aks-9',
        attempt: 1,
        sinceMs: NOW_MS - 45 * MINUTE,
        lastSeenMs: NOW_MS - 41 * MINUTE,
        claimEndMs: NOW_MS - 40 * MINUTE,
      }),
    ],
  }),
  streamEntry('orders/4717', {
    status: 'completed',
    outcome: 'errors',
    open: 0,
    failed: 1,
    total: 4,
    createdMs: NOW_MS - 5 * HOUR,
    waitingOn: [],
    failedId: '02.00',
    failedName: 'Pay',
    failure: 'card refused',
    failedAtMs: NOW_MS - 4 * HOUR,
    ackMs: NOW_MS - 3 * HOUR,
  }),
  streamEntry('orders/4718', {
    root: 'OrderStart',
    outcome: 'blocked',
    open: 2,
    failed: 1,
    total: 4,
    createdMs: NOW_MS - 31 * MINUTE,
    waitingOn: ['02.00'],
    failedId: '01.00',
    failedName: 'Pack',
    failure: 'shelf 12 is empty',
    failedAtMs: NOW_MS - 20 * MINUTE,
  }),
  streamEntry('orders/4719', {
    root: 'OrderStart',
    outcome: 'compensating',
    open: 2,
    failed: 1,
    total: 6,
    createdMs: NOW_MS - 16 * MINUTE,
    waitingOn: ['04.00'],
    failedId: '03.00',
    failedName: 'Pay',
    failure: 'card refused',
    failedAtMs: NOW_MS - 3 * MINUTE,
  }),
  streamEntry('orders/4720', {
    root: 'OrderStart',
    suspendedMs: NOW_MS - 25 * MINUTE,
    suspendedBy: 'ana',
    suspendedWhy: 'the gateway is down',
    createdMs: NOW_MS - 45 * MINUTE,
  }),
  unreadable('orders/broken'),
  notRead('orders/new'),
  streamEntry(
    'réservations/日本/🚆-42',
    { root: 'Reise', dueMs: NOW_MS + 3 * HOUR, lastBy: 'bücher' },
    { lease: held('ops', 'laptop', 99, 'lease acquire', 41 * SECOND, 'fixed') },
  ),
]

/** Only its row of the listing is known. */
function notRead(name: string): StreamEntry {
  const { item, ...entry } = streamEntry(name)
  const { summary: _, ...listed } = item.listed
  return { ...entry, item: { listed, summary: undefined, fault: undefined, pin: {} }, isRead: false }
}

/** Its text is not XML. */
export function unreadable(name: string): StreamEntry {
  const entry = streamEntry(name)
  const { summary: _summary, ...listed } = entry.item.listed
  const fault = { code: 'bad-document', message: `${name}: line 3: the element Event is not closed` }
  return { ...entry, item: { listed, summary: undefined, fault, pin: {} } }
}

function held(by: string, host: string, pid: number, purpose: string, ageMs: number, duration: 'fixed' | 'infinite') {
  const holder = { by, host, pid, purpose, sinceMs: NOW_MS - ageMs }
  return {
    state: 'leased',
    duration,
    holder,
    ...(duration === 'fixed' ? { untilMs: NOW_MS + 19 * SECOND } : {}),
  } as const
}

/** The events of the last minutes, the latest first. */
export const DEMO_ACTIVITY: readonly Activity[] = [
  activity('orders/4711', 10, {
    by: 'worker-2',
    op: 'complete',
    on: '01.01.00',
    ...change('01.01.00', 'inprocess', 'completed'),
  }),
  activity('orders/4711', 9, {
    by: 'ada',
    op: 'cancel',
    on: '02.00',
    why: 'the customer withdrew, 客户 said so',
    changes: [
      { event: '02.00', from: 'inprocess', to: 'canceled', how: 'target' },
      { event: '02.01', from: 'init', to: 'canceled', how: 'cascade' },
      { event: '02.02', from: 'init', to: 'canceled', how: 'cascade' },
    ],
  }),
  activity('orders/4713', 1, { by: 'shop', op: 'init', on: '00', why: 'order 4713', ...change('00', '', 'init') }),
  activity('orders/4714', 8, {
    by: 'watchdog',
    op: 'abort',
    on: '00',
    why: 'timed out',
    ...change('00', 'inprocess', 'aborted'),
  }),
  activity('imports/eu/2024-05-01', 7, {
    by: '',
    op: 'foreign',
    on: '',
    provisional: true,
    ...change('17', 'init', 'inprocess'),
  }),
].map((item, at) => ({ ...item, atMs: NOW_MS - (5 + 40 * at) * SECOND }))

function change(event: string, from: string, to: string) {
  return { changes: [{ event, from, to, how: from === '' ? 'add' : 'target' }] } as const
}

const NO_LOAD = { sinceMs: undefined, lastSeenMs: undefined, attempt: 0 }

/** One working watchdog, one stopped. */
export const DEMO_WATCHDOG: Pick<WatchdogView, 'state' | 'next' | 'notified'> = {
  state: {
    damaged: false,
    watchdogs: [
      watchdog('aks-3', 17, { totals: { passes: 310, failed: 0, ended: 12 } }),
      watchdog('aks-9', 4, { writtenMs: NOW_MS - 2 * HOUR, lastSweepMs: NOW_MS - 2 * HOUR, decisions: [] }),
    ],
  },
  next: [
    limitOf('orders/4712', NOW_MS - 134 * SECOND, { event: '01.00', name: 'Pay', timeout: '00:10:00' }),
    limitOf('orders/4711', NOW_MS + 22 * SECOND, { event: '01.02.00', name: 'Search', kind: 'no-sign-of-life' }),
    limitOf('orders/4713', NOW_MS + 8 * MINUTE, { kind: 'stream', action: 'abort-stream', name: 'OrderStart' }),
    { stream: 'réservations/日本/🚆-42', dueMs: NOW_MS + 3 * HOUR, limit: undefined },
  ],
  notified: [limitOf('imports/eu/2024-05-01', NOW_MS - 43 * MINUTE, { name: 'Import', action: 'notify' })],
}

function limitOf(stream: string, dueMs: number, more: Partial<EventLimit>): StreamLimit {
  const limit: EventLimit = {
    event: '00',
    name: '',
    kind: 'never-started',
    timeout: '00:05:00',
    dueMs,
    action: 'abort-event',
    ...more,
  }
  return { stream, dueMs, limit }
}

/** Workers of the shop: one silent, two at work, one that has just ended something. */
export const DEMO_WORKERS: Pick<WorkersView, 'rows' | 'workers' | 'steps'> = {
  rows: [
    claimed(
      'orders/4711',
      { id: '01.02.00', name: 'Search', owner: 'worker-7' },
      { sinceMs: NOW_MS - 38 * SECOND, left: 22 },
    ),
    claimed(
      'orders/4712',
      { id: '01.00', name: 'Pay', owner: 'pay@aks-3' },
      { sinceMs: NOW_MS - 12 * SECOND, left: 48 },
    ),
    claimed(
      'orders/4716',
      { id: '01.00', name: 'Pay', owner: 'pay@aks-9', attempt: 3 },
      { sinceMs: NOW_MS - 45 * MINUTE, left: -40 * 60 },
    ),
    {
      key: '\nworker-2',
      owner: 'worker-2',
      stream: 'orders/4711',
      event: '01.01.00',
      claim: undefined,
      atMs: NOW_MS - 5 * SECOND,
      done: 12,
      failed: 0,
    },
  ],
  workers: 3,
  steps: [
    {
      ...NO_LOAD,
      step: 'Pay',
      ready: 3,
      readySinceMs: NOW_MS - 7 * MINUTE,
      running: 1,
      abandoned: 1,
      failed: 0,
      streams: 5,
    },
    {
      ...NO_LOAD,
      step: 'Search',
      ready: 240,
      readySinceMs: NOW_MS - 2 * HOUR,
      running: 1,
      abandoned: 0,
      failed: 0,
      streams: 80,
    },
    {
      ...NO_LOAD,
      step: 'Ship',
      ready: 1,
      readySinceMs: NOW_MS - 4 * SECOND,
      running: 0,
      abandoned: 0,
      failed: 0,
      streams: 1,
    },
  ],
}

function claimed(
  stream: string,
  event: Pick<RunningEvent, 'id' | 'name' | 'owner'> & { readonly attempt?: number },
  { sinceMs, left }: { readonly sinceMs: number; readonly left: number },
): WorkerRow {
  const claimEndMs = NOW_MS + left * SECOND
  const claim = { attempt: 1, ...event, sinceMs, lastSeenMs: claimEndMs - MINUTE, claimEndMs }
  const { id, owner } = event
  const rates = left > 0 ? { done: 31, failed: 2 } : { done: 0, failed: 0 }
  return { key: `${stream}\n${id}`, owner, stream, event: id, claim, atMs: undefined, ...rates }
}

/** The state that a watchdog wrote half a minute ago; given fields take precedence. */
export function watchdog(host: string, pid: number, more: Partial<WatchdogEntry> = {}): WatchdogEntry {
  return {
    id: `${host}-${pid}`,
    host,
    pid,
    version: '1.0.0',
    by: 'watchdog',
    startedMs: NOW_MS - 5 * HOUR,
    writtenMs: NOW_MS - 31 * SECOND,
    stoppedMs: undefined,
    intervalMs: MINUTE,
    settings: { match: undefined, onDue: 'abort-event', maxPerPass: 1_000, maxShare: 0.2 },
    lastSweepMs: NOW_MS - 31 * SECOND,
    tookMs: 140,
    lastPass: {
      kind: 'sweep',
      startedMs: NOW_MS - 31 * SECOND,
      tookMs: 140,
      total: 10_412,
      watched: 10_412,
      openEvents: 31_004,
      overdue: 1,
      documents: 3,
      unreadable: 1,
      endedEvents: 1,
      deferred: 0,
      outcomes: { ended: 1 },
      skewMs: 12,
    },
    passes: [],
    decisions: [
      {
        stream: 'orders/4714',
        kind: 'abort-stream',
        event: '00',
        limit: 'timeout',
        dueMs: NOW_MS - 127 * SECOND,
        outcome: 'ended',
        atMs: NOW_MS - 125 * SECOND,
      },
      {
        stream: 'orders/4702',
        kind: 'abort-event',
        event: '02.01',
        limit: 'claim',
        dueMs: NOW_MS - 9 * MINUTE,
        outcome: 'showed-life',
        atMs: NOW_MS - 9 * MINUTE,
      },
      {
        stream: 'orders/4701',
        kind: 'abort-event',
        event: '01.00',
        limit: 'timeout',
        dueMs: NOW_MS - 25 * MINUTE,
        outcome: 'failed',
        atMs: NOW_MS - 24 * MINUTE,
      },
    ],
    breaker: { isOpen: false, wouldEnd: 1, openEvents: 31_004, maxShare: 0.2 },
    next: [],
    shards: undefined,
    failure: undefined,
    lastFailure: undefined,
    totals: { passes: 300, failed: 0, ended: 0 },
    ...more,
  }
}

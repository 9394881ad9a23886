import { widthOf } from '../../../../src/formats/terminal/width.ts'
import { limitRows } from '../../../../src/tui/data/limit-rows.ts'
import type { Scene } from '../../../../src/tui/state/context.ts'
import { WorkerList } from '../../../../src/tui/state/lists/worker-list.ts'
import type { Batch, Dialog, Size, State } from '../../../../src/tui/state/state.ts'
import { FRESH_LIST } from '../../../../src/tui/state/transition.ts'
import { initialState } from '../../../../src/tui/state/update.ts'
import type { Frame } from '../../../../src/tui/view/row.ts'
import { DEMO_ACTIVITY, DEMO_STREAMS, DEMO_WATCHDOG, DEMO_WORKERS, searchOrderPlay } from './demo-data.ts'
import { DEMO_INBOX_KEYS, DEMO_INBOXES } from './demo-inboxes.ts'
import { DEMO_SUBSCRIPTION_KEYS, DEMO_SUBSCRIPTIONS } from './demo-subscriptions.ts'
import { openStream } from './open-stream.ts'
import { NOW_MS, type WorldText, worldWith } from './world.ts'

/** The sizes of the screen snapshots. */
export const SIZES: readonly Size[] = [
  { columns: 40, rows: 12 },
  { columns: 60, rows: 20 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
  { columns: 160, rows: 48 },
]

/** The default scene: the demo data, streams by name, nothing open, relative times. */
export interface SceneText extends WorldText {
  readonly state?: Partial<State>
  readonly size?: Size
}

/** A scene over the demo data; given fields take precedence. */
export function sceneWith({ state = {}, size = { columns: 80, rows: 24 }, ...world }: SceneText = {}): Scene {
  const start = initialState({ size, writes: 'locked', nowMs: NOW_MS, time: 'relative' })
  const screen = state.screen ?? 'streams'
  const demo: WorldText = {
    streams: DEMO_STREAMS,
    activity: DEMO_ACTIVITY,
    watchdog: DEMO_WATCHDOG,
    workers: DEMO_WORKERS,
    subscriptions: DEMO_SUBSCRIPTIONS,
    inboxes: DEMO_INBOXES,
    rows: rowsOf(screen),
    facts: { address: 'sqlite:///var/lib/orders.db' },
    ...(screen === 'stream' ? { open: demoStream() } : {}),
  }
  const stream = screen === 'stream' ? 'orders/4711' : ''
  return { ...worldWith({ ...demo, ...world }), state: { ...start, stream, ...state } }
}

/** The demo scene of a screen, with cursor, marks and sort as during use. */
export function demoScene(screen: State['screen'], size: Size, more: Partial<State> = {}): Scene {
  const fresh = initialState({ size, writes: 'locked', nowMs: NOW_MS, time: 'relative' }).lists
  const lists = {
    ...fresh,
    streams: {
      ...fresh.streams,
      cursor: 'orders/4711',
      offset: 2,
      marks: new Set(['orders/4713']),
      sort: { by: 'name', isDescending: false },
    },
    stream: { ...fresh.stream, cursor: '01.02.00', offset: 4 },
    leases: { ...fresh.leases, cursor: 'imports/eu/2024-05-01', offset: 0 },
    watchdog: { ...fresh.watchdog, cursor: 'orders/4711', offset: 1 },
    activity: { ...fresh.activity, cursor: 'orders/4711@9', offset: 1 },
    workers: { ...fresh.workers, cursor: 'orders/4712\n01.00', offset: 1 },
    subscriptions: { ...fresh.subscriptions, cursor: 'billing', offset: 0 },
    inboxes: { ...fresh.inboxes, cursor: 'deliveries', offset: 0 },
  }
  return sceneWith({ size, state: { screen, lists, ...more } })
}

/** A dialog over the streams, or over the state in `more`. */
export function dialogScene(dialog: Dialog, size: Size, more: Partial<State> = {}): Scene {
  return demoScene(more.screen ?? 'streams', size, { ...more, dialog })
}

/** The confirmation dialog for canceling three streams. */
export const CANCEL_DIALOG: Extract<Dialog, { kind: 'change' }> = {
  kind: 'change',
  request: 1,
  verb: 'cancel',
  targets: [{ stream: 'orders/4711' }, { stream: 'orders/4713' }],
  preview: {
    verb: 'cancel',
    question: 'This cancels 2 streams',
    more: 0,
    facts: [],
    affected: ['orders/4711  ▶ inprocess, 4 open events below', 'orders/4713  ○ init, 1 open event below'],
    count: 2,
    command: reason => `leasectl cancel orders/4711 orders/4713 --reason '${reason}'`,
    confirm: { kind: 'yes' },
  },
  fault: undefined,
  reason: { text: 'customer withdrew', at: 17 },
  typed: { text: '', at: 0 },
  signal: { text: '', at: 0 },
  data: { text: '', at: 0 },
  focus: 'reason',
  top: 0,
}

/** Aborting 64 streams of a protected store: more than a screen lists. */
export const ABORT_DIALOG: typeof CANCEL_DIALOG = {
  ...CANCEL_DIALOG,
  verb: 'abort',
  preview: {
    verb: 'abort',
    question: 'This aborts 64 streams',
    affected: Array.from({ length: 64 }, (_, at) => `orders/${4_711 + at}  ▶ inprocess  4 open events below`),
    more: 0,
    facts: ['64 streams: 64 inprocess; 6 already final, left out'],
    count: 64,
    command: () => 'leasectl abort --streams - # 64 names on standard input',
    confirm: { kind: 'type', text: '64', what: 'the number of streams' },
  },
}

/** A half-finished batch. */
export function halfDone(preview = CANCEL_DIALOG.preview): Batch {
  if (preview === undefined) throw new Error('there is no batch without a preview')
  const target = { stream: 'orders/4711' }
  return {
    preview,
    outcomes: [{ target, word: 'done', isGood: true, text: 'canceled, with 4 more events' }],
    isStopping: false,
    end: undefined,
  }
}

/** The rows' texts, one per line; trailing blanks removed. */
export function frameText({ rows }: Frame): string {
  return `${rows.map(row => textOf(row.spans).trimEnd()).join('\n')}\n`
}

/** Rows that are wider than the frame, as text. */
export function tooWide({ rows, columns }: Frame): string[] {
  return rows.map(row => textOf(row.spans)).filter(text => widthOf(text) > columns)
}

function textOf(spans: Frame['rows'][number]['spans']): string {
  return spans.map(([text]) => text).join('')
}

function demoStream() {
  const { listed, summary } = DEMO_STREAMS.find(({ name }) => name === 'orders/4711')?.item ?? {}
  return openStream('orders/4711', searchOrderPlay(), { listed, summary })
}

function rowsOf(screen: State['screen']): readonly string[] {
  switch (screen) {
    case 'streams':
      return DEMO_STREAMS.map(({ name }) => name)
    case 'stream':
      return demoStream().nodes.map(({ key }) => key)
    case 'leases':
      return DEMO_STREAMS.filter(({ item }) => item.listed.lease.state === 'leased').map(({ name }) => name)
    case 'watchdog':
      return limitRows({ revision: 1, dryRun: undefined, ...DEMO_WATCHDOG }).map(({ key }) => key)
    case 'activity':
      return DEMO_ACTIVITY.map(({ key }) => key)
    case 'subscriptions':
      return DEMO_SUBSCRIPTION_KEYS
    case 'inboxes':
      return DEMO_INBOX_KEYS
    case 'workers':
      return new WorkerList().listing(FRESH_LIST, worldWith({ workers: DEMO_WORKERS }).data, NOW_MS).keys
    default:
      return screen satisfies never
  }
}

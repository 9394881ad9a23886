import type { JournalEntry } from '../../../../src/ops/read-stream.ts'
import type { WatchdogState } from '../../../../src/ops/watchdog-state/state.ts'
import type { LeaseView } from '../../../../src/store/store.ts'
import type { Summary } from '../../../../src/stream/summary.ts'
import type {
  Activity,
  Data,
  Freshness,
  InboxRow,
  OpenStream,
  StreamEntry,
  SubscriptionRow,
  WatchdogView,
  WholeFailure,
  WorkersView,
} from '../../../../src/tui/data/types.ts'
import type { CommandContext } from '../../../../src/tui/ports.ts'
import { ColumnWidths } from '../../../../src/tui/state/column-widths.ts'
import type { Listing, ScreenContext, StoreInfo } from '../../../../src/tui/state/context.ts'
import { BORN, START_MS } from '../../../support/stream-builder.ts'

/** The given parts of the world; the rest is an empty store that was read just now. */
export interface WorldText {
  readonly streams?: readonly (string | StreamEntry)[]
  readonly open?: OpenStream | undefined
  readonly failure?: WholeFailure
  readonly activity?: readonly Activity[]
  readonly watchdog?: Partial<WatchdogView>
  readonly workers?: Partial<WorkersView>
  readonly subscriptions?: readonly SubscriptionRow[]
  readonly inboxes?: readonly InboxRow[]
  readonly freshness?: Partial<Freshness>
  readonly facts?: Partial<StoreInfo>
  /** Names of the rows, or the whole listing. Without it: the streams by name. */
  readonly rows?: readonly string[] | Listing
  readonly nowMs?: number
  readonly revision?: number
  readonly liveRevision?: number
  readonly isComplete?: boolean
}

/** The time in every world without another one. */
export const NOW_MS = START_MS + 600_000

export function worldWith(text: WorldText = {}): ScreenContext {
  const { rows, nowMs = NOW_MS, facts } = text
  const data = dataWith(text)
  const listing = rows === undefined || Array.isArray(rows) ? listingOf(rows ?? namesOf(data)) : (rows as Listing)
  return {
    data,
    liveRevision: text.liveRevision ?? data.revision,
    listing,
    listingFor: () => listing,
    facts: {
      address: 'memory:test',
      contexts: [],
      isProtected: false,
      protectedName: 'test',
      selection: '',
      version: '0.0.0',
      ...facts,
    },
    widths: new ColumnWidths(),
    nowMs,
    detailOf: () => undefined,
    pageOf: () => undefined,
    commandFor: subject => `leasectl ${wordsOf(subject)}`,
  }
}

function dataWith({ nowMs = NOW_MS, ...text }: WorldText = {}): Data {
  const entries = new Map(
    text.streams?.map(given => (typeof given === 'string' ? streamEntry(given) : given)).map(named),
  )
  return {
    revision: text.revision ?? 1,
    streams: {
      revision: 1,
      membership: 1,
      size: entries.size,
      isComplete: text.isComplete ?? true,
      get: name => entries.get(name),
      values: () => entries.values(),
    },
    open: text.open,
    failure: text.failure,
    activity: { revision: 1, items: text.activity ?? [], behind: 0 },
    watchdog: { revision: 1, state: undefined, next: [], notified: [], dryRun: undefined, ...text.watchdog },
    workers: { revision: 1, rows: [], workers: 0, steps: [], ...text.workers },
    subscriptions: { revision: 1, rows: text.subscriptions },
    inboxes: { revision: 1, rows: text.inboxes },
    freshness: {
      polledMs: nowMs,
      intervalMs: 1_000,
      isSlow: false,
      waitingSinceMs: undefined,
      nextPollMs: undefined,
      error: undefined,
      ...text.freshness,
    },
  }
}

/** Rows of these names. */
export function listingOf(
  keys: readonly string[],
  more: Partial<Listing> & { readonly faint?: readonly string[] } = {},
): Listing {
  const { faint = [], ...rest } = more
  const places = new Map(keys.map((key, at) => [key, at]))
  return {
    keys,
    indexOf: key => places.get(key) ?? -1,
    isFaint: key => faint.includes(key),
    matching: keys.length - faint.length,
    total: keys.length,
    groups: new Map(),
    lastRows: new Map(),
    ...rest,
  }
}

/** A stream of the listing; given fields of its summary and lease take precedence. */
export function streamEntry(
  name: string,
  summary: Partial<Summary> = {},
  { lease = { state: 'available' }, ...more }: Partial<StreamEntry> & { readonly lease?: LeaseView } = {},
): StreamEntry {
  const { total, open, failed, canceled } = { ...SUMMARY, ...summary }
  const whole: Summary = { ...SUMMARY, done: total - open - failed - canceled, ...summary }
  const listed = { name, etag: `"${whole.version}"`, size: 2_000, modifiedMs: NOW_MS - 60_000, lease, summary: whole }
  return {
    name,
    item: { listed, summary: whole, fault: undefined, pin: { ifVersion: whole.version, ifBorn: whole.born } },
    isRead: true,
    rate: [0, 0, 0, 0, 0, 0, 0, 0],
    rateSlot: Math.floor(NOW_MS / 15_000),
    leasedSinceMs: lease.state === 'leased' ? NOW_MS - 5_000 : undefined,
    ...more,
  }
}

/** A transaction in the form of the activity screen. */
export function activity(stream: string, version: number, more: Partial<JournalEntry> = {}): Activity {
  const atMs = START_MS + version * 1_000
  const tx: JournalEntry = {
    version,
    at: new Date(atMs).toISOString(),
    by: 'worker-1',
    op: 'complete',
    on: '00',
    commandId: `c${version}`,
    hash: '0123456789abcdef',
    why: '',
    other: false,
    changes: [{ event: '00', from: 'inprocess', to: 'completed', how: 'target' }],
    provisional: false,
    ...more,
  }
  return { key: `${stream}@${version}`, stream, atMs, tx }
}

/** No watchdog has written a record. */
export const NO_WATCHDOGS: WatchdogState = { watchdogs: [], damaged: false }

const SUMMARY: Summary = {
  version: 3,
  born: BORN,
  status: 'inprocess',
  outcome: '',
  lastBy: 'worker-1',
  root: 'Start',
  createdMs: START_MS,
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
  waitingOn: ['01.00'],
  ready: [],
  running: [],
  gated: [],
  wakeMs: undefined,
}

function named(entry: StreamEntry): [string, StreamEntry] {
  return [entry.name, entry]
}

function namesOf({ streams }: Data): string[] {
  return Array.from(streams.values(), ({ name }) => name).sort()
}

function wordsOf(subject: CommandContext): string {
  return Object.values(subject).join(' ')
}

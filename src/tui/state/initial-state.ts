import { type DashboardSettings, NO_SETTINGS } from '../settings.ts'
import { type Size, type Sort, type State, UNLOCKED_MS, type Writes } from './state.ts'
import { START_DOCUMENT, START_READING } from './text/text.ts'
import { EMPTY_FIELD } from './text-field.ts'
import { FRESH_LIST } from './transition.ts'

export interface InitialStateOptions {
  readonly size: Size
  /** The stream to open, which need not exist yet; without it the list of streams. */
  readonly stream?: string
  /** The order of the list of streams. */
  readonly sort?: Sort
  readonly writes: Writes['kind']
  /** The name to type to unlock changes in a protected store; asked for at once. */
  readonly protectedName?: string
  /** The store's clock, epoch ms. */
  readonly nowMs: number
  readonly time: State['time']
  readonly settings?: DashboardSettings
  /** Ring when something fails. */
  readonly bell?: boolean
}

/** The initial state. */
export function initialState({
  size,
  stream = '',
  sort,
  writes,
  protectedName,
  nowMs,
  time,
  settings = NO_SETTINGS,
  bell = false,
}: InitialStateOptions): State {
  const isAsked = writes === 'unlocked' && protectedName !== undefined
  return {
    size,
    screen: stream === '' ? 'streams' : 'stream',
    sideSorts: {},
    lists: {
      streams: { ...FRESH_LIST, sort },
      stream: FRESH_LIST,
      leases: FRESH_LIST,
      watchdog: FRESH_LIST,
      activity: FRESH_LIST,
      workers: FRESH_LIST,
      subscriptions: FRESH_LIST,
      inboxes: FRESH_LIST,
    },
    stream,
    cameFrom: undefined,
    pane: 'tree',
    folded: new Set(),
    openGroups: new Set(),
    keptFolds: new Map(),
    opening: stream === undefined ? undefined : { kind: 'broken' },
    zoom: undefined,
    xml: START_DOCUMENT,
    isDetailOpen: false,
    detail: START_READING,
    isDetailFocused: false,
    page: undefined,
    isWide: false,
    time,
    frozen: undefined,
    writes: isAsked ? { kind: 'locked' } : writesOf(writes, nowMs),
    prompt: undefined,
    prefix: undefined,
    dialog: isAsked ? { kind: 'unlock', name: protectedName, field: EMPTY_FIELD, isWrong: false } : undefined,
    notice: undefined,
    batch: undefined,
    settings,
    bell: bell ? { missed: 0 } : undefined,
    history: [],
    requests: 0,
  }
}

function writesOf(kind: Writes['kind'], nowMs: number): Writes {
  return kind === 'unlocked' ? { kind, untilMs: nowMs + UNLOCKED_MS } : { kind }
}

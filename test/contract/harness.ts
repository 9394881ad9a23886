import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  ChangeOptions,
  Decision,
  Holder,
  ListQuery,
  StreamRow,
  StreamSnapshot,
  StreamStore,
} from '../../src/store/store.ts'
import type { Summary } from '../../src/stream/summary.ts'

/** The parts of a driver's mount. */
export interface StoreHarness {
  /** A fresh, empty store whose container exists. */
  open(): Promise<StreamStore>
  /** Creates a blob under a name that the driver refuses, as another program would. Absent if that is impossible. */
  plant?(store: StreamStore, name: string): Promise<void>
  /** Moves the store's clock. Without it the suite waits in real time, in the few cases that need an expired lease. */
  advance?(ms: number): Promise<void>
  /** Tolerated delay until the end of a lease is visible, ms. */
  readonly lateMs?: number
  readonly features: {
    /** The store knows when a lease ends (`LeaseView.untilMs`). */
    readonly leaseEnds: boolean
    /** Listings come in the order of UTF-8 bytes also beyond U+FFFF. */
    readonly utf8Order: boolean
    /** The store can tell that nothing was written. */
    readonly changeMarks: boolean
  }
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (body: Uint8Array | undefined): string => new TextDecoder().decode(body)

export function holder(by: string): Holder {
  return { by, host: 'host-1', pid: 4711, purpose: `${by}'s test`, sinceMs: 1_700_000_000_000 }
}

export function summary(over: Partial<Summary> = {}): Summary {
  return {
    version: 1,
    born: '2026-01-02T03:04:05.678Z',
    status: 'started',
    outcome: '',
    lastBy: 'ada',
    root: 'Start',
    createdMs: 1_767_323_045_678,
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
    open: 1,
    failed: 0,
    done: 0,
    canceled: 0,
    total: 1,
    dueMs: undefined,
    claimEndMs: undefined,
    readySinceMs: undefined,
    waitingOn: [],
    ready: [],
    running: [],
    gated: [],
    wakeMs: undefined,
    ...over,
  }
}

export function changeOptions(over: Partial<ChangeOptions> = {}): ChangeOptions {
  return { waitMs: 10_000, holder: holder('ada'), ...over }
}

/** A decision that writes the given text. */
export const put =
  (body: string, over: Partial<Summary> = {}) =>
  (): Decision => ({ kind: 'put', body: bytes(body), summary: summary(over) })

/** Adds one to the number in the body. */
export function increment(current: StreamSnapshot): Decision {
  return put(String(Number(text(current.body)) + 1), { version: current.versionFloor + 1 })()
}

/** Creates a stream; fails the test if that does not succeed. */
export async function given(
  store: StreamStore,
  name: string,
  body = '0',
  over: Partial<Summary> = {},
): Promise<string> {
  const outcome = await store.create(name, bytes(body), summary(over))
  if (outcome.kind !== 'created') throw new Error(`create ${name}: ${outcome.kind}`)
  return outcome.etag
}

/** Takes a lease; fails the test if that does not succeed. */
export async function leased(store: StreamStore, name: string, by = 'grace', durationS = 60): Promise<string> {
  const leaseId = randomUUID()
  const outcome = await store.acquireLease(name, { leaseId, durationS, holder: holder(by), record: true })
  if (outcome.kind !== 'acquired') throw new Error(`acquire ${name}: ${outcome.kind}`)
  return leaseId
}

/** The current stream; fails the test if there is none. */
export async function stored(store: StreamStore, name: string): Promise<StreamSnapshot> {
  const found = await store.read(name)
  if (found === undefined) throw new Error(`${name} is missing`)
  return found
}

export async function listed(store: StreamStore, query: ListQuery = {}): Promise<StreamRow[]> {
  const rows: StreamRow[] = []
  for await (const page of store.list(query)) rows.push(...page)
  return rows
}

export const namesOf = async (store: StreamStore, query: ListQuery = {}): Promise<string[]> =>
  (await listed(store, query)).map(row => row.name)

/** Advances the time of the store. */
export async function pass(harness: StoreHarness, ms: number): Promise<void> {
  if (harness.advance) await harness.advance(ms)
  else await sleep(ms + 300)
}

/** Waits until a lease of this length has ended for every client. */
export async function passEnd(harness: StoreHarness, ms: number): Promise<void> {
  await pass(harness, ms + (harness.lateMs ?? 0))
}

/** Opens a store for one test and closes it afterwards. */
export async function withStore(harness: StoreHarness, test: (store: StreamStore) => Promise<void>): Promise<void> {
  const store = await harness.open()
  try {
    await test(store)
  } finally {
    await store.close()
  }
}

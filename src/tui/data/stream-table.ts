import type { SummarizedStream } from '../../ops/summaries.ts'
import type { LeaseView, StreamRow } from '../../store/store.ts'
import { isHeld } from '../../stream/lease.ts'
import type { Summary } from '../../stream/summary.ts'
import { type ActivityRate, emptyRate, withChanges } from './activity-rate.ts'
import { CHANGE_SHOWN_MS, type StreamEntry, type StreamFailures, type StreamTable } from './types.ts'
import { WorkerRates } from './worker-rates.ts'

/** The streams of the listing. Each method returns the number of changed entries. */
export class StreamRows implements StreamTable {
  readonly #entries: Map<string, StreamEntry>
  /** Entries with a held lease: only those can expire. */
  readonly #held = new Set<string>()
  /** Entries with what they were before a change that is shown. */
  readonly #changed = new Set<string>()
  /** What workers have ended lately. */
  readonly workerRates: WorkerRates
  #failures: StreamFailures = { count: 0, latest: undefined }
  #revision = 0
  #membership = 0
  #isComplete = false

  constructor(from?: StreamRows) {
    this.#entries = new Map(from === undefined ? [] : from.#entries)
    this.workerRates = new WorkerRates(from?.workerRates)
    if (from === undefined) return
    this.#revision = from.revision
    this.#membership = from.membership
    this.#isComplete = from.isComplete
  }

  get failures(): StreamFailures {
    return this.#failures
  }

  get revision(): number {
    return this.#revision
  }

  get membership(): number {
    return this.#membership
  }

  get size(): number {
    return this.#entries.size
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  get(name: string): StreamEntry | undefined {
    return this.#entries.get(name)
  }

  values(): Iterable<StreamEntry> {
    return this.#entries.values()
  }

  putListed(rows: readonly StreamRow[], nowMs: number): number {
    this.#forgetPrevious(nowMs)
    let changed = 0
    for (const row of rows) {
      const before = this.#entries.get(row.name)
      changed += this.#put(before, listedItem(before, row), nowMs)
    }
    return changed
  }

  put(rows: readonly SummarizedStream[], nowMs: number): number {
    let changed = 0
    for (const row of rows) changed += this.#put(this.#entries.get(row.listed.name), row, nowMs)
    return changed
  }

  remove(names: Iterable<string>): number {
    let removed = 0
    for (const name of names) {
      if (!this.#entries.delete(name)) continue
      this.#held.delete(name)
      removed++
    }
    if (removed > 0) this.#membership++
    this.#revision += removed
    return removed
  }

  /** A complete listing has ended. */
  complete(): number {
    if (this.#isComplete) return 0
    this.#isComplete = true
    this.#revision++
    return 1
  }

  /** Marks leases that have expired by now, without a write. */
  expireLeases(nowMs: number): number {
    let changed = 0
    for (const name of this.#held) {
      const entry = this.#entries.get(name)
      if (entry === undefined) continue
      const { listed } = entry.item
      const lease = leaseNow(listed.lease, nowMs)
      if (lease !== listed.lease) changed += this.#put(entry, { ...entry.item, listed: { ...listed, lease } }, nowMs)
    }
    return changed
  }

  #countFailures(before: Summary | undefined, after: Summary | undefined, stream: string): void {
    if (!this.#isComplete || after === undefined) return
    const known = before?.born === after.born ? before.failed : 0
    if (after.failed <= known) return
    const { failedId, failedName, failure } = after
    const count = this.#failures.count + after.failed - known
    this.#failures = {
      count,
      latest: { stream, text: `${failedId} ${failedName} ${failure}`.replace(/ +/g, ' ').trim() },
    }
  }

  /** What was before a change is not shown any longer, and would be kept as long as the stream. */
  #forgetPrevious(nowMs: number): void {
    for (const name of this.#changed) {
      const entry = this.#entries.get(name)
      if (entry?.previous !== undefined) {
        if (nowMs - entry.previous.atMs < CHANGE_SHOWN_MS) continue
        const { previous: _, ...rest } = entry
        this.#entries.set(name, rest)
      }
      this.#changed.delete(name)
    }
  }

  #put(before: StreamEntry | undefined, item: SummarizedStream, nowMs: number): 0 | 1 {
    const entry = entryOf(before, item, this.#isComplete, nowMs)
    if (entry === before) return 0
    this.#entries.set(entry.name, entry)
    this.#countFailures(before?.item.summary, item.summary, entry.name)
    this.workerRates.add(entry.name, before?.item.summary, item.summary, nowMs)
    if (entry.previous === undefined) this.#changed.delete(entry.name)
    else this.#changed.add(entry.name)
    if (isHeld(item.listed.lease)) this.#held.add(entry.name)
    else this.#held.delete(entry.name)
    if (before === undefined) this.#membership++
    this.#revision++
    return 1
  }
}

/** The lease as of now: one that has expired since it was read is shown as expired, without a write. */
export function leaseNow(lease: LeaseView, nowMs: number): LeaseView {
  if (!isHeld(lease) || lease.untilMs === undefined || lease.untilMs > nowMs) return lease
  return { state: lease.state === 'breaking' ? 'broken' : 'expired' }
}

/**
 * A row of a listing. Data of the document stays valid while the ETag is unchanged; afterwards it is the last known
 * data.
 */
function listedItem(before: StreamEntry | undefined, listed: StreamRow): SummarizedStream {
  const { summary } = listed
  if (summary !== undefined) {
    return { listed, summary, fault: undefined, pin: { ifVersion: summary.version, ifBorn: summary.born } }
  }
  if (before === undefined) return { listed, summary: undefined, fault: undefined, pin: {} }
  if (before.item.listed.etag === listed.etag) return { ...before.item, listed }
  return { listed, summary: before.item.summary, fault: undefined, pin: {} }
}

/** True if the current state of the stream is known: its summary, why it is unreadable, or that it has no events. */
function isKnown({ listed, fault, pin }: SummarizedStream): boolean {
  return listed.summary !== undefined || fault !== undefined || pin.ifVersion !== undefined
}

/**
 * The entry in place of `before`; the same one without changes. `isNew`: the stream was not in the previous complete
 * listing.
 */
function entryOf(before: StreamEntry | undefined, item: SummarizedStream, isNew: boolean, nowMs: number): StreamEntry {
  const isRead = isKnown(item)
  if (before !== undefined && before.isRead === isRead && isSame(before.item, item)) return before
  const { rate, rateSlot } = rateOf(before, item, isNew, nowMs)
  // Each answer has new copies of the names: keep the first to save memory.
  const name = before?.name ?? item.listed.name
  const previous = previousOf(before, nowMs)
  return {
    name,
    item,
    isRead,
    rate,
    rateSlot,
    leasedSinceMs: leasedSince(before, item.listed.lease, nowMs),
    ...(previous && { previous }),
  }
}

/** Changes that follow within a second are shown together, against the state before the first. */
function previousOf(before: StreamEntry | undefined, nowMs: number): StreamEntry['previous'] {
  if (before?.item.summary === undefined || !before.isRead) return undefined
  const { previous, item } = before
  return previous !== undefined && nowMs - previous.atMs < CHANGE_SHOWN_MS ? previous : { item, atMs: nowMs }
}

/** Equal ETags mean equal bytes: only the lease can differ, and data read meanwhile. */
function isSame(a: SummarizedStream, b: SummarizedStream): boolean {
  return a.listed.etag === b.listed.etag && a.fault?.message === b.fault?.message && isSameLease(a.listed, b.listed)
}

function isSameLease({ lease: a }: StreamRow, { lease: b }: StreamRow): boolean {
  if (a === b) return true
  if (a.state !== b.state || a.duration !== b.duration || a.untilMs !== b.untilMs) return false
  return a.holder?.by === b.holder?.by && a.holder?.sinceMs === b.holder?.sinceMs
}

function rateOf(before: StreamEntry | undefined, item: SummarizedStream, isNew: boolean, nowMs: number): ActivityRate {
  if (before === undefined) return isNew ? withChanges(emptyRate(nowMs), 1, nowMs) : emptyRate(nowMs)
  return before.item.listed.etag === item.listed.etag
    ? before
    : withChanges(before, changesBetween(before.item, item), nowMs)
}

/** Versions count changes within one incarnation of a stream. */
function changesBetween({ summary: before }: SummarizedStream, { summary: after }: SummarizedStream): number {
  if (before === undefined || after === undefined || before.born !== after.born) return 1
  return Math.max(1, after.version - before.version)
}

function leasedSince(before: StreamEntry | undefined, lease: LeaseView, nowMs: number): number | undefined {
  if (!isHeld(lease)) return undefined
  return lease.holder?.sinceMs ?? before?.leasedSinceMs ?? nowMs
}

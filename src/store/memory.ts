import { randomUUID } from 'node:crypto'
import { afterWrite, isHeld, NO_LEASE } from '../stream/lease.ts'
import type { Summary } from '../stream/summary.ts'

import { type BlockLog, checkLogName } from './block-log.ts'
import { StoreClosed } from './errors.ts'
import type { InspectOptions, MemoryFacts } from './facts.ts'
import {
  acquireStep,
  breakStep,
  changeStep,
  checkWrite,
  type KeptLease,
  type LeaseStep,
  leasedRead,
  leaseView,
  releaseStep,
  renewStep,
  retryWhileHeld,
} from './local-lease.ts'
import { MemoryBlockLog, type MemoryLog } from './memory-log.ts'
import { checkReadableName, checkStoredName, compareNames, isReservedName } from './names.ts'
import type {
  AcquireOptions,
  AcquireOutcome,
  BreakOutcome,
  ChangeOptions,
  ChangeOutcome,
  CreateOutcome,
  Decision,
  LeasedReadOutcome,
  ListQuery,
  RemoveOutcome,
  StreamRow,
  StreamSnapshot,
  StreamStore,
} from './store.ts'

export interface MemoryStoreOptions {
  /** Epoch ms. Default `Date.now`. */
  readonly clock?: () => number
  /** Number in [0, 1) for the jitter of waits. Default `Math.random`. */
  readonly random?: () => number
}

/** A store in the memory of this process: the reference implementation, used by tests. */
export function openMemoryStore(options: MemoryStoreOptions = {}): StreamStore {
  return new MemoryStore(options)
}

const FREE: KeptLease = { record: NO_LEASE, holder: undefined }
const PAGE_ROWS = 1_000

class MemoryStore implements StreamStore {
  readonly address = 'memory:'
  readonly nowMs: () => number
  readonly #random: () => number
  readonly #entries = new Map<string, Entry>()
  readonly #logs = new Map<string, MemoryLog>()
  #writes = 0
  #isClosed = false

  constructor({ clock = Date.now, random = Math.random }: MemoryStoreOptions) {
    this.nowMs = clock
    this.#random = random
  }

  async *list(query: ListQuery): AsyncIterable<readonly StreamRow[]> {
    this.#checkOpen(query.signal)
    const rows = selected([...this.#entries.values()], query, this.nowMs())
    for (let from = 0; from < rows.length; from += PAGE_ROWS) {
      this.#checkOpen(query.signal)
      yield rows.slice(from, from + PAGE_ROWS).map(entry => rowOf(entry, this.nowMs()))
    }
  }

  async changeToken(signal?: AbortSignal): Promise<string> {
    this.#checkOpen(signal)
    return String(this.#writes)
  }

  async read(name: string, signal?: AbortSignal): Promise<StreamSnapshot | undefined> {
    this.#checkOpen(signal)
    checkReadableName(name)
    const entry = this.#entries.get(name)
    return entry && snapshotOf(entry, this.nowMs())
  }

  async readLeased(name: string, leaseId: string, signal?: AbortSignal): Promise<LeasedReadOutcome> {
    const stored = await this.read(name, signal)
    const entry = this.#entries.get(name)
    if (stored === undefined || entry === undefined) return { kind: 'missing' }
    return leasedRead(entry.lease, leaseId, stored, this.nowMs())
  }

  async create(name: string, body: Uint8Array, summary: Summary, signal?: AbortSignal): Promise<CreateOutcome> {
    this.#checkOpen(signal)
    checkStoredName(name)
    if (this.#entries.has(name)) return { kind: 'exists' }
    return { kind: 'created', etag: this.#put(name, body, summary, FREE) }
  }

  async update(
    name: string,
    decide: (current: StreamSnapshot, nowMs: number) => Decision,
    options: ChangeOptions,
  ): Promise<ChangeOutcome> {
    checkReadableName(name)
    return retryWhileHeld(name, () => this.#change(name, decide, options.leaseId), options, this.#random)
  }

  /** One attempt. It is atomic because it awaits nothing. */
  #change(
    name: string,
    decide: (current: StreamSnapshot, nowMs: number) => Decision,
    leaseId: string | undefined,
  ): ChangeOutcome {
    this.#checkOpen(undefined)
    const entry = this.#entries.get(name)
    if (entry === undefined) return { kind: 'missing' }
    const nowMs = this.nowMs()
    const check = checkWrite(entry, leaseId, nowMs)
    if (check.kind === 'held') return { ...check, waitedMs: 0 }
    if (check.kind === 'lost') return check
    const decision = decide(snapshotOf(entry, nowMs), nowMs)
    if (decision.kind === 'leave') return { kind: 'left' }
    const after = afterWrite(entry.lease.record, leaseId, nowMs)
    const lease = after.kind === 'ok' && after.record.id !== '' ? entry.lease : FREE
    return { kind: 'committed', etag: this.#put(name, decision.body, decision.summary, lease) }
  }

  async remove(
    name: string,
    options: { readonly etag?: string; readonly leaseId?: string; readonly signal?: AbortSignal },
  ): Promise<RemoveOutcome> {
    this.#checkOpen(options.signal)
    const entry = this.#entries.get(name)
    if (entry === undefined) return { kind: 'missing' }
    const check = checkWrite(entry, options.leaseId, this.nowMs())
    if (check.kind === 'held') return { kind: 'held', lease: check.lease }
    if (check.kind === 'lost') return check
    if (options.etag !== undefined && options.etag !== entry.etag) return { kind: 'changed' }
    this.#entries.delete(name)
    this.#writes++
    return { kind: 'removed' }
  }

  async acquireLease(name: string, options: AcquireOptions): Promise<AcquireOutcome> {
    return this.#lease(name, options.signal, (entry, nowMs) => acquireStep(entry, options, nowMs))
  }

  async renewLease(name: string, leaseId: string, signal?: AbortSignal) {
    return this.#lease(name, signal, (entry, nowMs) => renewStep(entry, leaseId, nowMs))
  }

  async changeLeaseId(name: string, leaseId: string, proposedId: string, signal?: AbortSignal) {
    return this.#lease(name, signal, (entry, nowMs) => changeStep(entry, leaseId, proposedId, nowMs))
  }

  async releaseLease(name: string, leaseId: string, signal?: AbortSignal) {
    return this.#lease(name, signal, entry => releaseStep(entry, leaseId))
  }

  async breakLease(name: string, periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome> {
    return this.#lease(name, signal, (entry, nowMs) => breakStep(entry, periodS, nowMs))
  }

  log(name: string): BlockLog {
    checkLogName(name)
    return new MemoryBlockLog(this.#logs, name, signal => this.#checkOpen(signal))
  }

  async createContainer(signal?: AbortSignal): Promise<void> {
    this.#checkOpen(signal)
  }

  async inspect({ signal }: InspectOptions = {}): Promise<MemoryFacts> {
    this.#checkOpen(signal)
    return { kind: 'memory', address: this.address, unknown: {} }
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  #checkOpen(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted()
    if (this.#isClosed) throw new StoreClosed('the store was closed')
  }

  #lease<T>(
    name: string,
    signal: AbortSignal | undefined,
    step: (entry: Entry, nowMs: number) => LeaseStep<T>,
  ): T | { readonly kind: 'missing' } {
    this.#checkOpen(signal)
    const entry = this.#entries.get(name)
    if (entry === undefined) return { kind: 'missing' }
    const { outcome, keep } = step(entry, this.nowMs())
    if (keep) this.#set({ ...entry, lease: keep })
    return outcome
  }

  #put(name: string, body: Uint8Array, summary: Summary, lease: KeptLease): string {
    const etag = randomUUID()
    const modifiedMs = this.nowMs()
    const copy = Uint8Array.from(body)
    this.#set({ name, etag, body: copy, summary, modifiedMs, lease, lastBy: summary.lastBy })
    return etag
  }

  #set(entry: Entry): void {
    this.#entries.set(entry.name, entry)
    this.#writes++
  }
}

/** A stored stream. Entries are replaced, never modified. */
interface Entry {
  readonly name: string
  readonly etag: string
  readonly body: Uint8Array
  readonly summary: Summary
  readonly modifiedMs: number
  readonly lease: KeptLease
  readonly lastBy: string
}

/** The entries that match the query, in its order. */
function selected(
  entries: readonly Entry[],
  { prefix = '', after, order = 'name', limit, reserved = false, skip }: ListQuery,
  nowMs: number,
): Entry[] {
  const rows = entries.filter(
    ({ name, etag, summary, lease }) =>
      name.startsWith(prefix) &&
      isReservedName(name) === reserved &&
      (after === undefined || compareNames(name, after) > 0) &&
      (order !== 'due' || summary.dueMs !== undefined) &&
      skip?.(name, etag, () => isHeld(leaseView(lease, nowMs))) !== true,
  )
  const byName = (a: Entry, b: Entry): number => compareNames(a.name, b.name)
  const byDue = (a: Entry, b: Entry): number => (a.summary.dueMs ?? 0) - (b.summary.dueMs ?? 0) || byName(a, b)
  return rows.sort(order === 'due' ? byDue : byName).slice(0, limit)
}

function rowOf({ name, etag, body, summary, modifiedMs, lease }: Entry, nowMs: number): StreamRow {
  return { name, etag, size: body.length, modifiedMs, lease: leaseView(lease, nowMs), summary }
}

function snapshotOf(entry: Entry, nowMs: number): StreamSnapshot {
  return { ...rowOf(entry, nowMs), body: Uint8Array.from(entry.body), versionFloor: entry.summary.version }
}

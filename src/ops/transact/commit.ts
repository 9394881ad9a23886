import { unansweredDelay } from '../../store/backoff.ts'
import { StoreClosed, StoreUnreachable } from '../../store/errors.ts'
import type {
  ChangeOptions,
  ChangeOutcome,
  CreateOutcome,
  Decision,
  StreamSnapshot,
  StreamStore,
} from '../../store/store.ts'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../stream/document.ts'
import { isFinal } from '../../stream/event.ts'
import { NOTHING_CHANGED } from '../../stream/operations/operation.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import { sleep } from '../../util/concurrency.ts'
import {
  type AppliedGroup,
  applyGroup,
  type CurrentState,
  type OperationResult,
  type PendingOperation,
} from './plan.ts'

/** The outcome of a group of operations. */
export type CommitOutcome =
  | SettledGroup
  /** Nothing of the group was written, or the outcome is unknown. */
  | Exclude<ChangeOutcome, { readonly kind: 'committed' | 'left' }>

/** All changes in the results are durable. */
interface SettledGroup {
  readonly kind: 'settled'
  /** In the order of the group; shorter than the group if the rest did not fit. */
  readonly results: readonly OperationResult[]
}

const DEFAULT_DEADLINE_MS = 30_000

/**
 * Writes a group of operations on one stream in one change under the lease. Only `init` tries to create the stream
 * first.
 */
export async function commit(
  store: StreamStore,
  name: string,
  operations: readonly PendingOperation[],
  options: ChangeOptions,
): Promise<CommitOutcome> {
  const group = new GroupAttempt(operations)
  if (operations[0]?.operation.op === 'init') return create(store, name, group, options)
  return change(store, name, group, options)
}

/** A group over all attempts to write it. */
class GroupAttempt {
  readonly #operations: readonly PendingOperation[]
  /** Operations that may have been written: after an unanswered write only a later read shows it. */
  #sent: AppliedGroup['sent'] = []
  #results: readonly OperationResult[] = []

  constructor(operations: readonly PendingOperation[]) {
    this.#operations = operations
  }

  /** Decides what to write over the current state. */
  decide(
    current: CurrentState,
    nowMs: number,
    known?: StreamDocument,
  ): { readonly decision: Decision; readonly document: StreamDocument } {
    const before = this.#sent
    const { decision, document, results, sent } = applyGroup(this.#operations, current, nowMs, before, known)
    this.#results = results
    this.#sent = sent
    if (decision.kind === 'leave') return { decision, document }
    const discard = () => {
      this.#sent = before
    }
    return { decision: { ...decision, discard }, document }
  }

  /** Whether no operation has anything to do, as far as that is seen without the document. Then that is the result of each. */
  isIdle(current: StreamSnapshot): boolean {
    if (this.#sent.some(sent => sent !== undefined)) return false
    if (!this.#operations.every(({ isIdle }) => isIdle?.(current))) return false
    const { summary } = current
    if (summary === undefined) return false
    const result = { ...NOTHING_CHANGED, version: summary.version, done: isFinal(summary) }
    this.#results = this.#operations.map(() => ({ kind: 'unchanged', result }))
    return true
  }

  /** Whether the name of the stream that it creates was taken a moment ago. */
  get isTaken(): boolean {
    return this.#operations.some(({ isTaken }) => isTaken)
  }

  /** Records that no operation that was sent was written or will be. */
  discardSent(): void {
    this.#sent = []
  }

  settled(): SettledGroup {
    return { kind: 'settled', results: this.#results }
  }
}

async function change(
  store: StreamStore,
  name: string,
  group: GroupAttempt,
  options: ChangeOptions,
): Promise<CommitOutcome> {
  const cache = documentCache(store)
  let document: StreamDocument | undefined
  const decide = (current: StreamSnapshot, nowMs: number) => {
    if (group.isIdle(current)) return { kind: 'leave' } as const
    const decided = group.decide(current, nowMs, cache.find(name, current.etag))
    document = decided.document
    return decided.decision
  }
  const outcome = await store.update(name, decide, options)
  if (outcome.kind === 'left') return group.settled()
  if (outcome.kind !== 'committed') return outcome
  if (document !== undefined) cache.remember(name, outcome.etag, document)
  return group.settled()
}

/**
 * Creates the stream: the only write without a lease. An existing blob may be empty, hold no event, or come from our
 * own unanswered attempt: a change under the lease finds out. An unanswered create that left no blob is sent again.
 */
async function create(
  store: StreamStore,
  name: string,
  group: GroupAttempt,
  options: ChangeOptions,
): Promise<CommitOutcome> {
  if (options.leaseId !== undefined) return createUnderLease(store, name, group, options)
  const deadline = performance.now() + (options.deadlineMs ?? DEFAULT_DEADLINE_MS)
  /** An in-doubt create: it may have been applied, or still may be. `cause`: why its answer is missing. */
  let inDoubt: { readonly cause?: unknown } | undefined
  for (let attempt = 0; attempt === 0 || performance.now() < deadline; attempt += 1) {
    try {
      if (attempt > 0) await sleep(unansweredDelay(attempt - 1, undefined, Math.random), options.signal)
      const created =
        attempt === 0 && group.isTaken
          ? ({ kind: 'exists' } as const)
          : await createOnce(store, name, group, options, inDoubt?.cause !== undefined)
      if (created.kind === 'settled') return created
      // "Exists" may be the answer to a network duplicate of the request that was applied.
      inDoubt = created.kind === 'unknown' ? created : (inDoubt ?? {})
      const deadlineMs = Math.max(1, deadline - performance.now())
      const changed = await changeCreated(store, name, group, { ...options, deadlineMs })
      // Removed between the two requests, or never there: create it.
      if (changed.kind !== 'missing') return changed
    } catch (error) {
      const isUnanswered =
        error instanceof StoreUnreachable || error instanceof StoreClosed || options.signal?.aborted === true
      if (inDoubt === undefined || (inDoubt.cause === undefined && !isUnanswered)) throw error
      inDoubt = { cause: inDoubt.cause ?? error }
      // Only a read shows the outcome, so keep trying; any other fault would only repeat.
      if (!(error instanceof StoreUnreachable)) break
    }
  }
  if (inDoubt?.cause === undefined) throw new StoreUnreachable(`the stream ${name} came and went until the deadline`)
  return { kind: 'unknown', cause: inDoubt.cause }
}

/** A held lease implies an existing blob: an empty one, or one without an event. */
async function createUnderLease(
  store: StreamStore,
  name: string,
  group: GroupAttempt,
  options: ChangeOptions,
): Promise<CommitOutcome> {
  const changed = await change(store, name, group, options)
  return changed.kind === 'missing' ? { kind: 'lost', code: 'LeaseNotPresentWithBlobOperation' } : changed
}

async function createOnce(
  store: StreamStore,
  name: string,
  group: GroupAttempt,
  { signal }: ChangeOptions,
  doubtful: boolean,
): Promise<CreateOutcome | SettledGroup> {
  const current = { body: new Uint8Array(), versionFloor: EMPTY_DOCUMENT.version }
  // Nothing was read before, so learn the store's time: a machine with a wrong clock would create events that are due
  // at once, or a day late.
  await store.learnTime?.(name, signal)
  const { decision, document } = group.decide(current, store.nowMs())
  if (decision.kind === 'leave') return group.settled()
  const outcome = await store.create(name, decision.body, decision.summary, signal)
  // The stream counts as another's. A duplicate of our own request is found by its command id.
  if (outcome.kind === 'exists' && !doubtful) group.discardSent()
  if (outcome.kind !== 'created') return outcome
  documentCache(store).remember(name, outcome.etag, document)
  return group.settled()
}

/** Changes the existing stream. If another's lease prevents it, a read shows whether our create was applied. */
async function changeCreated(
  store: StreamStore,
  name: string,
  group: GroupAttempt,
  options: ChangeOptions,
): Promise<CommitOutcome> {
  const changed = await change(store, name, group, options)
  if (changed.kind !== 'held') return changed
  const stored = await store.read(name, options.signal)
  if (stored === undefined) return { kind: 'missing' }
  return group.decide(stored, store.nowMs()).decision.kind === 'leave' ? group.settled() : changed
}

/** Maximum weight of the cache per store, in events: a thousand streams of 10 events with their history, some 40 MB. */
const MAX_EVENTS = 20_000
/** A stream that would displace half of the others is not cached. */
const MAX_EVENTS_OF_ONE = MAX_EVENTS / 2
/** Characters of history that weigh as much as an event. */
const JOURNAL_OF_AN_EVENT = 2_000

/**
 * Documents that this process wrote, by ETag. Equal ETags mean equal bytes, so a worker that continues with the stream
 * it wrote last need not parse and hash it again. The read itself is never skipped.
 */
export class DocumentCache {
  readonly #written: BoundedMap<string, Written>

  constructor(maxEvents = MAX_EVENTS) {
    this.#written = new BoundedMap(maxEvents, ({ document }) => weightOf(document))
  }

  /** The document behind these bytes, if this process wrote them. */
  find(name: string, etag: string): StreamDocument | undefined {
    const written = this.#written.get(name)
    return written?.etag === etag ? written.document : undefined
  }

  /** The last document that this process wrote, if cached. Other processes may have written since. */
  latest(name: string): StreamDocument | undefined {
    return this.#written.get(name)?.document
  }

  remember(name: string, etag: string, document: StreamDocument): void {
    this.#written.delete(name)
    if (isDone(document)) return
    if (weightOf(document) <= MAX_EVENTS_OF_ONE) this.#written.set(name, { etag, document })
  }
}

interface Written {
  readonly etag: string
  readonly document: StreamDocument
}

/** A finished stream is not continued; cancelling a thousand would only fill the memory. */
function isDone({ events: [root] }: StreamDocument): boolean {
  return root !== undefined && isFinal(root)
}

/** In events, including the history, which may be long for few events. */
function weightOf({ events, journal }: StreamDocument): number {
  return Math.max(1, events.length + Math.floor(journal.length / JOURNAL_OF_AN_EVENT))
}

const CACHES = new WeakMap<StreamStore, DocumentCache>()

export function documentCache(store: StreamStore): DocumentCache {
  const cache = CACHES.get(store) ?? new DocumentCache()
  CACHES.set(store, cache)
  return cache
}

/** For a process that changes many streams, each once: kept documents would only fill the memory. */
export function keepNoDocuments(store: StreamStore): void {
  CACHES.set(store, new DocumentCache(0))
}

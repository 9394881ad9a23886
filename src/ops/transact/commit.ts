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
import { sleep } from '../../util/concurrency.ts'
import { documentCache } from './document-cache.ts'
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
  /** Nothing of the group was written, or nobody knows. */
  | Exclude<ChangeOutcome, { readonly kind: 'committed' | 'left' }>

/** Everything that the results report is durable. */
interface SettledGroup {
  readonly kind: 'settled'
  /** In the order of the group; shorter than the group where there was no room for the rest. */
  readonly results: readonly OperationResult[]
  /** What was written: the next write, which may follow at once, need not parse and summarise it again, however large. */
  readonly written?: WrittenDocument
}

export interface WrittenDocument {
  readonly etag: string
  readonly document: StreamDocument
}

const DEFAULT_DEADLINE_MS = 30_000

/**
 * Writes a group of operations on one stream in one change under the lease; `init` alone tries to create it first.
 *
 * @param last what the write before left
 */
export async function commit(
  store: StreamStore,
  name: string,
  operations: readonly PendingOperation[],
  options: ChangeOptions,
  last?: WrittenDocument,
): Promise<CommitOutcome> {
  const group = new GroupAttempt(operations)
  if (operations[0]?.operation.op === 'init') return create(store, name, group, options)
  return change(store, name, group, options, last)
}

/** A group over all tries to write it. */
class GroupAttempt {
  readonly #operations: readonly PendingOperation[]
  /** What may have been written: for an unanswered write only a later read can tell. */
  #sent: AppliedGroup['sent'] = []
  #results: readonly OperationResult[] = []

  constructor(operations: readonly PendingOperation[]) {
    this.#operations = operations
  }

  /** Decides what to write over a state. */
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

  /** None of what was sent was written, nor will be. */
  discardSent(): void {
    this.#sent = []
  }

  settled(written?: WrittenDocument): SettledGroup {
    return { kind: 'settled', results: this.#results, ...(written === undefined ? {} : { written }) }
  }
}

async function change(
  store: StreamStore,
  name: string,
  group: GroupAttempt,
  options: ChangeOptions,
  last?: WrittenDocument,
): Promise<CommitOutcome> {
  const cache = documentCache(store)
  let document: StreamDocument | undefined
  const decide = (current: StreamSnapshot, nowMs: number) => {
    const known = last?.etag === current.etag ? last.document : cache.find(name, current.etag)
    const decided = group.decide(current, nowMs, known)
    document = decided.document
    return decided.decision
  }
  const outcome = await store.update(name, decide, options)
  if (outcome.kind === 'left') return group.settled()
  if (outcome.kind !== 'committed') return outcome
  if (document === undefined) return group.settled()
  cache.remember(name, outcome.etag, document)
  return group.settled({ etag: outcome.etag, document })
}

/**
 * Creating is the one write without a lease. Where a blob is already, it may be empty, hold no event, or be our own
 * unanswered try: a change under the lease tells. An unanswered create of which nothing is to be seen is sent again.
 */
async function create(
  store: StreamStore,
  name: string,
  group: GroupAttempt,
  options: ChangeOptions,
): Promise<CommitOutcome> {
  if (options.leaseId !== undefined) return createUnderLease(store, name, group, options)
  const deadline = performance.now() + (options.deadlineMs ?? DEFAULT_DEADLINE_MS)
  /** A create that may have landed, or still may; why there was no answer to it. */
  let ghost: { readonly cause?: unknown } | undefined
  for (let attempt = 0; attempt === 0 || performance.now() < deadline; attempt += 1) {
    try {
      if (attempt > 0) await sleep(unansweredDelay(attempt - 1, undefined, Math.random), options.signal)
      const created = await createOnce(store, name, group, options, ghost?.cause !== undefined)
      if (created.kind === 'settled') return created
      // "Exists" may be the answer to a copy that the network made of it, behind the one that was applied.
      ghost = created.kind === 'unknown' ? created : (ghost ?? {})
      const deadlineMs = Math.max(1, deadline - performance.now())
      const changed = await changeCreated(store, name, group, { ...options, deadlineMs })
      // Removed between the two looks, or never there: create it.
      if (changed.kind !== 'missing') return changed
    } catch (error) {
      const isSilence = error instanceof StoreUnreachable || options.signal?.aborted === true
      if (ghost === undefined || (ghost.cause === undefined && !isSilence)) throw error
      ghost = { cause: ghost.cause ?? error }
      // Only a read can tell what became of it, so it goes on trying; any other fault would only come again.
      if (!(error instanceof StoreUnreachable) || error instanceof StoreClosed) break
    }
  }
  if (ghost?.cause === undefined) throw new StoreUnreachable(`the stream ${name} came and went until the deadline`)
  return { kind: 'unknown', cause: ghost.cause }
}

/** Who holds a lease holds it on a blob that is there: an empty one, or one without an event. */
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
  // Nothing was read before: a machine with a wrong clock would create what is due at once, or a day late.
  await store.learnTime?.(name, signal)
  const { decision, document } = group.decide(current, store.nowMs())
  if (decision.kind === 'leave') return group.settled()
  const outcome = await store.create(name, decision.body, decision.summary, signal)
  // As far as is known it is another's. A doubled try of ours is found by its command id.
  if (outcome.kind === 'exists' && !doubtful) group.discardSent()
  if (outcome.kind !== 'created') return outcome
  documentCache(store).remember(name, outcome.etag, document)
  return group.settled()
}

/** A change of what has the name; where another's lease keeps it away, a read tells whether our create landed. */
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

import { silenceDelay } from '../../store/backoff.ts'
import { StoreClosed, StoreUnreachable } from '../../store/errors.ts'
import type { ChangeOptions, ChangeOutcome, CreateOutcome, EventStore, Stored } from '../../store/store.ts'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../stream/document.ts'
import { sleep } from '../../util/concurrency.ts'
import { documentCache } from './document-cache.ts'
import { type PlannedOperation, plan } from './plan.ts'

/** What became of a group. `settled`: each operation's own plan tells; everything it reports is durable. */
export type CommitOutcome =
  | { readonly kind: 'settled' }
  | Exclude<ChangeOutcome, { readonly kind: 'committed' | 'left' }>

/** What the write before left, for the next one: the document however large, which need not be parsed and summed again. */
export interface WrittenBefore {
  last: { readonly etag: string; readonly document: StreamDocument } | undefined
}

const DEFAULT_DEADLINE_MS = 30_000

/** Writes a group of operations on one stream in one change under the lease; `init` alone tries to create it first. */
export async function commit(
  store: EventStore,
  name: string,
  group: readonly PlannedOperation[],
  options: ChangeOptions,
  before: WrittenBefore = { last: undefined },
): Promise<CommitOutcome> {
  const first = group[0]
  if (first?.operation.op !== 'init') return change(store, name, group, options, before)
  return create(store, name, group, options)
}

async function change(
  store: EventStore,
  name: string,
  group: readonly PlannedOperation[],
  options: ChangeOptions,
  before: WrittenBefore = { last: undefined },
): Promise<CommitOutcome> {
  const cache = documentCache(store)
  let document: StreamDocument | undefined
  const decide = (current: Stored, nowMs: number) => {
    const known = before.last?.etag === current.etag ? before.last.document : cache.find(name, current.etag)
    const planned = plan(group, current, nowMs, known)
    document = planned.document
    return planned.decision
  }
  const outcome = await store.changeUnderLease(name, decide, options)
  if (outcome.kind === 'committed' && document !== undefined) {
    cache.remember(name, outcome.etag, document)
    before.last = { etag: outcome.etag, document }
  }
  return outcome.kind === 'committed' || outcome.kind === 'left' ? { kind: 'settled' } : outcome
}

/**
 * Creating is the one write without a lease. Where a blob is already, it may be empty, hold no event, or be our own
 * unanswered try: a change under the lease tells. An unanswered create of which nothing is to be seen is sent again.
 */
async function create(
  store: EventStore,
  name: string,
  group: readonly PlannedOperation[],
  options: ChangeOptions,
): Promise<CommitOutcome> {
  if (options.leaseId !== undefined) return createUnderLease(store, name, group, options)
  const deadline = performance.now() + (options.deadlineMs ?? DEFAULT_DEADLINE_MS)
  /** A create that may have landed, or still may; why there was no answer to it. */
  let ghost: { readonly cause?: unknown } | undefined
  for (let attempt = 0; attempt === 0 || performance.now() < deadline; attempt += 1) {
    try {
      if (attempt > 0) await sleep(silenceDelay(attempt - 1, undefined, Math.random), options.signal)
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
  store: EventStore,
  name: string,
  group: readonly PlannedOperation[],
  options: ChangeOptions,
): Promise<CommitOutcome> {
  const changed = await change(store, name, group, options)
  return changed.kind === 'missing' ? { kind: 'lost', code: 'LeaseNotPresentWithBlobOperation' } : changed
}

async function createOnce(
  store: EventStore,
  name: string,
  group: readonly PlannedOperation[],
  { signal }: ChangeOptions,
  doubtful: boolean,
): Promise<CreateOutcome | { readonly kind: 'settled' }> {
  const current = { body: new Uint8Array(), versionFloor: EMPTY_DOCUMENT.version }
  // Nothing was read before: a machine with a wrong clock would create what is due at once, or a day late.
  await store.learnTime?.(name, signal)
  const { decision, document } = plan(group, current, store.nowMs())
  if (decision.kind === 'leave') return { kind: 'settled' }
  const outcome = await store.create(name, decision.body, decision.summary, signal)
  // As far as is known it is another's. A doubled try of ours is found by its command id.
  if (outcome.kind === 'exists' && !doubtful) for (const planned of group) planned.sentTo = undefined
  if (outcome.kind !== 'created') return outcome
  documentCache(store).remember(name, outcome.etag, document)
  return { kind: 'settled' }
}

/** A change of what has the name; where another's lease keeps it away, a read tells whether our create landed. */
async function changeCreated(
  store: EventStore,
  name: string,
  group: readonly PlannedOperation[],
  options: ChangeOptions,
): Promise<CommitOutcome> {
  const changed = await change(store, name, group, options)
  if (changed.kind !== 'held') return changed
  const stored = await store.read(name, options.signal)
  if (stored === undefined) return { kind: 'missing' }
  return plan(group, stored, store.nowMs()).decision.kind === 'leave' ? { kind: 'settled' } : changed
}

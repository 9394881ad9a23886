import type { ChangeOptions, ChangeOutcome, EventStore, Stored } from '../store/store.ts'
import { EMPTY_DOCUMENT, type StreamDocument } from '../stream/document.ts'
import { documentCache } from './document-cache.ts'
import { type PlannedOperation, plan } from './plan.ts'

/** What became of a group. `settled`: each operation's own plan tells; everything it reports is durable. */
export type CommitOutcome =
  | { readonly kind: 'settled' }
  | Exclude<ChangeOutcome, { readonly kind: 'committed' | 'left' }>

const DEFAULT_DEADLINE_MS = 30_000

/** Writes a group of operations on one stream in one change under the lease; `init` alone tries to create it first. */
export async function commit(
  store: EventStore,
  name: string,
  group: readonly PlannedOperation[],
  options: ChangeOptions,
): Promise<CommitOutcome> {
  const first = group[0]
  if (first?.operation.op !== 'init') return change(store, name, group, options)
  return create(store, name, group, options)
}

async function change(
  store: EventStore,
  name: string,
  group: readonly PlannedOperation[],
  options: ChangeOptions,
): Promise<CommitOutcome> {
  const cache = documentCache(store)
  let document: StreamDocument | undefined
  const decide = (current: Stored, nowMs: number) => {
    const planned = plan(group, current, nowMs, cache.find(name, current.etag))
    document = planned.document
    return planned.decision
  }
  const outcome = await store.changeUnderLease(name, decide, options)
  if (outcome.kind === 'committed' && document !== undefined) cache.remember(name, outcome.etag, document)
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
  const deadline = performance.now() + (options.deadlineMs ?? DEFAULT_DEADLINE_MS)
  let unanswered: unknown
  while (performance.now() < deadline) {
    const { decision, document } = plan(
      group,
      { body: new Uint8Array(), versionFloor: EMPTY_DOCUMENT.version },
      store.nowMs(),
    )
    if (decision.kind === 'leave') return { kind: 'settled' }
    const outcome = await store.create(name, decision.body, decision.summary, options.signal)
    if (outcome.kind === 'created') {
      documentCache(store).remember(name, outcome.etag, document)
      return { kind: 'settled' }
    }
    if (outcome.kind === 'unknown') unanswered = outcome.cause
    else for (const planned of group) planned.sent &&= unanswered !== undefined
    const changed = await change(store, name, group, options)
    // Removed between the two looks, or never there: create it.
    if (changed.kind !== 'missing') return changed
  }
  return { kind: 'unknown', cause: unanswered ?? new Error(`the stream ${name} came and went until the deadline`) }
}

import { unansweredDelay } from '../store/backoff.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { Holder, LeaseView, StreamSnapshot, StreamStore } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'
import { BadDocument } from '../stream/errors.ts'
import { highestVersion } from '../stream/journal/history.ts'
import { summarize } from '../stream/summarize.ts'
import type { Summary } from '../stream/summary.ts'
import { sleep } from '../util/concurrency.ts'
import { parseBody } from './transact/plan.ts'

export interface CopyOptions {
  /**
   * What to do if another document has the name. `replace` writes only over the state that the caller has read: the one
   * with this ETag, or none.
   */
  readonly existing: 'refuse' | 'skip' | { readonly replace: string | undefined }
  readonly holder: Holder
  /** How long to wait for a lease held by another, ms. Only replacing needs the lease. */
  readonly leaseWaitMs: number
  /** Ends the wait for the lease. */
  readonly stopWaiting?: AbortSignal
  /** When to stop resolving an unanswered write, ms from the call. Default 30 000. */
  readonly deadlineMs?: number
}

/** The outcome for one document. Faults of the store and an unreadable document are thrown: nothing was written. */
export type CopyOutcome =
  | { readonly kind: 'created' | 'replaced'; readonly version: number }
  /** The same bytes are there already. */
  | { readonly kind: 'already'; readonly version: number }
  /** Another document has the name and was left unchanged. */
  | { readonly kind: 'exists' | 'skipped' }
  /** The existing document must not be replaced. */
  | Extract<CopyState, { readonly kind: 'older' | 'unreadable' }>
  /** The document under the name has changed since it was read. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'held'; readonly lease: LeaseView; readonly waitedMs: number; readonly lastBy?: string }
  /** Sent, unanswered, unresolved: a repetition resolves it. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

const DEFAULT_DEADLINE_MS = 30_000

/**
 * Copies a document of another store or a file into this store, byte by byte: its version, journal, claims and sum
 * stay. Repeating is safe: an existing copy is recognized by its bytes.
 *
 * @throws BadDocument an unreadable document; InvalidValue an invalid name for this store; the store's faults
 */
export async function copyInto(
  store: StreamStore,
  name: string,
  body: Uint8Array,
  options: CopyOptions,
): Promise<CopyOutcome> {
  const incoming: Incoming = { name, body, document: parseBody(body, name), by: options.holder.by }
  const deadline = performance.now() + (options.deadlineMs ?? DEFAULT_DEADLINE_MS)
  let inDoubt: InDoubtWrite | undefined
  for (let attempt = 0; attempt === 0 || performance.now() < deadline; attempt += 1) {
    try {
      if (attempt > 0) await sleep(unansweredDelay(attempt - 1, undefined, Math.random), undefined)
      const created = await store.create(name, body, summaryOf(incoming, store.nowMs()))
      if (created.kind === 'created') return { kind: 'created', version: incoming.document.version }
      if (created.kind === 'unknown') inDoubt = created
      const there = await overExisting(store, incoming, options, inDoubt)
      if (there !== undefined) return there
    } catch (error) {
      // Only a further request shows the outcome, so keep trying; any other fault would only repeat.
      if (inDoubt === undefined) throw error
      if (!(error instanceof StoreUnreachable)) break
    }
  }
  if (inDoubt === undefined) throw new StoreUnreachable(`the stream ${name} came and went until the deadline`)
  return { kind: 'unknown', cause: inDoubt.cause }
}

interface Incoming {
  readonly name: string
  readonly body: Uint8Array
  readonly document: StreamDocument
  readonly by: string
}

/** An in-doubt create: it may have been applied, or still may be. `cause`: why its answer is missing. */
interface InDoubtWrite {
  readonly cause: unknown
}

/**
 * Returns `undefined` if the name is free again, or still. @param inDoubt our own create: it may have made the present
 * document or an earlier state of it
 */
async function overExisting(
  store: StreamStore,
  incoming: Incoming,
  options: CopyOptions,
  inDoubt: InDoubtWrite | undefined,
): Promise<CopyOutcome | undefined> {
  const { existing } = options
  const current = await store.read(incoming.name)
  if (current === undefined) return undefined
  if (sameBytes(current.body, incoming.body))
    return { kind: inDoubt === undefined ? 'already' : 'created', version: incoming.document.version }
  // The creator is unknown: another process may have copied the same document, or it was there before.
  const isKnown = typeof existing === 'object' && existing.replace === current.etag
  if (inDoubt !== undefined && !isKnown && mayDescendFrom(incoming, current))
    return { kind: 'unknown', cause: inDoubt.cause }
  if (existing === 'refuse') return { kind: 'exists' }
  if (existing === 'skip') return { kind: 'skipped' }
  return replaceUnderLease(store, incoming, existing.replace, options)
}

async function replaceUnderLease(
  store: StreamStore,
  incoming: Incoming,
  etag: string | undefined,
  options: CopyOptions,
): Promise<CopyOutcome | undefined> {
  const { version } = incoming.document
  let left: CopyOutcome | undefined
  let sent = false
  const decide = (current: StreamSnapshot, nowMs: number) => {
    left = reasonToLeave(current, incoming, etag, sent)
    if (left !== undefined) return { kind: 'leave' } as const
    sent = true
    const discard = () => {
      sent = false
    }
    return { kind: 'put', body: incoming.body, summary: summaryOf(incoming, nowMs), discard } as const
  }
  const outcome = await store.update(incoming.name, decide, {
    waitMs: options.leaseWaitMs,
    holder: options.holder,
    ...(options.stopWaiting === undefined ? {} : { stopWaiting: options.stopWaiting }),
  })
  switch (outcome.kind) {
    // Skipped after an in-doubt Put: only the last decision has its outcome.
    case 'committed':
      return left ?? { kind: 'replaced', version }
    case 'left':
      return left ?? { kind: 'changed' }
    case 'missing':
      return { kind: 'changed' }
    case 'lost':
      throw new Error('a change without a lease of its own cannot lose it')
    default:
      return outcome
  }
}

/**
 * Why the document is not replaced; `undefined` to replace it. @param sent an earlier attempt was sent: it may have
 * written the present document or an earlier state of it
 */
function reasonToLeave(
  current: StreamSnapshot,
  { name, body, document }: Incoming,
  etag: string | undefined,
  sent: boolean,
): CopyOutcome | undefined {
  const standing = comparedWith({ body, document }, current)
  if (standing.kind === 'same') return { kind: sent ? 'replaced' : 'already', version: document.version }
  if (sent) return { kind: 'unknown', cause: new Error(`another write of ${name} followed`) }
  if (standing.kind !== 'other') return standing
  return current.etag === etag ? undefined : { kind: 'changed' }
}

function summaryOf({ document, by }: Incoming, nowMs: number): Summary {
  return summarize(document, { nowMs, lastModifiedMs: nowMs, lastBy: by })
}

/** A document to copy. */
export interface CopySource {
  readonly body: Uint8Array
  readonly document: StreamDocument
}

/** The stored document of the same name, compared with the one to copy. */
export type CopyState =
  /** The same bytes. */
  | { readonly kind: 'same' }
  /** Another document, which can be replaced. */
  | { readonly kind: 'other'; readonly etag: string; readonly version: number }
  /** The same stream at a higher version: versions never go back (stream-format 5). */
  | { readonly kind: 'older'; readonly version: number; readonly found: number }
  /** The stored document is unreadable: it is not overwritten. */
  | { readonly kind: 'unreadable'; readonly message: string }

/** Compares with the stored document; `undefined` if there is none. Takes no lease. */
export async function compareWithStored(
  store: StreamStore,
  name: string,
  candidate: CopySource,
): Promise<CopyState | undefined> {
  const current = await store.read(name)
  return current && comparedWith(candidate, current)
}

/** Compares a document with a stored one. */
function comparedWith({ body, document }: CopySource, current: StreamSnapshot): CopyState {
  if (sameBytes(body, current.body)) return { kind: 'same' }
  const there = parsed(current)
  if (there instanceof BadDocument) return { kind: 'unreadable', message: there.message }
  const found = highestVersion(there, current.versionFloor)
  const version = highestVersion(document, 0)
  const isSameIncarnation = there.born !== '' && there.born === document.born
  if (isSameIncarnation && version < found) return { kind: 'older', version, found }
  return { kind: 'other', etag: current.etag, version: found }
}

/**
 * Whether the stored bytes may be a later state of the document. Only another incarnation or a lower version rules that
 * out, and foreign writers may drop both.
 */
function mayDescendFrom({ document }: CopySource, current: StreamSnapshot): boolean {
  const there = parsed(current)
  if (there instanceof BadDocument || there.born === '' || document.born === '') return true
  return there.born === document.born && highestVersion(there, current.versionFloor) >= highestVersion(document, 0)
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}

function parsed({ body, name }: StreamSnapshot): StreamDocument | BadDocument {
  try {
    return parseBody(body, name)
  } catch (error) {
    if (error instanceof BadDocument) return error
    throw error
  }
}

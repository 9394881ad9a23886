import { unansweredDelay } from '../store/backoff.ts'
import { StoreClosed, StoreUnreachable } from '../store/errors.ts'
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
   * What to do where another document has the name. `replace` does it only over the state that was looked at: the one
   * with this ETag, or none.
   */
  readonly existing: 'refuse' | 'skip' | { readonly replace: string | undefined }
  readonly holder: Holder
  /** How long to wait for a lease held by another, ms. Only replacing needs the lease. */
  readonly leaseWaitMs: number
  /** Ends that wait. */
  readonly stopWaiting?: AbortSignal
  /** When to give up finding out what became of an unanswered write, ms from the call. Default 30 000. */
  readonly deadlineMs?: number
}

/** What became of one document. Faults of the store and a document that cannot be read are thrown: nothing was written. */
export type CopyOutcome =
  | { readonly kind: 'created' | 'replaced'; readonly version: number }
  /** The very same bytes are there. */
  | { readonly kind: 'already'; readonly version: number }
  /** Another document has the name and was left as it is. */
  | { readonly kind: 'exists' | 'skipped' }
  /** It may not be replaced. */
  | Extract<CopyState, { readonly kind: 'older' | 'unreadable' }>
  /** The name no longer stands for what was looked at. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'held'; readonly lease: LeaseView; readonly waitedMs: number; readonly lastBy?: string }
  /** Sent, unanswered, unresolved: repeating finds out. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

const DEFAULT_DEADLINE_MS = 30_000

/**
 * Puts a document of another store or a file into this one, byte by byte as it is: its version, journal, claims and
 * sum stay. Repeating is safe: what is there already is recognised by its bytes.
 *
 * @throws BadDocument it cannot be read; InvalidValue a name that this store cannot keep; the store's faults
 */
export async function copyInto(
  store: StreamStore,
  name: string,
  body: Uint8Array,
  options: CopyOptions,
): Promise<CopyOutcome> {
  const incoming: Incoming = { name, body, document: parseBody(body, name), by: options.holder.by }
  const deadline = performance.now() + (options.deadlineMs ?? DEFAULT_DEADLINE_MS)
  let ghost: InDoubtWrite | undefined
  for (let attempt = 0; attempt === 0 || performance.now() < deadline; attempt += 1) {
    try {
      if (attempt > 0) await sleep(unansweredDelay(attempt - 1, undefined, Math.random), undefined)
      const created = await store.create(name, body, summaryOf(incoming, store.nowMs()))
      if (created.kind === 'created') return { kind: 'created', version: incoming.document.version }
      if (created.kind === 'unknown') ghost = created
      const there = await overExisting(store, incoming, options, ghost)
      if (there !== undefined) return there
    } catch (error) {
      // Only the store can tell what became of it, so it is asked again; any other fault would only come again.
      if (ghost === undefined) throw error
      if (!(error instanceof StoreUnreachable) || error instanceof StoreClosed) break
    }
  }
  if (ghost === undefined) throw new StoreUnreachable(`the stream ${name} came and went until the deadline`)
  return { kind: 'unknown', cause: ghost.cause }
}

interface Incoming {
  readonly name: string
  readonly body: Uint8Array
  readonly document: StreamDocument
  readonly by: string
}

/** A create that may have landed, or still may; why there was no answer to it. */
interface InDoubtWrite {
  readonly cause: unknown
}

/** `undefined`: nothing has the name any more, or not yet. @param ghost our own create: it may be what is there, or beneath it */
async function overExisting(
  store: StreamStore,
  incoming: Incoming,
  options: CopyOptions,
  ghost: InDoubtWrite | undefined,
): Promise<CopyOutcome | undefined> {
  const { existing } = options
  const current = await store.read(incoming.name)
  if (current === undefined) return undefined
  if (sameBytes(current.body, incoming.body))
    return { kind: ghost === undefined ? 'already' : 'created', version: incoming.document.version }
  // Nothing tells whose create that stands on: another may have copied the same, or it was there all along.
  const isKnown = typeof existing === 'object' && existing.replace === current.etag
  if (ghost !== undefined && !isKnown && mayStandOn(incoming, current)) return { kind: 'unknown', cause: ghost.cause }
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
    // Left after a Put in doubt: only the last decision knows what became of that.
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

/** `undefined`: it is replaced. @param sent an earlier try was sent: it may be what is there, or beneath it */
function reasonToLeave(
  current: StreamSnapshot,
  { name, body, document }: Incoming,
  etag: string | undefined,
  sent: boolean,
): CopyOutcome | undefined {
  const standing = standingOf({ body, document }, current)
  if (standing.kind === 'same') return { kind: sent ? 'replaced' : 'already', version: document.version }
  if (sent) return { kind: 'unknown', cause: new Error(`another write of ${name} followed`) }
  if (standing.kind !== 'other') return standing
  return current.etag === etag ? undefined : { kind: 'changed' }
}

function summaryOf({ document, by }: Incoming, nowMs: number): Summary {
  return summarize(document, { nowMs, lastModifiedMs: nowMs, lastBy: by })
}

/** A document that is to be put where another may be. */
export interface CopySource {
  readonly body: Uint8Array
  readonly document: StreamDocument
}

/** How a document stands to what has its name. */
export type CopyState =
  /** The very same bytes. */
  | { readonly kind: 'same' }
  /** Another document, which may be replaced. */
  | { readonly kind: 'other'; readonly etag: string; readonly version: number }
  /** The same stream at a higher version: versions never go back (stream-format 5). */
  | { readonly kind: 'older'; readonly version: number; readonly found: number }
  /** What is there cannot be read: nothing is written over it. */
  | { readonly kind: 'unreadable'; readonly message: string }

/** Looks at what has the name, `undefined` for nothing. Takes no lease. */
export async function lookAt(store: StreamStore, name: string, candidate: CopySource): Promise<CopyState | undefined> {
  const current = await store.read(name)
  return current && standingOf(candidate, current)
}

/** How a document stands to a stored one. */
function standingOf({ body, document }: CopySource, current: StreamSnapshot): CopyState {
  if (sameBytes(body, current.body)) return { kind: 'same' }
  const there = parsed(current)
  if (there instanceof BadDocument) return { kind: 'unreadable', message: there.message }
  const found = highestVersion(there, current.versionFloor)
  const version = highestVersion(document, 0)
  const sameLife = there.born !== '' && there.born === document.born
  if (sameLife && version < found) return { kind: 'older', version, found }
  return { kind: 'other', etag: current.etag, version: found }
}

/**
 * Whether other bytes than the document's may have been written upon it: nothing but another life or a lower version
 * rules that out, and foreign writers may take both away.
 */
function mayStandOn({ document }: CopySource, current: StreamSnapshot): boolean {
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

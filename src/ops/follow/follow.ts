import { ContainerMissing, StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { ownText } from '../../util/strings.ts'
import { type JournalEntry, readStream, type StreamView } from '../read-stream.ts'

export interface FollowStreamOptions {
  /** Only transactions after this version. */
  readonly fromVersion: number
  /** The incarnation of `fromVersion`, `born` of its document; without it, the first one found. */
  readonly born?: string
  readonly intervalMs: number
  readonly signal?: AbortSignal
}

/** An item of `follow`. */
export type FollowItem =
  | { readonly kind: 'transaction'; readonly tx: JournalEntry }
  /** The store does not answer, or cannot be read for now; the next poll tries again. Yielded once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  /** The store answers again. `missed`: the journal does not continue from the last position; `broken` says why. */
  | { readonly kind: 'resumed'; readonly missed: boolean; readonly broken?: JournalGap }
  /** The root is final. A retry can reopen it, so following continues. */
  | { readonly kind: 'done' }
  /** The stream was removed. Following continues: it may be created again. */
  | { readonly kind: 'gone' }

/** The last known state of the stream. */
interface LastPoll {
  readonly position: Position
  etag: string
  done: boolean
  gone: boolean
}

/**
 * Follows the transactions of one stream in order, without a gap: the journal is complete and has all transactions
 * between two polls. Ends when the signal aborts. @throws the store's faults except `StoreUnreachable`; BadDocument and
 * ContainerMissing only before anything was read
 */
export async function* follow(
  store: StreamStore,
  name: string,
  options: FollowStreamOptions,
): AsyncGenerator<FollowItem> {
  const { fromVersion, born } = options
  const incarnation = born === undefined ? { born: '' } : { born, seenMs: store.nowMs() }
  const position = new Position({ version: fromVersion, ...incarnation })
  const last: LastPoll = { position, etag: '', done: false, gone: false }
  let interrupted = false
  let hasRead = false
  while (options.signal?.aborted !== true) {
    const poll = await tryRead(store, name, hasRead, options.signal)
    if (poll.kind === 'unreachable') {
      if (!interrupted) yield { kind: 'interrupted', cause: poll.cause }
      interrupted = true
    } else if (poll.kind === 'read') {
      hasRead = true
      const { items, broken } = newItems(last, poll.view)
      if (interrupted) yield { kind: 'resumed', missed: broken !== undefined, ...(broken && { broken }) }
      interrupted = false
      yield* items
    }
    await sleepUntilAborted(options.intervalMs, options.signal)
  }
}

type ReadOutcome =
  | { readonly kind: 'read'; readonly view: StreamView | undefined }
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  | { readonly kind: 'stopped' }

async function tryRead(
  store: StreamStore,
  name: string,
  hasRead: boolean,
  signal: AbortSignal | undefined,
): Promise<ReadOutcome> {
  try {
    return { kind: 'read', view: await readStream(store, name, signal) }
  } catch (cause) {
    if (signal?.aborted === true) return { kind: 'stopped' }
    if (cause instanceof StoreUnreachable || (hasRead && mayPass(cause))) return { kind: 'unreachable', cause }
    throw cause
  }
}

/** What another program may have done for a moment: a document half written, a file moved away. */
function mayPass(cause: unknown): boolean {
  return cause instanceof StreamFault || cause instanceof ContainerMissing
}

function newItems(
  last: LastPoll,
  view: StreamView | undefined,
): { readonly items: readonly FollowItem[]; readonly broken: JournalGap | undefined } {
  const wasGone = last.gone
  last.gone = view === undefined
  if (view === undefined) return { items: wasGone ? [] : [{ kind: 'gone' }], broken: undefined }
  if (view.stored.etag === last.etag) return { items: [], broken: undefined }
  last.etag = view.stored.etag
  const { transactions, broken } = last.position.advance(followedState(view))
  const items: FollowItem[] = transactions.map(tx => ({ kind: 'transaction', tx }))
  if (view.stream.done && !last.done) items.push({ kind: 'done' })
  last.done = view.stream.done
  return { items, broken }
}

/** Why the journal does not continue from the last known transaction. */
export type JournalGap =
  /** Another stream has the name now. The last transactions of the former one may be missing. */
  | 'other-life'
  /** The last known transaction is not in the journal: an older copy was restored. */
  | 'older-copy'

/** The state of a stream at a poll. */
export interface FollowedState {
  /** Its incarnation, `lc:born`. */
  readonly born: string
  /** All transactions, oldest first. */
  readonly transactions: readonly JournalEntry[]
  /** When the store last wrote it, epoch ms. */
  readonly modifiedMs: number
}

/** The new transactions of a stream at a poll. */
export interface NewEntries {
  readonly transactions: readonly JournalEntry[]
  readonly broken: JournalGap | undefined
}

export interface PositionOptions {
  /** Everything up to this version is known. */
  readonly version: number
  /** The incarnation (`lc:born`) of that version; `''` takes the first one found. */
  readonly born: string
  /**
   * When the stream was written at that version, epoch ms. Absent for one from the command line, maybe a future one.
   */
  readonly seenMs?: number
}

/** The position in the transactions of one stream. Holds numbers and one id, nothing of the document. */
export class Position {
  #version: number
  #born: string
  #seenMs: number | undefined
  /** Fingerprints, to save memory for a hundred thousand positions: 0 is none. */
  #last = 0
  #provisional = 0

  constructor({ version, born, seenMs }: PositionOptions) {
    this.#version = version
    this.#born = born
    this.#seenMs = seenMs
  }

  /** The last known incarnation, `''` before the first. */
  get born(): string {
    return this.#born
  }

  /** Whether a valid summary shows no new transaction: heartbeats write without one. */
  isAt(version: number, born: string): boolean {
    return this.#provisional === 0 && version === this.#version && born === this.#born
  }

  /** Returns the new transactions in order and advances the position. */
  advance(found: FollowedState): NewEntries {
    const broken = this.#rewind(found)
    const transactions: JournalEntry[] = []
    let provisional = 0
    for (const tx of found.transactions) {
      if (tx.provisional) {
        provisional = fingerprint(JSON.stringify([tx.changes, tx.why]))
        if (provisional !== this.#provisional) transactions.push(tx)
      } else if (tx.version > this.#version) {
        this.#version = tx.version
        this.#provisional = 0
        transactions.push(tx)
      }
    }
    this.#provisional = provisional
    return { transactions, broken }
  }

  /**
   * Resets the position for another incarnation of the same name or a restored older copy, whose versions start again.
   * A writer that merely dropped `lc:born` does not reset it.
   */
  #rewind(found: FollowedState): JournalGap | undefined {
    const recorded = found.transactions.filter(tx => !tx.provisional)
    const newest = recorded.at(-1)
    const known = this.#last
    const born = this.#born
    const seenMs = this.#seenMs
    const isThere = known !== 0 && recorded.some(tx => identity(tx) === known)
    this.#last = newest === undefined ? 0 : identity(newest)
    this.#seenMs = found.modifiedMs
    if (found.born !== born) this.#born = ownText(found.born)
    if (isThere || seenMs === undefined) return undefined
    if (born !== '' && found.born !== '' && found.born !== born) {
      this.#version = 0
      return 'other-life'
    }
    const newestVersion = newest?.version ?? 0
    if (known === 0 && newestVersion >= this.#version) return undefined
    // Known and new transactions have the same versions now: their times distinguish them.
    const later = recorded.find(tx => Date.parse(tx.at) > seenMs)
    this.#version = Math.min(this.#version, later === undefined ? newestVersion : later.version - 1)
    return 'older-copy'
  }
}

/** The state of a stream in a view. */
export function followedState({ document, stored, transactions }: StreamView): FollowedState {
  return { born: document.born, transactions: transactions(), modifiedMs: stored.modifiedMs }
}

function identity({ version, at, commandId }: JournalEntry): number {
  return fingerprint(`${version} ${at} ${commandId}`)
}

/** FNV-1a over the text's code units, never 0. */
function fingerprint(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash === 0 ? 1 : hash
}

import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { ownText } from '../../util/strings.ts'
import { type JournalEntry, readStream, type StreamView } from '../read-stream.ts'

export interface FollowStreamOptions {
  /** Only transactions after this version. */
  readonly fromVersion: number
  /** The life of the stream that `fromVersion` counts in, its document's `born`; without it, the one that is met first. */
  readonly born?: string
  readonly intervalMs: number
  readonly signal?: AbortSignal
}

/** What one sees while following a stream. */
export type FollowItem =
  | { readonly kind: 'transaction'; readonly tx: JournalEntry }
  /** The store does not answer; it is asked again each interval. Said once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  /** It answers again. `missed`: the journal does not go on from what was seen last; `broken` says why. */
  | { readonly kind: 'resumed'; readonly missed: boolean; readonly broken?: JournalGap }
  /** The root is final. A retry may reopen it, so following goes on. */
  | { readonly kind: 'done' }
  /** The stream was removed. Following goes on: it may be created again. */
  | { readonly kind: 'gone' }

/** What was seen of the stream last. */
interface Seen {
  readonly position: Position
  etag: string
  done: boolean
  gone: boolean
}

/**
 * The transactions of one stream in order, without a gap: the journal is complete, so whatever happened between two
 * looks is in it. Ends when the signal aborts. @throws BadDocument and the store's faults but `StoreUnreachable`
 */
export async function* follow(
  store: StreamStore,
  name: string,
  options: FollowStreamOptions,
): AsyncGenerator<FollowItem> {
  const { fromVersion, born } = options
  const life = born === undefined ? { born: '' } : { born, seenMs: store.nowMs() }
  const position = new Position({ version: fromVersion, ...life })
  const seen: Seen = { position, etag: '', done: false, gone: false }
  let interrupted = false
  while (options.signal?.aborted !== true) {
    const look = await tryRead(store, name, options.signal)
    if (look.kind === 'unreachable') {
      if (!interrupted) yield { kind: 'interrupted', cause: look.cause }
      interrupted = true
    } else if (look.kind === 'read') {
      const { items, broken } = newsOf(seen, look.view)
      if (interrupted) yield { kind: 'resumed', missed: broken !== undefined, ...(broken && { broken }) }
      interrupted = false
      yield* items
    }
    await sleepUntilAborted(options.intervalMs, options.signal)
  }
}

type Look =
  | { readonly kind: 'read'; readonly view: StreamView | undefined }
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  | { readonly kind: 'stopped' }

async function tryRead(store: StreamStore, name: string, signal: AbortSignal | undefined): Promise<Look> {
  try {
    return { kind: 'read', view: await readStream(store, name, signal) }
  } catch (cause) {
    if (signal?.aborted === true) return { kind: 'stopped' }
    if (cause instanceof StoreUnreachable) return { kind: 'unreachable', cause }
    throw cause
  }
}

function newsOf(
  seen: Seen,
  view: StreamView | undefined,
): { readonly items: readonly FollowItem[]; readonly broken: JournalGap | undefined } {
  const wasGone = seen.gone
  seen.gone = view === undefined
  if (view === undefined) return { items: wasGone ? [] : [{ kind: 'gone' }], broken: undefined }
  if (view.stored.etag === seen.etag) return { items: [], broken: undefined }
  seen.etag = view.stored.etag
  const { transactions, broken } = seen.position.news(foundIn(view))
  const items: FollowItem[] = transactions.map(tx => ({ kind: 'transaction', tx }))
  if (view.stream.done && !seen.done) items.push({ kind: 'done' })
  seen.done = view.stream.done
  return { items, broken }
}

/** Why the journal does not go on from where it was seen last. */
export type JournalGap =
  /** Another stream has the name now; its count begins anew. What the former one did last may have been missed. */
  | 'other-life'
  /** The last transaction that was seen is not in the journal: an older copy was put back. */
  | 'older-copy'

/** What a look at a stream finds. */
export interface FollowedState {
  /** Its life, `lc:born`. */
  readonly born: string
  /** All of them, oldest first. */
  readonly transactions: readonly JournalEntry[]
  /** When the store last wrote it, epoch ms. */
  readonly modifiedMs: number
}

/** What a look at a stream tells that was not told before. */
export interface NewEntries {
  readonly transactions: readonly JournalEntry[]
  readonly broken: JournalGap | undefined
}

export interface PositionOptions {
  /** Everything up to this version is known. */
  readonly version: number
  /** The life (`lc:born`) in which that counts; `''` takes the one that is met first. */
  readonly born: string
  /** When the stream was last written as it was seen at that version, epoch ms. A person may name one that is to come. */
  readonly seenMs?: number
}

/** Up to where the transactions of one stream were told. Holds numbers and one id, nothing of the document. */
export class Position {
  #version: number
  #born: string
  #seenMs: number | undefined
  /** Fingerprints, so that a hundred thousand positions take little: 0 stands for none. */
  #last = 0
  #provisional = 0

  constructor({ version, born, seenMs }: PositionOptions) {
    this.#version = version
    this.#born = born
    this.#seenMs = seenMs
  }

  /** The life that was seen last, `''` before the first. */
  get born(): string {
    return this.#born
  }

  /** Whether a summary that counts says that there is nothing new: heartbeats write without a transaction. */
  isAt(version: number, born: string): boolean {
    return this.#provisional === 0 && version === this.#version && born === this.#born
  }

  /** What the stream tells now, in order. It is told once: the position moves on. */
  news(found: FollowedState): NewEntries {
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
   * Another life under the same name, or an older copy that was put back, begins its own count. A writer that merely
   * dropped `lc:born` does neither.
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
    // What was told and what was not has the same versions now: times tell them apart.
    const later = recorded.find(tx => Date.parse(tx.at) > seenMs)
    this.#version = Math.min(this.#version, later === undefined ? newestVersion : later.version - 1)
    return 'older-copy'
  }
}

/** What a view of a stream finds. */
export function foundIn({ document, stored, transactions }: StreamView): FollowedState {
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

import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnreachable } from '../store/errors.ts'
import type { EventStore } from '../store/store.ts'
import { readStream, type SeenTransaction, type StreamView } from './read-stream.ts'

export interface FollowOptions {
  /** Only transactions after this version. */
  readonly fromVersion: number
  /** The life of the stream that `fromVersion` counts in, its document's `born`; without it, the one that is met first. */
  readonly born?: string
  readonly intervalMs: number
  readonly signal?: AbortSignal
}

/** What one sees while following a stream. */
export type FollowItem =
  | { readonly kind: 'transaction'; readonly tx: SeenTransaction }
  /** The store does not answer; it is asked again each interval. Said once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  /** It answers again. `missed`: the journal does not reach back to what was seen last (another life of the stream). */
  | { readonly kind: 'resumed'; readonly missed: boolean }
  /** The root is final. A retry may reopen it, so following goes on. */
  | { readonly kind: 'done' }
  /** The stream was removed. Following goes on: it may be created again. */
  | { readonly kind: 'gone' }

interface Position {
  version: number
  etag: string
  born: string
  /** The last recorded transaction of the document that was seen last. */
  last: SeenTransaction | undefined
  done: boolean
  gone: boolean
  provisional: string
}

/**
 * The transactions of one stream in order, without a gap: the journal is complete, so whatever happened between two
 * looks is in it. Ends when the signal aborts. @throws BadDocument and the store's faults but `StoreUnreachable`
 */
export async function* follow(store: EventStore, name: string, options: FollowOptions): AsyncGenerator<FollowItem> {
  const position: Position = {
    version: options.fromVersion,
    etag: '',
    born: options.born ?? '',
    last: undefined,
    done: false,
    gone: false,
    provisional: '',
  }
  let interrupted = false
  while (options.signal?.aborted !== true) {
    const look = await tryRead(store, name, options.signal)
    if (look.kind === 'unreachable') {
      if (!interrupted) yield { kind: 'interrupted', cause: look.cause }
      interrupted = true
    } else if (look.kind === 'read') {
      const born = look.view?.document.born ?? position.born
      if (interrupted) yield { kind: 'resumed', missed: position.born !== '' && born !== position.born }
      interrupted = false
      yield* news(position, look.view)
    }
    await pause(options.intervalMs, options.signal)
  }
}

type Look =
  | { readonly kind: 'read'; readonly view: StreamView | undefined }
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  | { readonly kind: 'stopped' }

async function tryRead(store: EventStore, name: string, signal: AbortSignal | undefined): Promise<Look> {
  try {
    return { kind: 'read', view: await readStream(store, name, signal) }
  } catch (cause) {
    if (signal?.aborted === true) return { kind: 'stopped' }
    if (cause instanceof StoreUnreachable) return { kind: 'unreachable', cause }
    throw cause
  }
}

function* news(position: Position, view: StreamView | undefined): Generator<FollowItem> {
  if (view === undefined) {
    if (!position.gone) yield { kind: 'gone' }
    position.gone = true
    return
  }
  position.gone = false
  if (view.stored.etag === position.etag) return
  rewind(position, view)
  position.etag = view.stored.etag
  position.born = view.document.born
  yield* transactions(position, view)
  const { done } = view.stream
  if (done && !position.done) yield { kind: 'done' }
  position.done = done
}

/**
 * Another life under the same name, or an older copy that was put back, begins its own count. A writer that merely
 * dropped `lc:born` does neither.
 */
function rewind(position: Position, view: StreamView): void {
  const recorded = view.transactions().filter(tx => !tx.provisional)
  const { last } = position
  const isLast = (tx: SeenTransaction) =>
    tx.version === last?.version && tx.at === last.at && tx.commandId === last.commandId
  position.last = recorded.at(-1)
  if (recorded.some(isLast)) return
  if (position.born !== '' && view.document.born !== position.born) position.version = 0
  else if (last !== undefined) position.version = Math.min(position.version, position.last?.version ?? 0)
}

function* transactions(position: Position, view: StreamView): Generator<FollowItem> {
  let provisional = ''
  for (const tx of view.transactions()) {
    if (tx.provisional) {
      provisional = JSON.stringify(tx.changes)
      if (provisional !== position.provisional) yield { kind: 'transaction', tx }
    } else if (tx.version > position.version) {
      position.version = tx.version
      position.provisional = ''
      yield { kind: 'transaction', tx }
    }
  }
  position.provisional = provisional
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(ms, undefined, { signal })
  } catch (error) {
    if (signal?.aborted !== true) throw error
  }
}

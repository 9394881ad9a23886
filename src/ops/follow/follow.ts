import { StoreUnreachable } from '../../store/errors.ts'
import type { EventStore } from '../../store/store.ts'
import { pause } from '../../util/pause.ts'
import { readStream, type SeenTransaction, type StreamView } from '../read-stream.ts'
import { type Break, foundIn, Position } from './position.ts'

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
  /** It answers again. `missed`: the journal does not go on from what was seen last; `broken` says why. */
  | { readonly kind: 'resumed'; readonly missed: boolean; readonly broken?: Break }
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
export async function* follow(store: EventStore, name: string, options: FollowOptions): AsyncGenerator<FollowItem> {
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

function newsOf(
  seen: Seen,
  view: StreamView | undefined,
): { readonly items: readonly FollowItem[]; readonly broken: Break | undefined } {
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

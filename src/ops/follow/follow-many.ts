import type { EventStore } from '../../store/store.ts'
import type { Selection } from '../selection.ts'
import { watch } from '../watch/watch.ts'
import { Follower } from './follower.ts'
import type { FollowManyItem, FollowManyOptions } from './many-types.ts'

/**
 * The transactions of many streams: those of the past that are asked for, then what happens, look by look; those of one
 * look in order of time, then of stream and version. No stream has a gap: its journal is complete, so what happened
 * between two looks is in it. Streams that come to match later join with what they do from then on, new ones from their
 * beginning. A look at streams of which none moved costs one listing.
 *
 * Memory holds some 200 bytes for each stream, and of the past what `Timeline` holds. Ends when the signal aborts.
 * @throws the store's faults; `StoreUnreachable` only in the first look
 */
export async function* followMany(
  store: EventStore,
  selection: Selection,
  options: FollowManyOptions,
): AsyncGenerator<FollowManyItem> {
  try {
    yield* followed(store, selection, options)
  } catch (error) {
    if (options.signal?.aborted !== true) throw error
  }
}

async function* followed(
  store: EventStore,
  selection: Selection,
  options: FollowManyOptions,
): AsyncGenerator<FollowManyItem> {
  const { intervalMs, signal } = options
  const follower = new Follower(store, options)
  let isFirst = true
  const looks = { intervalMs: intervalMs ?? 0, once: intervalMs === undefined, ...(signal && { signal }) }
  for await (const item of watch(store, selection, looks)) {
    switch (item.kind) {
      case 'moved':
        yield* follower.note(item.streams)
        break
      case 'gone':
        follower.forget(item.names)
        break
      case 'interrupted':
        if (isFirst) throw item.cause
        yield* follower.interrupt(item.cause)
        break
      case 'resumed':
        // told when the documents could be read too
        break
      case 'looked':
        if (isFirst && item.missing.length > 0) yield { kind: 'missing', names: item.missing }
        yield* follower.tell()
        isFirst = false
        break
      default:
        item satisfies never
    }
  }
}

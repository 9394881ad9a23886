import { type FollowItem, follow as followFrom } from '../ops/follow/follow.ts'
import type { EventStore } from '../store/store.ts'
import { milliseconds, objectOf, signal, text, whole } from '../stream/values.ts'
import { checkReadable } from './checks.ts'
import type { SignalOption } from './streams.ts'

/** From where, and how often, a stream is followed. */
export interface FollowOptions extends SignalOption {
  /** Only transactions after this version. Default 0: from the beginning. */
  readonly fromVersion?: number
  /** The life of the stream that `fromVersion` counts in, its `born`; without it, the one that is met first. */
  readonly born?: string
  /** How often it is looked, ms. Default 1 000. */
  readonly intervalMs?: number
}

/** Timers take no more: a longer time would be none. */
const LONGEST_PAUSE_MS = 2 ** 31 - 1

const readFollow = objectOf<FollowOptions>({
  fromVersion: whole(0),
  born: text,
  intervalMs: milliseconds(0, LONGEST_PAUSE_MS),
  signal,
})

/**
 * The transactions of one stream in order, without a gap: the journal is complete, so whatever happened between two looks is
 * in it. Goes on when the stream is done (a retry may reopen it) and ends when the signal aborts, or the loop breaks.
 *
 * @throws InvalidValue for what can never be right; BadName, BadDocument and the store's faults but `StoreUnreachable`: an outage is an item
 */
export function follow(store: EventStore, name: string, options: FollowOptions = {}): AsyncGenerator<FollowItem> {
  checkReadable(store, name)
  return followFrom(store, name, { fromVersion: 0, intervalMs: 1_000, ...readFollow(options, 'options') })
}

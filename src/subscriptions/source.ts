import { anyGlobOf } from '../ops/glob.ts'
import type { Selection } from '../ops/selection.ts'
import { type WatchedStream, watch } from '../ops/watch/watch.ts'
import type { StreamStore } from '../store/store.ts'
import { machineTiming, type Timing } from '../util/clock.ts'
import type { FoundStream } from './position/position.ts'
import type { SubscriptionSpec } from './types.ts'

/** What receives the streams that moved. */
export interface StreamSink {
  /** A sweep over all streams began then, epoch ms by the store's clock. One before it that did not end counts for nothing. */
  began(startedMs: number): void
  /** Streams that moved. */
  moved(streams: readonly FoundStream[]): void
  /** The sweep goes in order of name, and has passed this one. */
  passed(name: string): void
  /** Resolves when there is room for more streams. */
  room(): Promise<void>
  /** Removed streams. */
  gone(names: readonly string[]): void
  /** The sweep was whole. */
  ended(): void
  /** The store does not answer; called once, until it answers again. */
  interrupted(cause: unknown): void
  resumed(): void
}

/** Finds the streams that move, sweep by sweep. */
export interface StreamSource {
  /** It does not wait for room: what is found without is missed until a sweep hands over every stream. */
  readonly isPushed: boolean
  /**
   * Runs until the signal aborts; a pushed source once, another one while shards are held.
   *
   * @throws the store's faults but `StoreUnreachable`
   */
  run(sink: StreamSink, signal: AbortSignal): Promise<void>
  /** The next sweep begins anew and hands over every stream, moved or not. */
  restart(): void
}

/** The streams of a subscription, found by one listing per interval. */
export function pollingSource(
  store: StreamStore,
  { match, notMatch }: Pick<SubscriptionSpec, 'match' | 'notMatch'>,
  intervalMs: number,
  timing: Timing = machineTiming,
): StreamSource {
  const selection: Selection = {
    kind: 'filter',
    filter: {
      ...(match.length > 0 && { names: anyGlobOf(match) }),
      ...(notMatch.length > 0 && { notNames: anyGlobOf(notMatch) }),
    },
  }
  let restarting = new AbortController()
  return {
    isPushed: false,
    restart: () => restarting.abort(),
    async run(sink, signal) {
      while (!signal.aborted) {
        restarting = new AbortController()
        const until = AbortSignal.any([signal, restarting.signal])
        try {
          await sweep(store, selection, sink, { intervalMs, timing, signal: until })
        } catch (error) {
          if (!until.aborted) throw error
        }
      }
    },
  }
}

async function sweep(
  store: StreamStore,
  selection: Selection,
  sink: StreamSink,
  options: { readonly intervalMs: number; readonly timing: Timing; readonly signal: AbortSignal },
): Promise<void> {
  for await (const item of watch(store, selection, { ...options, began: () => sink.began(store.nowMs()) })) {
    if (options.signal.aborted) return
    switch (item.kind) {
      case 'moved':
        sink.moved(item.streams.map(foundStream))
        for (const { listed } of item.streams.slice(-1)) sink.passed(listed.name)
        await sink.room()
        break
      case 'gone':
        sink.gone(item.names)
        break
      case 'polled':
        sink.ended()
        break
      case 'interrupted':
        sink.interrupted(item.cause)
        break
      case 'resumed':
        sink.resumed()
        break
      default:
        item satisfies never
    }
  }
}

function foundStream({ listed, summary, pin, before }: WatchedStream): FoundStream {
  const { ifVersion: version, ifBorn: born } = pin
  const { name, modifiedMs } = listed
  // A summary that was made from the document does not show foreign writes, which have no versions.
  const isListed = summary !== undefined && summary === listed.summary && version !== undefined && born !== undefined
  return {
    name,
    modifiedMs,
    ...(isListed && { state: { version, born } }),
    ...(before && { before: { version: before.version, born: before.born, seenMs: before.modifiedMs } }),
  }
}

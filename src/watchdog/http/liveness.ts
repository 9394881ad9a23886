import type { Health } from '../../http/probes.ts'
import type { ListQuery, StreamStore } from '../../store/store.ts'
import type { Observer } from '../report.ts'

/** Time without progress after which the loop counts as hung: every call of a store has a limit of seconds. */
const SILENCE_MS = 10 * 60_000
/** The loop adds up to a second of jitter to its interval. */
const JITTER_MS = 1_000

/**
 * Liveness: tells only whether the loop is alive. A store that does not answer, a slow listing or an open circuit
 * breaker are no reasons for a restart. The loop is dead if its promise has settled, or if nothing progressed for ten
 * minutes plus the interval between passes. The answer itself shows that the event loop runs.
 */
export interface LivenessProbe extends Observer {
  /** Records progress: a page was listed, a document read, a call failed. Cheap. */
  touch(): void
  /** The loop has ended, with or without an error. */
  stop(): void
  health(): Health
}

/** @param monotonicMs monotonic clock, ms */
export function openLiveness(intervalMs: number, monotonicMs: () => number): LivenessProbe {
  let touchedMs = monotonicMs()
  let restMs = 0
  let hasEnded = false
  const touch = (): void => {
    touchedMs = monotonicMs()
  }
  const works = (): void => {
    touch()
    restMs = 0
  }
  const rests = (): void => {
    touch()
    restMs = intervalMs + JITTER_MS
  }
  return {
    touch,
    stop: () => {
      hasEnded = true
    },
    health() {
      if (hasEnded) return { ok: false, reasons: ['dead: the loop has ended'] }
      const silentMs = monotonicMs() - touchedMs
      if (silentMs <= SILENCE_MS + restMs) return { ok: true, reasons: ['alive'] }
      return { ok: false, reasons: [`dead: the loop made no progress for ${Math.round(silentMs / 1000)}s`] }
    },
    began: works,
    moved: touch,
    executed: touch,
    unreadable: touch,
    shards: touch,
    passed: rests,
    failed: rests,
  }
}

/**
 * Wraps a store and calls `touch` when one of its calls settles and as a listing progresses, also over skipped streams.
 */
export function touching(store: StreamStore, touch: () => void): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      if (key === 'list') return (query: ListQuery) => pages(target, query, touch)
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        const answer: unknown = value.apply(target, given)
        // Both outcomes are handled, so that no unhandled rejection remains.
        if (answer instanceof Promise) answer.then(touch, touch)
        return answer
      }
    },
  })
}

async function* pages(store: StreamStore, query: ListQuery, touch: () => void): ReturnType<StreamStore['list']> {
  const { skip } = query
  const touchingSkip: NonNullable<ListQuery['skip']> = (name, etag, isLeased) => {
    touch()
    return skip?.(name, etag, isLeased) ?? false
  }
  for await (const page of store.list(skip === undefined ? query : { ...query, skip: touchingSkip })) {
    touch()
    yield page
  }
}

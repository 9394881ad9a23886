import type { ListQuery, StreamStore } from '../../store/store.ts'
import type { Observer } from '../report.ts'
import type { Health } from './readiness.ts'

/** A loop that shows no progress for so long hangs: every call of a store has a limit of seconds. */
const SILENCE_MS = 10 * 60_000
/** The loop adds up to a second by chance to its interval. */
const JITTER_MS = 1_000

/**
 * Tells whether the loop is alive, and nothing else: a store that does not answer, a listing that takes long, a breaker
 * that is open are no reason to start it anew. It has died when its promise has settled, or when nothing got on for ten
 * minutes besides the interval it rests. That the event loop turns at all shows by there being an answer.
 */
export interface LivenessProbe extends Observer {
  /** Something got on: a page was listed, a document read, a call failed. Cheap. */
  touch(): void
  /** The loop has ended, well or not. */
  stop(): void
  health(): Health
}

/** @param monotonicMs a clock that only goes forward, ms */
export function openHeart(intervalMs: number, monotonicMs: () => number): LivenessProbe {
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
      return { ok: false, reasons: [`dead: the loop has not got on for ${Math.round(silentMs / 1000)}s`] }
    },
    began: works,
    moved: touch,
    carried: touch,
    unreadable: touch,
    shards: touch,
    passed: rests,
    failed: rests,
  }
}

/**
 * The same store; `touch` is called whenever a call of it comes to an end, well or not, and as a listing gets on, also
 * through streams that are skipped.
 */
export function touching(store: StreamStore, touch: () => void): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      if (key === 'list') return (query: ListQuery) => pages(target, query, touch)
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        const answer: unknown = value.apply(target, given)
        // both ends are seen to, so that none of this promise's own is left over
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

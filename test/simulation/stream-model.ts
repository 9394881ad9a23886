import type { EventSight, Wrote } from './happenings.ts'

/** The start of a deadline; an independent implementation of the format's rules for due events. */
export type ModelLimit =
  /** The time at which it passes, by the store's clock. */
  | { readonly kind: 'absolute'; readonly dueMs: number }
  /** The same; and its length, counted from the displayed time of the store's clock then, and from its true time. */
  | {
      readonly kind: 'stream' | 'never-started'
      readonly dueMs: number
      readonly timeoutMs: number
      readonly openedMs: number
      readonly sinceMs: number
    }
  /** The true time of the last heartbeat, and the time for which it is valid. */
  | { readonly kind: 'silence'; readonly lifeMs: number; readonly timeoutMs: number }

interface Known {
  readonly sight: EventSight
  /** True time at which the last heartbeat was sent. */
  readonly lifeMs: number
  /** The start of its deadline: a retry may restore one that passed long ago. */
  readonly sinceMs: number
}

const FINAL: ReadonlySet<string> = new Set(['completed', 'aborted', 'canceled'])

export function isEnded(event: Pick<EventSight, 'status'>): boolean {
  return FINAL.has(event.status)
}

/** The values that a deadline depends on, other than heartbeats. */
const LIMITING = ['status', 'attempt', 'timeout', 'opened', 'join', 'superseded'] as const

/** One stream according to its writes. */
export class StreamModel {
  readonly #events = new Map<string, Known>()
  #rootId: string | undefined

  get ids(): readonly string[] {
    return [...this.#events.keys()]
  }

  get rootId(): string | undefined {
    return this.#rootId
  }

  find(id: string): EventSight | undefined {
    return this.#events.get(id)?.sight
  }

  sinceMs(id: string): number {
    return this.#events.get(id)?.sinceMs ?? 0
  }

  isRoot(id: string): boolean {
    return id === this.#rootId
  }

  apply({ atMs, sentMs, events }: Wrote): void {
    for (const sight of events) {
      this.#rootId ??= sight.id
      const known = this.#events.get(sight.id)
      const isLife = known?.sight.timestamp !== sight.timestamp
      const isLimited = known !== undefined && LIMITING.every(name => known.sight[name] === sight[name])
      this.#events.set(sight.id, {
        sight,
        lifeMs: isLife ? sentMs : known.lifeMs,
        sinceMs: isLimited ? known.sinceMs : atMs,
      })
    }
  }

  limitOf(id: string): ModelLimit | undefined {
    const known = this.#events.get(id)
    if (known === undefined || isEnded(known.sight)) return undefined
    const { sight } = known
    const root = this.#events.get(this.#rootId ?? '')?.sight
    if (sight.timeout === '' || sight.superseded || sight.join === 'wait' || root?.status === 'init') return undefined
    const timeoutMs = spanMs(sight.timeout)
    if (timeoutMs === undefined) return { kind: 'absolute', dueMs: Date.parse(sight.timeout) }
    const openedMs = Date.parse(sight.opened || sight.created)
    const opening = { dueMs: openedMs + timeoutMs, timeoutMs, openedMs, sinceMs: known.sinceMs }
    if (this.isRoot(id)) return { kind: 'stream', ...opening }
    const below = [...this.#events.values()].filter(other => other.sight.prev === id && !other.sight.superseded)
    if (sight.status === 'init' && below.length === 0) return { kind: 'never-started', ...opening }
    if (below.some(other => !isEnded(other.sight))) return undefined
    return { kind: 'silence', lifeMs: Math.max(known.lifeMs, ...below.map(other => other.lifeMs)), timeoutMs }
  }
}

/** The one form in which the simulation writes durations: `[d.]hh:mm:ss[.fff]`. */
function spanMs(text: string): number | undefined {
  const match = /^(?:(\d+)\.)?(\d\d):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text)
  if (match === null) return undefined
  const [, days = '0', hours, minutes, seconds] = match
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60_000 + Math.round(Number(seconds) * 1_000)
}

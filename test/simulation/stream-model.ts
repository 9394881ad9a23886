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
const LIMITING = ['status', 'attempt', 'timeout', 'opened', 'join', 'superseded', 'waits'] as const

/** One stream according to its writes. */
export class StreamModel {
  readonly #events = new Map<string, Known>()
  #rootId: string | undefined
  /** The suspensions that are over, by the store's clock. */
  readonly #pauses: { readonly fromMs: number; readonly toMs: number }[] = []
  /** True time of the last resumption: limits run again since then. */
  #resumedMs = 0

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
    return Math.max(this.#events.get(id)?.sinceMs ?? 0, this.#resumedMs)
  }

  isRoot(id: string): boolean {
    return id === this.#rootId
  }

  apply({ atMs, sentMs, events }: Wrote): void {
    for (const sight of events) {
      this.#rootId ??= sight.id
      const known = this.#events.get(sight.id)
      if (this.isRoot(sight.id)) this.#resume(known?.sight.suspended ?? '', sight, atMs)
      const isLife = known?.sight.timestamp !== sight.timestamp
      const isLimited = known !== undefined && LIMITING.every(name => known.sight[name] === sight[name])
      this.#events.set(sight.id, {
        sight,
        lifeMs: isLife ? sentMs : known.lifeMs,
        sinceMs: isLimited ? known.sinceMs : atMs,
      })
    }
  }

  #resume(before: string, { suspended }: EventSight, atMs: number): void {
    if (before === '' || suspended !== '') return
    this.#pauses.push({ fromMs: Date.parse(before), toMs: atMs })
    this.#resumedMs = atMs
  }

  /** How long the limits stood still after this time. */
  #pausedMs(sinceMs: number): number {
    return this.#pauses.reduce((sum, { fromMs, toMs }) => sum + Math.max(0, toMs - Math.max(fromMs, sinceMs)), 0)
  }

  limitOf(id: string): ModelLimit | undefined {
    const known = this.#events.get(id)
    if (known === undefined || isEnded(known.sight)) return undefined
    const { sight } = known
    const root = this.#events.get(this.#rootId ?? '')?.sight
    // No event here is ended because a signal does not come: it goes on.
    if (sight.timeout === '' || sight.superseded || sight.waits || sight.join === 'wait' || root?.status === 'init')
      return undefined
    if (root !== undefined && root.suspended !== '' && !isEnded(root)) return undefined
    const timeoutMs = spanMs(sight.timeout)
    if (timeoutMs === undefined) return { kind: 'absolute', dueMs: Date.parse(sight.timeout) }
    const openedMs = Date.parse(sight.opened || sight.created)
    const pausedMs = this.#pausedMs(openedMs)
    const opening = { dueMs: openedMs + timeoutMs + pausedMs, timeoutMs, openedMs, sinceMs: known.sinceMs }
    if (this.isRoot(id)) return { kind: 'stream', ...opening }
    const below = [...this.#events.values()].filter(other => other.sight.prev === id && !other.sight.superseded)
    if (sight.status === 'init' && below.length === 0) return { kind: 'never-started', ...opening }
    if (below.some(other => !isEnded(other.sight))) return undefined
    const lifeMs = Math.max(known.lifeMs, ...below.map(other => other.lifeMs))
    // At most the whole timeout after the last resumption.
    const waitedMs = Math.max(0, Math.min(pausedMs, (this.#pauses.at(-1)?.toMs ?? lifeMs) - lifeMs))
    return { kind: 'silence', lifeMs, timeoutMs: timeoutMs + waitedMs }
  }
}

/** The one form in which the simulation writes durations: `[d.]hh:mm:ss[.fff]`. */
function spanMs(text: string): number | undefined {
  const match = /^(?:(\d+)\.)?(\d\d):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text)
  if (match === null) return undefined
  const [, days = '0', hours, minutes, seconds] = match
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60_000 + Math.round(Number(seconds) * 1_000)
}

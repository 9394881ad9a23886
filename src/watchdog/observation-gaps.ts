import type { Deadline } from '../stream/time/deadlines.ts'

/** An answer that comes late within so many times the wait for it after another one is nothing new. */
const LATE_AGAIN = 4

/** How a watchdog knows that it sees. */
export interface VisionRules {
  readonly intervalMs: number
  /** So often `ticked` is called as long as the process runs, ms; `Infinity` where nobody does. */
  readonly tickMs: number
  /** When another one, or this one before it was started anew, saw the store last, by its clock, epoch ms. */
  readonly lastSeenMs?: number | undefined
}

/**
 * What a watchdog could see, and what it missed. A store that did not answer kept workers from showing life as well; a
 * machine that slept did so to the workers on it; a clock that was set makes all of them look silent. Whether a store that
 * kept one waiting for long answered in the end does not matter: it kept the workers waiting as well.
 */
export class ObservationGaps {
  readonly #tickMs: number
  /** Whoever saw nothing for longer begins anew. */
  readonly #longMs: number
  #ticked: ObservationTime
  /** The last answer of a pass that came to its end, and of the one that goes on. */
  #good: ObservationTime
  #answered: ObservationTime
  /** Since when it waits for the next answer. */
  #waiting: ObservationTime
  /** When it answered late the last time, by the clock that only goes forward. */
  #lateMs = Number.NEGATIVE_INFINITY
  #hasAnswered = false
  readonly #lastSeenMs: number | undefined
  #hasFailed = false
  #wasSetBack = false
  #spots: readonly Gap[] = []
  #epochMs = Number.NEGATIVE_INFINITY
  #news: GapReport[] = []

  constructor({ intervalMs, tickMs, lastSeenMs }: VisionRules, now: ObservationTime) {
    this.#lastSeenMs = lastSeenMs
    this.#tickMs = tickMs
    this.#longMs = 2 * intervalMs + SLACK_MS
    this.#ticked = now
    this.#good = now
    this.#answered = now
    this.#waiting = now
  }

  get blindSpots(): readonly Gap[] {
    return this.#spots
  }

  /** What was seen before this counts no more, by the clock that only goes forward. */
  get epochMs(): number {
    return this.#epochMs
  }

  /** The last answer of a pass that came to its end: by the store's clock, epoch ms. */
  get goodMs(): number {
    return this.#good.nowMs
  }

  /** The process runs. */
  ticked(now: ObservationTime): void {
    // what the store's clock shows may be known by its first answer only: that is no jump
    if (this.#hasAnswered) this.#notice(now)
    this.#ticked = now
  }

  /** From now on the store is waited for: what was done before it was asked is no silence of its. */
  asks(now: ObservationTime): void {
    this.#waiting = now
  }

  /** The store answered, in part at least. */
  answered(now: ObservationTime): void {
    const isNoticed = this.#hasAnswered && this.#notice(now)
    if (!this.#hasAnswered) this.#begin(now)
    this.#hasAnswered = true
    if (this.#hasFailed) this.#missed(this.#good, now, 'outage')
    else if (!isNoticed) this.#waited(now)
    this.#hasFailed = false
    this.#answered = now
    this.#waiting = now
  }

  /** The first answer. Nobody knows whether the store could be reached since somebody saw it last. */
  #begin(now: ObservationTime): void {
    this.#ticked = now
    if (this.#lastSeenMs !== undefined) this.#missed({ nowMs: this.#lastSeenMs, atMs: now.atMs }, now, 'start')
  }

  /** A pass came to its end. */
  passed(): void {
    this.#good = this.#answered
  }

  /** A pass came to no end: what is seen next is seen after an outage. */
  failed(): void {
    this.#hasFailed = true
  }

  /** What the watchdog found out since it was asked last, and has to begin anew for. */
  takeNews(): readonly GapReport[] {
    const news = this.#news
    this.#news = []
    return news
  }

  /** True, once, after the store's clock was set back. */
  takeSetBack(): boolean {
    const wasSetBack = this.#wasSetBack
    this.#wasSetBack = false
    return wasSetBack
  }

  /** Answers arrive before timers when a process goes on, so both look whether it stood still. */
  #notice(now: ObservationTime): boolean {
    const last = this.#ticked
    const isPause = now.atMs - last.atMs > this.#tickMs + SLACK_MS
    const isBack = isSetBack(last, now)
    const isForward = isSetForward(last, now)
    if (!isPause && !isBack && !isForward) return false
    this.#ticked = now
    if (isBack) this.#setBack(now)
    else this.#missed(last, now, isForward ? 'clock' : 'pause')
    return true
  }

  /** Of a store that is always late one would begin anew for ever: then workers get time for a sign, and that is all. */
  #waited(now: ObservationTime): void {
    const waitedMs = now.atMs - this.#waiting.atMs
    if (waitedMs <= SLACK_MS) return
    const isUsual = now.atMs - this.#lateMs < waitedMs * LATE_AGAIN
    this.#lateMs = now.atMs
    this.#missed(this.#waiting, now, isUsual ? 'late' : 'outage')
  }

  #setBack(now: ObservationTime): void {
    const notAfter = ({ nowMs, atMs }: ObservationTime) => ({ nowMs: Math.min(nowMs, now.nowMs), atMs })
    this.#wasSetBack = true
    this.#spots = untilNow(this.#spots, now.nowMs)
    this.#good = notAfter(this.#good)
    this.#answered = notAfter(this.#answered)
    this.#waiting = notAfter(this.#waiting)
  }

  #missed(
    { nowMs: fromMs }: ObservationTime,
    { nowMs: toMs, atMs }: ObservationTime,
    why: GapReport['why'] | 'late',
  ): void {
    if (toMs <= fromMs) return
    this.#spots = withSpot(this.#spots, { fromMs, toMs })
    if (why === 'late' || (why !== 'clock' && toMs - fromMs <= this.#longMs)) return
    this.#epochMs = atMs
    this.#news.push({ fromMs, toMs, why })
  }
}

/** A stretch of time, by the store's clock, of which the watchdog saw nothing, or that the clock jumped over. */
export interface Gap {
  readonly fromMs: number
  readonly toMs: number
}

/** An instant: by the store's clock, and by one that only goes forward. */
export interface ObservationTime {
  readonly nowMs: number
  readonly atMs: number
}

/** `start`: nobody watched before. */
export type GapReport = Gap & { readonly why: 'outage' | 'pause' | 'clock' | 'start' }

/** Shorter gaps and jumps are no news. */
const SLACK_MS = 5_000
/** Workers are told to show life at least so often within a limit. */
const SIGNS_PER_LIMIT = 3
const MAX_SPOTS = 16

/**
 * True if the store's clock was set forward between two moments. One that merely runs fast was not: signs of life carry
 * its time too.
 */
function isSetForward(last: ObservationTime, now: ObservationTime): boolean {
  const elapsedMs = now.atMs - last.atMs
  return now.nowMs - last.nowMs - elapsedMs > 1.5 * elapsedMs + SLACK_MS
}

function isSetBack(last: ObservationTime, now: ObservationTime): boolean {
  return now.nowMs < last.nowMs - SLACK_MS
}

/** With one more spot. Those that overlap become one. Of too many the shortest goes: the fewest limits depend on it. */
export function withSpot(spots: readonly Gap[], spot: Gap): readonly Gap[] {
  const isApart = ({ fromMs, toMs }: Gap) => toMs <= spot.fromMs || spot.toMs <= fromMs
  const overlapping = [spot, ...spots.filter(each => !isApart(each))]
  const whole = {
    fromMs: Math.min(...overlapping.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...overlapping.map(({ toMs }) => toMs)),
  }
  const all = [...spots.filter(isApart), whole]
  if (all.length <= MAX_SPOTS) return all
  const shortest = all.reduce((a, b) => (b.toMs - b.fromMs < a.toMs - a.fromMs ? b : a))
  return all.filter(each => each !== shortest)
}

/** What a clock showed before it was set back to `nowMs` never was. */
function untilNow(spots: readonly Gap[], nowMs: number): readonly Gap[] {
  return spots.flatMap(({ fromMs, toMs }) => (fromMs < nowMs ? [{ fromMs, toMs: Math.min(toMs, nowMs) }] : []))
}

/**
 * When a limit counts as over. Of a worker that could show no life for longer than a third of its limit, the silence
 * before the end of that time says nothing: it gets as long as it has between two signs of life to give the next.
 */
export function judgedDueMs({ kind, dueMs, from }: Deadline, spots: readonly Gap[]): number {
  if (kind !== 'no-sign-of-life' || from === undefined) return dueMs
  const graceMs = from.timeoutMs / SIGNS_PER_LIMIT
  let judgedMs = dueMs
  for (const { fromMs, toMs } of spots) {
    const wasMissed = toMs - fromMs > graceMs && from.ms < toMs && judgedMs > fromMs
    if (wasMissed) judgedMs = Math.max(judgedMs, toMs + graceMs)
  }
  return judgedMs
}

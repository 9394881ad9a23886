import type { Deadline } from '../stream/time/deadlines.ts'

/** After a late answer, another one within this multiple of its delay is no new gap. */
const LATE_AGAIN = 4

/** Parameters of the detection of gaps. */
export interface GapRules {
  readonly intervalMs: number
  /** Interval at which `ticked` is called while the process runs, ms; `Infinity` without ticks. */
  readonly tickMs: number
  /** When another watchdog, or an earlier run of this one, last saw the store, by its clock, epoch ms. */
  readonly lastSeenMs?: number | undefined
}

/**
 * Detects gaps in observation. A store that did not answer also kept workers from sending heartbeats; a machine that
 * slept also suspended its workers; a clock that was set makes all of them look silent. A store that answered late
 * counts too: it kept the workers waiting as well.
 */
export class ObservationGaps {
  readonly #tickMs: number
  /** After a longer gap, observation starts again. */
  readonly #longMs: number
  #ticked: ObservationTime
  /** The last answer of a completed pass, and that of the current one. */
  #lastGood: ObservationTime
  #answered: ObservationTime
  /** When the wait for the next answer began. */
  #waiting: ObservationTime
  /** The last late answer, by the monotonic clock. */
  #lateMs = Number.NEGATIVE_INFINITY
  #hasAnswered = false
  readonly #lastSeenMs: number | undefined
  #hasFailed = false
  #wasSetBack = false
  #gaps: readonly Gap[] = []
  #epochMs = Number.NEGATIVE_INFINITY
  #reports: GapReport[] = []

  constructor({ intervalMs, tickMs, lastSeenMs }: GapRules, now: ObservationTime) {
    this.#lastSeenMs = lastSeenMs
    this.#tickMs = tickMs
    this.#longMs = 2 * intervalMs + SLACK_MS
    this.#ticked = now
    this.#lastGood = now
    this.#answered = now
    this.#waiting = now
  }

  get gaps(): readonly Gap[] {
    return this.#gaps
  }

  /** Earlier observations are invalid, by the monotonic clock. */
  get epochMs(): number {
    return this.#epochMs
  }

  /** The last answer of a completed pass, by the store's clock, epoch ms. */
  get goodMs(): number {
    return this.#lastGood.nowMs
  }

  /** The process is running. */
  ticked(now: ObservationTime): void {
    // The store's clock may only be known after its first answer: that is not a jump.
    if (this.#hasAnswered) this.#checkClocks(now)
    this.#ticked = now
  }

  /** A request to the store begins; time before it is not counted as its delay. */
  beginRequest(now: ObservationTime): void {
    this.#waiting = now
  }

  /** The store answered, at least partly. */
  answered(now: ObservationTime): void {
    const isNoticed = this.#hasAnswered && this.#checkClocks(now)
    if (!this.#hasAnswered) this.#begin(now)
    this.#hasAnswered = true
    if (this.#hasFailed) this.#addGap(this.#lastGood, now, 'outage')
    else if (!isNoticed) this.#checkDelay(now)
    this.#hasFailed = false
    this.#answered = now
    this.#waiting = now
  }

  /** The first answer. It is unknown whether the store was available since it was last seen. */
  #begin(now: ObservationTime): void {
    this.#ticked = now
    if (this.#lastSeenMs !== undefined) this.#addGap({ nowMs: this.#lastSeenMs, atMs: now.atMs }, now, 'start')
  }

  /** A pass was completed. */
  passed(): void {
    this.#lastGood = this.#answered
  }

  /** A pass failed: the next answer ends an outage. */
  failed(): void {
    this.#hasFailed = true
  }

  /** The gaps since the last call after which observation starts again. */
  takeReports(): readonly GapReport[] {
    const news = this.#reports
    this.#reports = []
    return news
  }

  /** True, once, after the store's clock was set back. */
  takeSetBack(): boolean {
    const wasSetBack = this.#wasSetBack
    this.#wasSetBack = false
    return wasSetBack
  }

  /** Called on answers too: when a process resumes, they arrive before timers. */
  #checkClocks(now: ObservationTime): boolean {
    const last = this.#ticked
    const isPause = now.atMs - last.atMs > this.#tickMs + SLACK_MS
    const isBack = isSetBack(last, now)
    const isForward = isSetForward(last, now)
    if (!isPause && !isBack && !isForward) return false
    this.#ticked = now
    if (isBack) this.#setBack(now)
    else this.#addGap(last, now, isForward ? 'clock' : 'pause')
    return true
  }

  /** A store that is always late must not restart observation each time: workers only get time for a heartbeat. */
  #checkDelay(now: ObservationTime): void {
    const waitedMs = now.atMs - this.#waiting.atMs
    if (waitedMs <= SLACK_MS) return
    const isUsual = now.atMs - this.#lateMs < waitedMs * LATE_AGAIN
    this.#lateMs = now.atMs
    this.#addGap(this.#waiting, now, isUsual ? 'late' : 'outage')
  }

  #setBack(now: ObservationTime): void {
    const notAfter = ({ nowMs, atMs }: ObservationTime) => ({ nowMs: Math.min(nowMs, now.nowMs), atMs })
    this.#wasSetBack = true
    this.#gaps = untilNow(this.#gaps, now.nowMs)
    this.#lastGood = notAfter(this.#lastGood)
    this.#answered = notAfter(this.#answered)
    this.#waiting = notAfter(this.#waiting)
  }

  #addGap(
    { nowMs: fromMs }: ObservationTime,
    { nowMs: toMs, atMs }: ObservationTime,
    why: GapReport['why'] | 'late',
  ): void {
    if (toMs <= fromMs) return
    this.#gaps = withGap(this.#gaps, { fromMs, toMs })
    if (why === 'late' || (why !== 'clock' && toMs - fromMs <= this.#longMs)) return
    this.#epochMs = atMs
    this.#reports.push({ fromMs, toMs, why })
  }
}

/** A period, by the store's clock, that the watchdog did not observe or that the clock jumped over. */
export interface Gap {
  readonly fromMs: number
  readonly toMs: number
}

/** An instant by the store's clock and by the monotonic clock. */
export interface ObservationTime {
  readonly nowMs: number
  readonly atMs: number
}

/** `start`: no watchdog ran before. */
export type GapReport = Gap & { readonly why: 'outage' | 'pause' | 'clock' | 'start' }

/** Shorter gaps and jumps are ignored. */
const SLACK_MS = 5_000
/** Workers are asked to send this many heartbeats within a timeout. */
const SIGNS_PER_LIMIT = 3
const MAX_SPOTS = 16

/**
 * True if the store's clock was set forward between two instants. A clock that merely runs fast does not count:
 * heartbeats carry its time too.
 */
function isSetForward(last: ObservationTime, now: ObservationTime): boolean {
  const elapsedMs = now.atMs - last.atMs
  return now.nowMs - last.nowMs - elapsedMs > 1.5 * elapsedMs + SLACK_MS
}

function isSetBack(last: ObservationTime, now: ObservationTime): boolean {
  return now.nowMs < last.nowMs - SLACK_MS
}

/**
 * Adds a gap and merges overlapping ones. Above the limit the shortest is dropped: the fewest deadlines depend on it.
 */
export function withGap(spots: readonly Gap[], spot: Gap): readonly Gap[] {
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

/** Removes the times that a clock showed before it was set back to `nowMs`. */
function untilNow(spots: readonly Gap[], nowMs: number): readonly Gap[] {
  return spots.flatMap(({ fromMs, toMs }) => (fromMs < nowMs ? [{ fromMs, toMs: Math.min(toMs, nowMs) }] : []))
}

/**
 * When a deadline counts as expired. If a worker could send no heartbeat for more than a third of its timeout, its
 * silence before the end of that gap proves nothing: it gets the usual time between two heartbeats to send the next.
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

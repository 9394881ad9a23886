import type { RememberedStream } from '../../ops/watch/changed-streams.ts'
import { ownText } from '../../util/strings.ts'
import type { Gap, ObservationTime } from '../observation-gaps.ts'
import type { Observations } from '../plan.ts'

/** The state of a stream as a row or its document showed it. */
export interface StreamState {
  /** Status of the root; `unreadable` and `not-started` where there is none; `''` before the first inspection. */
  readonly status: string
  readonly openEvents: number
  /** When its first limit ends, and when it has to be inspected, epoch ms; `Infinity` for never. */
  readonly dueMs: number
  readonly nextInspectionMs: number
}

const NEVER = Number.POSITIVE_INFINITY
const AT_ONCE = Number.NEGATIVE_INFINITY
const NO_OBSERVATIONS: Observations = new Map()

/** What a watchdog knows of one stream. Times in epoch ms by the store's clock unless said otherwise. */
export class KnownStream implements RememberedStream {
  readonly name: string
  /** `''` after a change by this watchdog, so that the next sweep takes its row. */
  etag = ''
  listing = 0
  status = ''
  openEvents = 0
  dueMs = NEVER
  nextInspectionMs = NEVER
  /** Observers of moves were told of it with this ETag, and of which version they were told last. */
  isReported = false
  reportedVersion: number | undefined = undefined
  /** Events that the breaker has kept from being ended since the last inspection. */
  heldEvents = 0
  /** The last pass in which it was to be changed and could not be; 0 if nothing is known to be in the way. */
  failedInPass = 0
  /** What earlier inspections kept of its events past their limits. */
  observations = NO_OBSERVATIONS
  /** Since when it has its ETag, by the clock that only goes forward. */
  #knownSinceMs = 0
  /** When it did not answer while other streams did. */
  #unreachable: Gap | undefined = undefined

  /** @param name in memory of its own */
  constructor(name: string) {
    this.name = name
  }

  /** A sweep found it new or changed, or has to report it. @param state absent: its document has to be read */
  recordRow(etag: string, state: StreamState | undefined, { nowMs, atMs }: ObservationTime): void {
    if (this.#setEtag(etag, atMs) && state !== undefined) {
      this.#setState(state)
      // None of its events is past its limit now. If they were kept, events that have ended would fill the memory.
      if (state.dueMs > nowMs) this.#forgetEvents()
    }
    if (state === undefined) this.nextInspectionMs = AT_ONCE
  }

  /** Its document was read. @param etag of what was read @param atMs by the clock that only goes forward */
  recordInspection(etag: string, state: StreamState, observations: Observations, atMs: number): void {
    this.#setEtag(etag, atMs)
    this.#setState(state)
    this.observations = observations.size > 0 ? observations : NO_OBSERVATIONS
  }

  /** Since when a document with this ETag is known, by the clock that only goes forward. */
  knownSinceMs(etag: string): number | undefined {
    return this.etag === etag ? this.#knownSinceMs : undefined
  }

  /** This watchdog ended events of it: its state is unknown until the next sweep. */
  recordChange(endedEvents: number): void {
    this.etag = ''
    this.openEvents = Math.max(0, this.openEvents - endedEvents)
  }

  /** An event past its limit was told of: there is nothing more to be done about it. */
  markNotified(event: string): void {
    const observation = this.observations.get(event)
    if (observation === undefined) return
    this.observations = new Map(this.observations).set(event, { ...observation, isTold: true })
  }

  /** Observers of moves were told of it as it is now. @param version `undefined` if it has none */
  markReported(version: number | undefined): void {
    this.isReported = true
    this.reportedVersion = version ?? this.reportedVersion
  }

  /** A decision on it was not carried out: it has to be inspected by that time. */
  postpone(dueMs: number, nextInspectionMs: number): void {
    this.dueMs = Math.min(this.dueMs, dueMs)
    this.nextInspectionMs = Math.min(this.nextInspectionMs, nextInspectionMs)
  }

  /**
   * The breaker keeps events of it from being ended. While it does and the stream does not change, an inspection would find
   * nothing new: the next one comes with `letGo`.
   */
  holdBack(dueMs: number, events: number): void {
    this.dueMs = Math.min(this.dueMs, dueMs)
    this.heldEvents += events
  }

  /** The breaker has closed. */
  letGo(): void {
    if (this.heldEvents > 0) this.nextInspectionMs = AT_ONCE
  }

  /** It cannot or need not be inspected before that time. */
  leaveUntil(nextInspectionMs: number): void {
    this.nextInspectionMs = nextInspectionMs
    this.heldEvents = 0
  }

  /** It did not answer: it was not to be seen since `sinceMs`, and is not until its next inspection. */
  beginUnreachable(sinceMs: number): void {
    this.#unreachable = { fromMs: this.#unreachable?.fromMs ?? sinceMs, toMs: NEVER }
  }

  /** It answers: returns when it was not to be seen, as far as that may still matter. */
  endUnreachable(nowMs: number): Gap | undefined {
    if (this.#unreachable?.toMs === NEVER) this.#unreachable = { ...this.#unreachable, toMs: nowMs }
    return this.#unreachable
  }

  /** The store's clock was set back to `nowMs`: what it showed before counts no more. */
  clockSetBack(nowMs: number): void {
    this.nextInspectionMs = Math.min(this.nextInspectionMs, this.dueMs)
    if (this.#unreachable === undefined) return
    const { fromMs, toMs } = this.#unreachable
    this.#unreachable = { fromMs: Math.min(fromMs, nowMs), toMs: toMs === NEVER ? NEVER : Math.min(toMs, nowMs) }
  }

  /** False if it has this ETag already. */
  #setEtag(etag: string, atMs: number): boolean {
    if (this.etag === etag) return false
    // cut out of a page it would keep all of it
    this.etag = ownText(etag)
    this.#knownSinceMs = atMs
    this.isReported = false
    return true
  }

  #setState({ status, openEvents, dueMs, nextInspectionMs }: StreamState): void {
    this.status = status
    this.openEvents = openEvents
    this.dueMs = dueMs
    this.nextInspectionMs = nextInspectionMs
    this.heldEvents = 0
  }

  #forgetEvents(): void {
    this.observations = NO_OBSERVATIONS
    this.#unreachable = undefined
    this.failedInPass = 0
  }
}

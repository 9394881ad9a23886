import type { RememberedStream } from '../../ops/watch/changed-streams.ts'
import { ownText } from '../../util/strings.ts'
import type { Gap, ObservationTime } from '../observation-gaps.ts'
import type { Observations } from '../plan.ts'

/** State of a stream according to its row or its document. */
export interface StreamState {
  /** Status of the root; `unreadable` and `not-started` without a root; `''` before the first inspection. */
  readonly status: string
  readonly openEvents: number
  /** Its earliest deadline, and when to inspect it, epoch ms; `Infinity` for never. */
  readonly dueMs: number
  readonly nextInspectionMs: number
}

const NEVER = Number.POSITIVE_INFINITY
const AT_ONCE = Number.NEGATIVE_INFINITY
const NO_OBSERVATIONS: Observations = new Map()

/** The knowledge of a watchdog about one stream. Times in epoch ms by the store's clock unless stated otherwise. */
export class KnownStream implements RememberedStream {
  readonly name: string
  /** `''` after a change by this watchdog, so that the next sweep takes its row. */
  etag = ''
  listing = 0
  status = ''
  openEvents = 0
  dueMs = NEVER
  nextInspectionMs = NEVER
  /** Whether observers of changes have received it with this ETag, and the version that they received last. */
  isReported = false
  reportedVersion: number | undefined = undefined
  /** Events that the circuit breaker has held back since the last inspection. */
  heldEvents = 0
  /** The last pass in which its changes failed; 0 if the last change succeeded. */
  failedInPass = 0
  /** Observations of its events past their deadlines. */
  observations = NO_OBSERVATIONS
  /** Since when it has had its ETag, by the monotonic clock. */
  #knownSinceMs = 0
  /** The time in which it did not answer while other streams did. */
  #unreachable: Gap | undefined = undefined

  /** @param name a string that does not keep a page in memory */
  constructor(name: string) {
    this.name = name
  }

  /** A sweep took its row. @param state absent: its document has to be read */
  recordRow(etag: string, state: StreamState | undefined, { nowMs, atMs }: ObservationTime): void {
    if (this.#setEtag(etag, atMs) && state !== undefined) {
      this.#setState(state)
      // None of its events is overdue now. Without this, observations of ended events would fill the memory.
      if (state.dueMs > nowMs) this.#forgetEvents()
    }
    if (state === undefined) this.nextInspectionMs = AT_ONCE
  }

  /** Its document was read. @param etag of the document @param atMs monotonic clock */
  recordInspection(etag: string, state: StreamState, observations: Observations, atMs: number): void {
    this.#setEtag(etag, atMs)
    this.#setState(state)
    this.observations = observations.size > 0 ? observations : NO_OBSERVATIONS
  }

  /** Since when a document with this ETag is known, by the monotonic clock. */
  knownSinceMs(etag: string): number | undefined {
    return this.etag === etag ? this.#knownSinceMs : undefined
  }

  /** This watchdog ended events of the stream: its state is unknown until the next sweep. */
  recordChange(endedEvents: number): void {
    this.etag = ''
    this.openEvents = Math.max(0, this.openEvents - endedEvents)
  }

  /** Observers were notified of an overdue event: nothing more to do about it. */
  markNotified(event: string): void {
    const observation = this.observations.get(event)
    if (observation === undefined) return
    this.observations = new Map(this.observations).set(event, { ...observation, isNotified: true })
  }

  /** Observers of changes have received its current state. @param version `undefined` if it has none */
  markReported(version: number | undefined): void {
    this.isReported = true
    this.reportedVersion = version ?? this.reportedVersion
  }

  /** A decision on it was not executed: it has to be inspected by that time. */
  postpone(dueMs: number, nextInspectionMs: number): void {
    this.dueMs = Math.min(this.dueMs, dueMs)
    this.nextInspectionMs = Math.min(this.nextInspectionMs, nextInspectionMs)
  }

  /**
   * The circuit breaker holds back events of the stream. As long as it does and the stream does not change, an
   * inspection would find nothing new: the next one follows `letGo`.
   */
  holdBack(dueMs: number, events: number): void {
    this.dueMs = Math.min(this.dueMs, dueMs)
    this.heldEvents += events
  }

  /** The circuit breaker has closed. */
  letGo(): void {
    if (this.heldEvents > 0) this.nextInspectionMs = AT_ONCE
  }

  /** It cannot or need not be inspected before that time. */
  leaveUntil(nextInspectionMs: number): void {
    this.nextInspectionMs = nextInspectionMs
    this.heldEvents = 0
  }

  /** It did not answer: it is unobserved from `sinceMs` until its next inspection. */
  beginUnreachable(sinceMs: number): void {
    this.#unreachable = { fromMs: this.#unreachable?.fromMs ?? sinceMs, toMs: NEVER }
  }

  /** It answers again: returns the time in which it was unobserved, if that may still matter. */
  endUnreachable(nowMs: number): Gap | undefined {
    if (this.#unreachable?.toMs === NEVER) this.#unreachable = { ...this.#unreachable, toMs: nowMs }
    return this.#unreachable
  }

  /** The store's clock was set back to `nowMs`: later times are invalid. */
  clockSetBack(nowMs: number): void {
    this.nextInspectionMs = Math.min(this.nextInspectionMs, this.dueMs)
    if (this.#unreachable === undefined) return
    const { fromMs, toMs } = this.#unreachable
    this.#unreachable = { fromMs: Math.min(fromMs, nowMs), toMs: toMs === NEVER ? NEVER : Math.min(toMs, nowMs) }
  }

  /** False if the ETag is unchanged. */
  #setEtag(etag: string, atMs: number): boolean {
    if (this.etag === etag) return false
    // A slice of a page would keep the whole page in memory.
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

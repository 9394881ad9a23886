import { etagHash, type RememberedStream } from '../../ops/watch/changed-streams.ts'
import type { Gap, ObservationTime } from '../observation-gaps.ts'
import type { Observations } from '../plan.ts'
import type { PendingKind, PendingWork } from './pending-work.ts'

/** State of a stream according to its row or its document. */
export interface WatchedState {
  /** Status of the root; `unreadable` and `not-started` without a root; `''` before the first inspection. */
  readonly status: string
  readonly openEvents: number
  /** Its earliest deadline, and when to inspect it, epoch ms; `Infinity` for never. */
  readonly dueMs: number
  readonly nextInspectionMs: number
  /** The next inspection is for nothing but gates that open at a time: a settlement suffices, without an inspection. */
  readonly onlyOpens?: boolean
  /** Absent for none. */
  readonly work?: PendingWork | undefined
}

const NEVER = Number.POSITIVE_INFINITY
const AT_ONCE = Number.NEGATIVE_INFINITY

/** Rare facts about a stream: most streams need no memory for them. */
interface Trouble {
  /** Observations of its events past their deadlines. */
  readonly observations: Observations
  /** Events that the circuit breaker has held back since the last inspection. */
  readonly heldEvents: number
  /** The last pass in which its changes failed; 0 if the last change succeeded. */
  readonly failedInPass: number
  /** The time in which it did not answer while other streams did. */
  readonly unreachable: Gap | undefined
}

const NO_TROUBLE: Trouble = { observations: new Map(), heldEvents: 0, failedInPass: 0, unreachable: undefined }

const REPORTED = 1
/** See `WatchedState.onlyOpens`. */
const ONLY_OPENS = 2

/** Takes the place of an ETag's hash after a change by this watchdog, so that the next sweep takes the row. */
const CHANGED = -1

/**
 * The knowledge of a watchdog about one stream. Times in epoch ms by the store's clock unless stated otherwise. There may be
 * a million, so it keeps hashes of ETags, and whole milliseconds where V8 stores them without a box.
 */
export class KnownStream implements RememberedStream {
  readonly name: string
  etag = CHANGED
  listing = 0
  status = ''
  openEvents = 0
  /** Its earliest deadline in two parts, which need no box. */
  #dueS = -1
  #dueMs = 0
  /** Its pending work, shared with other streams; the times are its own, in seconds, which need no box. */
  pending: PendingKind | undefined = undefined
  #claimEndS = -1
  #readySinceS = -1
  #flags = 0
  /** The version that observers of changes received last. */
  reportedVersion: number | undefined = undefined
  /** A hash of its incarnation then; 0 without one. */
  #reportedBorn = 0
  /** Since when it has had its ETag, by the monotonic clock, rounded up. */
  #knownSinceMs = 0
  /** `undefined`: at `dueMs`, as for most streams. */
  #inspectionMs: number | undefined = undefined
  #trouble: Trouble | undefined = undefined

  /** @param name a string that does not keep a page in memory */
  constructor(name: string) {
    this.name = name
  }

  /** Its earliest deadline, epoch ms, rounded up; `Infinity` for never. */
  get dueMs(): number {
    return this.#dueS < 0 ? NEVER : this.#dueS * 1_000 + this.#dueMs
  }

  /** Whether observers of changes have received it with this ETag. */
  get isReported(): boolean {
    return this.#has(REPORTED)
  }

  get nextInspectionMs(): number {
    return this.#inspectionMs ?? this.dueMs
  }

  /** The first end of a claim, epoch ms, rounded up to a second; `Infinity` without claims. */
  get claimEndMs(): number {
    return this.#claimEndS < 0 ? NEVER : this.#claimEndS * 1_000
  }

  /** Since when the first of its ready events is ready, epoch ms, rounded down to a second; `Infinity` without one. */
  get readySinceMs(): number {
    return this.#readySinceS < 0 ? NEVER : this.#readySinceS * 1_000
  }

  get observations(): Observations {
    return (this.#trouble ?? NO_TROUBLE).observations
  }

  /** Whether observers were notified of an overdue event of it. */
  get isNotified(): boolean {
    return this.observations.values().some(({ isNotified }) => isNotified)
  }

  get heldEvents(): number {
    return (this.#trouble ?? NO_TROUBLE).heldEvents
  }

  get failedInPass(): number {
    return (this.#trouble ?? NO_TROUBLE).failedInPass
  }

  /** Records the pass in which its changes failed; 0 after a change that succeeded. */
  set failedInPass(pass: number) {
    this.#setTrouble({ failedInPass: pass })
  }

  /** A sweep took its row. @param state absent: its document has to be read */
  recordRow(etag: string, state: WatchedState | undefined, { nowMs, atMs }: ObservationTime): void {
    if (this.#setEtag(etag, atMs) && state !== undefined) {
      this.#setState(state)
      // None of its events is overdue now. Without this, observations of ended events would fill the memory.
      if (state.dueMs > nowMs) this.#trouble = undefined
    }
    if (state === undefined) this.#inspectAt(AT_ONCE)
  }

  /** Its document was read. @param etag of the document @param atMs monotonic clock */
  recordInspection(etag: string, state: WatchedState, observations: Observations, atMs: number): void {
    this.#setEtag(etag, atMs)
    this.#setState(state)
    this.#setTrouble({ observations })
  }

  /** Since when a document with this ETag is known, by the monotonic clock. */
  knownSinceMs(etag: string): number | undefined {
    return this.hasEtag(etag) ? this.#knownSinceMs : undefined
  }

  /** This watchdog ended events of the stream: its state is unknown until the next sweep. */
  recordChange(endedEvents: number): void {
    this.etag = CHANGED
    this.openEvents = Math.max(0, this.openEvents - endedEvents)
  }

  /**
   * Whether nothing but gates are due, according to its row, so that a settlement suffices. If so, it is inspected again
   * only at its deadline, or once the settlement is postponed.
   */
  takeOpening(nowMs: number): boolean {
    if (!this.#has(ONLY_OPENS) || this.dueMs <= nowMs || this.#trouble !== undefined) return false
    this.#setTimes(this.dueMs, this.dueMs)
    return true
  }

  /** Observers were notified of an overdue event: nothing more to do about it. */
  markNotified(event: string): void {
    const observation = this.observations.get(event)
    if (observation === undefined) return
    this.#setTrouble({ observations: new Map(this.observations).set(event, { ...observation, isNotified: true }) })
  }

  /** Observers of changes have received its current state; it may have no version. */
  markReported({ version, born }: { readonly version?: number; readonly born?: string } = {}): void {
    this.#flag(REPORTED, true)
    this.reportedVersion = version ?? this.reportedVersion
    if (born) this.#reportedBorn = bornHash(born)
  }

  reportAgain(): void {
    this.#flag(REPORTED, false)
  }

  /** Another stream than the one that observers received under this name last. */
  isOtherLife(born = ''): boolean {
    return born !== '' && this.#reportedBorn !== 0 && this.#reportedBorn !== bornHash(born)
  }

  /** A decision on it was not executed: it has to be inspected by that time. */
  postpone(dueMs: number, nextInspectionMs: number): void {
    this.#setTimes(Math.min(this.dueMs, dueMs), Math.min(this.nextInspectionMs, nextInspectionMs))
  }

  /**
   * The circuit breaker holds back events of the stream. As long as it does and the stream does not change, an
   * inspection would find nothing new: the next one follows `letGo`.
   */
  holdBack(dueMs: number, events: number): void {
    this.#setTimes(Math.min(this.dueMs, dueMs), this.nextInspectionMs)
    this.#setTrouble({ heldEvents: this.heldEvents + events })
  }

  /** The circuit breaker has closed. */
  letGo(): void {
    if (this.heldEvents > 0) this.#inspectAt(AT_ONCE)
  }

  /** It cannot or need not be inspected before that time. */
  leaveUntil(nextInspectionMs: number): void {
    this.#inspectAt(nextInspectionMs)
    this.#setTrouble({ heldEvents: 0 })
  }

  /** It did not answer: it is unobserved from `sinceMs` until its next inspection. */
  beginUnreachable(sinceMs: number): void {
    this.#setTrouble({ unreachable: { fromMs: this.#trouble?.unreachable?.fromMs ?? sinceMs, toMs: NEVER } })
  }

  /** It answers again: returns the time in which it was unobserved, if that may still matter. */
  endUnreachable(nowMs: number): Gap | undefined {
    const { unreachable } = this.#trouble ?? NO_TROUBLE
    if (unreachable?.toMs === NEVER) this.#setTrouble({ unreachable: { ...unreachable, toMs: nowMs } })
    return this.#trouble?.unreachable
  }

  /** The store's clock was set back to `nowMs`: later times are invalid. */
  clockSetBack(nowMs: number): void {
    this.#setTimes(this.dueMs, Math.min(this.nextInspectionMs, this.dueMs))
    const { unreachable } = this.#trouble ?? NO_TROUBLE
    if (unreachable === undefined) return
    const { fromMs, toMs } = unreachable
    const notAfter = { fromMs: Math.min(fromMs, nowMs), toMs: toMs === NEVER ? NEVER : Math.min(toMs, nowMs) }
    this.#setTrouble({ unreachable: notAfter })
  }

  hasEtag(etag: string): boolean {
    return this.etag === etagHash(etag)
  }

  /** False if the ETag is unchanged. */
  #setEtag(etag: string, atMs: number): boolean {
    if (this.hasEtag(etag)) return false
    this.etag = etagHash(etag)
    this.#knownSinceMs = Math.ceil(atMs)
    this.#flag(REPORTED, false)
    return true
  }

  #setState({ status, openEvents, dueMs, nextInspectionMs, onlyOpens = false, work }: WatchedState): void {
    this.status = status
    this.pending = work?.kind
    this.#claimEndS = wholeSeconds(Math.ceil, work?.claimEndMs)
    this.#readySinceS = wholeSeconds(Math.floor, work?.readySinceMs)
    this.openEvents = openEvents
    this.#setTimes(dueMs, nextInspectionMs)
    this.#flag(ONLY_OPENS, onlyOpens)
    this.#setTrouble({ heldEvents: 0 })
  }

  #setTimes(dueMs: number, nextInspectionMs: number): void {
    const ms = Math.max(0, Math.ceil(dueMs))
    this.#dueS = ms === NEVER ? -1 : Math.floor(ms / 1_000)
    this.#dueMs = ms === NEVER ? 0 : ms % 1_000
    this.#inspectAt(nextInspectionMs)
  }

  #inspectAt(nextInspectionMs: number): void {
    this.#inspectionMs = nextInspectionMs === this.dueMs ? undefined : nextInspectionMs
    this.#flag(ONLY_OPENS, false)
  }

  #has(flag: number): boolean {
    return (this.#flags & flag) !== 0
  }

  #flag(flag: number, isSet: boolean): void {
    this.#flags = isSet ? this.#flags | flag : this.#flags & ~flag
  }

  #setTrouble(changed: Partial<Trouble>): void {
    const trouble = { ...(this.#trouble ?? NO_TROUBLE), ...changed }
    const { observations, heldEvents, failedInPass, unreachable } = trouble
    const isNone = observations.size === 0 && heldEvents === 0 && failedInPass === 0 && unreachable === undefined
    this.#trouble = isNone ? undefined : trouble
  }
}

/** 30 bits, which need no box. */
function bornHash(born: string): number {
  return (etagHash(born) % 2 ** 30) + 1
}

/** -1 for never. */
function wholeSeconds(round: (seconds: number) => number, ms = NEVER): number {
  return ms === NEVER ? -1 : Math.max(0, round(ms / 1_000))
}

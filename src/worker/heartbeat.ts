import { randomUUID } from 'node:crypto'
import { unansweredDelay } from '../store/backoff.ts'
import { StoreClosed } from '../store/errors.ts'
import { missingStreamText } from '../store/names.ts'
import type { StreamStore } from '../store/store.ts'
import type { StreamEvent } from '../stream/event.ts'
import type { Operation, Refusal } from '../stream/operations/operation.ts'
import { parseTimeout } from '../stream/time/deadlines.ts'
import { elapsedMs, type Instant, instantOf, type Timing } from '../util/clock.ts'
import { NO_LONGER } from '../util/concurrency.ts'
import { type Claim, changeUnderClaim, type Prediction, predictChange } from './claim.ts'
import { claimMsOf, type EventWorkOptions, type LostClaim, type NotCommitted } from './types.ts'

/** Interval for checking whether the claim can still be trusted, ms: timers pause while the machine sleeps. */
const CHECK_MS = 1_000
/** Grace for confirming a claim that seems to have expired, perhaps only because a clock jumped, ms. */
const DOUBT_MS = 5_000

type Gone =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | Extract<NotCommitted, { readonly kind: 'missing' }>

type Beat =
  | Gone
  | { readonly kind: 'confirmed'; readonly silenceMs: number | undefined }
  /** Another holds the lease; the document, read at that time, still has this claim. */
  | { readonly kind: 'kept-out'; readonly seenAt: Instant; readonly silenceMs: number | undefined }
  | { readonly kind: 'unanswered'; readonly cause?: unknown }

/**
 * Keeps a claim alive, independently of the work. The usual interval of heartbeats is a third of the claim, or of the event's
 * own timeout if that is shorter. An unanswered heartbeat proves nothing and is repeated sooner.
 *
 * The claim is trusted for five sixths of its duration, counted from *sending* the last confirmed heartbeat, on the clock that
 * advanced more, monotonic or wall clock. The wall clock may have been set, so a final heartbeat decides; it gets the last
 * part of that time, at most a few seconds. While another program holds the lease, only that program can take the event:
 * then the claim is trusted as long as the document, which can still be read, has it, and heartbeats continue.
 */
export class Heartbeat {
  readonly #store: StreamStore
  readonly #claim: Claim
  readonly #options: EventWorkOptions
  readonly #timing: Timing
  readonly #claimMs: number
  readonly #doubtMs: number
  readonly #trustedMs: number
  readonly #touch
  readonly #lost: (lost: LostClaim) => void
  readonly #monitor: ClaimMonitor
  readonly #over = new AbortController()
  #confirmedAt: Instant
  #keptOutAt: Instant | undefined
  #silenceMs: number | undefined
  #nextMs: number
  #underWay = 0
  #unanswered = 0
  #doubtSinceMs: number | undefined
  #cause: unknown
  #isLost = false

  /** @param lost called at most once, and never after `stop` */
  constructor(
    store: StreamStore,
    claim: Claim,
    options: EventWorkOptions,
    timing: Timing,
    lost: (lost: LostClaim) => void,
  ) {
    this.#store = store
    this.#claim = claim
    this.#options = options
    this.#timing = timing
    this.#claimMs = claimMsOf(options)
    this.#doubtMs = Math.min(this.#claimMs / 6, DOUBT_MS)
    this.#trustedMs = (this.#claimMs * 5) / 6 - this.#doubtMs
    const { event, fence } = claim
    this.#touch = { op: 'touch', event, fence, claimMs: this.#claimMs } as const
    this.#lost = lost
    this.#monitor = new ClaimMonitor(store, claim, this.#touch)
    this.#confirmedAt = claim.sentAt
    this.#silenceMs = claim.silenceMs
    this.#nextMs = claim.sentAt.monotonicMs + this.#beatMs
  }

  /** Sends heartbeats and checks the claim until it is stopped or the claim is lost. */
  async run(): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted) {
      await this.#timing.pause(Math.max(1, Math.min(CHECK_MS, this.#beatMs / 4, this.#untilDueMs())), signal)
      if (!signal.aborted) this.#check()
    }
  }

  stop(): void {
    this.#over.abort(NO_LONGER)
  }

  get #beatMs(): number {
    return beatMs(this.#claimMs, this.#silenceMs)
  }

  /** Time until the next heartbeat or decision. */
  #untilDueMs(): number {
    const nowMs = this.#timing.monotonicMs()
    const decisionMs =
      this.#doubtSinceMs === undefined ? this.#trustLeftMs() : this.#doubtSinceMs + this.#doubtMs - nowMs
    // The answer to a heartbeat in flight sets the time of the next.
    return this.#underWay > 0 ? decisionMs : Math.min(this.#nextMs - nowMs, decisionMs)
  }

  /** How long the claim can be trusted without another answer, ms; 0 or less: not now. */
  #trustLeftMs(): number {
    const leftMs = this.#trustedMs - elapsedMs(this.#confirmedAt, this.#timing)
    // A stopping worker does not wait for another's lease.
    if (this.#keptOutAt === undefined || this.#options.signal?.aborted) return leftMs
    // Long enough for another attempt and the read after it.
    return Math.max(leftMs, 2 * this.#doubtMs - elapsedMs(this.#keptOutAt, this.#timing))
  }

  /** Sends a heartbeat now. @returns false if the claim is lost or the event has ended */
  async beat(msg?: string): Promise<boolean> {
    if (this.#over.signal.aborted) return false
    const sentAt = instantOf(this.#timing)
    this.#underWay += 1
    const answer = await this.#send(msg)
    this.#underWay -= 1
    this.#handle(answer, sentAt)
    return !this.#isLost
  }

  async #send(msg: string | undefined): Promise<Beat> {
    const touch = msg === undefined ? this.#touch : { ...this.#touch, msg }
    // A short wait: while another holds the lease, the document is read instead.
    const leaseWaitMs = Math.min(this.#options.leaseWaitMs ?? Number.POSITIVE_INFINITY, this.#doubtMs / 2)
    const options = { ...this.#options, leaseWaitMs, commandId: randomUUID() }
    try {
      const outcome = await changeUnderClaim(this.#store, this.#claim, touch, options)
      if (outcome.kind === 'done') return { kind: 'confirmed', silenceMs: outcome.result.claim?.silenceMs }
      if (outcome.kind === 'refused' || outcome.kind === 'missing') return outcome
      return outcome.kind === 'held' ? await this.#read() : { kind: 'unanswered' }
    } catch (cause) {
      return { kind: 'unanswered', cause }
    }
  }

  /** Reads the claim from the document while a lease blocks heartbeats. @throws the store's faults, BadDocument */
  async #read(): Promise<Beat> {
    const seenAt = instantOf(this.#timing)
    const stored = await this.#store.read(this.#claim.stream, this.#over.signal)
    const seen = predictChange(stored, this.#claim, this.#touch, this.#options.owner, this.#store.nowMs())
    return seen.kind === 'legal' ? { kind: 'kept-out', seenAt, silenceMs: seen.result.claim?.silenceMs } : seen
  }

  #handle(answer: Beat, sentAt: Instant): void {
    switch (answer.kind) {
      case 'confirmed':
        if (sentAt.monotonicMs < this.#confirmedAt.monotonicMs) return
        this.#confirmedAt = sentAt
        this.#keptOutAt = undefined
        this.#unanswered = 0
        this.#silenceMs = answer.silenceMs
        this.#nextMs = sentAt.monotonicMs + this.#beatMs
        return
      case 'kept-out':
        this.#keptOutAt = answer.seenAt
        this.#silenceMs = answer.silenceMs
        // Soon: after the end of the lease the first to write may take the event.
        this.#againIn(unansweredDelay(0, undefined, this.#timing.random))
        return
      case 'unanswered':
        if (answer.cause instanceof StoreClosed) {
          this.#lose(answer.cause.code, answer.cause.message)
          return
        }
        this.#cause = answer.cause
        this.#againIn(unansweredDelay(this.#unanswered++, undefined, this.#timing.random))
        return
      case 'refused':
      case 'missing':
        this.#gone(answer)
        return
      default:
        answer satisfies never
    }
  }

  #againIn(ms: number): void {
    this.#nextMs = this.#timing.monotonicMs() + Math.min(ms, this.#beatMs / 4)
  }

  #check(): void {
    const nowMs = this.#timing.monotonicMs()
    if (this.#trustLeftMs() > 0) this.#doubtSinceMs = undefined
    else if (this.#doubtSinceMs === undefined) {
      this.#doubtSinceMs = nowMs
      // A heartbeat in flight was sent too long ago to prove anything.
      void this.beat()
      return
    } else if (nowMs - this.#doubtSinceMs >= this.#doubtMs) {
      this.#expired()
      return
    }
    if (nowMs >= this.#nextMs && this.#underWay === 0) void this.beat()
    else void this.#watch()
  }

  /** On stores where it is cheap, learns of a lost claim before the next heartbeat. */
  async #watch(): Promise<void> {
    const seen: Prediction | undefined = await this.#monitor.check(this.#over.signal)
    if (seen === undefined) return
    if (seen.kind !== 'legal') {
      this.#gone(seen)
      return
    }
    this.#silenceMs = seen.result.claim?.silenceMs
    this.#nextMs = Math.min(this.#nextMs, this.#confirmedAt.monotonicMs + this.#beatMs)
  }

  #gone(gone: Gone): void {
    if (gone.kind === 'missing') {
      this.#lose('stream-not-found', missingStreamText(this.#claim.stream, gone.isReplaced))
    } else this.#lose(gone.refusal.code, gone.refusal.message)
  }

  #expired(): void {
    const silentS = Math.round(elapsedMs(this.#confirmedAt, this.#timing) / 1_000)
    const cause = this.#cause instanceof Error ? `: ${this.#cause.message}` : ''
    const { event, stream } = this.#claim
    this.#lose('claim-expired', `no heartbeat of ${event} in ${stream} was confirmed for ${silentS} s${cause}`)
  }

  #lose(code: string, message: string): void {
    if (this.#isLost || this.#over.signal.aborted) return
    this.#isLost = true
    this.#over.abort(NO_LONGER)
    this.#lost({ kind: 'lost', code, message })
  }
}

/** Larger documents are left to the heartbeats, bytes: reading them takes too long. */
const MOST_BYTES = 1024 * 1024

/**
 * Predicts the answer to the next heartbeat: whether its event was ended, was taken over, or has another timeout. Only on
 * stores with a cheap change token: elsewhere every check would cost a request.
 */
class ClaimMonitor {
  readonly #store: StreamStore
  readonly #claim: Claim
  readonly #touch: Operation
  #mark: string | undefined
  #etag: string | undefined
  #isChecking = false

  /** @param touch the heartbeat */
  constructor(store: StreamStore, claim: Claim, touch: Operation) {
    this.#store = store
    this.#claim = claim
    this.#touch = touch
  }

  /** `undefined`: nothing is new, or the read failed; heartbeats find out anyway. Only one check runs at a time. */
  async check(signal: AbortSignal): Promise<Prediction | undefined> {
    if (this.#store.changeToken === undefined || this.#isChecking || signal.aborted) return undefined
    this.#isChecking = true
    try {
      const mark = await this.#store.changeToken(signal)
      if (mark === undefined || mark === this.#mark) return undefined
      const stored = await this.#store.read(this.#claim.stream, signal)
      this.#mark = mark
      if (stored !== undefined && (stored.etag === this.#etag || stored.body.length > MOST_BYTES)) return undefined
      this.#etag = stored?.etag
      return predictChange(stored, this.#claim, this.#touch, '', this.#store.nowMs())
    } catch {
      return undefined
    } finally {
      this.#isChecking = false
    }
  }
}

/** Shortest interval of heartbeats because of an event's timeout, ms: each rewrites the document. */
const FASTEST_MS = 500

/**
 * Usual interval of heartbeats, ms: a third of the claim, or of the event's own timeout if that is shorter. A timeout of 0 has
 * expired in spite of any heartbeat, and is ignored.
 *
 * @param silenceMs longest time without a heartbeat before the timeout expires; `undefined` without such a timeout
 */
function beatMs(claimMs: number, silenceMs: number | undefined): number {
  if (silenceMs === undefined || silenceMs === 0) return claimMs / 3
  return Math.min(claimMs / 3, Math.max(FASTEST_MS, silenceMs / 3))
}

/**
 * The reason why an event's own timeout may expire during the work in spite of heartbeats, as a clause; `undefined` if it
 * cannot.
 *
 * @param nowMs the store's clock, epoch ms
 */
export function limitWarning(
  { timeout: text }: Pick<StreamEvent, 'timeout'>,
  silenceMs: number | undefined,
  nowMs: number,
): string | undefined {
  const timeout = parseTimeout(text)
  if (silenceMs === 0 || (timeout.kind === 'at' && timeout.ms <= nowMs)) {
    return 'its timeout is over: a watchdog ends it while it is worked on'
  }
  if (silenceMs === undefined || silenceMs >= 3 * FASTEST_MS) return undefined
  const [given, least] = [silenceMs / 1_000, (3 * FASTEST_MS) / 1_000]
  return `its timeout of ${given}s is too short for heartbeats, which keep up with ${least}s: a watchdog may end it while it is worked on`
}

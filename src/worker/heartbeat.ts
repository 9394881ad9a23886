import { randomUUID } from 'node:crypto'
import { missingStreamText } from '../ops/transact/transact.ts'
import { unansweredDelay } from '../store/backoff.ts'
import type { StreamStore } from '../store/store.ts'
import type { StreamEvent } from '../stream/event.ts'
import type { Operation, Refusal } from '../stream/operations/operation.ts'
import { parseTimeout } from '../stream/time/deadlines.ts'
import { elapsedMs, type Instant, instantOf, type Timing } from '../util/clock.ts'
import { type Claim, changeUnderClaim, type Foreseen, foreseen } from './claim.ts'
import { claimMsOf, type EventWorkOptions, type LostClaim, type NotCommitted } from './types.ts'

/** How often it is looked whether the claim can still be trusted, ms: timers sleep with the machine. */
const LOOK_MS = 1_000
/** A claim whose time seems to be over, perhaps only because a clock jumped, may be confirmed for so long, ms. */
const DOUBT_MS = 5_000

type Gone =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | Extract<NotCommitted, { readonly kind: 'missing' }>

type Beat =
  | Gone
  | { readonly kind: 'confirmed'; readonly silenceMs: number | undefined }
  /** Another holds the lease; as of then the document says that the claim is ours. */
  | { readonly kind: 'kept-out'; readonly seenAt: Instant; readonly silenceMs: number | undefined }
  | { readonly kind: 'unanswered'; readonly cause?: unknown }

/**
 * Keeps a claim alive, independently of the work. A third of it, or of the event's own timeout where that is shorter, is the
 * usual time between two heartbeats; one that is not answered is neither good nor bad and tried again sooner.
 *
 * The claim is trusted for five sixths of its length, counted from the *sending* of the last heartbeat that was confirmed, on
 * the clock on which more time has passed. As that may be a clock that was set, a last heartbeat decides, which gets the end of
 * this time or a few seconds. While another holds the lease, nobody but that one can take the event: then the claim is
 * trusted for as long as the document, which can be read all the same, says that it is ours, and heartbeats go on trying.
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
  readonly #sentry: ClaimMonitor
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

  /** @param lost called once, at most; never after `stop` */
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
    this.#sentry = new ClaimMonitor(store, claim, this.#touch)
    this.#confirmedAt = claim.sentAt
    this.#silenceMs = claim.silenceMs
    this.#nextMs = claim.sentAt.monotonicMs + this.#beatMs
  }

  /** Looks and beats until it is stopped or the claim is lost. */
  async run(): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted) {
      await this.#timing.pause(Math.max(1, Math.min(LOOK_MS, this.#beatMs / 4, this.#untilDueMs())), signal)
      if (!signal.aborted) this.#look()
    }
  }

  stop(): void {
    this.#over.abort()
  }

  get #beatMs(): number {
    return beatMs(this.#claimMs, this.#silenceMs)
  }

  /** Until the next heartbeat, or until something is to be decided. */
  #untilDueMs(): number {
    const nowMs = this.#timing.monotonicMs()
    const decisionMs =
      this.#doubtSinceMs === undefined ? this.#trustLeftMs() : this.#doubtSinceMs + this.#doubtMs - nowMs
    // The answer to one that is under way says when the next is due.
    return this.#underWay > 0 ? decisionMs : Math.min(this.#nextMs - nowMs, decisionMs)
  }

  /** For how long the claim can be trusted without another answer; at most 0: not now. */
  #trustLeftMs(): number {
    const leftMs = this.#trustedMs - elapsedMs(this.#confirmedAt, this.#timing)
    // A worker that is to end does not wait for somebody else's lease.
    if (this.#keptOutAt === undefined || this.#options.signal?.aborted) return leftMs
    // Long enough for another try and what is read after it.
    return Math.max(leftMs, 2 * this.#doubtMs - elapsedMs(this.#keptOutAt, this.#timing))
  }

  /** A heartbeat now. @returns false once the claim is lost, or the event has ended */
  async beat(msg?: string): Promise<boolean> {
    if (this.#over.signal.aborted) return false
    const sentAt = instantOf(this.#timing)
    this.#underWay += 1
    const answer = await this.#send(msg)
    this.#underWay -= 1
    this.#heard(answer, sentAt)
    return !this.#isLost
  }

  async #send(msg: string | undefined): Promise<Beat> {
    const touch = msg === undefined ? this.#touch : { ...this.#touch, msg }
    // Not for long: who is kept out reads what the holder of the lease has done.
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

  /** What the document says of the claim while a lease keeps heartbeats out. @throws the store's faults, BadDocument */
  async #read(): Promise<Beat> {
    const seenAt = instantOf(this.#timing)
    const stored = await this.#store.read(this.#claim.stream, this.#over.signal)
    const seen = foreseen(stored, this.#claim, this.#touch, this.#options.owner, this.#store.nowMs())
    return seen.kind === 'legal' ? { kind: 'kept-out', seenAt, silenceMs: seen.result.claim?.silenceMs } : seen
  }

  #heard(answer: Beat, sentAt: Instant): void {
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
        // Soon: who is first once the lease has ended may take the event.
        this.#againIn(unansweredDelay(0, undefined, this.#timing.random))
        return
      case 'unanswered':
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

  #look(): void {
    const nowMs = this.#timing.monotonicMs()
    if (this.#trustLeftMs() > 0) this.#doubtSinceMs = undefined
    else if (this.#doubtSinceMs === undefined) {
      this.#doubtSinceMs = nowMs
      // One that is under way was sent too long ago to tell.
      void this.beat()
      return
    } else if (nowMs - this.#doubtSinceMs >= this.#doubtMs) {
      this.#expired()
      return
    }
    if (nowMs >= this.#nextMs && this.#underWay === 0) void this.beat()
    else void this.#watch()
  }

  /** Where it is cheap to see what the next heartbeat would be told, that is not waited for. */
  async #watch(): Promise<void> {
    const seen: Foreseen | undefined = await this.#sentry.look(this.#over.signal)
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
    this.#over.abort()
    this.#lost({ kind: 'lost', code, message })
  }
}

/** What takes longer to read is left to the heartbeats, bytes. */
const MOST_BYTES = 1024 * 1024

/**
 * Sees what the next heartbeat will be told: that its event was ended or taken away, or has another timeout. Only where a store
 * tells for little that nothing was written: else every look would cost a request.
 */
class ClaimMonitor {
  readonly #store: StreamStore
  readonly #claim: Claim
  readonly #touch: Operation
  #mark: string | undefined
  #etag: string | undefined
  #isLooking = false

  /** @param touch the heartbeat */
  constructor(store: StreamStore, claim: Claim, touch: Operation) {
    this.#store = store
    this.#claim = claim
    this.#touch = touch
  }

  /** `undefined`: nothing is new, or it cannot be seen; heartbeats find out all the same. Only one look at a time. */
  async look(signal: AbortSignal): Promise<Foreseen | undefined> {
    if (this.#store.changeToken === undefined || this.#isLooking || signal.aborted) return undefined
    this.#isLooking = true
    try {
      const mark = await this.#store.changeToken(signal)
      if (mark === undefined || mark === this.#mark) return undefined
      const stored = await this.#store.read(this.#claim.stream, signal)
      this.#mark = mark
      if (stored !== undefined && (stored.etag === this.#etag || stored.body.length > MOST_BYTES)) return undefined
      this.#etag = stored?.etag
      return foreseen(stored, this.#claim, this.#touch, '', this.#store.nowMs())
    } catch {
      return undefined
    } finally {
      this.#isLooking = false
    }
  }
}

/** Heartbeats for the sake of an event's timeout come no more often, ms: each writes the document anew. */
const FASTEST_MS = 500

/**
 * The usual time between two heartbeats, ms: a third of the claim or of what the event's own timeout allows, whichever is
 * shorter. One of 0 has ended whatever is heard.
 *
 * @param silenceMs how long the event may give no sign of life; `undefined` without such a limit
 */
function beatMs(claimMs: number, silenceMs: number | undefined): number {
  if (silenceMs === undefined || silenceMs === 0) return claimMs / 3
  return Math.min(claimMs / 3, Math.max(FASTEST_MS, silenceMs / 3))
}

/**
 * Why an event's own timeout may end it while it is worked on, whatever heartbeats are sent: a clause; `undefined` without such
 * a reason.
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

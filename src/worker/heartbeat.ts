import { randomUUID } from 'node:crypto'
import { silenceDelay } from '../store/backoff.ts'
import type { EventStore } from '../store/store.ts'
import type { Claim } from './claim.ts'
import { goneText } from './gone-text.ts'
import type { LostClaim } from './job.ts'
import { Sentry } from './sentry.ts'
import { elapsedMs, type Moment, momentOf, type Timing } from './timing.ts'
import { underClaim } from './under-claim.ts'
import { claimMsOf, type EventWorkOptions } from './work-options.ts'

/** How often it is looked whether the claim can still be trusted, ms: timers sleep with the machine. */
const LOOK_MS = 1_000
/** A claim whose time seems to be over, perhaps only because a clock jumped, may be confirmed for so long, ms. */
const DOUBT_MS = 5_000

type Beat = Awaited<ReturnType<typeof underClaim>> | { readonly kind: 'fault'; readonly cause: unknown }

/**
 * Keeps a claim alive, independently of the work. A third of it is the usual time between two heartbeats; one that is not
 * answered, or kept out by a lease, is neither good nor bad and tried again sooner. The claim is trusted for five sixths of
 * its length, counted from the *sending* of the last one that was confirmed, on the clock on which more time has passed. As
 * that may be a clock that was set, a last heartbeat decides, which gets the end of this time or a few seconds.
 */
export class Heartbeat {
  readonly #store: EventStore
  readonly #claim: Claim
  readonly #options: EventWorkOptions
  readonly #timing: Timing
  readonly #claimMs: number
  readonly #doubtMs: number
  readonly #trustedMs: number
  readonly #lost: (lost: LostClaim) => void
  readonly #sentry: Sentry
  readonly #over = new AbortController()
  #confirmedAt: Moment
  #nextMs: number
  #underWay = 0
  #unanswered = 0
  #doubtSinceMs: number | undefined
  #cause: unknown
  #isLost = false

  /** @param lost called once, at most; never after `stop` */
  constructor(
    store: EventStore,
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
    this.#lost = lost
    this.#sentry = new Sentry(store, claim)
    this.#confirmedAt = claim.sentAt
    this.#nextMs = claim.sentAt.monotonicMs + this.#claimMs / 3
  }

  /** Looks and beats until it is stopped or the claim is lost. */
  async run(): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted) {
      await this.#timing.pause(Math.max(1, Math.min(LOOK_MS, this.#claimMs / 12, this.#untilDueMs())), signal)
      if (!signal.aborted) this.#look()
    }
  }

  stop(): void {
    this.#over.abort()
  }

  /** Until the next heartbeat, or until something is to be decided. */
  #untilDueMs(): number {
    const nowMs = this.#timing.monotonicMs()
    const decisionMs =
      this.#doubtSinceMs === undefined
        ? this.#trustedMs - elapsedMs(this.#confirmedAt, this.#timing)
        : this.#doubtSinceMs + this.#doubtMs - nowMs
    // The answer to one that is under way says when the next is due.
    return this.#underWay > 0 ? decisionMs : Math.min(this.#nextMs - nowMs, decisionMs)
  }

  /** A heartbeat now. @returns false once the claim is lost, or the event has ended */
  async beat(msg?: string): Promise<boolean> {
    if (this.#over.signal.aborted) return false
    const sentAt = momentOf(this.#timing)
    this.#underWay += 1
    const answer = await this.#touch(msg)
    this.#underWay -= 1
    this.#heard(answer, sentAt)
    return !this.#isLost
  }

  async #touch(msg: string | undefined): Promise<Beat> {
    const { event, fence } = this.#claim
    const touch = { op: 'touch', event, fence, claimMs: this.#claimMs, ...(msg === undefined ? {} : { msg }) } as const
    try {
      return await underClaim(this.#store, this.#claim, touch, { ...this.#options, commandId: randomUUID() })
    } catch (cause) {
      return { kind: 'fault', cause }
    }
  }

  #heard(answer: Beat, sentAt: Moment): void {
    if (answer.kind === 'refused') {
      const { code, message } = answer.refusal
      this.#lose(code, message)
    } else if (answer.kind === 'missing') {
      this.#lose('stream-not-found', goneText(this.#claim.stream, answer.isReplaced))
    } else if (answer.kind !== 'done') {
      this.#cause = 'cause' in answer ? answer.cause : undefined
      const delayMs = silenceDelay(this.#unanswered++, undefined, this.#timing.random)
      this.#nextMs = this.#timing.monotonicMs() + Math.min(delayMs, this.#claimMs / 12)
    } else if (sentAt.monotonicMs >= this.#confirmedAt.monotonicMs) {
      this.#confirmedAt = sentAt
      this.#unanswered = 0
      this.#nextMs = sentAt.monotonicMs + this.#claimMs / 3
    }
  }

  #look(): void {
    const nowMs = this.#timing.monotonicMs()
    if (elapsedMs(this.#confirmedAt, this.#timing) < this.#trustedMs) this.#doubtSinceMs = undefined
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

  /** Where it is cheap to see that the event was ended or taken over, the next heartbeat does not wait to be told so. */
  async #watch(): Promise<void> {
    if ((await this.#sentry.seesEnd(this.#over.signal)) && this.#underWay === 0) await this.beat()
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

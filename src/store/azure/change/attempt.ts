import { silenceDelay } from '../../backoff.ts'
import { StoreUnreachable } from '../../errors.ts'
import type { ChangeOptions, ChangeOutcome, Decision, Stored } from '../../store.ts'
import type { AzureBodies, BlobState } from '../blobs.ts'
import type { ServiceError } from '../errors.ts'
import type { AzureCalls } from '../requests.ts'
import { PutFate } from './in-doubt.ts'
import { LeaseWait } from './lease-wait.ts'

const DEADLINE_MS = 30_000

export interface CourseParts {
  readonly calls: AzureCalls
  readonly bodies: AzureBodies
}

export type Put = Decision & { kind: 'put' }
export type Decide = (current: Stored, nowMs: number) => Decision
/** A decision to write, with the state it was made on. */
export type Seen = { readonly kind: 'put'; readonly decision: Put; readonly state: BlobState }

/** What both ways of changing a stream have in common: the time they have, their reads, and what these say of their Puts. */
export class ChangeCourse {
  readonly #parts: CourseParts
  readonly #name: string
  readonly #decide: Decide
  readonly #options: ChangeOptions
  readonly #startedMs: number
  readonly fate = new PutFate()
  /** For leases held by others. */
  readonly wait: LeaseWait
  #silences = 0
  /** How long the last read took, ms. */
  #readMs = 0

  constructor(parts: CourseParts, name: string, decide: Decide, options: ChangeOptions) {
    this.#parts = parts
    this.#name = name
    this.#decide = decide
    this.#options = options
    this.wait = new LeaseWait(parts.calls, options)
    this.#startedMs = parts.calls.machine.monotonicMs()
  }

  /** The overall deadline, monotonic ms; waiting for others does not count. */
  get untilMs(): number {
    return this.#startedMs + (this.#options.deadlineMs ?? DEADLINE_MS) + this.wait.waitedMs
  }

  get #remainingMs(): number {
    return Math.max(this.untilMs - this.#parts.calls.machine.monotonicMs(), 0)
  }

  /** Runs rounds until one of them has an outcome. With a Put in doubt a fault or the caller's abort is `unknown`. */
  async run(round: () => Promise<ChangeOutcome | undefined>): Promise<ChangeOutcome> {
    try {
      for (;;) {
        if (this.#remainingMs === 0) throw this.#late()
        const outcome = await round()
        if (outcome !== undefined) return outcome
      }
    } catch (error) {
      if (this.fate.ghost === undefined) throw error
      return { kind: 'unknown', cause: this.fate.ghost.cause ?? error }
    }
  }

  /** A read found no stream: what that means for the Puts sent before. */
  gone(): ChangeOutcome {
    this.fate.read(undefined)
    return this.fate.ghost === undefined ? { kind: 'missing' } : this.unknown()
  }

  /** Decides on a state, and says what that means for the Puts sent before. */
  look(state: BlobState | undefined): ChangeOutcome | Seen {
    if (state === undefined) return this.gone()
    const { fate } = this
    fate.read(state)
    const decision = this.#decide(state.stored, this.#parts.calls.clock.nowMs())
    if (decision.kind === 'put') {
      fate.notIn(state)
      return { kind: 'put', decision, state }
    }
    const kind = fate.whenLeft(state)
    if (kind === 'unknown') return this.unknown()
    return kind === 'left' ? { kind } : { kind, etag: state.stored.etag }
  }

  /**
   * Decides on a state that this process wrote last, without a read: `undefined` where the decision is no Put. What is
   * not written (a refusal, a duplicate, a fault of the document) counts only if it comes again with what is there.
   */
  lookAtWritten(state: BlobState): Seen | undefined {
    try {
      const seen = this.look(state)
      return seen.kind === 'put' ? seen : undefined
    } catch {
      return undefined
    }
  }

  unknown(): ChangeOutcome {
    return { kind: 'unknown', cause: this.fate.ghost?.cause ?? this.#late() }
  }

  /** Reads; with a Put in doubt it goes on trying until the deadline, for only a read can tell what became of it. */
  async read(): Promise<BlobState | undefined> {
    const { bodies, calls } = this.#parts
    for (;;) {
      const fromMs = calls.machine.monotonicMs()
      try {
        const state = await bodies.read(this.#name, this.#options.signal, this.untilMs)
        this.#readMs = calls.machine.monotonicMs() - fromMs
        return state
      } catch (error) {
        if (this.fate.ghost === undefined || !(error instanceof StoreUnreachable) || this.#remainingMs === 0)
          throw error
        await this.pauseAfterSilence(undefined)
      }
    }
  }

  /** The last read found the lease held: waits for the next; `false`, without waiting, where the patience is at its end. */
  async waitAfterRead(): Promise<boolean> {
    this.wait.tried(this.#readMs, this.#parts.calls.limits.bodyMs)
    return this.wait.next()
  }

  /** After a request without an answer, so that an outage is not hammered. */
  async pauseAfterSilence(error: ServiceError | undefined): Promise<undefined> {
    const ms = silenceDelay(this.#silences, error?.retryAfterMs, this.#parts.calls.random)
    this.#silences += 1
    await this.pause(ms)
  }

  /** Waits, at most until the deadline. */
  async pause(ms: number): Promise<undefined> {
    await this.#parts.calls.pause(Math.min(ms, this.#remainingMs), this.#options.signal)
  }

  #late(): StoreUnreachable {
    return new StoreUnreachable(`${this.#parts.calls.site.host} let no write through in time`, {
      hint: 'Try again: repeated with the same command id, the change happens once.',
    })
  }
}

import { unansweredDelay } from '../../backoff.ts'
import { StoreUnreachable } from '../../errors.ts'
import { LeaseAttempts } from '../../lease-attempts.ts'
import type { ChangeOptions, ChangeOutcome, Decision, StreamSnapshot } from '../../store.ts'
import type { BlobIO, BlobState } from '../blobs.ts'
import { isBlobMissing, isCondition, isConflict, type ServiceError } from '../errors.ts'
import type { AzureLeases } from '../leases.ts'
import type { AzureRequests } from '../requests.ts'
import type { Contention } from './contention.ts'
import { InDoubtWrites } from './in-doubt.ts'
import { LeaseWait } from './lease-wait.ts'
import { writtenState } from './write-cache.ts'

const DEADLINE_MS = 30_000

/** The parts of a store that all its changes share. */
export interface AttemptContext {
  readonly calls: AzureRequests
  readonly bodies: BlobIO
  readonly leases: AzureLeases
  readonly contention: Contention
  /** A fresh UUID for each lease: a late request under an earlier one must not pass for one under the present lease. */
  readonly newLeaseId: () => string
}

export type Decide = (current: StreamSnapshot, nowMs: number) => Decision

/** A decision to write, and the state for which it was made. */
export interface DecidedWrite {
  readonly kind: 'write'
  readonly decision: Decision & { readonly kind: 'put' }
  readonly base: BlobState
}

/** Result of a Put. Unless it is `written`, only the next read shows whether the Put was applied after all. */
export type PutResult =
  | { readonly kind: 'written'; readonly state: BlobState }
  /** No answer, or an ambiguous one (5xx, throttling). */
  | { readonly kind: 'unanswered'; readonly error: ServiceError }
  /** The ETag has changed: another writer was faster, or the stream is gone. */
  | { readonly kind: 'conflict' }
  /** Its lease is over, or it named none and another writer holds one. */
  | { readonly kind: 'lease-rejected'; readonly code: string }

/** One change of one stream: its steps (read, decide, put, pause), its deadline and its Puts in doubt. */
export class ChangeAttempt {
  readonly context: AttemptContext
  readonly name: string
  readonly options: ChangeOptions
  readonly inDoubt = new InDoubtWrites()
  /** The wait for leases held by others. */
  readonly wait: LeaseWait
  /** Reports each attempt to get at the stream; a change under a lease of its caller makes none. */
  readonly attempts: LeaseAttempts | undefined
  readonly #decide: Decide
  readonly #startedMs: number
  #unanswered = 0
  #lastReadMs = 0

  constructor(context: AttemptContext, name: string, decide: Decide, options: ChangeOptions) {
    this.context = context
    this.name = name
    this.options = options
    this.wait = new LeaseWait(context.calls, options)
    const { leaseId, onLeaseAttempt } = options
    this.attempts = leaseId === undefined && onLeaseAttempt ? new LeaseAttempts(name, onLeaseAttempt) : undefined
    this.#decide = decide
    this.#startedMs = context.calls.machine.monotonicMs()
  }

  /** The deadline of the change, monotonic ms. The wait for other writers does not count. */
  get untilMs(): number {
    return this.#startedMs + (this.options.deadlineMs ?? DEADLINE_MS) + this.wait.waitedMs
  }

  /** @throws StoreUnreachable after the deadline */
  checkDeadline(): void {
    if (this.#remainingMs === 0) throw this.#deadlineOver()
  }

  /** One GET. With a Put in doubt it is repeated until the deadline, because only a read shows whether that was applied. */
  async read(): Promise<BlobState | undefined> {
    const { bodies, calls } = this.context
    for (;;) {
      const fromMs = calls.machine.monotonicMs()
      try {
        const state = await bodies.read(this.name, this.options.signal, this.untilMs)
        this.#lastReadMs = calls.machine.monotonicMs() - fromMs
        return state
      } catch (error) {
        if (this.inDoubt.write === undefined || !(error instanceof StoreUnreachable) || this.#remainingMs === 0)
          throw error
        await this.pauseAfterUnanswered(undefined)
      }
    }
  }

  /** Decides on a state that was read: the write to send, or the outcome of the change. Throws errors of `decide`. */
  decide(state: BlobState | undefined): DecidedWrite | ChangeOutcome {
    const { inDoubt, name } = this
    const { calls, contention } = this.context
    inDoubt.observe(state)
    if (state === undefined) return this.unlessInDoubt({ kind: 'missing' })
    contention.observeEtag(name, state.stored.etag)
    const decision = this.#decide(state.stored, calls.clock.nowMs())
    if (decision.kind === 'put') {
      inDoubt.ruleOut(state)
      return { kind: 'write', decision, base: state }
    }
    contention.recordSkip(name, state.stored.etag)
    const kind = inDoubt.resolve(state)
    if (kind === 'unknown') return this.#unknown()
    return kind === 'left' ? { kind } : { kind, etag: state.stored.etag }
  }

  /**
   * Decides on the state that this process wrote last, without a read. Only a decision to write counts: if the state is stale,
   * its Put fails. A refusal, a duplicate or a fault must be confirmed on a state that was read.
   */
  decideOnCached(base: BlobState): DecidedWrite | 'retry' {
    try {
      const decision = this.#decide(base.stored, this.context.calls.clock.nowMs())
      return decision.kind === 'put' ? { kind: 'write', decision, base } : 'retry'
    } catch {
      return 'retry'
    }
  }

  /** Decides on a state that cannot be written now, only to find out whether it contains a Put in doubt; `undefined`: it does not. */
  resolveInDoubt(state: BlobState | undefined): ChangeOutcome | undefined {
    const decided = this.decide(state)
    if (decided.kind !== 'write') return decided
    decided.decision.discard?.()
    return undefined
  }

  /** The outcome of a change that sends no further Put: `unknown` if one is in doubt. */
  unlessInDoubt(outcome: ChangeOutcome): ChangeOutcome {
    return this.inDoubt.write === undefined ? outcome : this.#unknown()
  }

  /** One Put, sent once, that names the ETag the decision was made on. Throws faults and the caller's abort. */
  async put({ decision, base }: DecidedWrite, leaseId: string | undefined): Promise<PutResult> {
    const { body, summary, othersLately, discard } = decision
    const { bodies, calls, contention } = this.context
    const write = { body, summary, base, leaseId, signal: this.options.signal, untilMs: this.untilMs }
    // From here on the Put may be in flight, however this call ends.
    const end = this.inDoubt.begin(base.stored.etag, leaseId)
    contention.invalidateCache(this.name)
    const answer = await bodies.put(this.name, write)
    const { md5 } = answer
    if (answer.kind === 'done') {
      end({ md5, result: 'applied' })
      contention.recordChange(this.name, answer.value.etag, othersLately)
      return { kind: 'written', state: writtenState(this.name, write, answer.value, answer) }
    }
    const { error } = answer
    if (answer.unansweredAttempts > 0) end({ md5, result: 'unanswered', cause: calls.fault(error, this.name) })
    else end({ md5, result: isCondition(error) ? 'rejected' : 'failed' })
    if (answer.kind === 'unanswered' && answer.unansweredAttempts === 0) discard?.()
    if (answer.kind === 'unanswered' || error.code === 'Md5Mismatch') return { kind: 'unanswered', error }
    if (isConflict(error) || isBlobMissing(error)) return { kind: 'conflict' }
    if (isCondition(error)) return { kind: 'lease-rejected', code: error.code }
    throw calls.fault(error, this.name)
  }

  /** After a read that found the lease held: waits for the next attempt; `false` at once if `waitMs` is over. */
  async waitAfterRead(): Promise<boolean> {
    this.wait.recordTry(this.#lastReadMs, this.context.calls.limits.bodyMs)
    return this.wait.nextTry()
  }

  /** Pauses after an unanswered request, to protect a service in an outage. */
  async pauseAfterUnanswered(error: ServiceError | undefined): Promise<void> {
    const ms = unansweredDelay(this.#unanswered, error?.retryAfterMs, this.context.calls.random)
    this.#unanswered += 1
    await this.pause(ms)
  }

  /** Pauses, at most until the deadline. */
  async pause(ms: number): Promise<void> {
    await this.context.calls.pause(Math.min(ms, this.#remainingMs), this.options.signal)
  }

  get #remainingMs(): number {
    return Math.max(this.untilMs - this.context.calls.machine.monotonicMs(), 0)
  }

  #unknown(): ChangeOutcome {
    return { kind: 'unknown', cause: this.inDoubt.write?.cause ?? this.#deadlineOver() }
  }

  #deadlineOver(): StoreUnreachable {
    return new StoreUnreachable(`${this.context.calls.site.host} accepted no write in time`, {
      hint: 'Try again with the same command id: the change is applied once.',
    })
  }
}

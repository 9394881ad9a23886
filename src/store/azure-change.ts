import type { AzureBodies, BlobState } from './azure-body.ts'
import { type Answer, silenceDelay } from './azure-calls.ts'
import { isBlobMissing, isHeldByAnother, isLeaseGone, isSomebodyWrote, type ServiceError } from './azure-errors.ts'
import { AzureTenure, type TenureParts } from './azure-tenure.ts'
import { StoreUnreachable } from './errors.ts'
import type { ChangeOptions, ChangeOutcome, Decision, Stored } from './store.ts'

const DEADLINE_MS = 30_000

export interface ChangeParts extends TenureParts {
  readonly bodies: AzureBodies
}

type Decide = (current: Stored, nowMs: number) => Decision
type Unwritten = Answer<unknown> & { kind: 'refused' | 'silent' }

/** A Put of this change that may have been applied, or may still be. */
interface Ghost {
  /** The ETag it named: it can be applied on this one only. */
  readonly etag: string
  readonly leaseId: string
  readonly cause: unknown
}

/**
 * One change of a stream: acquire beside read, one Put with lease id and If-Match, release afterwards.
 *
 * Every end of a Put but 201 leads to a read and a new decision. The ETag tells what became of the Put: if it differs
 * from the one the Put named, the Put is either in the document, where `decide` finds its command id and leaves, or it
 * failed for good. If it is unchanged, the Put may still land: the next one names the same ETag, so that at most one of
 * the two can win.
 *
 * - `committed`: a Put was answered 201; or `decide` left, and either the body is one that this change sent, or an
 *   unanswered Put of it may have been applied before the state `decide` saw. Which of these, only `decide` can know.
 * - `left`: `decide` left, and no Put of this change is in the stream or can still land.
 * - `held`, `lost`, `missing`: nothing of this change is in the stream or can still land.
 * - `unknown`: a Put was sent whose fate no read could tell before the deadline, a fault or the caller's abort.
 */
export class AzureChange {
  readonly #parts: ChangeParts
  readonly #name: string
  readonly #decide: Decide
  readonly #options: ChangeOptions
  readonly #tenure: AzureTenure
  readonly #startedMs: number
  readonly #sentMd5s = new Set<string>()
  #silences = 0
  #state: BlobState | undefined
  #ghost: Ghost | undefined
  /** The lease that the service said is over, and its code: a ghost under it cannot be applied any more. */
  #over: { leaseId: string; code: string } | undefined

  constructor(parts: ChangeParts, name: string, decide: Decide, options: ChangeOptions) {
    this.#parts = parts
    this.#name = name
    this.#decide = decide
    this.#options = options
    this.#tenure = new AzureTenure(parts, name, {
      waitMs: options.waitMs,
      untilMs: () => this.#untilMs,
      signal: options.signal,
    })
    this.#startedMs = parts.calls.machine.monotonicMs()
  }

  /** Runs the change to its outcome. The release goes on behind it. Throws faults, and what `decide` throws. */
  async run(): Promise<ChangeOutcome> {
    this.#options.signal?.throwIfAborted()
    try {
      if (this.#options.leaseId === undefined) await this.#parts.releases.settled(this.#name)
      for (;;) {
        const outcome = await this.#round()
        if (outcome !== undefined) return outcome
      }
    } catch (error) {
      if (this.#ghost === undefined) throw error
      return { kind: 'unknown', cause: this.#ghost.cause ?? error }
    } finally {
      void this.#tenure.leave()
    }
  }

  /** Hold the lease, know the state, decide, put: the outcome, or `undefined` if it has to be done again. */
  async #round(): Promise<ChangeOutcome | undefined> {
    if (this.#remainingMs === 0) throw this.#late()
    const refused = await this.#enter()
    if (refused !== undefined) return refused
    this.#state ??= await this.#read()
    const state = this.#state
    if (state === undefined) return this.#ghost === undefined ? { kind: 'missing' } : this.#unknown(this.#ghost)
    this.#layGhost(state)
    const decision = this.#decide(state.stored, this.#parts.calls.clock.nowMs())
    if (decision.kind === 'leave') return this.#left(state)
    if (this.#ghost?.etag !== state.stored.etag) this.#ghost = undefined
    return this.#write(decision, state)
  }

  /** Acquires, if no lease is held or given, and reads beside it: the read counts exactly if both ETags agree. */
  async #enter(): Promise<ChangeOutcome | undefined> {
    if (this.#options.leaseId !== undefined || this.#tenure.leaseId !== undefined) return undefined
    const reading = this.#state === undefined ? this.#read() : Promise.resolve(this.#state)
    // A read that fails here is repeated under the lease and fails there.
    const readBeside = reading.catch(() => undefined)
    const entered = await this.#tenure.enter()
    if (entered.kind !== 'entered') return this.#settle(entered)
    // Whatever lease a ghost had, it is over: another could be acquired.
    if (this.#ghost !== undefined) this.#over = { leaseId: this.#ghost.leaseId, code: 'LeaseLost' }
    const state = await readBeside
    this.#state = state?.stored.etag === entered.etag ? state : undefined
    return undefined
  }

  async #write(decision: Decision & { kind: 'put' }, state: BlobState): Promise<ChangeOutcome | undefined> {
    const given = this.#options.leaseId
    if (given !== undefined && this.#over !== undefined) return { kind: 'lost', code: this.#over.code }
    const leaseId = given ?? this.#tenure.leaseId
    if (leaseId === undefined || (given === undefined && !this.#tenure.trusted)) return this.#leaveTenure()
    const earlier = this.#ghost
    // From here on a Put may be on its way, however the call ends.
    this.#ghost = { etag: state.stored.etag, leaseId, cause: undefined }
    this.#state = undefined
    const { body, summary } = decision
    const limits = { signal: this.#options.signal, untilMs: this.#untilMs }
    const answer = await this.#parts.bodies.put(this.#name, { body, summary, base: state, leaseId, ...limits })
    this.#sentMd5s.add(answer.md5)
    if (answer.kind === 'done') {
      this.#ghost = undefined
      return { kind: 'committed', etag: answer.value.etag }
    }
    this.#ghost = answer.silences === 0 ? earlier : { ...this.#ghost, cause: this.#parts.calls.fault(answer.error) }
    return this.#afterPut(answer, leaseId)
  }

  /** What the end of a Put says of the lease. What became of the Put itself, the next read tells. */
  async #afterPut(answer: Unwritten, leaseId: string): Promise<undefined> {
    const { error } = answer
    if (answer.kind === 'silent' || error.code === 'Md5Mismatch') return this.#pause(error)
    if (isLeaseGone(error) || isHeldByAnother(error)) {
      this.#over = { leaseId, code: error.code }
      this.#tenure.forget()
    } else if (!isSomebodyWrote(error) && !isBlobMissing(error)) throw this.#parts.calls.fault(error)
  }

  /** The lease may have ended unseen (time up, or the machine slept): give it back, start over with a fresh one. */
  async #leaveTenure(): Promise<undefined> {
    const leaseId = this.#tenure.leaseId
    const confirmed = await this.#tenure.leave()
    if (confirmed && leaseId !== undefined) this.#over = { leaseId, code: 'LeaseLost' }
    this.#state = undefined
  }

  #left(state: BlobState): ChangeOutcome {
    const { etag } = state.stored
    if (this.#sentMd5s.has(state.md5)) return { kind: 'committed', etag }
    if (this.#ghost === undefined) return { kind: 'left' }
    return this.#ghost.etag === etag ? this.#unknown(this.#ghost) : { kind: 'committed', etag }
  }

  /** A ghost is laid once its lease is over and a state read after that still has the ETag it named. */
  #layGhost(state: BlobState): void {
    const ghost = this.#ghost
    if (ghost !== undefined && ghost.leaseId === this.#over?.leaseId && ghost.etag === state.stored.etag)
      this.#ghost = undefined
  }

  /** No lease to be had: before that is said, what became of an earlier Put has to be known. */
  async #settle(outcome: ChangeOutcome): Promise<ChangeOutcome> {
    if (this.#ghost === undefined) return outcome
    const state = await this.#read()
    if (state === undefined) return this.#unknown(this.#ghost)
    this.#layGhost(state)
    const decision = this.#decide(state.stored, this.#parts.calls.clock.nowMs())
    if (decision.kind === 'leave') return this.#left(state)
    return this.#ghost?.etag === state.stored.etag ? this.#unknown(this.#ghost) : outcome
  }

  #unknown(ghost: Ghost): ChangeOutcome {
    return { kind: 'unknown', cause: ghost.cause ?? this.#late() }
  }

  /** Reads; with a Put in doubt it goes on trying until the deadline, for only a read can tell what became of it. */
  async #read(): Promise<BlobState | undefined> {
    for (;;) {
      try {
        return await this.#parts.bodies.read(this.#name, this.#options.signal, this.#untilMs)
      } catch (error) {
        if (this.#ghost === undefined || !(error instanceof StoreUnreachable) || this.#remainingMs === 0) throw error
        await this.#pause(undefined)
      }
    }
  }

  async #pause(error: ServiceError | undefined): Promise<undefined> {
    const { calls } = this.#parts
    const ms = silenceDelay(this.#silences, error?.retryAfterMs, calls.random)
    this.#silences += 1
    await calls.pause(Math.min(ms, this.#remainingMs), this.#options.signal)
  }

  /** The overall deadline, monotonic ms; waiting for others does not count. */
  get #untilMs(): number {
    return this.#startedMs + (this.#options.deadlineMs ?? DEADLINE_MS) + this.#tenure.waitedMs
  }

  get #remainingMs(): number {
    return Math.max(this.#untilMs - this.#parts.calls.machine.monotonicMs(), 0)
  }

  #late(): StoreUnreachable {
    return new StoreUnreachable(`${this.#parts.calls.site.host} let no write through in time`, {
      hint: 'Try again: repeated with the same command id, the change happens once.',
    })
  }
}

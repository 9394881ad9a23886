import type { AzureBodies, BlobState } from './azure-body.ts'
import type { Answer } from './azure-calls.ts'
import { isBlobMissing, isCondition, isSomebodyWrote, type ServiceError } from './azure-errors.ts'
import { PutFate } from './azure-fate.ts'
import { AzureTenure, type TenureParts } from './azure-tenure.ts'
import { silenceDelay } from './backoff.ts'
import { StoreUnreachable } from './errors.ts'
import type { ChangeOptions, ChangeOutcome, Decision, Stored } from './store.ts'

const DEADLINE_MS = 30_000

export interface ChangeParts extends TenureParts {
  readonly bodies: AzureBodies
}

type Put = Decision & { kind: 'put' }
type Decide = (current: Stored, nowMs: number) => Decision
type Unwritten = Answer<unknown> & { kind: 'refused' | 'silent' }

/**
 * One change of a stream: acquire beside read, one Put with lease id and If-Match, release afterwards.
 *
 * Every end of a Put but 201, a refused condition too, leads to a read and a new decision. The ETag tells what became of
 * the Put: if it differs from the one the Put named, the Put is either in the document, where `decide` finds its command
 * id and leaves, or it failed for good. If it is unchanged, the Put may still land: the next one names the same ETag, so
 * that at most one of the two can win.
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
  readonly #fate = new PutFate()
  #silences = 0
  #state: BlobState | undefined

  constructor(parts: ChangeParts, name: string, decide: Decide, options: ChangeOptions) {
    this.#parts = parts
    this.#name = name
    this.#decide = decide
    this.#options = options
    this.#tenure = new AzureTenure(parts, name, {
      waitMs: options.waitMs,
      untilMs: () => this.#untilMs,
      stopWaiting: options.stopWaiting,
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
      if (this.#fate.ghost === undefined) throw error
      return { kind: 'unknown', cause: this.#fate.ghost.cause ?? error }
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
    const seen = this.#look(this.#state)
    return seen.kind === 'put' ? this.#write(seen.decision, seen.state) : seen
  }

  /** Decides on a state, and says what that means for the Puts sent before. */
  #look(state: BlobState | undefined): ChangeOutcome | { kind: 'put'; decision: Put; state: BlobState } {
    const fate = this.#fate
    if (state === undefined) return fate.ghost === undefined ? { kind: 'missing' } : this.#unknown()
    fate.read(state)
    const decision = this.#decide(state.stored, this.#parts.calls.clock.nowMs())
    if (decision.kind === 'put') {
      fate.notIn(state)
      return { kind: 'put', decision, state }
    }
    const kind = fate.whenLeft(state)
    if (kind === 'unknown') return this.#unknown()
    return kind === 'left' ? { kind } : { kind, etag: state.stored.etag }
  }

  /** Acquires, if no lease is held or given, and reads beside it: the read counts exactly if both ETags agree. */
  async #enter(): Promise<ChangeOutcome | undefined> {
    if (this.#options.leaseId !== undefined || this.#tenure.leaseId !== undefined) return undefined
    const reading = this.#state === undefined ? this.#read() : Promise.resolve(this.#state)
    // A read that fails here is repeated under the lease and fails there.
    const readBeside = reading.catch(() => undefined)
    const entered = await this.#tenure.enter()
    if (entered.kind !== 'entered') return this.#settle(entered)
    this.#fate.otherLeaseIsHeld()
    const state = await readBeside
    this.#state = state?.stored.etag === entered.etag ? state : undefined
    return undefined
  }

  async #write({ body, summary }: Put, state: BlobState): Promise<ChangeOutcome | undefined> {
    const given = this.#options.leaseId
    if (given !== undefined && this.#fate.lostCode !== undefined) return { kind: 'lost', code: this.#fate.lostCode }
    const leaseId = given ?? this.#tenure.leaseId
    if (leaseId === undefined || (given === undefined && !this.#tenure.trusted)) return this.#leaveTenure()
    // From here on a Put may be on its way, however this call ends.
    const ended = this.#fate.sending(state.stored.etag, leaseId)
    this.#state = undefined
    const limits = { signal: this.#options.signal, untilMs: this.#untilMs }
    const answer = await this.#parts.bodies.put(this.#name, { body, summary, base: state, leaseId, ...limits })
    const { md5 } = answer
    if (answer.kind === 'done') {
      ended({ md5, applied: true })
      return { kind: 'committed', etag: answer.value.etag }
    }
    if (answer.silences > 0) ended({ md5, applied: 'unknown', cause: this.#parts.calls.fault(answer.error) })
    // The network may have doubled the Put, and the copy that was refused be the one behind that which was applied.
    else ended({ md5, applied: isCondition(answer.error) ? 'unknown' : false })
    return this.#afterPut(answer, leaseId)
  }

  /** What the end of a Put says of the lease. What became of the Put itself, the next read tells. */
  async #afterPut(answer: Unwritten, leaseId: string): Promise<undefined> {
    const { error } = answer
    if (answer.kind === 'silent' || error.code === 'Md5Mismatch') return this.#pause(error)
    if (isSomebodyWrote(error) || isBlobMissing(error)) return
    if (!isCondition(error)) throw this.#parts.calls.fault(error)
    this.#fate.leaseIsOver(leaseId, error.code)
    this.#tenure.forget()
  }

  /** The lease may have ended unseen (time up, or the machine slept): give it back, start over with a fresh one. */
  async #leaveTenure(): Promise<undefined> {
    const leaseId = this.#tenure.leaseId
    const confirmed = await this.#tenure.leave()
    if (confirmed && leaseId !== undefined) this.#fate.leaseIsOver(leaseId, 'LeaseLost')
    this.#state = undefined
  }

  /** No lease to be had: before that is said, what became of an earlier Put has to be known. */
  async #settle(outcome: ChangeOutcome): Promise<ChangeOutcome> {
    if (this.#fate.ghost === undefined) return outcome
    const seen = this.#look(await this.#read())
    if (seen.kind !== 'put') return seen
    return this.#fate.ghost === undefined ? outcome : this.#unknown()
  }

  #unknown(): ChangeOutcome {
    return { kind: 'unknown', cause: this.#fate.ghost?.cause ?? this.#late() }
  }

  /** Reads; with a Put in doubt it goes on trying until the deadline, for only a read can tell what became of it. */
  async #read(): Promise<BlobState | undefined> {
    for (;;) {
      try {
        return await this.#parts.bodies.read(this.#name, this.#options.signal, this.#untilMs)
      } catch (error) {
        if (this.#fate.ghost === undefined || !(error instanceof StoreUnreachable) || this.#remainingMs === 0)
          throw error
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

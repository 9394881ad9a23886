import type { ChangeOptions, ChangeOutcome } from '../../store.ts'
import type { BlobState } from '../blobs.ts'
import { isBlobMissing, isCondition, isSomebodyWrote } from '../errors.ts'
import type { Answer } from '../requests.ts'
import type { ChangeCourse, CourseParts, Put } from './attempt.ts'
import type { AzureTurns } from './fairness.ts'
import { AzureTenure, type ParkedTenures, type TenureParts } from './held-lease.ts'
import { type WrittenStates, writtenState } from './write-cache.ts'

export interface ChangeParts extends TenureParts, CourseParts {
  readonly turns: AzureTurns
  readonly parked: ParkedTenures
  readonly written: WrittenStates
}

type Unwritten = Answer<unknown> & { kind: 'refused' | 'silent' }

/**
 * One change of a stream: acquire beside read, one Put with lease id and If-Match, release afterwards.
 *
 * Changes that are asked for one right after the other make a burst: a few of them go under one lease, each on the state
 * that the one before wrote, with a Put alone. What is not written is told only of a state that was read.
 *
 * Every end of a Put but 201, a refused condition too, leads to a read and a new decision. The ETag tells what became of
 * the Put: if it differs from the one the Put named, the Put is either in the document, where `decide` finds its command
 * id and leaves, or it failed for good. If it is unchanged, the Put may still land: the next one names the same ETag, so
 * that at most one of the two can win. A decision of which no Put is sent is discarded.
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
  readonly #options: ChangeOptions
  readonly #course: ChangeCourse
  readonly #tenure: AzureTenure
  #state: BlobState | undefined
  /** What the change before wrote under the lease that this one goes on with. */
  #before: BlobState | undefined
  /** What this change wrote. */
  #after: BlobState | undefined

  /** @param course of a change that has begun without a lease, and goes on under one */
  constructor(parts: ChangeParts, name: string, options: ChangeOptions, course: ChangeCourse) {
    this.#parts = parts
    this.#name = name
    this.#options = options
    this.#course = course
    this.#tenure = new AzureTenure(parts, name, {
      wait: course.wait,
      onHeld: () => parts.turns.met(name),
      untilMs: () => course.untilMs,
      signal: options.signal,
    })
  }

  /** Runs the change to its outcome. The release goes on behind it. Throws faults, and what `decide` throws. */
  async run(): Promise<ChangeOutcome> {
    this.#options.signal?.throwIfAborted()
    if (this.#options.leaseId === undefined && !this.#goOn()) await this.#standBack()
    this.#parts.turns.entered(this.#name)
    return this.finish()
  }

  /** The same for a change that has begun and waited already. */
  async finish(): Promise<ChangeOutcome> {
    try {
      return await this.#course.run(() => this.#round())
    } finally {
      this.#leave()
    }
  }

  /** Goes on under the lease of the change before, if that was reported just now. */
  #goOn(): boolean {
    const parked = this.#parts.parked.take(this.#name)
    if (parked === undefined) return false
    this.#tenure.takeOver(parked.tenure)
    this.#before = parked.state
    return true
  }

  /** Gives the lease back, or keeps it for the next change as long as the turn of this process goes on. */
  #leave(): void {
    const { parked, turns } = this.#parts
    const goesOn = turns.isOurs(this.#name) && this.#tenure.leaseId !== undefined && this.#tenure.isYoung
    if (this.#after !== undefined && goesOn) parked.park(this.#name, { tenure: this.#tenure, state: this.#after })
    else void this.#tenure.leave()
  }

  /** Until this process's own release is through, and then as long as those who wait need to get their turn. */
  async #standBack(): Promise<void> {
    const { releases, turns } = this.#parts
    const hadIt = await releases.settled(this.#name)
    await this.#course.wait.pause(turns.begin(this.#name, hadIt))
  }

  /** Hold the lease, know the state, decide, put: the outcome, or `undefined` if it has to be done again. */
  async #round(): Promise<ChangeOutcome | undefined> {
    const before = this.#before
    this.#before = undefined
    if (before !== undefined) {
      const seen = this.#course.lookAtWritten(before)
      return seen === undefined ? undefined : this.#write(seen.decision, seen.state)
    }
    const refused = await this.#enter()
    if (refused !== undefined) return refused
    this.#state ??= await this.#course.read()
    const { turns } = this.#parts
    if (this.#state !== undefined) turns.saw(this.#name, this.#state.stored.etag)
    const seen = this.#course.look(this.#state)
    if (seen.kind === 'put') return this.#write(seen.decision, seen.state)
    turns.left(this.#name, this.#state?.stored.etag)
    return seen
  }

  /** Acquires, if no lease is held or given, and reads beside it: the read counts exactly if both ETags agree. */
  async #enter(): Promise<ChangeOutcome | undefined> {
    if (this.#options.leaseId !== undefined || this.#tenure.leaseId !== undefined) return undefined
    // A read that fails here is repeated under the lease and fails there. Of a stream that others want it is most likely
    // out of date when the lease is ours.
    const isVain = this.#parts.turns.isContended(this.#name)
    const readBeside = this.#state ?? (isVain ? undefined : this.#course.read().catch(() => undefined))
    const entered = await this.#tenure.enter()
    if (entered.kind !== 'entered') return this.#settle(entered)
    this.#parts.turns.entered(this.#name)
    this.#course.fate.otherLeaseIsHeld()
    const state = await readBeside
    this.#state = state?.stored.etag === entered.etag ? state : undefined
    return undefined
  }

  async #write({ body, summary, othersLately, discard }: Put, state: BlobState): Promise<ChangeOutcome | undefined> {
    const { fate, untilMs } = this.#course
    const given = this.#options.leaseId
    if (given !== undefined && fate.lostCode !== undefined) {
      discard?.()
      return { kind: 'lost', code: fate.lostCode }
    }
    const leaseId = given ?? this.#tenure.leaseId
    if (leaseId === undefined || (given === undefined && !this.#tenure.trusted)) {
      discard?.()
      return this.#leaveTenure()
    }
    // From here on a Put may be on its way, however this call ends.
    const ended = fate.sending(state.stored.etag, leaseId)
    this.#state = undefined
    this.#parts.written.forget(this.#name)
    const limits = { signal: this.#options.signal, untilMs }
    const answer = await this.#parts.bodies.put(this.#name, { body, summary, base: state, leaseId, ...limits })
    const { md5 } = answer
    if (answer.kind === 'done') {
      ended({ md5, applied: true })
      this.#parts.turns.ended(this.#name, answer.value.etag, othersLately)
      this.#after = writtenState(this.#name, { body, summary }, answer.value, answer)
      return { kind: 'committed', etag: answer.value.etag }
    }
    if (answer.silences > 0)
      ended({ md5, applied: 'unknown', cause: this.#parts.calls.fault(answer.error, this.#name) })
    // The network may have doubled the Put, and the copy that was refused be the one behind that which was applied.
    else ended({ md5, applied: isCondition(answer.error) ? 'unknown' : false })
    if (answer.kind === 'silent' && answer.silences === 0) discard?.()
    return this.#afterPut(answer, leaseId)
  }

  /** What the end of a Put says of the lease. What became of the Put itself, the next read tells. */
  async #afterPut(answer: Unwritten, leaseId: string): Promise<undefined> {
    const { error } = answer
    if (answer.kind === 'silent' || error.code === 'Md5Mismatch') return this.#course.pauseAfterSilence(error)
    if (isSomebodyWrote(error) || isBlobMissing(error)) return
    if (!isCondition(error)) throw this.#parts.calls.fault(error, this.#name)
    this.#course.fate.leaseIsOver(leaseId, error.code)
    this.#tenure.forget()
  }

  /** The lease may have ended unseen (time up, or the machine slept): give it back, start over with a fresh one. */
  async #leaveTenure(): Promise<undefined> {
    const leaseId = this.#tenure.leaseId
    const confirmed = await this.#tenure.leave()
    if (confirmed && leaseId !== undefined) this.#course.fate.leaseIsOver(leaseId, 'LeaseLost')
    this.#state = undefined
  }

  /** No lease to be had: before that is said, what became of an earlier Put has to be known. */
  async #settle(outcome: ChangeOutcome): Promise<ChangeOutcome> {
    const { fate } = this.#course
    if (fate.ghost === undefined) return outcome
    const seen = this.#course.look(await this.#course.read())
    if (seen.kind !== 'put') return seen
    seen.decision.discard?.()
    return fate.ghost === undefined ? outcome : this.#course.unknown()
  }
}

import { lossDelay } from '../../backoff.ts'
import type { ChangeOptions, ChangeOutcome } from '../../store.ts'
import type { BlobState } from '../blobs.ts'
import { isBlobMissing, isCondition, isSomebodyWrote } from '../errors.ts'
import type { Answer } from '../requests.ts'
import type { ChangeCourse, Put } from './attempt.ts'
import { AzureChange, type ChangeParts } from './leased.ts'
import { writtenState } from './write-cache.ts'

/** After so many writes that lost to another's the next one is made under the lease, which nobody can snatch away. */
const LOSSES = 2

type Unwritten = Answer<unknown> & { kind: 'refused' | 'silent' }

/**
 * One change of a stream without a lease: read, decide, one Put with If-Match. The state that this process wrote last
 * stands in for the read as long as nothing is decided on it but a Put: if another wrote since, the ETag keeps the Put
 * out. What is not written (a refusal, a duplicate, a fault of the document) is told only of a state that was read. A
 * decision of which no Put is sent is discarded.
 *
 * The outcomes and what the ETag tells of a Put without an answer are as in `AzureChange`. A lease says nothing of such a
 * Put here: it was sent without one, so it may land on its ETag once there is none. A lease that another holds keeps this
 * change out, and whoever holds one is safe from it: their Puts name their ETag as well, so of two on one only one wins.
 *
 * Who writes again and again is always sooner than who has to read first. So a change that lost a few times takes the
 * lease: the next Put is its own.
 */
export class AzureOptimisticChange {
  readonly #parts: ChangeParts
  readonly #name: string
  readonly #options: ChangeOptions
  readonly #course: ChangeCourse
  #remembered: BlobState | undefined
  #losses = 0

  constructor(parts: ChangeParts, name: string, options: ChangeOptions, course: ChangeCourse) {
    this.#parts = parts
    this.#name = name
    this.#options = options
    this.#course = course
  }

  /** Runs the change to its outcome. Throws faults, and what `decide` throws. */
  async run(): Promise<ChangeOutcome> {
    const { calls, parked, releases, turns, written } = this.#parts
    this.#options.signal?.throwIfAborted()
    parked.end(this.#name)
    // A lease of this process itself that is being given back would only refuse it.
    const hadIt = await releases.settled(this.#name)
    await this.#course.wait.pause(turns.begin(this.#name, hadIt))
    // Where others write as well it is most likely no longer what is there. And only a read tells the time, without which
    // a claim of another may seem to be over.
    const isLikely = turns.isOurs(this.#name) || !turns.isContended(this.#name)
    if (isLikely && calls.clock.isFresh) this.#remembered = written.find(this.#name)
    return this.#course.run(() => this.#round())
  }

  /** Know the state, decide, put: the outcome, or `undefined` if it has to be done again. */
  async #round(): Promise<ChangeOutcome | undefined> {
    this.#parts.turns.entered(this.#name)
    if (this.#losses >= LOSSES) return new AzureChange(this.#parts, this.#name, this.#options, this.#course).finish()
    const remembered = this.#remembered
    this.#remembered = undefined
    if (remembered !== undefined) {
      const seen = this.#course.lookAtWritten(remembered)
      return seen === undefined ? undefined : this.#write(seen.decision, seen.state)
    }
    const state = await this.#course.read()
    return state === undefined ? this.#course.gone() : this.#goOn(state)
  }

  async #goOn(state: BlobState): Promise<ChangeOutcome | undefined> {
    const { turns } = this.#parts
    const { fate } = this.#course
    turns.saw(this.#name, state.stored.etag)
    fate.read(state)
    const isHeld = isLeased(state)
    // Who holds the lease may be about to change what would be decided on.
    if (isHeld && fate.ghost === undefined) return this.#waitForLease(state)
    const seen = this.#course.look(state)
    if (seen.kind === 'put') {
      if (!isHeld) return this.#write(seen.decision, seen.state)
      seen.decision.discard?.()
      return this.#waitForLease(state)
    }
    turns.left(this.#name, state.stored.etag)
    return seen
  }

  async #waitForLease({ stored }: BlobState): Promise<ChangeOutcome | undefined> {
    const { fate, wait } = this.#course
    this.#parts.turns.met(this.#name)
    if (await this.#course.waitAfterRead()) return undefined
    if (fate.ghost !== undefined) return this.#course.unknown()
    const lastBy = stored.summary?.lastBy
    return { kind: 'held', lease: stored.lease, waitedMs: wait.waitedMs, ...(lastBy ? { lastBy } : {}) }
  }

  async #write({ body, summary, othersLately, discard }: Put, state: BlobState): Promise<ChangeOutcome | undefined> {
    const { bodies, calls, turns, written } = this.#parts
    const { fate, untilMs } = this.#course
    // From here on a Put may be on its way, however this call ends.
    const ended = fate.sending(state.stored.etag, undefined)
    written.forget(this.#name)
    const write = { body, summary, base: state, signal: this.#options.signal, untilMs }
    const answer = await bodies.put(this.#name, write)
    const { md5 } = answer
    if (answer.kind === 'done') {
      ended({ md5, applied: true })
      turns.ended(this.#name, answer.value.etag, othersLately)
      written.remember(this.#name, writtenState(this.#name, write, answer.value, answer))
      return { kind: 'committed', etag: answer.value.etag }
    }
    if (answer.silences > 0) ended({ md5, applied: 'unknown', cause: calls.fault(answer.error, this.#name) })
    else ended({ md5, applied: isCondition(answer.error) ? 'refused' : false })
    if (answer.kind === 'silent' && answer.silences === 0) discard?.()
    return this.#afterPut(answer)
  }

  /** Who was in the way. What became of the Put itself, the next read tells. */
  async #afterPut(answer: Unwritten): Promise<undefined> {
    const { error } = answer
    if (answer.kind === 'silent' || error.code === 'Md5Mismatch') return this.#course.pauseAfterSilence(error)
    if (!isCondition(error) && !isBlobMissing(error)) throw this.#parts.calls.fault(error, this.#name)
    this.#parts.turns.met(this.#name)
    // A lease: wait for it as those do who want it. With no patience left the read tells of it.
    if (!isSomebodyWrote(error) && !isBlobMissing(error) && (await this.#course.wait.next())) return
    this.#losses += 1
    if (this.#losses < LOSSES) await this.#course.pause(lossDelay(this.#parts.calls.random))
  }
}

function isLeased({ stored }: BlobState): boolean {
  return stored.lease.state === 'leased' || stored.lease.state === 'breaking'
}

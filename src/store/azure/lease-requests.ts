import type { BlobLeaseClient } from '@azure/storage-blob'
import { InvalidValue } from '../../stream/errors.ts'
import type { BreakOutcome, LeaseOutcome } from '../store.ts'
import { isBlobMissing, isHeldByAnother, isLeaseGone } from './errors.ts'
import type { Answer, AzureRequests } from './requests.ts'

/** The lease requests of one blob, or of the container. They do not change an ETag. */
export class LeaseRequests {
  readonly #calls: AzureRequests
  readonly #client: (leaseId?: string) => BlobLeaseClient
  readonly #name: string | undefined

  /**
   * @param client a new client for this lease id
   * @param name the name of the blob; `undefined` for the container
   */
  constructor(calls: AzureRequests, client: (leaseId?: string) => BlobLeaseClient, name?: string) {
    this.#calls = calls
    this.#client = client
    this.#name = name
  }

  /**
   * One acquire, repeated with the same id while unanswered. `sentMs` is the monotonic time before the answered attempt, `gapMs`
   * the wall clock minus it.
   */
  async tryAcquire(
    leaseId: string,
    durationS: number,
    signal?: AbortSignal,
    untilMs?: number,
  ): Promise<Answer<{ etag: string; sentMs: number; gapMs: number }>> {
    const client = this.#client(leaseId)
    const { machine } = this.#calls
    return this.#calls.sendWithRetry(
      async abortSignal => {
        const sentMs = machine.monotonicMs()
        const gapMs = machine.wallMs() - sentMs
        const { etag = '', date } = await client.acquireLease(durationS, { abortSignal })
        return { etag, sentMs, gapMs, date }
      },
      { ...this.#limits(signal), untilMs },
    )
  }

  async renew(leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    const client = this.#client(leaseId)
    const answer = await this.#calls.sendWithRetry(
      abortSignal => client.renewLease({ abortSignal }),
      this.#limits(signal),
    )
    return this.#outcome(answer, leaseId)
  }

  /** Safe to repeat: the service accepts a change to the id that the lease already has. */
  async change(leaseId: string, proposedId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    const answer = await this.#calls.sendWithRetry(
      // A new client for each attempt, because a client adopts the proposed id.
      abortSignal => this.#client(leaseId).changeLease(proposedId, { abortSignal }),
      this.#limits(signal),
    )
    return this.#outcome(answer, proposedId)
  }

  /** Releases the lease. "Lease gone" after an unanswered attempt means that the attempt was applied. */
  async release(leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    const client = this.#client(leaseId)
    const answer = await this.#calls.sendWithRetry(
      abortSignal => client.releaseLease({ abortSignal }),
      this.#limits(signal),
    )
    if (answer.kind === 'refused' && answer.unansweredAttempts > 0 && isLeaseGone(answer.error))
      return { kind: 'ok', leaseId }
    return this.#outcome(answer, leaseId)
  }

  /** Repeating it can only shorten the period, so an unanswered attempt is repeated. */
  async break(periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome> {
    if (periodS !== undefined && !(Number.isInteger(periodS) && periodS >= 0 && periodS <= 60)) {
      throw new InvalidValue(`the break period of a lease is 0 to 60 whole seconds, not ${periodS}`)
    }
    const client = this.#client()
    const answer = await this.#calls.sendWithRetry(
      // The SDK's type requires a number; without one the service lets a finite lease expire.
      abortSignal => client.breakLease(periodS as number, { abortSignal }),
      this.#limits(signal),
    )
    if (answer.kind === 'done') return { kind: 'broken', remainingS: answer.value.leaseTime ?? 0 }
    if (isBlobMissing(answer.error)) return { kind: 'missing' }
    if (isLeaseGone(answer.error)) return { kind: 'not-leased' }
    return this.unanswered(answer)
  }

  /** The outcome of a request without a usable answer. @throws the fault, if the service cannot have applied it */
  unanswered(answer: Answer<unknown> & { kind: 'refused' | 'unanswered' }): { kind: 'unknown'; cause: unknown } {
    const fault = this.#calls.fault(answer.error, this.#name)
    if (answer.kind === 'refused' || answer.unansweredAttempts === 0) throw fault
    return { kind: 'unknown', cause: fault }
  }

  #outcome(answer: Answer<unknown>, leaseId: string): LeaseOutcome {
    if (answer.kind === 'done') return { kind: 'ok', leaseId }
    if (isBlobMissing(answer.error)) return { kind: 'missing' }
    if (isLeaseGone(answer.error) || isHeldByAnother(answer.error)) return { kind: 'lost', code: answer.error.code }
    return this.unanswered(answer)
  }

  #limits(signal: AbortSignal | undefined) {
    return { limitMs: this.#calls.limits.leaseMs, signal }
  }
}

/** @throws InvalidValue */
export function checkDuration(durationS: number): void {
  if (durationS === -1 || (Number.isInteger(durationS) && durationS >= 15 && durationS <= 60)) return
  throw new InvalidValue(`a lease lasts 15 to 60 seconds or is infinite (-1), not ${durationS}`)
}

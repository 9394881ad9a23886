import { InvalidValue } from '../../stream/errors.ts'
import type { BreakOutcome, LeaseOutcome } from '../store.ts'
import { isBlobMissing, isHeldByAnother, isLeaseGone } from './errors.ts'
import { type PlainContainerClient, type PlainRequest, withQuery } from './plain-requests.ts'
import type { Answer, AzureRequests } from './requests.ts'

/** The lease requests of one blob, or of the container. They do not change an ETag. */
export class LeaseRequests {
  readonly #calls: AzureRequests
  readonly #client: PlainContainerClient
  readonly #url: string
  readonly #name: string | undefined

  /**
   * @param url of the blob or the container
   * @param name the name of the blob; `undefined` for the container
   */
  constructor(calls: AzureRequests, client: PlainContainerClient, url: string, name?: string) {
    this.#calls = calls
    this.#client = client
    this.#url = withQuery(url, name === undefined ? 'restype=container&comp=lease' : 'comp=lease')
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
    const { machine } = this.#calls
    const headers = { 'x-ms-lease-duration': String(durationS), 'x-ms-proposed-lease-id': leaseId }
    return this.#calls.sendWithRetry(
      async abortSignal => {
        const sentMs = machine.monotonicMs()
        const gapMs = machine.wallMs() - sentMs
        const answer = await this.#send('acquire', headers, abortSignal, 201)
        return { etag: answer.header('etag') ?? '', sentMs, gapMs, date: answer.date('date') }
      },
      { ...this.#limits(signal), untilMs },
    )
  }

  async renew(leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#outcome(await this.#request('renew', { 'x-ms-lease-id': leaseId }, signal), leaseId)
  }

  /** Safe to repeat: the service accepts a change to the id that the lease already has. */
  async change(leaseId: string, proposedId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    const headers = { 'x-ms-lease-id': leaseId, 'x-ms-proposed-lease-id': proposedId }
    return this.#outcome(await this.#request('change', headers, signal), proposedId)
  }

  /** Releases the lease. "Lease gone" after an unanswered attempt means that the attempt was applied. */
  async release(leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    const answer = await this.#request('release', { 'x-ms-lease-id': leaseId }, signal)
    if (answer.kind === 'refused' && answer.unansweredAttempts > 0 && isLeaseGone(answer.error))
      return { kind: 'ok', leaseId }
    return this.#outcome(answer, leaseId)
  }

  /** Repeating it can only shorten the period, so an unanswered attempt is repeated. */
  async break(periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome> {
    if (periodS !== undefined && !(Number.isInteger(periodS) && periodS >= 0 && periodS <= 60)) {
      throw new InvalidValue(`the break period of a lease is 0 to 60 whole seconds, not ${periodS}`)
    }
    // Without a period the service lets a finite lease expire.
    const answer = await this.#request('break', { 'x-ms-lease-break-period': periodS?.toString() }, signal, 202)
    if (answer.kind === 'done')
      return { kind: 'broken', remainingS: Number(answer.value.answer.header('x-ms-lease-time') ?? 0) }
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

  #request(action: string, headers: PlainRequest['headers'], signal: AbortSignal | undefined, expected = 200) {
    return this.#calls.sendWithRetry(async abortSignal => {
      const answer = await this.#send(action, headers, abortSignal, expected)
      return { answer, date: answer.date('date') }
    }, this.#limits(signal))
  }

  #send(action: string, headers: PlainRequest['headers'], abortSignal: AbortSignal, expected: number) {
    const request = { headers: { 'x-ms-lease-action': action, ...headers }, abortSignal, expected }
    return this.#client.send({ method: 'PUT', url: this.#url, ...request })
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

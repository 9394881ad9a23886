import type { AcquireOptions, AcquireOutcome, BreakOutcome, ContainerLease, LeaseOutcome, LeaseView } from '../store.ts'
import { isHeldByAnother } from './errors.ts'
import { checkDuration, LeaseRequests } from './lease-requests.ts'
import { leaseView } from './metadata.ts'
import type { PlainContainerClient } from './plain-requests.ts'
import type { AzureRequests } from './requests.ts'

/** The lease of the container: a lock for its deletion (https://learn.microsoft.com/rest/api/storageservices/lease-container). */
export class AzureContainerLease implements ContainerLease {
  readonly container: string
  readonly #client: PlainContainerClient
  readonly #calls: AzureRequests
  readonly #requests: LeaseRequests

  constructor(client: PlainContainerClient, calls: AzureRequests) {
    this.container = client.containerName
    this.#client = client
    this.#calls = calls
    this.#requests = new LeaseRequests(calls, client, client.url)
  }

  async view(signal?: AbortSignal): Promise<LeaseView> {
    const answer = await this.#calls.sendWithRetry(abortSignal => this.#client.getProperties({ abortSignal }), {
      limitMs: this.#calls.limits.leaseMs,
      signal,
    })
    if (answer.kind !== 'done') throw this.#calls.fault(answer.error)
    return leaseView(answer.value.leaseState, answer.value.leaseDuration, {})
  }

  async acquire({ leaseId, durationS, signal }: Pick<AcquireOptions, 'leaseId' | 'durationS' | 'signal'>) {
    checkDuration(durationS)
    const answer = await this.#requests.tryAcquire(leaseId, durationS, signal)
    if (answer.kind === 'done') return { kind: 'acquired', leaseId, etag: answer.value.etag } satisfies AcquireOutcome
    if (isHeldByAnother(answer.error)) return { kind: 'held', lease: await this.view(signal) } satisfies AcquireOutcome
    return this.#requests.unanswered(answer)
  }

  renew(leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#requests.renew(leaseId, signal)
  }

  change(leaseId: string, proposedId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#requests.change(leaseId, proposedId, signal)
  }

  release(leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#requests.release(leaseId, signal)
  }

  break(periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome> {
    return this.#requests.break(periodS, signal)
  }
}

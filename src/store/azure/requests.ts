import type { Clock } from '../../util/clock.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { unansweredDelay } from '../backoff.ts'
import { StoreClosed } from '../errors.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { ServiceClock } from './clock.ts'
import { faultOf, ServiceError, type Site } from './errors.ts'

/** Timeouts for one attempt of a request, ms. The SDK's own timeout never ends a silent socket; an abort does. */
export interface RequestTimeouts {
  /** Lease operations and HEAD: a few hundred bytes. Well below the 10 s for which a lease is trusted, to leave time for a retry. */
  readonly leaseMs: number
  /** Reading or writing one body, up to 8 MiB. */
  readonly bodyMs: number
  /** Longest time without data while a page of a listing, some 10 MB, arrives. The whole page may take four times as long. */
  readonly pageMs: number
}

export const REQUEST_TIMEOUTS: RequestTimeouts = { leaseMs: 5_000, bodyMs: 10_000, pageMs: 30_000 }

/** Maximum number of attempts of a request that can be repeated. */
const ATTEMPTS = 3

/**
 * Result of one request, or of a few attempts. `unansweredAttempts` is the number of attempts that may have reached the service and were
 * not answered: they may be applied, now or later, or never.
 */
export type Answer<T> =
  | { readonly kind: 'done'; readonly value: T; readonly unansweredAttempts: number }
  /** The service rejected the request; the attempt that it answered applied nothing. */
  | { readonly kind: 'refused'; readonly error: ServiceError; readonly unansweredAttempts: number }
  /** No answer, or an ambiguous one (5xx, throttled). With 0 unansweredAttempts the service was never reached. */
  | { readonly kind: 'unanswered'; readonly error: ServiceError; readonly unansweredAttempts: number }

export interface RequestOptions {
  /** Timeout of one attempt, ms; during an outage, the same time again to wait for a probe slot. */
  readonly limitMs: number
  /** Deadline of all attempts, monotonic ms. */
  readonly untilMs?: number | undefined
  /** Signal of the caller. When it aborts, the call throws its reason. */
  readonly signal?: AbortSignal | undefined
}

/** The error for requests of a closed store. */
export function storeClosed(): StoreClosed {
  return new StoreClosed('the store was closed')
}

/** The error of a request that was ended, or not sent, because the store was closed. */
const CLOSED = new ServiceError('StoreClosed')

/** The shared parts of the driver: clocks, randomness, timeouts, and the sending of requests. */
export class AzureRequests {
  readonly machine: Clock
  readonly clock: ServiceClock
  readonly random: () => number
  readonly limits: RequestTimeouts
  readonly site: Site
  readonly #closing = new AbortController()
  readonly #outage: CircuitBreaker

  constructor(parts: {
    site: Omit<Site, 'nowMs'>
    machine: Clock
    random: () => number
    limits: RequestTimeouts
  }) {
    this.machine = parts.machine
    this.clock = new ServiceClock(parts.machine)
    this.random = parts.random
    this.limits = parts.limits
    this.#outage = new CircuitBreaker(parts.random)
    this.site = { ...parts.site, nowMs: () => this.clock.nowMs() }
  }

  /** Ends all requests in flight as unanswered: they may have been applied. No further request is sent. */
  close(): void {
    this.#closing.abort(storeClosed())
  }

  /** Sends a request once, with a timeout; during an outage as a probe. Throws only the caller's abort and bugs. */
  async send<T>(send: (signal: AbortSignal) => Promise<T>, options: RequestOptions): Promise<Answer<T>> {
    const unsent = this.#outage.isOpen
      ? await this.#outage.acquireProbeSlot(this.#limitMs(options), options.signal, this.#closing.signal)
      : undefined
    options.signal?.throwIfAborted()
    if (this.#isClosed) return { kind: 'unanswered', error: CLOSED, unansweredAttempts: 0 }
    if (unsent !== undefined) return { kind: 'unanswered', error: unsent, unansweredAttempts: 0 }
    const scope = new AttemptSignal([options.signal, this.#closing.signal], this.#limitMs(options))
    const sentMs = this.machine.wallMs()
    try {
      const value = await send(scope.signal)
      this.#observe((value as { date?: unknown } | undefined)?.date, sentMs)
      this.#outage.answered()
      return { kind: 'done', value, unansweredAttempts: 0 }
    } catch (thrown) {
      options.signal?.throwIfAborted()
      // Unless the answer arrived at the same moment.
      if (this.#isClosed && ServiceError.of(thrown).status === undefined)
        return { kind: 'unanswered', error: CLOSED, unansweredAttempts: 1 }
      if (isProgrammingError(thrown)) throw thrown
      const error = scope.timedOut ? new ServiceError('TimedOut') : ServiceError.of(thrown)
      this.#observe(dateOf(thrown), sentMs)
      if (error.status !== undefined && !error.ambiguous) this.#outage.answered()
      if (!error.ambiguous) return { kind: 'refused', error, unansweredAttempts: 0 }
      if (error.code !== 'Md5Mismatch') this.#outage.unanswered(error)
      return { kind: 'unanswered', error, unansweredAttempts: error.unsent ? 0 : 1 }
    } finally {
      scope.end()
    }
  }

  /** Sends a request that can be repeated, up to three times while unanswered. */
  async sendWithRetry<T>(send: (signal: AbortSignal) => Promise<T>, options: RequestOptions): Promise<Answer<T>> {
    let unansweredAttempts = 0
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.send(send, options)
      unansweredAttempts += answer.unansweredAttempts
      if (answer.kind !== 'unanswered' || answer.error === CLOSED || attempt >= ATTEMPTS)
        return { ...answer, unansweredAttempts }
      const delayMs = unansweredDelay(attempt - 1, answer.error.retryAfterMs, this.random)
      if (this.machine.monotonicMs() + delayMs >= (options.untilMs ?? Number.POSITIVE_INFINITY))
        return { ...answer, unansweredAttempts }
      // If the store is closed meanwhile, the next attempt reports it, with the unansweredAttempts of the earlier ones.
      await sleepUntilAborted(delayMs, options.signal, this.#closing.signal)
    }
  }

  /** Waits; throws the reason when the caller aborts or the store is closed. */
  async pause(ms: number, signal?: AbortSignal): Promise<void> {
    await sleepUntilAborted(ms, signal, this.#closing.signal)
    signal?.throwIfAborted()
    this.#closing.signal.throwIfAborted()
  }

  /** The fault to throw for an error that is not an outcome. @param name name of the blob */
  fault(error: ServiceError, name?: string): Error {
    return error === CLOSED ? storeClosed() : faultOf(error, this.site, name)
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  #limitMs({ limitMs, untilMs = Number.POSITIVE_INFINITY }: RequestOptions): number {
    return Math.min(limitMs, untilMs - this.machine.monotonicMs())
  }

  #observe(date: unknown, sentMs: number): void {
    if (date instanceof Date) this.clock.observe(date.getTime(), sentMs, this.machine.wallMs())
  }
}

function dateOf(thrown: unknown): Date | undefined {
  const headers = (thrown as { response?: { headers?: { get?(name: string): string | undefined } } } | undefined)
    ?.response?.headers
  const text = headers?.get?.('date')
  return text === undefined ? undefined : new Date(text)
}

/** A bug must not count as an unanswered request. The SDK's argument checks throw RangeErrors. */
function isProgrammingError(thrown: unknown): boolean {
  return thrown instanceof TypeError || thrown instanceof ReferenceError || thrown instanceof RangeError
}

/** One abort signal for several source signals and a timeout; cheaper than `AbortSignal.any`, and removes its listeners. */
class AttemptSignal {
  readonly #controller = new AbortController()
  readonly #sources: readonly (AbortSignal | undefined)[]
  readonly #timer: NodeJS.Timeout | undefined
  readonly #stop = (): void => this.#controller.abort()
  timedOut = false

  constructor(sources: readonly (AbortSignal | undefined)[], limitMs: number | undefined) {
    this.#sources = sources
    for (const source of sources) {
      if (source?.aborted) this.#stop()
      source?.addEventListener('abort', this.#stop)
    }
    if (limitMs !== undefined) this.#timer = setTimeout(() => this.#expire(), Math.max(limitMs, 1))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(): void {
    clearTimeout(this.#timer)
    for (const source of this.#sources) source?.removeEventListener('abort', this.#stop)
  }

  #expire(): void {
    this.timedOut = true
    this.#stop()
  }
}

import type { Clock } from '../../util/clock.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { unansweredDelay } from '../backoff.ts'
import { StoreClosed } from '../errors.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { ServiceClock } from './clock.ts'
import { faultOf, ServiceError, type Site } from './errors.ts'

/** How long one try of a request may take, ms. The SDK's own try limit never ends a silent socket; an abort does. */
export interface RequestTimeouts {
  /** Lease operations and HEAD: a few hundred bytes. Well below the tenure of 10 s, so that a lost one can be repeated. */
  readonly leaseMs: number
  /** Reading or writing one body, up to 8 MiB. */
  readonly bodyMs: number
  /** One page of a listing, some 10 MB: how long nothing of it may arrive. As a whole it may take four times as long. */
  readonly pageMs: number
}

export const REQUEST_TIMEOUTS: RequestTimeouts = { leaseMs: 5_000, bodyMs: 10_000, pageMs: 30_000 }

/** How often a request is sent that may be repeated. */
const TRIES = 3

/**
 * How one request, or a few tries of it, ended. `silences` counts the tries that may have reached the service and whose
 * fate is unknown: applied or not, now or later.
 */
export type Answer<T> =
  | { readonly kind: 'done'; readonly value: T; readonly silences: number }
  /** The service said no; the try it answers applied nothing. */
  | { readonly kind: 'refused'; readonly error: ServiceError; readonly silences: number }
  /** No answer, or one that does not tell (5xx, throttled). With 0 silences the service was never reached. */
  | { readonly kind: 'silent'; readonly error: ServiceError; readonly silences: number }

export interface RequestOptions {
  /** Of one try; in an outage as long again to wait for its turn. */
  readonly limitMs: number
  /** Monotonic ms, after which no try goes on and none begins. */
  readonly untilMs?: number | undefined
  /** Of the caller. When it fires the call throws its reason. */
  readonly signal?: AbortSignal | undefined
}

/** Why a request of a store that was closed is not answered. */
export function storeClosed(): StoreClosed {
  return new StoreClosed('the store was closed')
}

/** In place of an answer, where closing the store ended the request or kept it from being sent. */
const CLOSED = new ServiceError('StoreClosed')

/** Everything the driver's parts share: clocks, chance, limits, and the ways to send a request. */
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

  /** Ends every request under way, as one without an answer: it may have been applied. No further one is sent. */
  close(): void {
    this.#closing.abort(storeClosed())
  }

  /** Sends a request once, with a limit of its own; in an outage in its turn. Throws only the caller's abort. */
  async send<T>(send: (signal: AbortSignal) => Promise<T>, options: RequestOptions): Promise<Answer<T>> {
    const unsent = this.#outage.isOn
      ? await this.#outage.turn(this.#limitMs(options), options.signal, this.#closing.signal)
      : undefined
    options.signal?.throwIfAborted()
    if (this.#isClosed) return { kind: 'silent', error: CLOSED, silences: 0 }
    if (unsent !== undefined) return { kind: 'silent', error: unsent, silences: 0 }
    const scope = new AttemptSignal([options.signal, this.#closing.signal], this.#limitMs(options))
    const sentMs = this.machine.wallMs()
    try {
      const value = await send(scope.signal)
      this.#observe((value as { date?: unknown } | undefined)?.date, sentMs)
      this.#outage.answered()
      return { kind: 'done', value, silences: 0 }
    } catch (thrown) {
      options.signal?.throwIfAborted()
      // Unless it was answered at that very moment.
      if (this.#isClosed && ServiceError.of(thrown).status === undefined)
        return { kind: 'silent', error: CLOSED, silences: 1 }
      if (isProgrammingError(thrown)) throw thrown
      const error = scope.timedOut ? new ServiceError('TimedOut') : ServiceError.of(thrown)
      this.#observe(dateOf(thrown), sentMs)
      if (error.status !== undefined && !error.ambiguous) this.#outage.answered()
      if (!error.ambiguous) return { kind: 'refused', error, silences: 0 }
      if (error.code !== 'Md5Mismatch') this.#outage.silent(error)
      return { kind: 'silent', error, silences: error.unsent ? 0 : 1 }
    } finally {
      scope.end()
    }
  }

  /** Sends a request that may be repeated, at most three times while there is no answer. */
  async sendWithRetry<T>(send: (signal: AbortSignal) => Promise<T>, options: RequestOptions): Promise<Answer<T>> {
    let silences = 0
    for (let tried = 1; ; tried += 1) {
      const answer = await this.send(send, options)
      silences += answer.silences
      if (answer.kind !== 'silent' || answer.error === CLOSED || tried >= TRIES) return { ...answer, silences }
      const delayMs = unansweredDelay(tried - 1, answer.error.retryAfterMs, this.random)
      if (this.machine.monotonicMs() + delayMs >= (options.untilMs ?? Number.POSITIVE_INFINITY))
        return { ...answer, silences }
      // If the store is closed meanwhile, the next try says so; what became of those before is not forgotten.
      await sleepUntilAborted(delayMs, options.signal, this.#closing.signal)
    }
  }

  /** Waits; throws the reason when the caller or the store gives up. */
  async pause(ms: number, signal?: AbortSignal): Promise<void> {
    await sleepUntilAborted(ms, signal, this.#closing.signal)
    signal?.throwIfAborted()
    this.#closing.signal.throwIfAborted()
  }

  /** The fault to throw for an answer that is no outcome. @param name of the blob that was asked for */
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

/** A bug must not pass for a network that does not answer. The SDK's argument checks are RangeErrors. */
function isProgrammingError(thrown: unknown): boolean {
  return thrown instanceof TypeError || thrown instanceof ReferenceError || thrown instanceof RangeError
}

/** One abort signal for several reasons to stop and a time limit; cheaper than `AbortSignal.any`, and it cleans up. */
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

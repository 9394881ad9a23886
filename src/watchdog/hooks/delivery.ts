import type { Timing } from '../../util/clock.ts'
import { Semaphore } from '../../util/concurrency.ts'
import type { DeliveryAttempt } from './attempt.ts'
import { runCommand } from './command.ts'
import { type HookKind, type HookTarget, labelOf } from './target.ts'
import { postWebhook } from './webhook.ts'

/** A message for one target. */
export interface HookDelivery {
  readonly target: HookTarget
  readonly kind: HookKind
  readonly stream: string
  readonly id: string
  /** The document that the target receives. */
  readonly text: string
  /** For programs only. */
  readonly environment: Readonly<Record<string, string>>
}

/** Outcome of an attempt for logs and metrics: printable and without secrets. */
export interface DeliveryReport {
  readonly kind: HookKind
  readonly stream: string
  readonly deliveryId: string
  /** The program's path, or the webhook's host. */
  readonly target: string
  /**
   * `retrying`: a retry follows. `given-up`: the last attempt failed, or retries are pointless. `left`: the watchdog
   * stops or stops waiting; the next watchdog delivers it.
   */
  readonly outcome: 'delivered' | 'retrying' | 'given-up' | 'left'
  /** Number of attempts so far. */
  readonly tries: number
  /** Duration of the last attempt. */
  readonly tookMs: number
  /** `exit-3`, `http-503`, `timed-out`, `ENOENT`, … */
  readonly code: string
  /** The beginning of the program's output or the receiver's answer, one line. */
  readonly output: string
}

export interface DeliveryOptions {
  readonly timing: Timing
  /** The store's clock. */
  readonly nowMs: () => number
  readonly userAgent: string
  readonly onDelivery?: ((report: DeliveryReport) => void) | undefined
  /** Limit for deliveries that wait or are in progress. */
  readonly queue?: number | undefined
  /** Limit for concurrent attempts of one target, so that a hanging target delays no other. */
  readonly atOnce?: number | undefined
  /**
   * How long a failing delivery is retried, and a target that always fails is attempted at all; after that it is left.
   */
  readonly retryForMs?: number | undefined
}

const QUEUE = 1_000
const AT_ONCE = 4
/** A long document takes several places in the queue, which bounds the memory to 32 MiB in all. */
const TEXT_OF_A_PLACE = 32 * 1_024
/** The longest pause after the first attempt, ms; tripled after each further one. Half of it is jitter. */
const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 5 * 60_000

/** Delivers concurrently, with retries until each delivery is accepted or given up. */
export class DeliveryQueue {
  readonly #options: DeliveryOptions
  readonly #queue: Semaphore
  readonly #atOnce: number
  readonly #rooms = new Map<HookTarget, Semaphore>()
  readonly #retryLimit: RetryLimit
  readonly #inProgress = new Set<Promise<void>>()
  /** Aborted: no further attempt is started. */
  readonly #ending = new AbortController()
  /** Aborted: attempts in progress are aborted too. */
  readonly #stop = new AbortController()
  #pending = 0

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#queue = new Semaphore(options.queue ?? QUEUE)
    this.#atOnce = options.atOnce ?? AT_ONCE
    this.#retryLimit = new RetryLimit(options.retryForMs)
  }

  /** Number of deliveries that wait or are in progress. */
  get pending(): number {
    return this.#pending
  }

  /**
   * Accepts a delivery as soon as there is room. Calls `ended` with true if it is delivered or given up, with false if
   * it is left.
   */
  async accept(delivery: HookDelivery, ended: (isOver: boolean) => void): Promise<boolean> {
    const places = Math.ceil(delivery.text.length / TEXT_OF_A_PLACE)
    const isTaken = await this.#queue.acquire(places)
    if (!isTaken) ended(false)
    if (!isTaken) return false
    this.#pending += 1
    const promise = this.#deliver(delivery).then(isOver => {
      this.#pending -= 1
      this.#queue.release(places)
      this.#inProgress.delete(promise)
      ended(isOver)
    })
    this.#inProgress.add(promise)
    return true
  }

  /** Starts no further attempt, waits for those in progress, and aborts them at the limit. */
  async drain(limitMs: number): Promise<void> {
    this.#queue.close()
    this.#ending.abort()
    for (const room of this.#rooms.values()) room.close()
    const all = Promise.all(this.#inProgress)
    const over = new AbortController()
    void all.then(() => over.abort())
    await this.#options.timing.pause(limitMs, over.signal)
    this.#stop.abort()
    await all
  }

  /** True if it is delivered or given up, false if it is left to the next watchdog. */
  async #deliver(delivery: HookDelivery): Promise<boolean> {
    const { target } = delivery
    const { timing } = this.#options
    let firstMs: number | undefined
    for (let tries = 1; ; tries += 1) {
      const tried = await this.#attempt(delivery)
      if (tried === undefined) return false
      const pauseMs = this.#pauseMs(tries, tried.attempt)
      const nowMs = timing.monotonicMs()
      firstMs ??= nowMs - tried.tookMs
      const isLate = this.#retryLimit.isOver(firstMs, nowMs + pauseMs)
      const outcome = this.#outcomeOf(tried.attempt, tries, target, isLate)
      this.#report(delivery, { ...tried, tries, outcome })
      if (outcome !== 'retrying') return outcome !== 'left'
      await timing.pause(pauseMs, this.#ending.signal)
    }
  }

  /** `undefined`: not started, because the watchdog stops or gave up waiting for this target. */
  async #attempt(
    delivery: HookDelivery,
  ): Promise<{ readonly attempt: DeliveryAttempt; readonly tookMs: number } | undefined> {
    const { timing } = this.#options
    const room = this.#roomOf(delivery.target)
    if (!(await room.acquire())) return undefined
    const startedMs = timing.monotonicMs()
    try {
      if (this.#retryLimit.isHopeless(delivery.target, startedMs)) return undefined
      const attempt = await this.#send(delivery)
      this.#retryLimit.tried(delivery.target, attempt, startedMs)
      return { attempt, tookMs: timing.monotonicMs() - startedMs }
    } finally {
      room.release()
    }
  }

  async #send({ target, text, environment, id }: HookDelivery): Promise<DeliveryAttempt> {
    const { timing, nowMs, userAgent } = this.#options
    const { signal: stop } = this.#stop
    if (target.kind === 'command') return runCommand(target, { text, environment, timing, stop })
    return postWebhook(target, { id, body: text, userAgent, nowMs: nowMs(), timing, stop })
  }

  #outcomeOf({ kind }: DeliveryAttempt, tries: number, target: HookTarget, isLate: boolean): DeliveryReport['outcome'] {
    if (kind === 'delivered') return 'delivered'
    if (kind === 'stopped') return 'left'
    if (kind === 'hopeless' || tries >= target.tries) return 'given-up'
    return isLate || this.#ending.signal.aborted ? 'left' : 'retrying'
  }

  #pauseMs(tries: number, { retryAfterMs = 0 }: DeliveryAttempt): number {
    const longest = Math.min(FIRST_PAUSE_MS * 3 ** (tries - 1), LONGEST_PAUSE_MS)
    return Math.max(((1 + this.#options.timing.random()) / 2) * longest, retryAfterMs)
  }

  #report(
    delivery: HookDelivery,
    tried: Pick<DeliveryReport, 'tries' | 'outcome' | 'tookMs'> & { attempt: DeliveryAttempt },
  ): void {
    const { kind, stream, id, target } = delivery
    const { attempt, tries, outcome, tookMs } = tried
    const { code, output } = attempt
    this.#options.onDelivery?.({
      kind,
      stream,
      deliveryId: id,
      target: labelOf(target),
      outcome,
      tries,
      tookMs,
      code,
      output,
    })
  }

  #roomOf(target: HookTarget): Semaphore {
    const known = this.#rooms.get(target)
    if (known !== undefined) return known
    const room = new Semaphore(this.#atOnce)
    this.#rooms.set(target, room)
    if (this.#ending.signal.aborted) room.close()
    return room
  }
}

/** Limits the time of retries, for a delivery and for a target that only fails. Times are monotonic, ms. */
class RetryLimit {
  readonly #limitMs: number
  readonly #failingSinceMs = new Map<HookTarget, number>()

  constructor(limitMs = Number.POSITIVE_INFINITY) {
    this.#limitMs = limitMs
  }

  /** Records an attempt. A target that rejects a document does answer. */
  tried(target: HookTarget, { kind }: DeliveryAttempt, startedMs: number): void {
    if (kind === 'delivered' || kind === 'hopeless') this.#failingSinceMs.delete(target)
    else if (!this.#failingSinceMs.has(target)) this.#failingSinceMs.set(target, startedMs)
  }

  /** True if attempting another delivery to the target is pointless. */
  isHopeless(target: HookTarget, nowMs: number): boolean {
    const sinceMs = this.#failingSinceMs.get(target)
    return sinceMs !== undefined && this.isOver(sinceMs, nowMs)
  }

  /** True if a delivery first attempted at `firstMs` must not be retried at `againMs`. */
  isOver(firstMs: number, againMs: number): boolean {
    return againMs - firstMs > this.#limitMs
  }
}

import type { Timing } from '../../util/clock.ts'
import { Semaphore } from '../../util/concurrency.ts'
import type { DeliveryAttempt } from './attempt.ts'
import { runCommand } from './command.ts'
import { type HookKind, type HookTarget, labelOf } from './target.ts'
import { postWebhook } from './webhook.ts'

/** One thing that one target has to be told. */
export interface Delivery {
  readonly target: HookTarget
  readonly kind: HookKind
  readonly stream: string
  readonly id: string
  /** What it reads. */
  readonly text: string
  /** Of a program. */
  readonly environment: Readonly<Record<string, string>>
}

/** What became of a try, for logs and metrics: nothing secret, and fit to be shown. */
export interface DeliveryReport {
  readonly kind: HookKind
  readonly stream: string
  readonly deliveryId: string
  /** The program's path, or the webhook's host. */
  readonly target: string
  /**
   * `retrying`: tried again later. `given-up`: after the last try, or one that says that all others are in vain. `left`:
   * the watchdog ends, or waits no longer; whoever watches next delivers it.
   */
  readonly outcome: 'delivered' | 'retrying' | 'given-up' | 'left'
  /** How often it was tried. */
  readonly tries: number
  /** How long the last try took. */
  readonly tookMs: number
  /** `exit-3`, `http-503`, `timed-out`, `ENOENT`, … */
  readonly code: string
  /** The beginning of what the program printed or the receiver answered, one line. */
  readonly output: string
}

export interface CourierOptions {
  readonly timing: Timing
  /** The store's clock. */
  readonly nowMs: () => number
  readonly userAgent: string
  readonly onDelivery?: ((report: DeliveryReport) => void) | undefined
  /** So many deliveries wait or are under way. */
  readonly queue?: number | undefined
  /** So many tries of one target are under way at a time: one that hangs holds up no other. */
  readonly atOnce?: number | undefined
  /** For so long what fails is tried again, and a target that only fails is tried at all; then it is left. */
  readonly retryForMs?: number | undefined
}

const QUEUE = 1_000
const AT_ONCE = 4
/** A long text takes several places in the queue, so that memory is bounded: of all together, 32 MiB. */
const TEXT_OF_A_PLACE = 32 * 1_024
/** The longest pause after the first try, ms; three times as long after each further one. Half of it is left to chance. */
const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 5 * 60_000

/** Delivers, several at a time, again and again until it is taken or in vain. */
export class DeliveryQueue {
  readonly #options: CourierOptions
  readonly #queue: Semaphore
  readonly #atOnce: number
  readonly #rooms = new Map<HookTarget, Semaphore>()
  readonly #retryLimit: RetryLimit
  readonly #underWay = new Set<Promise<void>>()
  /** No further try is begun. */
  readonly #ending = new AbortController()
  /** Tries under way are cut off. */
  readonly #stop = new AbortController()
  #pending = 0

  constructor(options: CourierOptions) {
    this.#options = options
    this.#queue = new Semaphore(options.queue ?? QUEUE)
    this.#atOnce = options.atOnce ?? AT_ONCE
    this.#retryLimit = new RetryLimit(options.retryForMs)
  }

  /** Deliveries that wait or are under way. */
  get pending(): number {
    return this.#pending
  }

  /** Takes a parcel as soon as there is room. `ended` is called with true when it is delivered or given up, with false if it is left. */
  async accept(parcel: Delivery, ended: (isOver: boolean) => void): Promise<boolean> {
    const places = Math.ceil(parcel.text.length / TEXT_OF_A_PLACE)
    const isTaken = await this.#queue.acquire(places)
    if (!isTaken) ended(false)
    if (!isTaken) return false
    this.#pending += 1
    const delivery = this.#deliver(parcel).then(isOver => {
      this.#pending -= 1
      this.#queue.release(places)
      this.#underWay.delete(delivery)
      ended(isOver)
    })
    this.#underWay.add(delivery)
    return true
  }

  /** Waits for the tries under way, begins none, and cuts off what is not through by then. */
  async drain(limitMs: number): Promise<void> {
    this.#queue.close()
    this.#ending.abort()
    for (const room of this.#rooms.values()) room.close()
    const all = Promise.all(this.#underWay)
    const over = new AbortController()
    void all.then(() => over.abort())
    await this.#options.timing.pause(limitMs, over.signal)
    this.#stop.abort()
    await all
  }

  /** True once it has come to an end, false if it is left to whoever watches next. */
  async #deliver(parcel: Delivery): Promise<boolean> {
    const { target } = parcel
    const { timing } = this.#options
    let firstMs: number | undefined
    for (let tries = 1; ; tries += 1) {
      const tried = await this.#attempt(parcel)
      if (tried === undefined) return false
      const pauseMs = this.#pauseMs(tries, tried.attempt)
      const nowMs = timing.monotonicMs()
      firstMs ??= nowMs - tried.tookMs
      const isLate = this.#retryLimit.isOver(firstMs, nowMs + pauseMs)
      const outcome = this.#outcomeOf(tried.attempt, tries, target, isLate)
      this.#tell(parcel, { ...tried, tries, outcome })
      if (outcome !== 'retrying') return outcome !== 'left'
      await timing.pause(pauseMs, this.#ending.signal)
    }
  }

  /** `undefined`: it was not begun, the watchdog ends or waits no longer for this target. */
  async #attempt(
    parcel: Delivery,
  ): Promise<{ readonly attempt: DeliveryAttempt; readonly tookMs: number } | undefined> {
    const { timing } = this.#options
    const room = this.#roomOf(parcel.target)
    if (!(await room.acquire())) return undefined
    const startedMs = timing.monotonicMs()
    try {
      if (this.#retryLimit.isHopeless(parcel.target, startedMs)) return undefined
      const attempt = await this.#send(parcel)
      this.#retryLimit.tried(parcel.target, attempt, startedMs)
      return { attempt, tookMs: timing.monotonicMs() - startedMs }
    } finally {
      room.release()
    }
  }

  async #send({ target, text, environment, id }: Delivery): Promise<DeliveryAttempt> {
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

  #tell(
    parcel: Delivery,
    tried: Pick<DeliveryReport, 'tries' | 'outcome' | 'tookMs'> & { attempt: DeliveryAttempt },
  ): void {
    const { kind, stream, id, target } = parcel
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

/** For how long what fails is tried again: a delivery, and a target to which nothing gets through. Times are monotonic, ms. */
class RetryLimit {
  readonly #limitMs: number
  readonly #failingSinceMs = new Map<HookTarget, number>()

  constructor(limitMs = Number.POSITIVE_INFINITY) {
    this.#limitMs = limitMs
  }

  /** What became of a try that began then. A target that refuses a document answers all the same. */
  tried(target: HookTarget, { kind }: DeliveryAttempt, startedMs: number): void {
    if (kind === 'delivered' || kind === 'hopeless') this.#failingSinceMs.delete(target)
    else if (!this.#failingSinceMs.has(target)) this.#failingSinceMs.set(target, startedMs)
  }

  /** Whether it makes no sense to try another delivery to it. */
  isHopeless(target: HookTarget, nowMs: number): boolean {
    const sinceMs = this.#failingSinceMs.get(target)
    return sinceMs !== undefined && this.isOver(sinceMs, nowMs)
  }

  /** Whether a delivery that was tried first then is not to be tried again at that time. */
  isOver(firstMs: number, againMs: number): boolean {
    return againMs - firstMs > this.#limitMs
  }
}

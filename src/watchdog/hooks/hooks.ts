import { randomUUID } from 'node:crypto'
import { readStream, type StreamView } from '../../ops/read-stream.ts'
import { SubscriptionRun } from '../../subscriptions/run.ts'
import { Troubles } from '../../subscriptions/troubles.ts'
import type { SubscriptionTrouble } from '../../subscriptions/types.ts'
import { machineTiming, type Timing } from '../../util/clock.ts'
import type { ExecutedDecision } from '../decision.ts'
import type { MovedStream, PassReport } from '../report.ts'
import { HookDelivery } from './delivery.ts'
import { LagMonitor } from './lag.ts'
import type { HookFeed, HookOptions } from './options.ts'
import { HookPositions } from './positions.ts'
import { PassSource } from './source.ts'
import { type Hook, hooksOf } from './target.ts'

export type { HookFeed } from './options.ts'

/** Hooks are behind if more streams than this wait. */
const BEHIND = 10_000
/** Limit for the streams that wait for a hook, some 30 MB. */
const WAITING = 100_000
/** Limit for concurrent deliveries of a hook, so that a hanging target delays no other. */
const AT_ONCE = 4
/** Reports are checked this often, and idle positions written, ms. */
const REPORT_EVERY_MS = 1_000
const WRITE_IDLE_EVERY_MS = 5 * 60_000

/** Delivers at least once: after a crash, the next watchdog repeats deliveries in flight under the same ids. */
export function openHooks(options: HookOptions): HookFeed {
  return new Feed({ ...options, timing: options.timing ?? machineTiming })
}

interface RunningHook {
  readonly hook: Hook
  readonly positions: HookPositions
  readonly source: PassSource
  readonly run: SubscriptionRun
}

/** Each hook is a subscription that the passes of the watchdog feed. A pass never waits for one. */
class Feed implements HookFeed {
  readonly #options: HookOptions & { readonly timing: Timing }
  readonly #hooks: readonly RunningHook[]
  readonly #lag: LagMonitor
  /** Of all hooks: they have one store. */
  readonly #troubles: Troubles
  /** Aborted: no further attempt is started. */
  readonly #stopping = new AbortController()
  /** Aborted: attempts in progress are aborted too. */
  readonly #abort = new AbortController()
  readonly #ended: Promise<unknown>
  readonly #reads = new Map<string, Promise<StreamView | undefined>>()

  constructor(options: HookOptions & { readonly timing: Timing }) {
    const { hooks, match, limits = {} } = options
    this.#options = options
    this.#lag = new LagMonitor(limits.behind ?? BEHIND, pace => options.onPace?.(pace))
    this.#troubles = new Troubles({ troubled: this.#reportTrouble })
    this.#hooks = hooksOf(hooks, match).map(hook => this.#open(hook))
    this.#ended = Promise.all(
      this.#hooks.map(({ run }) => run.run().catch(error => this.#reportFault('hooks have stopped', error))),
    )
  }

  get pending(): number {
    return this.#hooks.reduce((sum, { run }) => sum + run.pending, 0)
  }

  get left(): number {
    return this.#hooks.reduce((sum, { run }) => sum + run.left, 0)
  }

  wantsAll(): boolean {
    return this.#hooks.filter(({ source }) => source.takeWantsAll()).length > 0
  }

  async began(kind: PassReport['kind'], startedMs: number): Promise<void> {
    if (!this.#stopping.signal.aborted) await Promise.all(this.#hooks.map(({ run }) => run.takeShards()))
    if (kind === 'sweep') for (const { source } of this.#hooks) source.beganSweep(startedMs)
  }

  moved(streams: readonly MovedStream[]): void {
    for (const { source } of this.#hooks) source.moved(streams)
    this.#checkLag()
  }

  executed({ decision, outcome }: ExecutedDecision): void {
    const { stream } = decision
    for (const { hook, source, positions, run } of this.#hooks) {
      if (outcome === 'ended') source.changed(stream, this.#options.store.nowMs())
      if (outcome !== 'notified' || decision.kind !== 'notify' || hook.kind !== 'expired') continue
      positions.notify(decision)
      run.examine(stream)
    }
  }

  passed({ kind, startedMs }: PassReport): void {
    if (kind === 'sweep') for (const { source } of this.#hooks) source.endedSweep(startedMs)
  }

  shards(held: readonly number[], total: number): void {
    for (const { positions, run } of this.#hooks) {
      positions.take(held, total)
      void run.takeShards()
    }
  }

  async idle(): Promise<void> {
    await Promise.all(this.#hooks.map(({ run }) => run.settled()))
    this.#checkLag()
  }

  async drain(limitMs: number): Promise<void> {
    this.#stopping.abort()
    const over = new AbortController()
    void this.#ended.then(() => over.abort())
    await this.#options.timing.pause(limitMs, over.signal)
    this.#abort.abort()
    await this.#ended
  }

  #open(hook: Hook): RunningHook {
    const { store, memory, timing, limits = {}, shards } = this.#options
    const { waiting = WAITING, atOnce = AT_ONCE, retryForMs } = limits
    const { kind, key, target } = hook
    const nowMs = () => store.nowMs()
    const positions = new HookPositions({ memory: memory(key), timing, nowMs, onTrouble: this.#reportFault, shards })
    const source = new PassSource(kind, positions)
    const about = { ...this.#options, read: this.#read }
    const delivery = new HookDelivery(hook, positions, about, this.#stopping.signal)
    const observer = {
      delivered: delivery.ended,
      troubled: this.#reportTrouble,
      progress: () => this.#checkLag(),
    }
    const run = {
      ...{
        name: key,
        by: '',
        positions,
        source,
        observer,
        timing,
        newId: randomUUID,
        troubles: this.#troubles,
      },
      ...{ handler: delivery.handle, rules: delivery.rules, concurrency: atOnce, mostInHand: waiting },
      ...{ intervalMs: REPORT_EVERY_MS, writeIdleEveryMs: WRITE_IDLE_EVERY_MS, abort: this.#abort.signal },
      goesOnUnwritten: true,
      retry: { tries: target.tries, onPoison: 'skip', retryForMs },
    } as const
    return { hook, positions, source, run: new SubscriptionRun(store, run, this.#stopping.signal) }
  }

  /** Once for all hooks that begin with a stream together: later it may have moved on. */
  readonly #read = (stream: string): Promise<StreamView | undefined> => {
    const begun = this.#reads.get(stream)
    if (begun !== undefined) return begun
    const read = readStream(this.#options.store, stream)
    this.#reads.set(stream, read)
    queueMicrotask(() => this.#reads.delete(stream))
    return read
  }

  #checkLag(): void {
    this.#lag.waits(Math.max(0, ...this.#hooks.map(({ run }) => run.inHand)))
  }

  readonly #reportFault = (message: string, error: unknown): void => this.#options.onTrouble?.(message, error)

  readonly #reportTrouble = ({ what, text, stream, cause }: SubscriptionTrouble): void => {
    if (what === 'full') {
      this.#checkLag()
      this.#lag.isFull(Math.max(0, ...this.#hooks.map(({ run }) => run.inHand)))
    } else if (stream !== undefined) this.#reportFault(`${stream} cannot be read for hooks now`, cause)
    else if (what === 'position') {
      this.#reportFault('the position of hooks cannot be written: a restart may repeat more deliveries', cause)
    } else this.#reportFault(text, cause)
  }
}

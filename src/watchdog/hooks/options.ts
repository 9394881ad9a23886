import type { StreamStore } from '../../store/store.ts'
import type { Timing } from '../../util/clock.ts'
import type { Observer } from '../report.ts'
import type { DeliveryReport } from './attempt.ts'
import type { HookFormat } from './events.ts'
import type { HookPace } from './lag.ts'
import type { PositionStore } from './position-store.ts'
import type { Hooks } from './target.ts'

export interface HookOptions {
  readonly store: StreamStore
  readonly hooks: Hooks
  /** `--match` as given: hooks for other streams have positions of their own. */
  readonly match?: string | undefined
  /** `--shards`: the watchdog holds none of this number until shards are assigned. */
  readonly shards?: number | undefined
  /** Stores the positions of a hook, by its key. */
  readonly memory: (key: string) => PositionStore
  readonly format: HookFormat
  /** `leasectl/1.2.3`. */
  readonly userAgent: string
  /** The daemon's environment; programs inherit only a few variables. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly timing?: Timing
  /** Called for each attempt; must not throw. */
  readonly onDelivery?: (report: DeliveryReport) => void
  /** Called for faults of the hooks themselves, with a sentence; must not throw. */
  readonly onTrouble?: (message: string, error: unknown) => void
  /** Called once when hooks fall behind, and once when they have caught up; must not throw. */
  readonly onPace?: (pace: HookPace) => void
  readonly limits?: HookLimits
}

/** Limits for waiting and concurrent work; each has a default. */
export interface HookLimits {
  /** Streams that wait for a hook; a later sweep finds further ones. */
  readonly waiting?: number
  /** Number of waiting streams above which `onPace` reports a lag. */
  readonly behind?: number
  /** Concurrent attempts of one hook. */
  readonly atOnce?: number
  /**
   * How long a failing delivery is retried before it is left to the next watchdog; by default only `tries` of the
   * target limits it.
   */
  readonly retryForMs?: number | undefined
}

/** An observer of a watchdog that calls hooks for changes to streams, its own and those of all others. */
export interface HookFeed extends Observer {
  /** Streams with deliveries that wait or are in progress, for each hook. */
  readonly pending: number
  /** Deliveries that are not done yet or that this watchdog no longer makes: the next watchdog makes them. */
  readonly left: number
  /** Asked before each sweep: whether it must hand over all streams, moved or not. */
  wantsAll(): boolean
  /** Resolves when everything found so far is delivered, given up or left, or when the feed drains. */
  idle(): Promise<void>
  /**
   * Stops: starts no delivery and no further attempt, waits for those in progress up to the limit, and then aborts
   * them, which may take some 6 s more if programs ignore SIGTERM. The next start finds everything that was left.
   * Repeated calls wait for the same end.
   */
  drain(limitMs: number): Promise<void>
}

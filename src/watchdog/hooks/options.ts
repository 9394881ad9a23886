import type { StreamStore } from '../../store/store.ts'
import type { Timing } from '../../util/clock.ts'
import type { Observer } from '../report.ts'
import type { DeliveryReport } from './delivery.ts'
import type { HookFormat } from './events.ts'
import type { HookPace } from './lag.ts'
import type { Hooks } from './target.ts'
import type { WatermarkStore } from './watermarks.ts'

export interface HookOptions {
  readonly store: StreamStore
  readonly hooks: Hooks
  /** `--match` as it was given: hooks for other streams have a progress of their own. */
  readonly match?: string | undefined
  /** `--shards`: of so many it has none until it is told which. */
  readonly shards?: number | undefined
  /** Where the progress of a hook is kept, by its key. */
  readonly memory: (key: string) => WatermarkStore
  readonly format: HookFormat
  /** `leasectl/1.2.3`. */
  readonly userAgent: string
  /** The daemon's environment; programs get little of it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly timing?: Timing
  /** Told of each try; must not throw. */
  readonly onDelivery?: (report: DeliveryReport) => void
  /** Told of what is wrong with the hooks themselves, a sentence; must not throw. */
  readonly onTrouble?: (message: string, error: unknown) => void
  /** Told once when hooks fall behind, and once when they have caught up; must not throw. */
  readonly onPace?: (pace: HookPace) => void
  readonly limits?: HookLimits
}

/** How much may wait and go on at a time; usual unless given. */
export interface HookLimits {
  /** Streams to be read; what is found beyond is left to whoever watches next. */
  readonly waiting?: number
  /** More streams to be read than that are told of (`onPace`). */
  readonly behind?: number
  /** Deliveries that wait or are under way. */
  readonly queue?: number
  /** Tries of one target under way. */
  readonly atOnce?: number
  /** For so long what fails is tried again, then it is left to whoever watches next; as often as its target has it unless given. */
  readonly retryForMs?: number | undefined
  /** What was told and is not told again. */
  readonly told?: number
}

/** An observer of a watchdog that tells hooks what it, and everybody else, does to streams. */
export interface HookFeed extends Observer {
  /** Streams to be read and deliveries that wait or are under way. */
  readonly pending: number
  /** What is not delivered yet, and what this watchdog does not deliver any more: whoever watches next does. */
  readonly left: number
  /** Resolves when all that was found so far is delivered, given up or left, or once it drains. */
  idle(): Promise<void>
  /**
   * The watchdog ends: begins no delivery and no further try, waits so long for those under way, and ends them, which may
   * take some 6 s more if they do not obey. What is left is found again at the next start. May be called
   * again: that waits for the same end.
   */
  drain(limitMs: number): Promise<void>
}

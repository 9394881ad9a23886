import type { Fault, Injected } from './faults.ts'
import type { Target } from './messages.ts'
import type { Seen } from './seen-request.ts'

export interface FaultProxyOptions {
  readonly target: Target
  /** The same seed and the same requests in the same order give the same faults. */
  readonly seed?: number
  readonly faults?: readonly Fault[]
  /** The delay of every request and of every answer. */
  readonly delayMs?: number
}

/** An HTTP proxy that deliberately loses, delays, duplicates and corrupts requests and answers. */
export interface FaultProxy {
  readonly port: number
  /** Every request that arrived, in order. */
  readonly requests: readonly Seen[]
  /** Every injected fault: the proof that it reached the code under test. */
  readonly injected: readonly Injected[]
  /** Connections that the caller closed without a fault, before an answer: it timed out because all was slow. */
  readonly abandoned: number
  /** The number of sequential round trips of the requests so far: overlapping ones count once. */
  readonly rounds: number
  count(operation: Seen['operation']): number
  /** Adds a fault; `nth` counts from now. */
  add(fault: Fault): void
  /** Removes all faults. */
  heal(): void
  /** Forgets requests, injections and rounds. */
  reset(): void
  /** Forwards the delayed requests (`late`, `duplicate-late`) to the service, and waits for its answers. */
  deliverLate(): Promise<void>
  stop(): Promise<void>
}

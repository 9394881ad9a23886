import type { Fault, Injected } from './faults.ts'
import type { Target } from './messages.ts'
import type { Seen } from './seen-request.ts'

export interface FaultProxyOptions {
  readonly target: Target
  /** The same seed and the same requests in the same order give the same faults. */
  readonly seed?: number
  readonly faults?: readonly Fault[]
  /** Of every request and of every answer. */
  readonly delayMs?: number
}

/** An HTTP proxy that loses, delays, doubles and breaks requests and answers on purpose. */
export interface FaultProxy {
  readonly port: number
  /** Every request that arrived, in order. */
  readonly requests: readonly Seen[]
  /** Every fault that was put in: the proof that it reached the code under test. */
  readonly injected: readonly Injected[]
  /** Connections that the caller closed with no fault to blame, before an answer: it had a limit, and all was slow. */
  readonly abandoned: number
  /** How many round trips one after the other the requests so far took: those that overlap count once. */
  readonly rounds: number
  count(operation: Seen['operation']): number
  /** Adds a fault; `nth` counts from now. */
  add(fault: Fault): void
  /** Takes all faults out. */
  heal(): void
  /** Forgets requests, injections and rounds. */
  reset(): void
  /** Lets the requests that are held back (`late`, `duplicate-late`) through to the service, and waits until it has answered them. */
  deliverLate(): Promise<void>
  stop(): Promise<void>
}

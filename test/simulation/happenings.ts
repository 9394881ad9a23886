import type { DecisionOutcome } from '../../src/watchdog/decision.ts'

/** An event of a written document, read independently of the code under test. */
export interface EventSight {
  readonly id: string
  readonly status: string
  readonly prev: string
  readonly created: string
  readonly timestamp: string
  readonly timeout: string
  readonly onDue: string
  readonly opened: string
  readonly attempt: string
  readonly join: string
  readonly superseded: boolean
  /** Whether its gate is closed. */
  readonly waits: boolean
  /** Since when the stream is suspended, on its root; `''` if it is not. */
  readonly suspended: string
}

/** An entry of a journal. */
export interface EntrySight {
  readonly version: number
  readonly by: string
  readonly op: string
  readonly on: string
  readonly commandId: string
}

/** An occurrence at a true time, with its subject or actor. */
export type Happening = { readonly atMs: number; readonly who: string } & (
  | {
      /** A write became durable: the events it added or changed, and the journal's new entries. */
      readonly kind: 'wrote'
      readonly stream: string
      /** The time of sending: a write may arrive late. */
      readonly sentMs: number
      readonly events: readonly EventSight[]
      readonly entries: readonly EntrySight[]
    }
  /** A worker sends no more heartbeats. */
  | { readonly kind: 'silent'; readonly stream: string; readonly event: string }
  /** A worker loop works on an event, or has received its result. */
  | { readonly kind: 'job'; readonly stream: string; readonly event: string; readonly what: string }
  /** A call failed, or its answer was lost; its effect on the caller lasts until then. */
  | {
      readonly kind: 'fault'
      readonly call: string
      readonly fault: string
      readonly stream: string
      readonly untilMs: number
    }
  /** The store is unreachable for all actors, or for one, from now on. */
  | { readonly kind: 'outage'; readonly untilMs: number }
  /** An explicit lease on a stream is held. */
  | { readonly kind: 'leased'; readonly stream: string; readonly untilMs: number }
  | { readonly kind: 'up' | 'down' }
  /** A watchdog reports the outcome of a decision. */
  | {
      readonly kind: 'carried'
      readonly stream: string
      readonly event: string
      readonly commandId: string
      readonly outcome: DecisionOutcome
    }
  | { readonly kind: 'failed-pass' | 'breaker' | 'blind'; readonly why: string }
)

export type Wrote = Extract<Happening, { kind: 'wrote' }>

import type { EventSpec } from '../stream/operation.ts'

/** An event to be added: its name, or its name and attributes. */
export type EventInput = string | EventSpec

/** What follows an event. */
export interface Successors {
  /** The next step of its own thread. */
  readonly next?: EventInput
  /** New threads below it. */
  readonly forks?: readonly EventInput[]
  /** Starts when all branches of the fork have ended. */
  readonly join?: EventInput
}

/** The same, written out. */
export interface SuccessorSpecs {
  readonly next?: EventSpec
  readonly forks: readonly EventSpec[]
  readonly join?: EventSpec
}

export function specOf(input: EventInput): EventSpec {
  return typeof input === 'string' ? { name: input } : input
}

export function successorSpecs({ next, forks = [], join }: Successors): SuccessorSpecs {
  return {
    forks: forks.map(specOf),
    ...(next === undefined ? {} : { next: specOf(next) }),
    ...(join === undefined ? {} : { join: specOf(join) }),
  }
}

import type { Ending, Job } from './job.ts'
import type { WorkOptions } from './work-options.ts'
import type { WorkOutcome } from './work-outcome.ts'

/** What a worker loop looks for, and how it goes about it. */
export interface LoopOptions extends WorkOptions {
  /** Names of the events it works on; at least one. */
  readonly names: readonly string[]
  /** Only events with this topic. */
  readonly topic?: string
  /** Only in streams whose names match this glob: `orders/*`, `orders/**`, `orders/[0-9]*`, `{orders,jobs}/*`. */
  readonly match?: string
  /** So many events at a time. Default 1. */
  readonly concurrency?: number
  /**
   * An event whose claim ran out is taken over until it was tried so often; then it is failed, so that nothing waits for it
   * for ever. Default 5.
   */
  readonly maxAttempts?: number
  /**
   * `once`: ends after one event, or when there is none. `until-empty`: when a look at all streams finds none. Either leaves
   * alone what it, or its work, has handed back or made ready again, and what is at fault. Default: never.
   */
  readonly until?: 'once' | 'until-empty'
  /** Once aborted it claims nothing more, finishes what is under way and ends. */
  readonly drain?: AbortSignal
  /** The longest pause while there is nothing to do, ms. Default 2 000 on the embedded store, 10 000 elsewhere. */
  readonly maxIdleMs?: number
  /** Sees what happens. */
  readonly observe?: (happening: Happening) => void
}

/** What happens in a worker loop. */
export type Happening =
  | { readonly kind: 'started'; readonly job: Job }
  | {
      readonly kind: 'outcome'
      readonly outcome: WorkOutcome
      /** Where that could not be reported because the work had ended its event itself, or handed it back: how. */
      readonly ownEnd?: OwnEnd
    }
  /** Failed without being worked on: it was tried `maxAttempts` times, and each time its worker went silent. */
  | { readonly kind: 'given-up'; readonly stream: string; readonly event: string; readonly attempts: number }
  /** Work on it threw, or the store failed where the event is concerned. */
  | { readonly kind: 'fault'; readonly stream?: string; readonly event?: string; readonly error: unknown }
  /** The store does not answer; it is asked again. Said once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  | { readonly kind: 'resumed' }

/** What a loop did. Ends that its work made itself count as those that it reported. */
export interface LoopReport {
  /** Events that were claimed. */
  readonly claimed: number
  /** Of these: completed or advanced. */
  readonly completed: number
  readonly failed: number
  /** Handed back. */
  readonly released: number
  /** The claim was lost, or the end could not be reported. */
  readonly lost: number
  /** Tries to claim an event that another had claimed first. */
  readonly racesLost: number
  readonly givenUp: number
  /** Streams that could not be read, and events that could not be claimed, for what the store says. */
  readonly faults: number
  /** Streams that may have work but were leased until somebody says otherwise, as they were seen last. */
  readonly locked: number
}

/** The work on one event. What it throws fails the event, with the error's message. */
export type Work = (job: Job) => Promise<Ending | undefined> | Ending | undefined

/** What the work did to its event itself, beside what it gave as its end. */
export interface OwnEnd {
  readonly op: 'complete' | 'advance' | 'fail' | 'release'
  /** Message of the event, where that has ended. */
  readonly msg?: string
  /** Version of the stream with it. */
  readonly version: number
  /** Ids of the events that follow. */
  readonly added: readonly string[]
  /** The stream ended with it. */
  readonly done: boolean
}

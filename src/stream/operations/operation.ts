import type { EventData } from '../data.ts'
import type { Status } from '../event.ts'
import type { ChangeCause } from '../journal/journal.ts'

/** Attributes of an event that the caller creates. Texts are checked at the edge (see `stream/text.ts`). */
export interface EventSpec {
  readonly name: string
  readonly topic?: string
  readonly key?: string
  readonly msg?: string
  readonly ref?: string
  readonly tag?: string
  readonly trackingId?: string
  /** The wire text: a .NET TimeSpan or an ISO date-time; `timeoutFromInput` makes it from input. */
  readonly timeout?: string
  readonly onDue?: OnDue
  /** What the event works on. */
  readonly data?: EventData
}

/** The actions on an expired timeout. */
export const ON_DUE = ['abort-event', 'abort-stream', 'notify'] as const
/** Whether the watchdog aborts the event, aborts the whole stream, or only notifies when the timeout expires. */
export type OnDue = (typeof ON_DUE)[number]

/** Whether a text is one of these actions: foreign writers may leave any text. */
export function isOnDue(text: string | undefined): text is OnDue {
  return (ON_DUE as readonly (string | undefined)[]).includes(text)
}

/** Proof of the claim: the fencing token from `start` or the owner's name. If both are given, both must match. */
export interface Claimant {
  readonly owner?: string
  readonly fence?: number
}

/** An operation on a stream; stream-format 4. Durations in ms. */
export type Operation =
  | {
      readonly op: 'init'
      readonly root: EventSpec
      readonly forks: readonly EventSpec[]
      readonly join?: EventSpec
      /** The root stays `init`: no event of the stream is worked or due until the root is started. */
      readonly hold: boolean
      /** A fresh UUID that identifies this incarnation of the stream. */
      readonly born: string
    }
  | {
      readonly op: 'start'
      readonly event: string
      readonly owner: string
      readonly claimMs: number
      readonly fence?: number
      readonly takeOver?: boolean
    }
  | ({ readonly op: 'touch'; readonly event: string; readonly claimMs: number; readonly msg?: string } & Claimant)
  | ({ readonly op: 'release'; readonly event: string } & Claimant)
  | ({
      readonly op: 'advance'
      readonly event: string
      /** The next step of the event's own thread. */
      readonly next?: EventSpec
      /** New threads under the event's thread. */
      readonly forks: readonly EventSpec[]
      readonly join?: EventSpec
      /** Allows a second advance of the same event. */
      readonly more?: boolean
      /** What the event produced. */
      readonly result?: EventData
    } & Claimant)
  | ({
      readonly op: 'complete'
      readonly event: string
      readonly msg?: string
      /** What the event produced. */
      readonly result?: EventData
    } & Claimant)
  | ({
      readonly op: 'fail'
      readonly event: string
      readonly msg?: string
      /** What the event produced. */
      readonly result?: EventData
    } & Claimant)
  /** Without an event: the root, and so the whole stream. */
  | { readonly op: 'cancel'; readonly event?: string; readonly msg?: string }
  | { readonly op: 'abort'; readonly event?: string; readonly msg?: string; readonly expired?: ObservedDeadline }
  /** Without an event: all failed leaves that can be retried; with `canceled` also those that were canceled on request. */
  | { readonly op: 'retry'; readonly event?: string; readonly canceled?: boolean }
  /** Acknowledges the failures so far: listings and checks leave them out until the next one. */
  | { readonly op: 'ack' }
  /**
   * Records that the lease of the stream was broken: an entry in the journal, nothing else. A document that leasectl has
   * never written stays as it is: `already`.
   */
  | { readonly op: 'break-lease' }
  | ({ readonly op: 'set'; readonly event: string; readonly attributes: SettableAttributes } & Claimant)
  /** Only settles: closes events and releases joins that foreign writers left. */
  | { readonly op: 'settle' }

/**
 * An event as observed after its deadline. The abort with it is refused (`showed-life`) if the event has changed since,
 * or is no longer due. A version is not enough, as heartbeats do not raise it (stream-format 6).
 */
export interface ObservedDeadline {
  /** Id of the expired event; the abort may end the whole stream because of it. */
  readonly event: string
  readonly status: string
  /** As written, `''` for none. */
  readonly attempt: string
  readonly fence: string
  readonly timestamp: string
  /** The deadline, epoch ms. */
  readonly dueMs: number
}

/** The attributes that are free to the application; `set` changes no others. */
export const SETTABLE = ['name', 'topic', 'key', 'ref', 'tag', 'trackingId', 'timeout', 'onDue'] as const
/** The free attributes that `set` changes; `''` removes one. */
export type SettableAttributes = { readonly [Name in (typeof SETTABLE)[number]]?: string }

/** Author, reason and id of a command. The id makes a repetition safe. */
export interface Authorship {
  /** 1–200 characters of `A–Z a–z 0–9 . _ : / @ + % -`. */
  readonly commandId: string
  readonly by: string
  readonly why?: string
}

/** The result of one transaction. */
export interface ChangeResult {
  readonly outcome: 'done' | 'already'
  /** The stream's version after it. */
  readonly version: number
  readonly changed: readonly {
    readonly id: string
    readonly from: string
    readonly to: string
    readonly how: ChangeCause
  }[]
  /** Parents that closed. */
  readonly closed: readonly string[]
  /** Joins that were released: `init` now. */
  readonly joined: readonly string[]
  /** The root is final. */
  readonly done: boolean
  /** The command id was already in the journal: this is the first result, rebuilt. */
  readonly duplicate: boolean
  /** For `init` and `advance`: ids of the new events. */
  readonly added: readonly string[]
  /** For `start` and `touch`. */
  readonly claim?: ClaimResult
  /** For `retry` without a target: the leaves that could not be retried. */
  readonly refused?: readonly Refusal[]
}

/** A claim that was made or extended. */
export interface ClaimResult {
  readonly owner: string
  readonly fence: number
  readonly until: string
  readonly attempt: number
  /** Maximum time between heartbeats before the event's own timeout expires, ms; absent without such a timeout. */
  readonly silenceMs?: number
}

/** The reason why an operation is not legal now. Nothing was changed. */
export interface Refusal {
  readonly code: RefusalCode
  /** Id of the event; `''` for the stream as a whole. */
  readonly event: string
  /** The event's status. */
  readonly status: Status | string
  /** A sentence: the problem, and what would be legal. */
  readonly message: string
  /** The holder of the claim, for `claimed` and `fenced`. */
  readonly owner?: string
  readonly until?: string
}

/** The code of a refusal; stable. */
export type RefusalCode =
  | 'already-final'
  | 'canceled'
  | 'already-advanced'
  | 'ended-above'
  | 'foreign-worker'
  | 'join-ran'
  | 'join-waiting'
  | 'not-started'
  | 'stream-full'
  | 'exists'
  | 'changed'
  | 'showed-life'
  | 'held'
  | 'open-successors'
  | 'not-claimed'
  | 'not-failed'
  | 'unlinkable-id'
  | 'command-id-reused'
  | 'event-not-found'
  | 'claimed'
  | 'fenced'

import type { Status } from '../event.ts'
import type { ChangeCause } from '../journal/journal.ts'

/** Attributes a caller may give to an event it creates. Texts are checked at the edge (see `stream/text.ts`). */
export interface EventSpec {
  readonly name: string
  readonly topic?: string
  readonly key?: string
  readonly msg?: string
  readonly ref?: string
  readonly tag?: string
  readonly trackingId?: string
  /** As written on the wire: a .NET TimeSpan or an ISO date-time; `time/deadlines.ts` makes it from what people type. */
  readonly timeout?: string
  readonly onDue?: OnDue
}

/** What may be done when the limit of an event ends. */
export const ON_DUE = ['abort-event', 'abort-stream', 'notify'] as const
/** Whether the event, the whole stream or nothing is ended when the limit has. */
export type OnDue = (typeof ON_DUE)[number]

/** Whether a text is one of them: foreign writers may leave any. */
export function isOnDue(text: string | undefined): text is OnDue {
  return (ON_DUE as readonly (string | undefined)[]).includes(text)
}

/** Proof of the claim: the fencing token that `start` returned or, without it, the owner's name. Given both, both must be right. */
export interface Claimant {
  readonly owner?: string
  readonly fence?: number
}

/** What can be done to a stream; stream-format 4. Durations in ms. */
export type Operation =
  | {
      readonly op: 'init'
      readonly root: EventSpec
      readonly forks: readonly EventSpec[]
      readonly join?: EventSpec
      /** The root stays `init`, nothing in the stream is worked or due until it is started. */
      readonly hold: boolean
      /** A fresh UUID: the identity of this stream's life. */
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
    } & Claimant)
  | ({ readonly op: 'complete'; readonly event: string; readonly msg?: string } & Claimant)
  | ({ readonly op: 'fail'; readonly event: string; readonly msg?: string } & Claimant)
  /** Without an event: the root, hence the whole stream. */
  | { readonly op: 'cancel'; readonly event?: string; readonly msg?: string }
  | { readonly op: 'abort'; readonly event?: string; readonly msg?: string; readonly expired?: ObservedDeadline }
  /** Without an event: all failed leaves that may be retried; with `canceled` also those that were canceled on request. */
  | { readonly op: 'retry'; readonly event?: string; readonly canceled?: boolean }
  /** Acknowledges the failures so far: listings and checks leave them out until the next one. */
  | { readonly op: 'ack' }
  | ({ readonly op: 'set'; readonly event: string; readonly attributes: SettableAttributes } & Claimant)
  /** Writes what foreign writers left to close; nothing else. */
  | { readonly op: 'settle' }

/**
 * An event as it was seen when its limit had ended: the abort that names it is refused (`showed-life`) if the event is any
 * different by now, or no longer due. A version would not tell: heartbeats do not raise it (stream-format 6).
 */
export interface ObservedDeadline {
  /** Id of the event whose limit ended; the abort may end all of the stream for it. */
  readonly event: string
  readonly status: string
  /** As written, `''` for none. */
  readonly attempt: string
  readonly fence: string
  readonly timestamp: string
  /** When the limit ended, epoch ms. */
  readonly dueMs: number
}

/** The attributes that are free to the application, `set` changes no others. */
export const SETTABLE = ['name', 'topic', 'key', 'ref', 'tag', 'trackingId', 'timeout', 'onDue'] as const
/** The free attributes that `set` changes; `''` removes one. */
export type SettableAttributes = { readonly [Name in (typeof SETTABLE)[number]]?: string }

/** Who does it, why, and under which id. The id makes a repetition safe. */
export interface Authorship {
  /** 1–200 characters of `A–Z a–z 0–9 . _ : / @ + % -`. */
  readonly commandId: string
  readonly by: string
  readonly why?: string
}

/** What one transaction did. */
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
  /** True when the command id was in the journal already: this is the first result, rebuilt. */
  readonly duplicate: boolean
  /** For `init` and `advance`: ids of the new events. */
  readonly added: readonly string[]
  /** For `start` and `touch`. */
  readonly claim?: ClaimResult
  /** For `retry` without a target: leaves that could not be retried. */
  readonly refused?: readonly Refusal[]
}

/** A claim as it was made or extended. */
export interface ClaimResult {
  readonly owner: string
  readonly fence: number
  readonly until: string
  readonly attempt: number
  /** How long the event may give no sign of life before its own timeout ends, ms; absent without such a limit. */
  readonly silenceMs?: number
}

/** Why an operation is not legal now. Nothing was changed. */
export interface Refusal {
  readonly code: RefusalCode
  /** The event it is about; `''` for the stream as a whole. */
  readonly event: string
  /** The event's status. */
  readonly status: Status | string
  /** A sentence: what is the matter and what would be legal. */
  readonly message: string
  /** Who holds the claim, for `claimed` and `fenced`. */
  readonly owner?: string
  readonly until?: string
}

/** Why an operation is not legal, in one word; stable. */
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

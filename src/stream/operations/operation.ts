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
  /** Ids of events that have to be completed before this one begins. */
  readonly after?: readonly string[]
  /** The signal that has to come before. */
  readonly signal?: string
  /** How long the event waits once everything else that it waits for has come: a .NET TimeSpan. */
  readonly delay?: string
  /** The time before which it does not begin: an ISO date-time. */
  readonly wake?: string
  /** No worker is needed: the event is completed as soon as one could claim it. */
  readonly auto?: boolean
  /** What the event works on. */
  readonly data?: EventData
  /** How often it is tried if it fails for a passing reason: `5 2s..1m`. */
  readonly retry?: string
  /** How long one attempt may run: a .NET TimeSpan. */
  readonly attemptTimeout?: string
  /** Name of the step that takes it back, in a stream that compensates. */
  readonly undo?: string
}

/** A step of a plan that is known from the start: one of several new successors that wait for each other. */
export interface StepSpec extends EventSpec {
  /** The new thread that it belongs to: 0 for the first. */
  readonly thread: number
  /** Positions in the plan of the steps that have to be completed before it begins. */
  readonly needs: readonly number[]
}

/** What the watchdog does when a timeout has expired. */
export const DUE_ACTIONS = ['abort-event', 'abort-stream', 'notify'] as const
/** Whether the watchdog aborts the event, aborts the whole stream, or only notifies when the timeout expires. */
export type DueAction = (typeof DUE_ACTIONS)[number]

/** Whether a text is one of these actions: foreign writers may leave any text. */
export function isDueAction(text: string | undefined): text is DueAction {
  return (DUE_ACTIONS as readonly (string | undefined)[]).includes(text)
}

/** What happens when the timeout of an event expires: the actions of the watchdog, and `open`. */
export const ON_DUE = [...DUE_ACTIONS, 'open'] as const
/** An action of the watchdog; or `open`, for an event that waits for a signal: it goes on without. */
export type OnDue = (typeof ON_DUE)[number]

/** What it means for a stream that one of its events is aborted for good; `continue` unless another one is chosen. */
export const ON_FAILURE = ['continue', 'stop', 'block', 'compensate'] as const
/**
 * `continue`: the rest goes on. `stop`: everything open is canceled, and the stream is aborted. `block`: what comes
 * after the failure waits until it is retried or skipped. `compensate`: what was done is undone, in reverse order.
 */
export type OnFailure = (typeof ON_FAILURE)[number]

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
      readonly steps?: readonly StepSpec[]
      /** The root stays `init`: no event of the stream is worked or due until the root is started. */
      readonly hold: boolean
      /** Default `continue`. */
      readonly onFailure?: OnFailure
      /** A session, to which steps are appended. */
      readonly session?: boolean
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
      /** Attempts in all for an event that names none: taken over after them, it is failed instead (`no-attempts`). */
      readonly maxAttempts?: number
    }
  | ({ readonly op: 'touch'; readonly event: string; readonly claimMs: number; readonly msg?: string } & Claimant)
  /** With a delay, a .NET TimeSpan, the event cannot be claimed again before that has passed. */
  | ({ readonly op: 'release'; readonly event: string; readonly delay?: string } & Claimant)
  | ({
      readonly op: 'advance'
      readonly event: string
      /** The next step of the event's own thread. */
      readonly next?: EventSpec
      /** New threads under the event's thread. */
      readonly forks: readonly EventSpec[]
      readonly join?: EventSpec
      /** A plan of further threads: each step waits for the steps that it needs. */
      readonly steps?: readonly StepSpec[]
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
      /** For a passing reason: it is tried again after a pause while attempts are left. */
      readonly transient?: boolean
      /** The policy for an event that names none, `5 2s..1m`. Default `5 1s..1m`. */
      readonly retry?: string
      /** The attempt as observed after it had run too long: see `abort`. */
      readonly expired?: ObservedDeadline
    } & Claimant)
  /** Lets a stream that blocks on failures go on in spite of this one. */
  | { readonly op: 'skip'; readonly event: string; readonly msg?: string }
  /** Without an event: the root, and so the whole stream. */
  | {
      readonly op: 'cancel'
      readonly event?: string
      readonly msg?: string
      /** A stream that compensates ends at once, without undoing what was done. */
      readonly noCompensate?: boolean
    }
  | {
      readonly op: 'abort'
      readonly event?: string
      readonly msg?: string
      readonly expired?: ObservedDeadline
      readonly noCompensate?: boolean
    }
  /** Without an event: all failed leaves that can be retried; with `canceled` also those that were canceled on request. */
  | { readonly op: 'retry'; readonly event?: string; readonly canceled?: boolean }
  /** A fact from outside. The events that wait for it go on; it is kept for the first event to come that does. */
  | {
      readonly op: 'signal'
      readonly name: string
      /** The input of the event that takes it. */
      readonly data?: EventData
      /** For every event that waits for it, instead of the one with the lowest id. */
      readonly every?: boolean
    }
  /**
   * Adds a step to a session, behind the last one that was appended. `seq`: it is the step of this number, from 1, behind the
   * one before it, even if that has not come. `last`: no more follow. `keep`: see `trimSession`.
   */
  | {
      readonly op: 'append'
      readonly step: EventSpec
      readonly seq?: number
      readonly last?: boolean
      readonly keep?: number
    }
  /** Acknowledges the failures so far: listings and checks leave them out until the next one. */
  | { readonly op: 'ack' }
  /** The stream begins nothing until `resume`; with `stop` all claimed events are handed back. `msg`: why. */
  | { readonly op: 'suspend'; readonly stop?: boolean; readonly msg?: string }
  /** Ends a suspension or, in a stream that is only held, the hold. */
  | { readonly op: 'resume' }
  /**
   * Records that the lease of the stream was broken: an entry in the journal, nothing else. A document that leasectl has
   * never written stays as it is: `already`.
   */
  | { readonly op: 'break-lease' }
  | ({ readonly op: 'set'; readonly event: string; readonly attributes: SettableAttributes } & Claimant)
  /**
   * Only settles: closes events and releases joins that foreign writers left. `record`: also records a foreign write that
   * left nothing to settle, so that it has a version.
   */
  | { readonly op: 'settle'; readonly record?: boolean }

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
export const SETTABLE = ['name', 'topic', 'key', 'msg', 'ref', 'tag', 'trackingId', 'timeout', 'onDue'] as const
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
  /** Joins whose branches have ended: `init` now. */
  readonly joined: readonly string[]
  /** Other events whose gates opened: `init` now, or completed already if they need no worker. */
  readonly opened: readonly string[]
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
  /** True if the stream is suspended, for every operation but `suspend`: nothing of it begins before it is resumed. */
  readonly suspended?: true
}

/** The result of a change that finds everything as it should be, but for the version of the stream. */
export const NOTHING_CHANGED = {
  ...{ outcome: 'already', version: 0, changed: [], closed: [], joined: [], opened: [], added: [] },
  ...{ done: false, duplicate: false },
} as const satisfies ChangeResult

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
  | 'waiting'
  | 'bad-gate'
  | 'signals-full'
  | 'no-session'
  | 'session-ended'
  | 'step-taken'
  | 'bad-step'
  | 'not-started'
  | 'stream-full'
  | 'exists'
  | 'changed'
  | 'showed-life'
  | 'held'
  | 'suspended'
  | 'not-suspended'
  | 'open-successors'
  | 'no-attempts'
  | 'not-blocked'
  | 'compensating'
  | 'compensated'
  | 'bad-undo'
  | 'not-claimed'
  | 'not-failed'
  | 'unlinkable-id'
  | 'command-id-reused'
  | 'event-not-found'
  | 'claimed'
  | 'fenced'

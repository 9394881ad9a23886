import type { EventData } from './data.ts'

/**
 * One event of a stream: a step of the process with a place in the tree of threads.
 *
 * Every attribute keeps its wire text, `''` when absent, so that foreign texts are written back unchanged. Readers
 * parse numbers and times from it (`fenceOf`, `attemptOf`, `time/deadlines.ts`).
 */

/** The five statuses. Any other text is an *unknown* status: open, and kept as it is. */
export const STATUSES = ['init', 'inprocess', 'completed', 'aborted', 'canceled'] as const
/** One of the five known statuses; a document may hold any other text. */
export type Status = (typeof STATUSES)[number]

/**
 * What the failures of a stream have meant for the whole of it, by its policy. `errors`: an event below the root was
 * aborted or canceled. `blocked`: a failure holds the stream up. `compensating`: it is undoing what it did.
 * `compensated`: it has. `compensation-failed`: it could not undo everything.
 */
export const OUTCOMES = ['errors', 'blocked', 'compensating', 'compensated', 'compensation-failed'] as const
/** One of these outcomes. */
export type StreamOutcome = (typeof OUTCOMES)[number]

export function isOutcome(text: string | undefined): text is StreamOutcome {
  return (OUTCOMES as readonly (string | undefined)[]).includes(text)
}

/** The fourteen attributes in no namespace, in the order in which they are written. */
export const ATTRIBUTES = [
  'name',
  'status',
  'id',
  'topic',
  'key',
  'msg',
  'trackingId',
  'created',
  'timestamp',
  'timeout',
  'ref',
  'tag',
  'prev',
  'next',
] as const
/** Name of one of the fourteen attributes. */
export type AttributeName = (typeof ATTRIBUTES)[number]

/** Local names of the attributes in the namespace `urn:leasectl:v1`, in the order in which they are written. */
export const LC_ATTRIBUTES = [
  'owner',
  'fence',
  'until',
  'attempt',
  'claimed',
  'onDue',
  'retry',
  'attemptTimeout',
  'undo',
  'undoes',
  'unsure',
  'auto',
  'wait',
  'join',
  'step',
  'after',
  'signal',
  'delay',
  'wake',
  'opened',
  'paused',
  'suspended',
  'suspendedBy',
  'info',
  'resumed',
  'superseded',
  'skipped',
  'onFailure',
  'session',
  'appended',
  'ending',
  'outcome',
  'failed',
  'ack',
  'msg',
] as const
/** Local name of an attribute that leasectl adds. */
export type LcAttributeName = (typeof LC_ATTRIBUTES)[number]

/** The namespace of everything leasectl adds to a document. */
export const LC_NAMESPACE = 'urn:leasectl:v1'

/** An attribute that is not ours (or a namespace declaration), kept as found. */
export interface ForeignAttribute {
  /** Qualified name as written, `x:colour` or `xmlns:x`. */
  readonly name: string
  /** Namespace URI of the attribute, `''` for none. */
  readonly uri: string
  readonly local: string
  readonly value: string
}

/** The fourteen attributes as texts, `''` when absent. */
export type EventAttributes = { readonly [Name in AttributeName]: string }

/** An event of a document. */
export interface StreamEvent extends EventAttributes {
  /** The attributes in leasectl's namespace that are present; an absent one has no key. */
  readonly lc: { readonly [Name in LcAttributeName]?: string }
  /** Attributes that are not ours, unknown ones in leasectl's namespace and namespace declarations included. */
  readonly foreign: readonly ForeignAttribute[]
  /** Attributes of the fourteen that were present but empty, as in `next=""`: written again while they are empty. */
  readonly empty: readonly AttributeName[]
  /** Raw XML between the previous event and this one (comments, foreign elements), `''` for none. */
  readonly before: string
  /** Raw XML inside the element that is not ours, `''` when it has none. */
  readonly content: string
  /** What the event works on. */
  readonly input?: EventData
  /** What the event produced. */
  readonly result?: EventData
}

/** What is a function of one event alone, computed once for its lifetime: an unchanged event costs a write next to nothing. */
interface EventMemo {
  /** See `fingerprint.ts`. */
  digest: string | undefined
  /** As written with the usual prefix and namespace. */
  written: WrittenEvent | undefined
  /** As a ready event in a summary. */
  readyItem: string | undefined
}

/** An event as text. */
export interface WrittenEvent {
  readonly text: string
  readonly bytes: number
  /** Free of characters that XML cannot hold. */
  readonly isClean: boolean
}

export const memoOf = memoFor<StreamEvent, EventMemo>(() => ({
  digest: undefined,
  written: undefined,
  readyItem: undefined,
}))

/**
 * Keeps what is computed from an immutable object with the object itself, in a property that is not enumerable: copies
 * (`{ ...object }`), comparisons and JSON do not see it. For objects that change hands thousands of times a second a
 * `WeakMap` costs ten times as much.
 *
 * @param create the empty memo of an object; with all fields, so that all memos have one shape
 * @returns gives the memo of an object, made at the first call
 */
export function memoFor<Key extends object, Memo extends object>(create: () => Memo): (key: Key) => Memo {
  const memo = Symbol('memo')
  return key => {
    const known = (key as { readonly [memo]?: Memo })[memo]
    if (known !== undefined) return known
    const value = create()
    // A frozen object gets a new one at each call.
    Reflect.defineProperty(key, memo, { value })
    return value
  }
}

const BLANK: EventAttributes = Object.freeze(
  Object.fromEntries(ATTRIBUTES.map(name => [name, ''])) as Record<AttributeName, string>,
)

/** A new event with only the given attributes. */
export function newEvent(
  attributes: Partial<EventAttributes>,
  lc: StreamEvent['lc'] = {},
  data?: Pick<StreamEvent, 'input' | 'result'>,
): StreamEvent {
  return { ...BLANK, ...attributes, lc, foreign: [], empty: [], before: '', content: '', ...data }
}

/** Whether the status ends the event. An unknown or missing status is open. */
export function isFinal(event: { readonly status: string }): boolean {
  return event.status === 'completed' || event.status === 'aborted' || event.status === 'canceled'
}

/** True for the two statuses that an error summary counts. */
export function isFailed(event: { readonly status: string }): boolean {
  return event.status === 'aborted' || event.status === 'canceled'
}

/** Whether the event has a closed gate: it waits for conditions, see `gate.ts`, and no worker can claim it. */
export function isGated(event: StreamEvent): boolean {
  return event.lc.wait !== undefined && !isFinal(event)
}

/** Whether an operator let the stream go on in spite of its failure: it counts as passed. */
export function isSkipped(event: Pick<StreamEvent, 'lc'>): boolean {
  return event.lc.skipped !== undefined
}

/** Whether what is gated after the event may begin. */
export function isPassed(event: Pick<StreamEvent, 'status' | 'lc'>): boolean {
  return event.status === 'completed' || isSkipped(event)
}

/** Whether the event belongs to the undo sequence of its stream: the step `Undo`, or one that takes another back. */
export function isUndo(event: Pick<StreamEvent, 'lc'>): boolean {
  return event.lc.undoes !== undefined
}

/** Whether the event is a join that still waits for the other branches of its fork. */
export function isWaitingJoin(event: StreamEvent): boolean {
  return event.lc.join !== undefined && isGated(event)
}

/** Whether other events of the stream have to end before the event can go on: it is not what the stream waits on. */
export function waitsForEvents(event: StreamEvent): boolean {
  return isGated(event) && (event.lc.join ?? event.lc.step ?? event.lc.after) !== undefined
}

/** Whether a retry replaced the event: closing, joins and summaries then ignore it. */
export function isSuperseded(event: Pick<StreamEvent, 'lc'>): boolean {
  return event.lc.superseded !== undefined
}

/** The ids in `next`, in creation order. */
export function nextIds(event: { readonly next: string }): string[] {
  return event.next === '' ? [] : event.next.split('|').filter(id => id !== '')
}

/** The fencing token of the last claim: the version of the claiming transaction. `undefined` without a readable one. */
export function fenceOf(event: StreamEvent): number | undefined {
  return naturalNumber(event.lc.fence)
}

/** Number of the current or next attempt; 1 before and during the first. */
export function attemptOf(event: StreamEvent): number {
  return naturalNumber(event.lc.attempt) ?? 1
}

function naturalNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

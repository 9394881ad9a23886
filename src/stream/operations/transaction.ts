import type { StreamDocument } from '../document.ts'
import { isFinal, isSuperseded, type StreamEvent } from '../event.ts'
import { isLinkable } from '../event-id.ts'
import { EventStream } from '../event-stream.ts'
import {
  type ForeignWrite,
  findForeignWrite,
  highestVersion,
  restoreDroppedAttributes,
  UNWRITTEN_SUM,
  withoutEndedClaims,
} from '../journal/history.ts'
import { appendTransaction, parseJournal, type Transaction } from '../journal/journal.ts'
import { MAX_READ_BYTES, MAX_READ_EVENTS, MAX_WRITTEN_BYTES, MAX_WRITTEN_EVENTS } from '../limits.ts'
import { FAR_MS, isFarAhead, isoTime, readTime } from '../time/dates.ts'
import { claimEndMs, timeReaderFor } from '../time/deadlines.ts'
import { bytesAbove } from '../xml/write.ts'
import { refuse } from './checks.ts'
import { Draft } from './draft.ts'
import type { Refusal } from './operation.ts'
import { settle } from './settle.ts'

/** The inputs of a transaction beside the document. */
export interface TransactionContext {
  /** Epoch ms by the store's clock. */
  readonly nowMs: number
  /** The highest known version of this stream (from the summary beside the body); 0 if unknown. */
  readonly versionFloor: number
  /** When the blob was last written, epoch ms; helps to read old date texts. */
  readonly lastModifiedMs?: number
  /** A fresh UUID for a document that has none. */
  readonly born: string
}

/**
 * The working copy of a transaction at its start: the time is stamped, a foreign write is recorded as its own entry,
 * attributes that it dropped are restored, claims that it ended are removed, parents have their `next`, and the
 * document is settled.
 */
export function openTransaction(
  document: StreamDocument,
  context: TransactionContext,
  foreign: ForeignWrite | undefined,
): Draft {
  const times = timeReaderFor(document, context)
  const now = isoTime(stampMs(times.read(document.at), context.nowMs))
  const version = highestVersion(document, context.versionFloor)
  const stamped: StreamDocument = {
    ...document,
    version,
    born: document.born || context.born,
    at: now,
    dates: times.dates,
    // A sum that is never compared: in a group the next operation sees these events before they are written.
    sum: UNWRITTEN_SUM,
  }
  const recorded = foreign === undefined ? stamped : withEntry(stamped, entryOf(foreign, now, version + 1))
  const base = foreign?.op === 'foreign' ? restored(recorded, foreign) : recorded
  const draft = new Draft(withNext(base), { nowMs: context.nowMs, now, readTime: times.read })
  draft.isDirty = base !== recorded || foreign?.isOlderCopy === true
  settle(draft)
  return draft
}

/** The later of now and `lc:at`, unless a wrong clock wrote `lc:at`: every write would carry it on. */
function stampMs(lastMs: number | undefined, nowMs: number): number {
  return lastMs === undefined || isFarAhead(lastMs, nowMs) ? nowMs : Math.max(nowMs, lastMs)
}

/** Whether a clock far ahead wrote last, so that the times need a write even if nothing else does. */
export function isWrittenFarAhead({ at }: StreamDocument, nowMs: number): boolean {
  return isFarAhead(readTime(at), nowMs)
}

/** A heartbeat writes no entry, so the settling before it gets its own. */
export function recordSettling(draft: Draft): Draft {
  if (!hasWork(draft)) return draft
  const { nowMs, now, readTime, version, changes } = draft
  const settled = withEntry(draft.finish(), { ...NO_AUTHOR, op: 'settle', at: now, version, changes })
  return new Draft(settled, { nowMs, now, readTime })
}

/** Whether the draft differs from the original document. */
export function hasWork(draft: Draft): boolean {
  return draft.changes.length > 0 || draft.isDirty
}

/** The document with one more entry in its journal, at the version of that entry. */
export function withEntry(document: StreamDocument, transaction: Transaction): StreamDocument {
  const journal = appendTransaction(document.journal, transaction, document.prefix)
  return { ...document, version: transaction.version, journal }
}

const NO_AUTHOR = { by: '', on: '', commandId: '', hash: '', why: '', other: false, changes: [] } as const

/** The entry of a foreign write. */
export function entryOf({ op, changes, other, why }: ForeignWrite, at: string, version: number): Transaction {
  return { ...NO_AUTHOR, op, changes, other, why, at, version }
}

function restored(document: StreamDocument, { changes }: ForeignWrite): StreamDocument {
  const dropped = restoreDroppedAttributes(document.events, parseJournal(document.journal, document.prefix))
  const events = withoutEndedClaims(dropped, changes)
  return events === document.events ? document : { ...document, events }
}

/** A document as the next transaction finds it before its own operation. */
export interface SettledDocument {
  readonly document: StreamDocument
  /** Foreign writers left events to settle: a `settle` transaction would write them. */
  readonly isSettleDue: boolean
  /** Settling would end events or release joins. Readers see that only once it is written. */
  readonly moves: boolean
}

/**
 * The first step of every transaction, without a write: attributes of ours that a foreign write dropped are restored,
 * and the document is settled. Plan a change on this document, not on the stored one.
 */
export function settledDocument(document: StreamDocument, context: TransactionContext): SettledDocument {
  if (document.events.length === 0) return { document, isSettleDue: false, moves: false }
  const draft = openTransaction(document, context, findForeignWrite(document, context.versionFloor))
  return {
    document: draft.finish(),
    isSettleDue: hasWork(draft) || isWrittenFarAhead(document, context.nowMs),
    moves: draft.changes.length > 0,
  }
}

/**
 * Sets a missing `next` of each parent to the ids of the events whose `prev` names it: the .NET library fails on a
 * parent without `next`. An existing `next` stays. Returns the same document if none was missing.
 */
export function withNext(document: StreamDocument): StreamDocument {
  const stream = EventStream.of(document.events)
  let added = 0
  const events = document.events.map((event, at) => {
    const next = event.next === '' ? nextOf(stream, at) : ''
    if (next === '') return event
    added += ' next=""'.length + ESCAPED * Buffer.byteLength(next)
    return { ...event, next }
  })
  if (added === 0) return document
  // Ending events must not let a document exceed the reading limit.
  return bytesAbove(document, MAX_READ_BYTES - added) === undefined ? { ...document, events } : document
}

/** Bytes of the longest escape of a character. */
const ESCAPED = 6

/** Empty if a successor cannot be named: with only the others in `next` the parent would close too early. */
function nextOf(stream: EventStream, position: number): string {
  if (stream.isLeaf(position)) return ''
  const ids = stream.followingPositions(position).flatMap(at => stream.at(at)?.id ?? [])
  return ids.every(isLinkable) ? ids.join('|') : ''
}

/**
 * Sets times of open events that a wrong clock wrote far ahead to now, so that their timeouts count from now and their
 * claims keep their duration. A stream that began ahead is left alone: there this clock may be the slow one.
 */
export function correctTimes(draft: Draft): void {
  const { root } = draft.stream
  if (root === undefined || isFarAhead(openedIn(draft, root), draft.nowMs)) return
  const latest = isoTime(draft.nowMs + FAR_MS)
  if (!isOwnBefore(root.lc.suspended ?? '', latest)) correctSuspension(draft, root)
  for (const [at, event] of draft.stream.events.entries()) {
    if (isFinal(event) || isSuperseded(event)) continue
    const opened = event.lc.opened || event.created
    // Texts in our own form sort like their times; parsing all of them would cost more than the rest.
    if (isOwnBefore(event.timestamp, latest) && isOwnBefore(opened, latest)) continue
    correctEventTimes(draft, at)
  }
}

function correctSuspension(draft: Draft, { lc }: StreamEvent): void {
  if (isFarAhead(draft.readTime(lc.suspended ?? ''), draft.nowMs)) draft.patch(0, { lc: { suspended: draft.now } })
}

function correctEventTimes(draft: Draft, at: number): void {
  const { nowMs, now } = draft
  const event = draft.at(at)
  const touchedMs = draft.readTime(event.timestamp)
  if (touchedMs !== undefined && isFarAhead(touchedMs, nowMs)) {
    const endMs = claimEndMs(event)
    const until = endMs === undefined ? {} : { until: isoTime(Math.max(0, nowMs + endMs - touchedMs)) }
    draft.patch(at, { attributes: { timestamp: now }, lc: until })
  }
  if (isFarAhead(openedIn(draft, event), nowMs)) draft.patch(at, { lc: { opened: now } })
}

function openedIn(draft: Draft, event: StreamEvent): number | undefined {
  return draft.readTime(event.lc.opened || event.created)
}

function isOwnBefore(text: string, latest: string): boolean {
  return text === '' || (text.length === latest.length && text.endsWith('Z') && text <= latest)
}

/**
 * Refuses a document that has grown too large. For operations that let a stream grow the limit is 8 MiB and 20 000
 * events: every heartbeat rewrites the whole document, and ending its events must stay possible. For all other
 * operations it is the reading limit: beyond that, no program could open the stream again. The bytes are counted only
 * near the limit.
 */
export function checkSize(document: StreamDocument, growing: boolean): Refusal | undefined {
  const count = document.events.length
  const limitBytes = growing ? MAX_WRITTEN_BYTES : MAX_READ_BYTES
  // The undo sequence may double the events, and has one above it: a stream that compensates leaves room for it.
  const { onFailure, outcome } = document.events[0]?.lc ?? {}
  const before = onFailure === 'compensate' ? MAX_WRITTEN_EVENTS - 1 : MAX_WRITTEN_EVENTS
  const limit = outcome === 'compensating' ? MAX_READ_EVENTS - 1 : before
  if (growing && count > limit) {
    return full(document, `${count} events; at most ${limit} are written`)
  }
  const bytes = bytesAbove(document, limitBytes)
  return bytes === undefined ? undefined : full(document, `${bytes} bytes; at most ${limitBytes} are written`)
}

function full(document: StreamDocument, size: string): Refusal | undefined {
  const root = document.events[0]
  return (
    root &&
    refuse('stream-full', root, `the stream would have ${size}; complete, cancel or abort it and start a new one`)
  )
}

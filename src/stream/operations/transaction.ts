import type { StreamDocument } from '../document.ts'
import {
  type ForeignWrite,
  findForeignWrite,
  highestVersion,
  restoreDroppedAttributes,
  UNWRITTEN_SUM,
  withoutEndedClaims,
} from '../journal/history.ts'
import { appendTransaction, parseJournal, type Transaction } from '../journal/journal.ts'
import { isFarAhead } from '../time/clock-ahead.ts'
import { isoTime, readTime } from '../time/dates.ts'
import { timeReaderFor } from '../time/deadlines.ts'
import { settle } from './close.ts'
import { Draft } from './draft.ts'
import { withNext } from './next-links.ts'

/** What a transaction may know of the world: everything that is not in the document is passed in. */
export interface TransactionContext {
  /** Epoch ms by the store's clock. */
  readonly nowMs: number
  /** The highest version anybody has seen of this stream (from the summary beside the body); 0 if unknown. */
  readonly versionFloor: number
  /** When the blob was last written; helps to read old date texts. */
  readonly lastModifiedMs?: number
  /** A fresh UUID for a document that has none. */
  readonly born: string
}

/**
 * The working copy of a transaction at its start: the time stamped, a foreign write recorded as an entry of its own,
 * what that dropped restored, claims that it ended gone, parents given their `next`, and everything settled.
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
    // Of a kind that is not compared: in a group the next operation sees these events before they are written.
    sum: UNWRITTEN_SUM,
  }
  const recorded = foreign === undefined ? stamped : withEntry(stamped, entryOf(foreign, now, version + 1))
  const base = foreign?.op === 'foreign' ? restored(recorded, foreign) : recorded
  const draft = new Draft(withNext(base), { nowMs: context.nowMs, now, readTime: times.read })
  draft.touched = base !== recorded || foreign?.isOlderCopy === true
  settle(draft)
  return draft
}

/** The later of now and `lc:at`, unless a wrong clock wrote that: every write would carry it on. */
function stampMs(lastMs: number | undefined, nowMs: number): number {
  return lastMs === undefined || isFarAhead(lastMs, nowMs) ? nowMs : Math.max(nowMs, lastMs)
}

/** Whether a wrong clock wrote last, so that something is to be written although nothing else is to be done. */
export function isWrittenFarAhead({ at }: StreamDocument, nowMs: number): boolean {
  return isFarAhead(readTime(at), nowMs)
}

/** A heartbeat writes no entry, so what settling did before it gets one of its own. */
export function recordSettling(draft: Draft): Draft {
  if (!hasWork(draft)) return draft
  const { nowMs, now, readTime, version, changes } = draft
  const settled = withEntry(draft.finish(), { ...NO_AUTHOR, op: 'settle', at: now, version, changes })
  return new Draft(settled, { nowMs, now, readTime })
}

/** True if the draft differs from what it was made from. */
export function hasWork(draft: Draft): boolean {
  return draft.changes.length > 0 || draft.touched
}

/** The document with one more entry in its journal, at that entry's version. */
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

/** A document as the next transaction will find it before it does its own work. */
export interface SettledDocument {
  readonly document: StreamDocument
  /** Foreign writers left something half done: a transaction of `settle` would write it. */
  readonly isSettleDue: boolean
  /** That would end events or release joins: nobody sees them so before it is written. */
  readonly moves: boolean
}

/**
 * What every transaction does first, as a look: a foreign write is made up for (attributes of ours that it dropped are
 * back) and what can close is closed. Who plans a change has to look at this, not at the text as it is stored.
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

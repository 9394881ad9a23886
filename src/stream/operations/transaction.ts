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

import type { StreamDocument } from '../document.ts'
import { findForeignWrite } from '../journal/history.ts'
import { hasWork, isWrittenFarAhead, openTransaction, type TransactionContext } from './transaction.ts'

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

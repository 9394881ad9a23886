import type { EventStore, Stored } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'
import { EventStream } from '../stream/event-stream.ts'
import { findForeignWrite } from '../stream/journal/history.ts'
import type { Transaction } from '../stream/journal/journal.ts'
import { parseJournal } from '../stream/journal/text.ts'
import { entryOf } from '../stream/operations/transaction.ts'
import { isoTime } from '../stream/time/dates.ts'
import { type TimeReader, timeReaderFor } from '../stream/time/deadlines.ts'
import { parseBody } from './transact/plan.ts'

/** A transaction as readers see it. */
export interface SeenTransaction extends Transaction {
  /** A foreign write that no transaction of ours has recorded yet: it has no number, `version` is that of the document. */
  readonly provisional: boolean
}

/** A document, with all that a reader asks of it. */
export interface DocumentView {
  readonly document: StreamDocument
  readonly stream: EventStream
  /** Reads the document's date texts, old ones too. */
  readonly time: TimeReader
  /** The store's clock at the time of reading, epoch ms. */
  readonly nowMs: number
  /** History, oldest first; last, if there is one, the foreign write that nobody has recorded. */
  transactions(): readonly SeenTransaction[]
}

/** A stream as it stands. Reading takes no lease. */
export interface StreamView extends DocumentView {
  readonly name: string
  readonly stored: Stored
}

/**
 * Reads one stream.
 *
 * @returns undefined if there is none
 * @throws BadDocument it cannot be read as an event stream; the store's faults
 */
export async function readStream(
  store: EventStore,
  name: string,
  signal?: AbortSignal,
): Promise<StreamView | undefined> {
  const stored = await store.read(name, signal)
  return stored && viewOf(stored, store.nowMs())
}

/** What a stored body says. @throws BadDocument */
export function viewOf(stored: Stored, nowMs: number): StreamView {
  const document = parseBody(stored.body, stored.name)
  return { name: stored.name, stored, ...viewDocument(document, nowMs, stored) }
}

/** What a store knows of a document beside it: when it was last written, and the highest version that was ever seen. */
type Beside = Pick<Stored, 'modifiedMs' | 'versionFloor'>

export function viewDocument(document: StreamDocument, nowMs: number, beside: Beside): DocumentView {
  const { read } = timeReaderFor(document, { nowMs, lastModifiedMs: beside.modifiedMs })
  let seen: readonly SeenTransaction[] | undefined
  return {
    document,
    stream: new EventStream(document.events),
    time: read,
    nowMs,
    transactions() {
      seen ??= history(document, beside)
      return seen
    },
  }
}

function history(document: StreamDocument, { modifiedMs, versionFloor }: Beside): SeenTransaction[] {
  const recorded = parseJournal(document.journal, document.prefix).map(tx => ({ ...tx, provisional: false }))
  const foreign = document.events.length > 0 ? findForeignWrite(document, versionFloor) : undefined
  if (foreign === undefined) return recorded
  return [...recorded, { ...entryOf(foreign, isoTime(modifiedMs), document.version), provisional: true }]
}

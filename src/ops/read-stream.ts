import type { StreamSnapshot, StreamStore } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'
import { EventStream } from '../stream/event-stream.ts'
import { findForeignWrite } from '../stream/journal/history.ts'
import { parseJournal, type Transaction } from '../stream/journal/journal.ts'
import { eventsAfter } from '../stream/journal/versions.ts'
import { entryOf } from '../stream/operations/transaction.ts'
import { isoTime } from '../stream/time/dates.ts'
import { type TimeReader, timeReaderFor } from '../stream/time/deadlines.ts'
import { parseBody } from './transact/plan.ts'

/** A transaction as readers see it. */
export interface JournalEntry extends Transaction {
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
  transactions(): readonly JournalEntry[]
}

/** A stream as it stands. Reading takes no lease. */
export interface StreamView extends DocumentView {
  readonly name: string
  readonly stored: StreamSnapshot
}

/**
 * Reads one stream.
 *
 * @returns undefined if there is none
 * @throws BadDocument it cannot be read as an event stream; the store's faults
 */
export async function readStream(
  store: StreamStore,
  name: string,
  signal?: AbortSignal,
): Promise<StreamView | undefined> {
  const stored = await store.read(name, signal)
  return stored && viewOf(stored, store.nowMs())
}

/** What a stored body says. @throws BadDocument */
export function viewOf(stored: StreamSnapshot, nowMs: number): StreamView {
  const document = parseBody(stored.body, stored.name)
  return { name: stored.name, stored, ...viewDocument(document, nowMs, stored) }
}

/** What a store knows of a document beside it: when it was last written, and the highest version that was ever seen. */
type Beside = Pick<StreamSnapshot, 'modifiedMs' | 'versionFloor'>

export function viewDocument(document: StreamDocument, nowMs: number, beside: Beside): DocumentView {
  const { read } = timeReaderFor(document, { nowMs, lastModifiedMs: beside.modifiedMs })
  let seen: readonly JournalEntry[] | undefined
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

function history(document: StreamDocument, { modifiedMs, versionFloor }: Beside): JournalEntry[] {
  const recorded = parseJournal(document.journal, document.prefix).map(tx => ({ ...tx, provisional: false }))
  const foreign = document.events.length > 0 ? findForeignWrite(document, versionFloor) : undefined
  if (foreign === undefined) return recorded
  return [...recorded, { ...entryOf(foreign, isoTime(modifiedMs), document.version), provisional: true }]
}

/** Which version of a stream is asked for: by its number, or the one that was valid at a time, epoch ms. */
export type VersionPoint = { readonly version: number } | { readonly atMs: number }

/** A stream at one of its versions. */
export interface ViewAt {
  readonly version: number
  /** The time it is looked at from, epoch ms: the one asked for, else that of its transaction. */
  readonly nowMs: number
  /** When its transaction was written; `undefined` where the entry's time cannot be read. */
  readonly atMs: number | undefined
  /** When leasectl first wrote a document that others had made; the history begins there. */
  readonly adoptedMs?: number
  /** Its events as they were then (`eventsAfter` says what of them), in what is else the document of now. */
  readonly document: StreamDocument
  /** The transactions up to it, oldest first. */
  readonly past: readonly JournalEntry[]
}

export type FoundAt =
  | { readonly kind: 'found'; readonly at: ViewAt }
  /** There never was such a version, or the time is before the first. `known` is `undefined` where nothing was recorded. */
  | { readonly kind: 'never'; readonly known: KnownVersions | undefined }

export interface KnownVersions {
  readonly first: number
  readonly last: number
  /** Time of the first, epoch ms. */
  readonly firstMs: number | undefined
  /** The first is the adoption of a document that others had made. */
  readonly adopted: boolean
}

/** The stream at an earlier version, replayed from its journal. Of one that others keep, history begins at its adoption. */
export function viewAt(view: StreamView, point: VersionPoint): FoundAt {
  const all = view.transactions()
  const index = all.findLastIndex(tx => isUpTo(tx, point, view))
  const last = all[index]
  const wanted = last !== undefined && (!('version' in point) || last.version === point.version)
  // What others wrote before anybody adopted the document is no version.
  if (!wanted || all[0]?.provisional === true) return { kind: 'never', known: knownVersions(view) }
  const past = all.slice(0, index + 1)
  const events = eventsAfter(view.document.events, past, all.slice(index + 1))
  const atMs = view.time(last.at)
  const first = all[0]
  const adoptedMs = first?.op === 'adopt' ? view.time(first.at) : undefined
  return {
    kind: 'found',
    at: {
      version: last.version,
      nowMs: 'atMs' in point ? point.atMs : (atMs ?? view.nowMs),
      atMs,
      ...(adoptedMs === undefined ? {} : { adoptedMs }),
      document: { ...view.document, version: last.version, at: last.at, events },
      past,
    },
  }
}

/** A stream before it was created: version 0, without events. */
export function viewBefore(view: StreamView, atMs: number): ViewAt {
  return { version: 0, nowMs: atMs, atMs, document: { ...view.document, version: 0, events: [] }, past: [] }
}

/** The same of the stream as it stands. */
export function viewNow(view: StreamView): ViewAt {
  const { document, nowMs } = view
  return { version: document.version, nowMs, atMs: view.time(document.at), document, past: view.transactions() }
}

function isUpTo(tx: JournalEntry, point: VersionPoint, view: StreamView): boolean {
  if ('version' in point) return !tx.provisional && tx.version <= point.version
  const ms = view.time(tx.at)
  return ms !== undefined && ms <= point.atMs
}

function knownVersions(view: StreamView): KnownVersions | undefined {
  const recorded = view.transactions().filter(tx => !tx.provisional)
  const [first, last] = [recorded[0], recorded.at(-1)]
  if (first === undefined || last === undefined) return undefined
  return { first: first.version, last: last.version, firstMs: view.time(first.at), adopted: first.op === 'adopt' }
}

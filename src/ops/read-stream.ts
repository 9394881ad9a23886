import type { StreamSnapshot, StreamStore } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'
import type { StreamEvent } from '../stream/event.ts'
import { EventStream } from '../stream/event-stream.ts'
import { declaredGates, findForeignWrite } from '../stream/journal/history.ts'
import { parseJournal, type Transaction } from '../stream/journal/journal.ts'
import { eventsAfter } from '../stream/journal/versions.ts'
import { entryOf } from '../stream/operations/transaction.ts'
import { isoTime } from '../stream/time/dates.ts'
import { type TimeReader, timeReaderFor } from '../stream/time/deadlines.ts'
import { type UpstreamResult, upstreamResults } from '../stream/upstream-results.ts'
import { parseBody } from './transact/plan.ts'

/** A transaction for readers. */
export interface JournalEntry extends Transaction {
  /** A foreign write that no transaction has recorded yet: it has no number; `version` is that of the document. */
  readonly provisional: boolean
}

/** A document with its events, times and history. */
export interface DocumentView {
  readonly document: StreamDocument
  readonly stream: EventStream
  /** Reads the document's date texts, old culture dates included. */
  readonly time: TimeReader
  /** The store's clock at the time of reading, epoch ms. */
  readonly nowMs: number
  /** The history, oldest first, with an unrecorded foreign write at the end. */
  transactions(): readonly JournalEntry[]
}

/** The current state of a stream. Reading takes no lease. */
export interface StreamView extends DocumentView {
  readonly name: string
  readonly stored: StreamSnapshot
}

/**
 * Reads one stream.
 *
 * @returns undefined if there is none
 * @throws BadDocument if the document is unreadable; the store's faults
 */
export async function readStream(
  store: StreamStore,
  name: string,
  signal?: AbortSignal,
): Promise<StreamView | undefined> {
  const stored = await store.read(name, signal)
  return stored && viewOf(stored, store.nowMs())
}

/** Parses a stored body. @throws BadDocument */
export function viewOf(stored: StreamSnapshot, nowMs: number): StreamView {
  const document = parseBody(stored.body, stored.name)
  return { name: stored.name, stored, ...viewDocument(document, nowMs, stored) }
}

/** The results of earlier events that an event works with. */
export function resultsFor({ stream, transactions }: DocumentView, event: StreamEvent): readonly UpstreamResult[] {
  return upstreamResults(stream, event, declaredGates(transactions()))
}

/** The store's facts beside a document: the time of the last write, and the highest known version. */
type Beside = Pick<StreamSnapshot, 'modifiedMs' | 'versionFloor'>

export function viewDocument(document: StreamDocument, nowMs: number, beside: Beside): DocumentView {
  const { read } = timeReaderFor(document, { nowMs, lastModifiedMs: beside.modifiedMs })
  let entries: readonly JournalEntry[] | undefined
  return {
    document,
    stream: new EventStream(document.events),
    time: read,
    nowMs,
    transactions() {
      entries ??= history(document, beside)
      return entries
    },
  }
}

function history(document: StreamDocument, { modifiedMs, versionFloor }: Beside): JournalEntry[] {
  const recorded = parseJournal(document.journal, document.prefix).map(tx => ({ ...tx, provisional: false }))
  const foreign = document.events.length > 0 ? findForeignWrite(document, versionFloor) : undefined
  if (foreign === undefined) return recorded
  return [...recorded, { ...entryOf(foreign, isoTime(modifiedMs), document.version), provisional: true }]
}

/** A version of a stream: by its number, or the one that was current at a time, epoch ms. */
export type VersionPoint = { readonly version: number } | { readonly atMs: number }

/** A stream at one of its versions. */
export interface ViewAt {
  readonly version: number
  /** The time that counts as now, epoch ms: the wanted one, else that of the transaction. */
  readonly nowMs: number
  /** When its transaction was written, epoch ms; `undefined` if unreadable. */
  readonly atMs: number | undefined
  /** When leasectl first wrote a foreign document: its history begins there. */
  readonly adoptedMs?: number
  /** The present document with the events of that version (see `eventsAfter`). */
  readonly document: StreamDocument
  /** The transactions up to this version, oldest first. */
  readonly past: readonly JournalEntry[]
}

export type FoundAt =
  | { readonly kind: 'found'; readonly at: ViewAt }
  /** There was no such version, or the time is before the first. `known` is `undefined` without any record. */
  | { readonly kind: 'never'; readonly known: KnownVersions | undefined }

export interface KnownVersions {
  readonly first: number
  readonly last: number
  /** Time of the first, epoch ms. */
  readonly firstMs: number | undefined
  /** The first version is the adoption of a foreign document. */
  readonly adopted: boolean
}

/** The stream at an earlier version, replayed from its journal, which begins at the adoption of a foreign stream. */
export function viewAt(view: StreamView, point: VersionPoint): FoundAt {
  const all = view.transactions()
  const index = all.findLastIndex(tx => isUpTo(tx, point, view))
  const last = all[index]
  const wanted = last !== undefined && (!('version' in point) || last.version === point.version)
  // A foreign write before the adoption of the document is not a version.
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

/** A stream before its creation: version 0, without events. */
export function viewBefore(view: StreamView, atMs: number): ViewAt {
  return { version: 0, nowMs: atMs, atMs, document: { ...view.document, version: 0, events: [] }, past: [] }
}

/** The stream at its present version. */
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

import type { StreamDocument } from '../stream/document.ts'
import { eventsAfter } from '../stream/journal/versions.ts'
import type { SeenTransaction, StreamView } from './read-stream.ts'

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
  readonly past: readonly SeenTransaction[]
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

function isUpTo(tx: SeenTransaction, point: VersionPoint, view: StreamView): boolean {
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

import type { Decision, OthersLately, Stored } from '../../store/store.ts'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../stream/document.ts'
import { BadDocument } from '../../stream/errors.ts'
import type { StreamEvent } from '../../stream/event.ts'
import { lateWriters } from '../../stream/journal/journal.ts'
import { type Applied, applyOperation } from '../../stream/operations/apply.ts'
import type { Authorship, Operation } from '../../stream/operations/operation.ts'
import type { Pin } from '../../stream/precondition.ts'
import { summarize } from '../../stream/summarize.ts'
import { isoTime } from '../../stream/time/dates.ts'
import { decodeDocument } from '../../stream/xml/decode.ts'
import { readDocument } from '../../stream/xml/read.ts'
import { escapeAttribute } from '../../stream/xml/text.ts'
import { writeDocument } from '../../stream/xml/write.ts'

/** One operation on its way into a document. */
export interface PlannedOperation {
  /** Of an edit, its name only: `edit` tells what it does. */
  readonly operation: Operation
  readonly author: Authorship
  readonly pin: Pin
  /** Drawn for this call: its entry in the journal has it. */
  readonly nonce: string
  /** A fresh UUID, used if the document has no `lc:born`. */
  readonly born: string
  /** Several transactions as one, all or none; it finds an earlier try of its own itself. */
  readonly edit?: (document: StreamDocument, current: CurrentState, nowMs: number) => Applied
  /** What the latest plan says of it; `undefined` if that had no room for it. */
  applied: Applied | Unapplied | undefined
  /** The life of the stream (`lc:born`) to which a write was sent that carries it; the answer may be outstanding. */
  sentTo: string | undefined
  /** Of a heartbeat with a text: the text that stood before the latest try. */
  textBefore?: string
}

type Unapplied =
  /** It threw. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** See `StreamReplaced`. */
  | { readonly kind: 'replaced' }

/** What a plan needs to know of the stored state; a stream that is being created has none. */
export type CurrentState = Pick<Stored, 'body' | 'versionFloor'> & Partial<Pick<Stored, 'name' | 'modifiedMs'>>

/** What to write, and the document that is there once it is written. */
export interface Plan {
  readonly decision: Decision
  readonly document: StreamDocument
}

/** One plan takes so many operations times events: half a second of work. On a slow machine too it has to end within half a lease. */
const MAX_WORK = 500_000
/** So much history, in characters, is gone through in the time of an event. */
const JOURNAL_OF_AN_EVENT = 400

/** Who wrote in so many ms is most likely to write again. */
const LATELY_MS = 5_000

/** How many operations one plan takes of a document, at least one. */
export function roomIn({ events, journal }: StreamDocument): number {
  return Math.max(1, Math.floor(MAX_WORK / (events.length + journal.length / JOURNAL_OF_AN_EVENT + 1)))
}

/**
 * Plans operations on one stream, each a transaction of its own, in order: one write for all of them. Of a large stream
 * a plan takes a few operations only, at least one; the others have to be planned after that is written. It is called
 * again with a fresh state when a write was refused or unanswered; an operation whose earlier try is in the document
 * is then recognised by its command id, and as its own by its nonce. Sent once, it is never written into another life of the stream.
 *
 * @param known the document in `current.body`, where the caller has it
 */
export function plan(
  group: readonly PlannedOperation[],
  current: CurrentState,
  nowMs: number,
  known?: StreamDocument,
): Plan {
  let document = known ?? parseBody(current.body, current.name)
  let changed = false
  let lastBy = ''
  const room = roomIn(document)
  for (const [at, planned] of group.entries()) {
    const applied = at < room ? tryOne(planned, document, current, nowMs) : undefined
    planned.applied = applied
    const next = applied?.kind === 'changed' || applied?.kind === 'refused' ? applied.document : undefined
    if (next === undefined) continue
    document = next
    changed = true
    lastBy = planned.author.by
  }
  if (!changed) return { decision: { kind: 'leave' }, document }
  const sent = group.filter(planned => planned.applied?.kind === 'changed' && planned.sentTo === undefined)
  for (const planned of sent) planned.sentTo = document.born
  const discard = () => {
    for (const planned of sent) planned.sentTo = undefined
  }
  const body = Buffer.from(writeDocument(document).text)
  const summary = summarize(document, { nowMs, lastBy, ...lastModified(current) })
  const othersLately = () => othersIn(group, document, nowMs)
  return { decision: { kind: 'put', body, summary, discard, othersLately }, document }
}

/** Who has written lately beside those of the group, as far as their names tell them apart. */
function othersIn(
  group: readonly PlannedOperation[],
  { journal, prefix }: StreamDocument,
  nowMs: number,
): OthersLately {
  const { names, changes, tookMs } = lateWriters(journal, prefix, isoTime(nowMs - LATELY_MS))
  const own = new Set(group.map(({ author }) => escapeAttribute(author.by)))
  return { count: names.difference(own).size, turnMs: changes > 1 ? tookMs / changes : undefined }
}

/** A body of 0 bytes is a document without events. @throws BadDocument with the name of the stream */
export function parseBody(body: Uint8Array, name: string | undefined): StreamDocument {
  try {
    return body.length === 0 ? EMPTY_DOCUMENT : readDocument(decodeDocument(body))
  } catch (error) {
    throw error instanceof BadDocument && name !== undefined ? error.in(name) : error
  }
}

/** An operation that cannot be applied at all fails alone; a document that cannot be read fails them all. */
function tryOne(
  planned: PlannedOperation,
  document: StreamDocument,
  current: CurrentState,
  nowMs: number,
): PlannedOperation['applied'] {
  if (isAnotherLife(planned.sentTo, document.born)) return { kind: 'replaced' }
  try {
    if (planned.edit !== undefined) return planned.edit(document, current, nowMs)
    return applyOne(planned, document, current, nowMs)
  } catch (error) {
    if (error instanceof BadDocument) throw error
    return { kind: 'failed', error }
  }
}

/** A document that the 2013 library wrote anew, and an empty one, may tell of no life: `''`. */
function isAnotherLife(sentTo: string | undefined, born: string): boolean {
  return sentTo !== undefined && sentTo !== '' && born !== '' && born !== sentTo
}

function applyOne(planned: PlannedOperation, document: StreamDocument, current: CurrentState, nowMs: number): Applied {
  const landed = landedTouch(planned, document)
  if (landed !== undefined) return landed
  noteText(planned, document)
  return applyOperation(document, planned.operation, planned.author, {
    nowMs,
    versionFloor: current.versionFloor,
    born: planned.pin.ifBorn || planned.born,
    nonce: planned.nonce,
    // Compared at each try: an earlier one that landed is found by its command id before.
    ...planned.pin,
    ...lastModified(current),
  })
}

/**
 * A heartbeat leaves no command id: an earlier try counts if the claim is still ours and lasts as long as it asked for, and
 * if its text stands, or another that came later. Sent again, it would overwrite that one.
 */
function landedTouch(planned: PlannedOperation, document: StreamDocument): Applied | undefined {
  const { operation, applied, textBefore } = planned
  if (operation.op !== 'touch' || planned.sentTo === undefined || applied?.kind !== 'changed') return undefined
  const claim = applied.result.claim
  const event = eventOf(document, operation.event)
  if (claim === undefined || event?.lc.fence !== String(claim.fence)) return undefined
  if (operation.msg && event.msg !== operation.msg && event.msg === textBefore) return undefined
  return (event.lc.until ?? '') >= claim.until ? { kind: 'unchanged', result: applied.result } : undefined
}

function noteText(planned: PlannedOperation, document: StreamDocument): void {
  const { operation } = planned
  if (operation.op !== 'touch' || !operation.msg) return
  planned.textBefore = eventOf(document, operation.event)?.msg ?? ''
}

function eventOf({ events }: StreamDocument, wanted: string): StreamEvent | undefined {
  return events.find(({ id }) => id === wanted)
}

function lastModified(current: CurrentState): { lastModifiedMs?: number } {
  return current.modifiedMs === undefined ? {} : { lastModifiedMs: current.modifiedMs }
}

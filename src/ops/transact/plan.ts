import type { Decision, OthersLately, StreamSnapshot } from '../../store/store.ts'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../stream/document.ts'
import { BadDocument } from '../../stream/errors.ts'
import type { StreamEvent } from '../../stream/event.ts'
import { lateWriters } from '../../stream/journal/journal.ts'
import { type Applied, applyOperation } from '../../stream/operations/apply.ts'
import type { Authorship, ChangeResult, Operation } from '../../stream/operations/operation.ts'
import type { Precondition } from '../../stream/precondition.ts'
import { summarize } from '../../stream/summarize.ts'
import { isoTime } from '../../stream/time/dates.ts'
import { decodeDocument } from '../../stream/xml/decode.ts'
import { readDocument } from '../../stream/xml/read.ts'
import { escapeAttribute } from '../../stream/xml/text.ts'
import { writeDocument } from '../../stream/xml/write.ts'

/** An operation that waits to be written into a stream. */
export interface PendingOperation {
  /** Of an edit, its name only: `edit` says what it does. */
  readonly operation: Operation
  readonly author: Authorship
  readonly pin: Precondition
  /** Drawn for this call: its entry in the journal has it. */
  readonly nonce: string
  /** A fresh UUID, used if the document has no `lc:born`. */
  readonly born: string
  /** Several transactions as one, all or none; it finds an earlier try of its own itself. */
  readonly edit?: (document: StreamDocument, current: CurrentState, nowMs: number) => Applied
}

/** The last write that carried an operation. Its answer may be outstanding. */
export interface SentOperation {
  /** The incarnation of the stream (`lc:born`) that it was sent to first. */
  readonly sentToIncarnation: string
  readonly result: ChangeResult
  /** Of a heartbeat with a text: the text that stood before. */
  readonly textBefore: string | undefined
}

/** What applying one operation came to. */
export type OperationResult =
  | Applied
  /** It threw. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** See `StreamReplaced`. */
  | { readonly kind: 'replaced' }

/** What a plan needs to know of the stored state; a stream that is being created has none. */
export type CurrentState = Pick<StreamSnapshot, 'body' | 'versionFloor'> &
  Partial<Pick<StreamSnapshot, 'name' | 'modifiedMs'>>

/** What a group of operations makes of a stream. */
export interface AppliedGroup {
  /** What to write. */
  readonly decision: Decision
  /** The document that is there once it is written. */
  readonly document: StreamDocument
  /** In the order of the group; shorter than the group where there was no room for the rest. */
  readonly results: readonly OperationResult[]
  /** What has been sent of each operation once the decision is written. */
  readonly sent: readonly (SentOperation | undefined)[]
}

/** So many operations times events are applied at once: half a second of work. On a slow machine too it has to end within half a lease. */
const MAX_WORK = 500_000
/** So much history, in characters, is gone through in the time of an event. */
const JOURNAL_OF_AN_EVENT = 400

/** Who wrote in so many ms is most likely to write again. */
const LATELY_MS = 5_000

/** How many operations are applied to a document at once, at least one. */
export function maxOperations({ events, journal }: StreamDocument): number {
  return Math.max(1, Math.floor(MAX_WORK / (events.length + journal.length / JOURNAL_OF_AN_EVENT + 1)))
}

/**
 * Applies operations to one stream, each a transaction of its own, in order: one write for all of them. A large stream
 * takes a few of them only, at least one; the others have to be applied after that is written. It is called again with
 * a fresh state when a write was refused or unanswered; an operation whose earlier try is in the document is then
 * recognised by its command id, and as its own by its nonce. Once sent, it is never written into another incarnation of
 * the stream.
 *
 * @param sent what was sent of each operation before
 * @param known the document in `current.body`, where the caller has it
 */
export function applyGroup(
  group: readonly PendingOperation[],
  current: CurrentState,
  nowMs: number,
  sent: AppliedGroup['sent'] = [],
  known?: StreamDocument,
): AppliedGroup {
  const original = known ?? parseBody(current.body, current.name)
  let document = original
  let lastBy: string | undefined
  const results: OperationResult[] = []
  const texts: (string | undefined)[] = []
  for (const [at, pending] of group.slice(0, maxOperations(original)).entries()) {
    texts.push(textOf(pending.operation, document))
    const result = applyOne(pending, sent[at], document, current, nowMs)
    results.push(result)
    if ((result.kind !== 'changed' && result.kind !== 'refused') || result.document === undefined) continue
    document = result.document
    lastBy = pending.author.by
  }
  if (lastBy === undefined) return { decision: { kind: 'leave' }, document, results, sent }
  const body = Buffer.from(writeDocument(document).text)
  const summary = summarize(document, { nowMs, lastBy, ...lastModified(current) })
  const othersLately = () => othersIn(group, document, nowMs)
  const sentNow = group.map((_, at) => {
    const result = results[at]
    if (result?.kind !== 'changed') return sent[at]
    const sentToIncarnation = sent[at]?.sentToIncarnation ?? document.born
    return { sentToIncarnation, result: result.result, textBefore: texts[at] }
  })
  return { decision: { kind: 'put', body, summary, othersLately }, document, results, sent: sentNow }
}

/** Who has written lately beside those of the group, as far as their names tell them apart. */
function othersIn(
  group: readonly PendingOperation[],
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
function applyOne(
  pending: PendingOperation,
  sent: SentOperation | undefined,
  document: StreamDocument,
  current: CurrentState,
  nowMs: number,
): OperationResult {
  if (isAnotherIncarnation(sent?.sentToIncarnation, document.born)) return { kind: 'replaced' }
  try {
    if (pending.edit !== undefined) return pending.edit(document, current, nowMs)
    return landedTouch(pending.operation, sent, document) ?? applyNew(pending, document, current, nowMs)
  } catch (error) {
    if (error instanceof BadDocument) throw error
    return { kind: 'failed', error }
  }
}

/** A document that the 2013 library wrote anew, and an empty one, may name no incarnation: `''`. */
function isAnotherIncarnation(sentTo: string | undefined, born: string): boolean {
  return sentTo !== undefined && sentTo !== '' && born !== '' && born !== sentTo
}

function applyNew(pending: PendingOperation, document: StreamDocument, current: CurrentState, nowMs: number): Applied {
  return applyOperation(document, pending.operation, pending.author, {
    nowMs,
    versionFloor: current.versionFloor,
    born: pending.pin.ifBorn || pending.born,
    nonce: pending.nonce,
    // Compared at each try: an earlier one that landed is found by its command id before.
    ...pending.pin,
    ...lastModified(current),
  })
}

/**
 * A heartbeat leaves no command id: an earlier try counts if the claim is still ours and lasts as long as it asked for, and
 * if its text stands, or another that came later. Sent again, it would overwrite that one.
 */
function landedTouch(
  operation: Operation,
  sent: SentOperation | undefined,
  document: StreamDocument,
): Applied | undefined {
  if (operation.op !== 'touch' || sent === undefined) return undefined
  const { result, textBefore } = sent
  const event = eventOf(document, operation.event)
  if (result.claim === undefined || event?.lc.fence !== String(result.claim.fence)) return undefined
  if (operation.msg && event.msg !== operation.msg && event.msg === textBefore) return undefined
  return (event.lc.until ?? '') >= result.claim.until ? { kind: 'unchanged', result } : undefined
}

/** The text that a heartbeat with a text is about to replace. */
function textOf(operation: Operation, document: StreamDocument): string | undefined {
  if (operation.op !== 'touch' || !operation.msg) return undefined
  return eventOf(document, operation.event)?.msg ?? ''
}

function eventOf({ events }: StreamDocument, wanted: string): StreamEvent | undefined {
  return events.find(({ id }) => id === wanted)
}

function lastModified(current: CurrentState): { lastModifiedMs?: number } {
  return current.modifiedMs === undefined ? {} : { lastModifiedMs: current.modifiedMs }
}

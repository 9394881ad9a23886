import type { Decision, OthersLately, StreamSnapshot } from '../../store/store.ts'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../stream/document.ts'
import { BadDocument } from '../../stream/errors.ts'
import type { StreamEvent } from '../../stream/event.ts'
import { findCommand, hasCommand, lateWriters } from '../../stream/journal/journal.ts'
import { type Applied, applyOperation, type Precondition } from '../../stream/operations/apply.ts'
import type { Authorship, ChangeResult, Operation } from '../../stream/operations/operation.ts'
import { trimSession } from '../../stream/operations/trim.ts'
import { summarize } from '../../stream/summarize.ts'
import { isoTime } from '../../stream/time/dates.ts'
import { decodeDocument } from '../../stream/xml/decode.ts'
import { readDocument } from '../../stream/xml/read.ts'
import { escapeAttribute } from '../../stream/xml/text.ts'
import { writeDocument } from '../../stream/xml/write.ts'

/** An operation to write into a stream. */
export interface PendingOperation {
  /** For an edit only a name: `edit` has the steps. */
  readonly operation: Operation
  readonly author: Authorship
  readonly pin: Precondition
  /** A random text of this call, in its journal entry. */
  readonly nonce: string
  /** A fresh UUID, used if the document has no `lc:born`. */
  readonly born: string
  /** Applies several transactions, all or none; it recognizes its own earlier attempt itself. */
  readonly edit?: (document: StreamDocument, current: CurrentState, nowMs: number) => Applied
  /** Whether ETag and summary say that the operation has nothing to do. The document is then not read. */
  readonly isIdle?: (current: StreamSnapshot) => boolean
  /** For `init`: the name was taken a moment ago. What is there is looked at before a stream is created. */
  readonly isTaken?: boolean
  /** Chooses the event of `operation`. Without one the operation is refused, and nothing of it is written. */
  readonly choose?: ChooseEvent
}

/**
 * Chooses the event of an operation in the document as the operations before it leave it; `undefined`: none. Called for each
 * attempt to write.
 *
 * @param made the event of an earlier attempt that was applied: it must be chosen again
 */
export type ChooseEvent = (document: StreamDocument, made: string | undefined) => string | undefined

/** The last write with an operation. Its answer may be outstanding. */
export interface SentOperation {
  /** The incarnation of the stream (`lc:born`) to which it was sent first. */
  readonly sentToIncarnation: string
  readonly result: ChangeResult
  /** For a heartbeat with a text: the text before it. */
  readonly textBefore: string | undefined
}

/** The outcome of applying one operation. */
export type OperationResult =
  | Applied
  /** It threw. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** See `StreamReplaced`. */
  | { readonly kind: 'replaced' }

/** The stored state that a plan needs; partial for a stream that is being created. */
export type CurrentState = Pick<StreamSnapshot, 'body' | 'versionFloor'> &
  Partial<Pick<StreamSnapshot, 'name' | 'modifiedMs'>>

/** The effect of a group of operations on a stream. */
export interface AppliedGroup {
  /** What to write. */
  readonly decision: Decision
  /** The document after the write. */
  readonly document: StreamDocument
  /** In the order of the group; shorter than the group if the rest did not fit. */
  readonly results: readonly OperationResult[]
  /** The state of each operation once the decision is sent. */
  readonly sent: readonly (SentOperation | undefined)[]
}

/** Maximum work at once, operations times events: half a second. A slow machine must finish within half a lease. */
const MAX_WORK = 500_000
/** Characters of history that take as long as an event. */
const JOURNAL_OF_AN_EVENT = 400

/** Writers within this time, ms, are likely to write again. */
const LATELY_MS = 5_000

/** Maximum number of operations on a document at once, at least one. */
export function maxOperations({ events, journal }: StreamDocument): number {
  return Math.max(1, Math.floor(MAX_WORK / (events.length + journal.length / JOURNAL_OF_AN_EVENT + 1)))
}

/**
 * Applies operations to one stream in order, each as its own transaction, for one write. A large stream takes only some
 * of them, at least one; the others must be applied after that write. It is called again with a fresh state after a
 * rejected or unanswered write; an operation whose earlier attempt is in the document is then recognized by its command
 * id, and as its own by its nonce. Once sent, an operation is never written into another incarnation of the stream.
 *
 * @param sent the earlier writes of each operation
 * @param known the document in `current.body`, if the caller has it
 */
export function applyGroup(
  group: readonly PendingOperation[],
  current: CurrentState,
  nowMs: number,
  sent: AppliedGroup['sent'] = [],
  known?: StreamDocument,
): AppliedGroup {
  const original = known ?? parseBody(current.body, current.name, true)
  let document = original
  let lastBy: string | undefined
  const commands = commandsOf(original)
  const moment: Moment = { current, nowMs, commands }
  const results: OperationResult[] = []
  const texts: (string | undefined)[] = []
  for (const [at, pending] of group.slice(0, maxOperations(original)).entries()) {
    texts.push(textOf(pending.operation, document))
    const result = applyOne(pending, sent[at], document, moment)
    results.push(result)
    if ((result.kind !== 'changed' && result.kind !== 'refused') || result.document === undefined) continue
    document = result.document
    lastBy = pending.author.by
  }
  if (lastBy === undefined) return { decision: { kind: 'leave' }, document, results, sent }
  // An edit has ids of its own for its steps.
  if (group.every(({ edit }) => edit === undefined)) COMMANDS.set(document, commands)
  const body = Buffer.from(writeDocument(document).text)
  const summary = summarize(document, { nowMs, lastBy, ...lastModified(current) })
  const othersLately = () => otherWriters(group, document, nowMs)
  const sentNow = group.map((_, at) => {
    const result = results[at]
    if (result?.kind !== 'changed') return sent[at]
    const sentToIncarnation = sent[at]?.sentToIncarnation ?? document.born
    return { sentToIncarnation, result: result.result, textBefore: texts[at] }
  })
  return { decision: { kind: 'put', body, summary, othersLately }, document, results, sent: sentNow }
}

/** The state and time that a group of operations is applied to. */
interface Moment {
  readonly current: CurrentState
  readonly nowMs: number
  readonly commands?: Commands
}

/**
 * The command ids of a document and of the operations applied to it since. The journal of a changed document is a string in
 * pieces, which a search would copy into one after each change.
 */
class Commands {
  readonly #journal: string
  readonly #applied = new Set<string>()

  constructor({ journal }: StreamDocument) {
    this.#journal = journal
  }

  /** Whether more ids than this would take longer than a new search. */
  get isFull(): boolean {
    return this.#applied.size > MAX_APPLIED
  }

  /** Whether no entry has the id so far. One may have it from now on, even if the change that it was asked for fails. */
  isNew(commandId: string): boolean {
    const isNew = !this.#applied.has(commandId) && !hasCommand(this.#journal, commandId)
    this.#applied.add(commandId)
    return isNew
  }
}

const MAX_APPLIED = 1_000

/** Of documents that this process has changed and may change again. */
const COMMANDS = new WeakMap<StreamDocument, Commands>()

function commandsOf(document: StreamDocument): Commands {
  const known = COMMANDS.get(document)
  return known === undefined || known.isFull ? new Commands(document) : known
}

/** The recent writers besides those of the group, as far as their names differ. */
function otherWriters(
  group: readonly PendingOperation[],
  { journal, prefix }: StreamDocument,
  nowMs: number,
): OthersLately {
  const { names, changes, tookMs } = lateWriters(journal, prefix, isoTime(nowMs - LATELY_MS))
  const own = new Set(group.map(({ author }) => escapeAttribute(author.by)))
  return { count: names.difference(own).size, turnMs: changes > 1 ? tookMs / changes : undefined }
}

/**
 * A body of 0 bytes is a document without events.
 * @param willBeWritten see `readDocument`
 * @throws BadDocument with the name of the stream
 */
export function parseBody(body: Uint8Array, name: string | undefined, willBeWritten = false): StreamDocument {
  try {
    return body.length === 0 ? EMPTY_DOCUMENT : readDocument(decodeDocument(body), willBeWritten)
  } catch (error) {
    throw error instanceof BadDocument && name !== undefined ? error.in(name) : error
  }
}

/** The result that an operation would have in a document that was read. Nothing is written. */
export function tryOperation(
  operation: Operation,
  author: Authorship,
  document: StreamDocument,
  current: CurrentState,
  nowMs: number,
): OperationResult {
  return applyOne({ operation, author, pin: {}, nonce: '', born: 'trial' }, undefined, document, { current, nowMs })
}

/** An invalid operation fails alone; an unreadable document fails the whole group. */
function applyOne(
  pending: PendingOperation,
  sent: SentOperation | undefined,
  document: StreamDocument,
  moment: Moment,
): OperationResult {
  if (isAnotherIncarnation(sent?.sentToIncarnation, document.born)) return { kind: 'replaced' }
  try {
    if (pending.edit !== undefined) return pending.edit(document, moment.current, moment.nowMs)
    if (pending.choose !== undefined) return applyChosen(pending, pending.choose, document, moment)
    return appliedTouch(pending.operation, sent, document) ?? applyNew(pending, document, moment)
  } catch (error) {
    if (error instanceof BadDocument) throw error
    return { kind: 'failed', error }
  }
}

/** A document rewritten by the 2013 library, or an empty one, may have no incarnation: `''`. */
function isAnotherIncarnation(sentTo: string | undefined, born: string): boolean {
  return sentTo !== undefined && sentTo !== '' && born !== '' && born !== sentTo
}

function applyChosen(
  pending: PendingOperation,
  choose: ChooseEvent,
  document: StreamDocument,
  moment: Moment,
): Applied {
  const event = choose(document, findCommand(document.journal, document.prefix, pending.author.commandId)?.on)
  if (event !== undefined) {
    return applyNew({ ...pending, operation: { ...pending.operation, event } as Operation }, document, moment)
  }
  const message = 'the stream has no event to choose'
  return { kind: 'refused', refusal: { code: 'event-not-found', event: '', status: '', message } }
}

function applyNew(pending: PendingOperation, document: StreamDocument, { current, nowMs, commands }: Moment): Applied {
  const applied = applyOperation(document, pending.operation, pending.author, {
    nowMs,
    versionFloor: current.versionFloor,
    born: pending.pin.ifBorn || pending.born,
    nonce: pending.nonce,
    isNewCommand: commands?.isNew(pending.author.commandId) ?? false,
    // Compared at each attempt: an earlier one that was applied has been found by its command id before.
    ...pending.pin,
    ...lastModified(current),
  })
  const keep = pending.operation.op === 'append' ? pending.operation.keep : undefined
  if (applied.kind !== 'changed' || keep === undefined) return applied
  return { ...applied, document: trimSession(applied.document, keep) }
}

/**
 * Recognizes an earlier attempt of a heartbeat, which leaves no command id: the claim must still be ours and last as
 * long as requested, with this text or a later one, which a repetition would overwrite.
 */
function appliedTouch(
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

/** The text that a heartbeat is about to replace; `undefined` for a heartbeat without a text. */
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

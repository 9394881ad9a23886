import type { StreamDocument } from '../document.ts'
import { attemptOf, fenceOf, isFinal, type StreamEvent } from '../event.ts'
import { ROOT_ID } from '../event-id.ts'
import { EventStream } from '../event-stream.ts'
import { sumOf } from '../fingerprint.ts'
import { attemptsSinceRetry, type ForeignWrite, findForeignWrite, replayStatuses } from '../journal/history.ts'
import { findCommand, type JournalChange, parseJournal, type Transaction } from '../journal/journal.ts'
import { changesSuspension } from '../journal/suspensions.ts'
import { silenceLimitMs } from '../time/deadlines.ts'
import { advance, init } from './add-events.ts'
import { acknowledge, checkExpired, end } from './cancel-abort.ts'
import { checkOpen, refuse, withoutEvent } from './checks.ts'
import { commandHash } from './command-hash.ts'
import type { Draft } from './draft.ts'
import { fail, noAttemptsText, skip } from './fail.ts'
import type { Authorship, ChangeResult, Operation, Refusal } from './operation.ts'
import { retry } from './retry.ts'
import { append } from './session.ts'
import { settle } from './settle.ts'
import { signal } from './signal.ts'
import { resume, suspend } from './suspension.ts'
import {
  checkSize,
  correctTimes,
  hasWork,
  isWrittenFarAhead,
  openTransaction,
  recordSettling,
  type TransactionContext,
  withEntry,
} from './transaction.ts'
import { checkRetry } from './undo.ts'
import { claimOf, complete, release, set, start, touch } from './work.ts'

/** The state of a stream that the caller has read: the change is refused in any other (stream-format 5). */
export interface Precondition {
  /** Refuse (`changed`) unless the stream is at this version and no foreign write followed. */
  readonly ifVersion?: number
  /**
   * Refuse unless the stream is this incarnation (`lc:born`). Another writer may have dropped that attribute: without a
   * version to compare, the stream counts as this incarnation, and the change writes the attribute again.
   */
  readonly ifBorn?: string
  /**
   * `sumOf` the events when they were read. A foreign write before that read is then part of the known state; without
   * this field, every unrecorded foreign write breaks the pin. Heartbeats, which raise no version, never break it.
   */
  readonly ifSum?: string
}

/** The inputs of an operation beside the document: time, versions seen outside, and the precondition. */
export interface OperationContext extends TransactionContext, Precondition {
  /** A random text of this call for all its attempts: identifies its journal entry among others with its command id. */
  readonly nonce?: string
  /** True if the caller knows that no entry of the journal has the command id. */
  readonly isNewCommand?: boolean
}

export type Applied =
  /** The document to write. A heartbeat keeps the version. */
  | { readonly kind: 'changed'; readonly document: StreamDocument; readonly result: ChangeResult }
  /** The state is as wanted already; nothing to write. */
  | { readonly kind: 'unchanged'; readonly result: ChangeResult }
  /** With a `document` if foreign writers left events to close: it is written in spite of the refusal. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly document?: StreamDocument }

/** An operation with its author and its fingerprint. */
interface Command {
  readonly operation: Operation
  readonly author: Authorship
  readonly hash: string
  readonly nonce: string | undefined
}

/**
 * One transaction as a pure function: document, operation and author → a new document and its changes, or a refusal.
 * Order of checks: command id, pin, final, fence, legality (stream-format 4).
 *
 * Before the operation it records a foreign write and settles the document.
 */
export function applyOperation(
  document: StreamDocument,
  operation: Operation,
  author: Authorship,
  context: OperationContext,
): Applied {
  const command = { operation, author, hash: commandHash(operation, author), nonce: context.nonce }
  const repeated = context.isNewCommand ? undefined : findCommand(document.journal, document.prefix, author.commandId)
  if (repeated !== undefined) return repetition(document, repeated, command)
  if (operation.op !== 'init' && document.events.length === 0) return refused(notStarted())
  const foreign = findForeignWrite(document, context.versionFloor)
  // An entry that changes nothing must not make a foreign document ours.
  if (operation.op === 'break-lease' && foreign?.op === 'adopt')
    return unchanged(document, { kind: 'already', target: '' })
  const broken = checkPrecondition(document, context, foreign)
  if (broken !== undefined) return refused(broken)
  const born = operation.op === 'init' ? operation.born : context.born
  const opened = openTransaction(document, { ...context, born }, foreign)
  const draft = operation.op === 'touch' ? recordSettling(opened) : opened
  draft.commandId = author.commandId
  const verdict = dispatch(draft, operation, author.by)
  if (verdict.kind === 'refused') return refusedAfterSettling(document, verdict.refusal, author, context)
  const isFarAhead = isWrittenFarAhead(document, context.nowMs)
  const idle = operation.op === 'settle' && !(operation.record && foreign) && !hasWork(draft) && !isFarAhead
  if (verdict.kind === 'already' || idle) return unchanged(document, verdict)
  // Closing is evaluated once, after all changes, never within a cascade.
  if (operation.op !== 'touch') settle(draft)
  correctTimes(draft)
  return commit(draft, verdict, command)
}

/**
 * A refusal with what has to be written in spite of it. An event may be final only because settling has just closed it,
 * while readers still see it open: the settled document is written, so that the two agree. Times that a wrong clock set
 * far ahead are corrected in the same way: a claim with such an end would block the event until then. An event without
 * attempts left is failed.
 */
function refusedAfterSettling(
  document: StreamDocument,
  refusal: Refusal,
  { by }: Authorship,
  { nowMs, versionFloor, lastModifiedMs, born }: OperationContext,
): Applied {
  const operation = operationInstead(document, refusal, nowMs)
  if (operation === undefined) return refused(refusal)
  const context = { nowMs, versionFloor, born, ...(lastModifiedMs === undefined ? {} : { lastModifiedMs }) }
  const written = applyOperation(document, operation, { commandId: '', by }, context)
  return written.kind === 'changed' ? { kind: 'refused', refusal, document: written.document } : refused(refusal)
}

function operationInstead(
  document: StreamDocument,
  { code, event: id }: Refusal,
  nowMs: number,
): Operation | undefined {
  const event = code === 'no-attempts' ? document.events.find(candidate => candidate.id === id) : undefined
  if (event !== undefined) return { op: 'fail', event: id, msg: noAttemptsText(event, attemptsOf(document, event)) }
  return code === 'already-final' || isWrittenFarAhead(document, nowMs) ? { op: 'settle' } : undefined
}

function attemptsOf({ journal, prefix }: StreamDocument, event: StreamEvent): number {
  return attemptsSinceRetry(parseJournal(journal, prefix), event.id, attemptOf(event))
}

/** Operations that are refused when the document would become too large. Operations that end events stay possible. */
const GROWING: ReadonlySet<Operation['op']> = new Set(['init', 'advance', 'retry', 'set', 'signal', 'append'])

function commit(draft: Draft, verdict: Accepted, command: Command): Applied {
  const { op } = command.operation
  // A heartbeat writes no entry, nor does settling that only corrects times.
  const isQuiet = op === 'touch' || (op === 'settle' && !hasWork(draft))
  const document = isQuiet ? draft.finish() : withEntry(draft.finish(), entryOf(draft, verdict.target, command))
  const full = checkSize(document, GROWING.has(op))
  if (full !== undefined) return refused(op === 'init' ? withoutEvent(full) : full)
  const result = {
    outcome: 'done',
    version: document.version,
    ...effectsOf(draft.changes),
    done: draft.stream.done,
    duplicate: false,
    added: draft.added,
    ...reported(verdict),
    ...(draft.stream.suspended && op !== 'suspend' ? { suspended: true as const } : {}),
  } as const
  return { kind: 'changed', document, result }
}

function entryOf(draft: Draft, on: string, { operation, author, hash, nonce }: Command): Transaction {
  const { commandId, by, why } = author
  return {
    version: draft.version,
    at: draft.now,
    by,
    op: operation.op,
    on,
    commandId,
    ...(nonce === undefined ? {} : { nonce }),
    hash,
    why: why || draft.reason,
    other: false,
    changes: draft.changes,
  }
}

type Accepted = Exclude<DispatchResult, { kind: 'refused' }>

/** The result of an operation that writes nothing: it describes the current document. */
function unchanged(document: StreamDocument, verdict: Accepted): Applied {
  const root = document.events[0]
  const result = {
    outcome: 'already',
    version: document.version,
    changed: [],
    closed: [],
    joined: [],
    opened: [],
    done: root !== undefined && isFinal(root),
    duplicate: false,
    added: [],
    ...reported(verdict),
  } as const
  return { kind: 'unchanged', result }
}

/** Fields that only some operations report. */
function reported({ claim, refused }: Accepted): Pick<ChangeResult, 'claim' | 'refused'> {
  return { ...(claim === undefined ? {} : { claim }), ...(refused === undefined ? {} : { refused }) }
}

function repetition(document: StreamDocument, first: Transaction, { hash, nonce }: Command): Applied {
  if (first.hash === hash) return { kind: 'unchanged', result: resultFromJournal(document, first, nonce) }
  const message = `the command id ${first.commandId} was used for "${`${first.op} ${first.on}`.trim()}" in version ${first.version}; give another one`
  return refused({ code: 'command-id-reused', event: first.on, status: '', message })
}

function refused(refusal: Refusal): Applied {
  return { kind: 'refused', refusal }
}

function notStarted(): Refusal {
  return { code: 'not-started', event: '', status: '', message: 'the document holds no event yet; init starts it' }
}

/** The outcome of an operation on the draft. */
type DispatchResult =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | ({ readonly kind: 'done' } & Target)
  | ({ readonly kind: 'already' } & Target)

/** The target, and the fields that only some operations report. */
type Target = { readonly target: string } & Pick<ChangeResult, 'claim' | 'refused'>

/** Finds the target and applies the operation to the draft. */
function dispatch(draft: Draft, operation: Operation, by: string): DispatchResult {
  if (operation.op === 'settle' || operation.op === 'break-lease') return { kind: 'done', target: '' }
  if (operation.op === 'ack') return verdictOf(acknowledge(draft), '')
  if (operation.op === 'suspend') return verdictOf(suspend(draft, operation, by), '')
  if (operation.op === 'resume') return verdictOf(resume(draft), '')
  if (operation.op === 'signal') return verdictOf(signal(draft, operation, by), '')
  if (operation.op === 'append') return verdictOf(append(draft, operation), draft.added.at(-1) ?? '')
  if (operation.op === 'init') return verdictOf(init(draft, operation), ROOT_ID)
  const target = operation.event ?? draft.stream.root?.id ?? ''
  const position = draft.stream.positionOf(target)
  if (position < 0) return { kind: 'refused', refusal: notFound(target) }
  if (operation.op === 'retry') {
    const undone = checkRetry(draft, operation)
    if (undone !== undefined) return { kind: 'refused', refusal: undone }
    const outcome = retry(draft, operation)
    if ('code' in outcome) return { kind: 'refused', refusal: outcome }
    return { kind: 'done', target: operation.event ?? '', ...(outcome.refused.length > 0 ? outcome : {}) }
  }
  const notExpired = 'expired' in operation && operation.expired && checkExpired(draft, operation.expired)
  if (notExpired) return { kind: 'refused', refusal: notExpired }
  if (operation.op === 'cancel' || operation.op === 'abort') return verdictOf(end(draft, position, operation), target)
  if (operation.op === 'skip') return verdictOf(skip(draft, position, operation), target)
  const verdict = verdictOf(checkOpen(draft.at(position)) ?? work(draft, position, operation), target)
  if (verdict.kind === 'refused' || (operation.op !== 'start' && operation.op !== 'touch')) return verdict
  const claim = claimOf(draft, position)
  return claim === undefined ? verdict : { ...verdict, claim }
}

type Work = Extract<Operation, { op: 'start' | 'touch' | 'release' | 'advance' | 'complete' | 'fail' | 'set' }>

function work(draft: Draft, position: number, operation: Work): Refusal | 'already' | undefined {
  switch (operation.op) {
    case 'start':
      return start(draft, position, operation)
    case 'touch':
      return touch(draft, position, operation)
    case 'release':
      return release(draft, position, operation)
    case 'advance':
      return advance(draft, position, operation)
    case 'complete':
      return complete(draft, position, operation)
    case 'fail':
      return fail(draft, position, operation)
    case 'set':
      return set(draft, position, operation)
    default:
      return operation satisfies never
  }
}

function verdictOf(outcome: Refusal | 'already' | undefined, target: string): DispatchResult {
  if (outcome === undefined) return { kind: 'done', target }
  if (outcome === 'already') return { kind: 'already', target }
  return { kind: 'refused', refusal: outcome }
}

function notFound(event: string): Refusal {
  return { code: 'event-not-found', event, status: '', message: `the stream has no event ${event}` }
}

/**
 * The first result of a command, rebuilt from its journal entry: for a repetition with the same id, or for an earlier
 * attempt of the same call, whose entry has the same nonce too.
 */
export function resultFromJournal(document: StreamDocument, first: Transaction, nonce?: string): ChangeResult {
  const claim = recordedClaim(document, first)
  const isOwn = nonce !== undefined && first.nonce === nonce
  return {
    outcome: isOwn ? 'done' : 'already',
    version: first.version,
    ...effectsOf(first.changes),
    ...stateAfter(document, first),
    duplicate: !isOwn,
    added: first.changes.filter(({ how }) => how === 'add').map(({ event }) => event),
    ...(claim === undefined ? {} : { claim }),
  }
}

/** The effects of a transaction. One event may change twice in it: settling comes first, and a retry may revert it. */
function effectsOf(changes: readonly JournalChange[]): Pick<ChangeResult, 'changed' | 'closed' | 'joined' | 'opened'> {
  const last = new Map(changes.map(change => [change.event, change]))
  const waiting = ({ event }: JournalChange) =>
    last.get(event)?.to === 'inprocess' && last.get(event)?.lc?.wait !== undefined
  return {
    changed: changes.map(({ event, from, to, how }) => ({ id: event, from, to, how })),
    closed: changes.filter(change => change.how === 'close' && last.get(change.event) === change).map(idOf),
    joined: changes.filter(change => change.how === 'join' && change.to === 'init' && !waiting(change)).map(idOf),
    opened: changes.filter(change => change.how === 'gate' && change.to === 'init' && !waiting(change)).map(idOf),
  }
}

function idOf({ event }: JournalChange): string {
  return event
}

/** The parts of a result that tell the state of the stream after an entry. */
function stateAfter({ journal, prefix, events }: StreamDocument, { version, op }: Transaction) {
  const transactions = parseJournal(journal, prefix).filter(transaction => transaction.version <= version)
  const root = events[0]?.id ?? ''
  const done = isFinal({ status: replayStatuses(transactions).get(root) ?? '' })
  const suspending = transactions.findLast(({ changes }) =>
    changes.some(change => change.event === root && (changesSuspension(change) || isFinal({ status: change.to }))),
  )
  return { done, ...(suspending?.op === 'suspend' && op !== 'suspend' ? { suspended: true as const } : {}) }
}

/** The claim that `start` made. The event has its end only while this claim is the latest. */
function recordedClaim(document: StreamDocument, first: Transaction): ChangeResult['claim'] | undefined {
  const change = first.changes.find(({ owner }) => owner !== undefined)
  if (change?.owner === undefined) return undefined
  const stream = EventStream.of(document.events)
  const event = stream.find(change.event)
  const running = event !== undefined && fenceOf(event) === first.version ? event.lc.until : undefined
  const silenceMs = event && silenceLimitMs(stream, event)
  const limit = silenceMs === undefined ? {} : { silenceMs }
  const { owner, attempt = 1 } = change
  return { owner, fence: first.version, until: running ?? first.at, attempt, ...limit }
}

/** @param foreign the foreign write that no transaction has recorded yet */
export function checkPrecondition(
  document: StreamDocument,
  pin: Precondition,
  foreign: ForeignWrite | undefined,
): Refusal | undefined {
  const { ifVersion = document.version, ifBorn = document.born } = pin
  const isSameIncarnation = ifBorn === document.born || (document.born === '' && pin.ifVersion === undefined)
  const written = foreign !== undefined && hasForeignWriteSince(document, pin, foreign)
  if (ifVersion === document.version && isSameIncarnation && !written) return undefined
  const root = document.events[0]
  const message = `the stream has changed since it was read: ${reason(document, ifVersion, ifBorn)}; read it again and repeat`
  return root === undefined ? { code: 'changed', event: '', status: '', message } : refuse('changed', root, message)
}

function hasForeignWriteSince(document: StreamDocument, pin: Precondition, { op }: ForeignWrite): boolean {
  if (pin.ifSum !== undefined) return pin.ifSum !== sumOf(document.events)
  return pin.ifVersion !== undefined && op === 'foreign'
}

function reason({ version, born }: StreamDocument, ifVersion: number, ifBorn: string): string {
  if (born !== ifBorn) return 'another one has its name now'
  if (version !== ifVersion) return `it is at version ${version}, not ${ifVersion}`
  return `it is at version ${version}, but another program wrote since`
}

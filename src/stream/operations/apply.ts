import { hash } from 'node:crypto'
import type { StreamDocument } from '../document.ts'
import { isFinal } from '../event.ts'
import { findForeignWrite } from '../journal/history.ts'
import { findCommand, type Transaction } from '../journal/journal.ts'
import { checkPrecondition, type Precondition } from '../precondition.ts'
import { settle } from './close.ts'
import { correctTimes } from './correct-times.ts'
import { type DispatchResult, dispatch } from './dispatch.ts'
import type { Draft } from './draft.ts'
import type { Authorship, ChangeResult, Operation, Refusal } from './operation.ts'
import { effectsOf, resultFromJournal } from './result.ts'
import { checkSize } from './size-limit.ts'
import {
  hasWork,
  isWrittenFarAhead,
  openTransaction,
  recordSettling,
  type TransactionContext,
  withEntry,
} from './transaction.ts'

/** The inputs of an operation beside the document: time, versions seen outside, and the precondition. */
export interface OperationContext extends TransactionContext, Precondition {
  /**
   * A random text of this call, the same in all its attempts: identifies its own journal entry among others with its
   * command id.
   */
  readonly nonce?: string
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
  const repeated = findCommand(document.journal, document.prefix, author.commandId)
  if (repeated !== undefined) return repetition(document, repeated, command)
  if (operation.op !== 'init' && document.events.length === 0) return refused(notStarted())
  const foreign = findForeignWrite(document, context.versionFloor)
  const broken = checkPrecondition(document, context, foreign)
  if (broken !== undefined) return refused(broken)
  const born = operation.op === 'init' ? operation.born : context.born
  const opened = openTransaction(document, { ...context, born }, foreign)
  const draft = operation.op === 'touch' ? recordSettling(opened) : opened
  const verdict = dispatch(draft, operation)
  if (verdict.kind === 'refused') return refusedWhenSettled(document, verdict.refusal, author, context)
  const isFarAhead = isWrittenFarAhead(document, context.nowMs)
  const idle = operation.op === 'settle' && !hasWork(draft) && !isFarAhead
  if (verdict.kind === 'already' || idle) return unchanged(document, verdict)
  // Closing is evaluated once, after all changes, never within a cascade.
  if (operation.op !== 'touch') settle(draft)
  correctTimes(draft)
  return commit(draft, verdict, command)
}

/**
 * An event may be final only because settling has just closed it, while readers still see it open. The settled document
 * is written with the refusal, so that the two agree. Times that a wrong clock set far ahead are corrected in the same
 * way: a claim with such an end would block the event until then.
 */
function refusedWhenSettled(
  document: StreamDocument,
  refusal: Refusal,
  { by }: Authorship,
  { nowMs, versionFloor, lastModifiedMs, born }: OperationContext,
): Applied {
  if (refusal.code !== 'already-final' && !isWrittenFarAhead(document, nowMs)) return refused(refusal)
  const context = { nowMs, versionFloor, born, ...(lastModifiedMs === undefined ? {} : { lastModifiedMs }) }
  const settled = applyOperation(document, { op: 'settle' }, { commandId: '', by }, context)
  return settled.kind === 'changed' ? { kind: 'refused', refusal, document: settled.document } : refused(refusal)
}

/** Operations that are refused when the document would become too large. Operations that end events stay possible. */
const GROWING: ReadonlySet<Operation['op']> = new Set(['init', 'advance', 'retry', 'set'])

function commit(draft: Draft, verdict: Reached, command: Command): Applied {
  const { op } = command.operation
  // A heartbeat writes no entry, nor does settling that only corrects times.
  const isQuiet = op === 'touch' || (op === 'settle' && !hasWork(draft))
  const document = isQuiet ? draft.finish() : withEntry(draft.finish(), entryOf(draft, verdict.target, command))
  const full = checkSize(document, GROWING.has(op))
  if (full !== undefined) return refused(full)
  const result = {
    outcome: 'done',
    version: document.version,
    ...effectsOf(draft.changes),
    done: draft.stream.done,
    duplicate: false,
    added: draft.added,
    ...reported(verdict),
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
    why: why || draft.replacedMessage,
    other: false,
    changes: draft.changes,
  }
}

type Reached = Exclude<DispatchResult, { kind: 'refused' }>

/** The result of an operation that writes nothing: it describes the current document. */
function unchanged(document: StreamDocument, verdict: Reached): Applied {
  const root = document.events[0]
  const result = {
    outcome: 'already',
    version: document.version,
    changed: [],
    closed: [],
    joined: [],
    done: root !== undefined && isFinal(root),
    duplicate: false,
    added: [],
    ...reported(verdict),
  } as const
  return { kind: 'unchanged', result }
}

/** Fields that only some operations report. */
function reported({ claim, refused }: Reached): Pick<ChangeResult, 'claim' | 'refused'> {
  return { ...(claim === undefined ? {} : { claim }), ...(refused === undefined ? {} : { refused }) }
}

function repetition(document: StreamDocument, first: Transaction, { hash, nonce }: Command): Applied {
  if (first.hash === hash) return { kind: 'unchanged', result: resultFromJournal(document, first, nonce) }
  const message = `the command id ${first.commandId} was used for "${first.op} ${first.on}" in version ${first.version}; give another one`
  return refused({ code: 'command-id-reused', event: first.on, status: '', message })
}

function refused(refusal: Refusal): Applied {
  return { kind: 'refused', refusal }
}

function notStarted(): Refusal {
  return { code: 'not-started', event: '', status: '', message: 'the document holds no event yet; init starts it' }
}

/**
 * Arguments that may differ between repetitions of one command: times, observed state, proofs of the claim, fresh ids.
 */
const NOT_HASHED: ReadonlySet<string> = new Set(['claimMs', 'fence', 'born', 'expired'])

/**
 * The fingerprint of a command: 16 hex digits of SHA-256 over canonical JSON of operation, target and arguments.
 * Distinguishes a repetition from another command with the same id. A message that only repeats the reason is left out.
 */
export function commandHash(operation: Operation, author: Authorship): string {
  const args = Object.entries(operation).filter(
    ([name, value]) => !NOT_HASHED.has(name) && !(name === 'msg' && value === author.why),
  )
  const canonical = JSON.stringify(sorted(Object.fromEntries(args)))
  return hash('sha256', canonical, 'hex').slice(0, 16)
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  return isRecord(value) ? sorted(value) : value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(pairs.map(([name, part]) => [name, inOrder(part)]))
}

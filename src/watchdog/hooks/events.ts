import { hash } from 'node:crypto'
import type { JournalEntry, StreamView } from '../../ops/read-stream.ts'
import type { StreamOutcome } from '../../stream/event.ts'
import { isFailed, isFinal, isSuperseded } from '../../stream/event.ts'
import type { JournalChange } from '../../stream/journal/journal.ts'
import { outcomeOf } from '../../stream/summarize.ts'
import { cutBytes } from '../../stream/text.ts'
import { isoTime } from '../../stream/time/dates.ts'
import type { Expiry } from '../decision.ts'
import type { MovedStream } from '../report.ts'
import type { HookKind } from './target.ts'

/** An event for the hooks of a kind, with the names that a program looks it up by. */
export interface HookEvent {
  readonly kind: HookKind
  /** The same for every watchdog and every repetition: receivers recognize duplicates by it. */
  readonly id: string
  readonly stream: string
  /** The target of the transaction, or the event concerned. */
  readonly event: string
  readonly commandId: string
  /** Version of the stream after the transaction; `undefined` if it has no number. */
  readonly version: number | undefined
  readonly status: string
  readonly outcome: '' | StreamOutcome
  readonly what: { readonly transaction: JournalEntry } | { readonly due: Expiry }
}

/** Current state of the stream. */
type Standing = Pick<HookEvent, 'stream' | 'status' | 'outcome'>

/** What tells the events of a transaction. Writers without a journal leave only the times of the events themselves. */
export interface EventRules {
  /** Address of the store: two stores may hold a copy of the same stream. */
  readonly store: string
  /** Changes by foreign writers since this time are new, epoch ms. */
  readonly foreignSinceMs: number
}

/** The event of a transaction for hooks of a kind, if it is one. */
export function eventIn(
  view: StreamView,
  transaction: JournalEntry,
  kind: HookKind,
  rules: EventRules,
): HookEvent | undefined {
  const changes = changesFor(kind, transaction, view).filter(change => isRecent(change, transaction, view, rules))
  if (changes.length === 0) return undefined
  return { ...hookEvent(kind, transaction, changes, view, rules), ...standingOf(view) }
}

/** The event of a decision that only notifies. */
export function noticeOf(view: StreamView, due: Expiry, store: string): HookEvent {
  const { stream, event, commandId } = due
  const id = idOf('expired', [store, stream, commandId])
  return {
    kind: 'expired',
    id,
    event,
    commandId,
    version: undefined,
    what: { due },
    ...standingOf(view),
  }
}

function changesFor(kind: HookKind, { changes, op, commandId }: JournalEntry, view: StreamView): JournalChange[] {
  const moved = changes.filter(({ attr }) => attr === undefined)
  switch (kind) {
    case 'done':
      return moved.filter(({ event, from, to }) => event === view.stream.root?.id && ends(from, to))
    case 'failed':
      return moved.filter(({ from, to }) => to === 'aborted' && from !== to)
    case 'expired':
      // Anyone may use such a command id, but no other program's abort has one by accident.
      return op === 'abort' && commandId.startsWith('watchdog:') ? moved.filter(({ from, to }) => ends(from, to)) : []
    case 'compensated':
    case 'compensation-failed':
      return moved.filter(change => isEndOfRoot(change, view) && outcomeOfEnd(change, view) === kind)
    default:
      return kind satisfies never
  }
}

function isEndOfRoot({ event, from, to, attr }: JournalChange, { stream }: StreamView): boolean {
  return event === stream.root?.id && attr === undefined && ends(from, to)
}

/** An end that another writer made has its outcome only on the root, until a retry. */
function outcomeOfEnd(end: JournalChange, view: StreamView): string | undefined {
  if (end.lc !== undefined) return end.lc.outcome
  const all = view.transactions().flatMap(transaction => transaction.changes)
  const isLast = all.findLast(change => isEndOfRoot(change, view)) === end
  return isLast ? view.stream.root?.lc.outcome : undefined
}

function ends(from: string, to: string): boolean {
  return isFinal({ status: to }) && !isFinal({ status: from })
}

/**
 * A foreign write is found late, and the first one contains the whole past of the stream. The timestamp of an event
 * shows when it ended; an event without one counts as recent.
 */
function isRecent({ event }: JournalChange, transaction: JournalEntry, view: StreamView, rules: EventRules): boolean {
  if (!isForeign(transaction)) return true
  const endedMs = view.time(view.stream.find(event)?.timestamp ?? '')
  return endedMs === undefined || endedMs >= rules.foreignSinceMs
}

/** Whether another program wrote it: its version is not known before it is recorded. */
export function isForeign({ op }: JournalEntry): boolean {
  return op === 'foreign' || op === 'adopt'
}

function hookEvent(
  kind: HookKind,
  transaction: JournalEntry,
  changes: readonly JournalChange[],
  view: StreamView,
  { store }: EventRules,
): Omit<HookEvent, keyof Standing> {
  const { commandId, on, provisional, version } = transaction
  return {
    kind,
    id: idOf(kind, [store, view.name, ...identity(transaction, changes, view)]),
    event: on === '' ? (changes[0]?.event ?? '') : on,
    commandId,
    version: provisional ? undefined : version,
    what: { transaction },
  }
}

/** A foreign write keeps its id when it is recorded: it is identified by its changes and the times of the events. */
function identity(transaction: JournalEntry, changes: readonly JournalChange[], view: StreamView): unknown[] {
  const { at, commandId, version } = transaction
  if (!isForeign(transaction)) return [commandId === '' ? version : commandId, at]
  return changes.map(({ event, to }) => [event, to, view.stream.find(event)?.timestamp ?? ''])
}

/** 128 bits of SHA-256, prefixed with the kind for human readers. */
function idOf(kind: HookKind, parts: readonly unknown[]): string {
  return `${kind}-${hash('sha256', JSON.stringify([kind, ...parts]), 'hex').slice(0, 32)}`
}

const standings = new WeakMap<StreamView, Standing>()

function standingOf(view: StreamView): Standing {
  const known = standings.get(view)
  if (known !== undefined) return known
  const standing = standingIn(view)
  standings.set(view, standing)
  return standing
}

/** Visits all events. */
function standingIn({ name, stream }: StreamView): Standing {
  const hasErrors = stream.events.some(
    (event, at) => event !== stream.root && isFailed(event) && !isSuperseded(event) && stream.counts(at),
  )
  return { stream: name, status: stream.root?.status ?? '', outcome: outcomeOf(stream, hasErrors) }
}

/**
 * How long before its visibility a write may be stamped: half a minute in flight, and small differences between clocks.
 */
export const MARGIN_MS = 60_000

export interface FilterRules {
  readonly kind: HookKind
  /** Later transactions are new, epoch ms. */
  readonly sinceMs: number
  /** Start of the last completed sweep, epoch ms; `undefined` during the first. */
  readonly lastSweepMs: number | undefined
}

/** False if the summary alone shows that a stream has no event for hooks; its document need not be read. */
export function mayHaveEvents(moved: MovedStream, { kind, sinceMs, lastSweepMs }: FilterRules): boolean {
  const { listed, summary, before } = moved
  if (summary === undefined) return false
  if (before === undefined && listed.modifiedMs < sinceMs - MARGIN_MS) return false
  const isYoung = summary.createdMs === undefined || summary.createdMs >= (lastSweepMs ?? sinceMs) - MARGIN_MS
  // Heartbeats do not raise the version; a stream that was removed and recreated may reach the same version again.
  const isOurs = summary === listed.summary
  if (isOurs && before === summary.version && !isYoung) return false
  const isForFailures = kind === 'failed' || kind === 'expired'
  if (isForFailures ? summary.failed > 0 : isFinal(summary)) return true
  return mayHide(summary.version, before, isYoung)
}

/** Ending and reopening takes two transactions and leaves no trace in the summary. */
function mayHide(version: number, before: number | undefined, isYoung: boolean): boolean {
  const from = before === undefined || isYoung || before > version ? 1 : before
  return version >= from + 2
}

/** JSON format of documents, injected by the layer that also prints transactions elsewhere. */
export interface HookFormat {
  /** A transaction as in `tail -o ndjson`. */
  transaction(stream: string, transaction: JournalEntry): object
  /** A document as text, with the format version first. */
  document(fields: object): string
}

/** The document that a hook reads on standard input, or receives as the body of a webhook. */
export function documentOf(hookEvent: HookEvent, store: string, format: HookFormat): string {
  const { kind, id, stream, status, outcome, what } = hookEvent
  return format.document({
    hook: kind,
    deliveryId: id,
    store,
    stream,
    status: status === '' ? null : status,
    outcome: outcome === '' ? null : outcome,
    ...('transaction' in what
      ? { transaction: format.transaction(stream, what.transaction), due: null }
      : { transaction: null, due: dueOf(what) }),
  })
}

function dueOf({ due }: Extract<HookEvent['what'], { due: unknown }>): object {
  const { event, name, limit, dueMs, message, commandId } = due
  return { event, name: name === '' ? null : name, limit, due: isoTime(dueMs), message, commandId }
}

type Environment = Readonly<Record<string, string | undefined>>

/** The variables that programs inherit from the daemon; others are often secret. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'TZ'] as const

/** Longer values would prevent the program from starting; the document contains them in full. */
const MAX_VALUE_BYTES = 8 * 1_024

/** The environment of a program: the event for scripts that do not parse JSON. */
export function environmentOf(hookEvent: HookEvent, store: string, own: Environment): Record<string, string> {
  const { kind, stream, event, commandId, version } = hookEvent
  const handedOn = INHERITED.flatMap(name => (own[name] === undefined ? [] : [[name, own[name]] as const]))
  const variables = {
    LEASECTL_STORE: store,
    LEASECTL_STREAM: stream,
    LEASECTL_EVENT: event,
    LEASECTL_HOOK: kind,
    LEASECTL_OUTCOME: hookEvent.outcome,
    LEASECTL_COMMAND_ID: commandId,
    LEASECTL_VERSION: version === undefined ? '' : String(version),
    LEASECTL_DELIVERY_ID: hookEvent.id,
  }
  const cut = Object.entries(variables).map(([name, value]) => [name, cutBytes(value, MAX_VALUE_BYTES)] as const)
  return Object.fromEntries([...handedOn, ...cut])
}

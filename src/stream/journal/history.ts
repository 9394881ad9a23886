import type { StreamDocument } from '../document.ts'
import { fenceOf, isFinal, type StreamEvent } from '../event.ts'
import { EventStream } from '../event-stream.ts'
import { isComparable, sumOf } from '../fingerprint.ts'
import { areSignalOnly, GATE_ATTRIBUTES } from '../gate.ts'
import { appendedIn } from '../session.ts'
import type { JournalFacts, LcAttributes } from './facts.ts'
import { type JournalChange, lastVersion, parseJournal, type Transaction } from './journal.ts'
import { changesSuspension, SuspensionReplay } from './suspensions.ts'

/** Statuses by event id after the given transactions, oldest first. Events that were removed are absent. */
export function replayStatuses(transactions: readonly Transaction[]): Map<string, string> {
  const statuses = new Map<string, string>()
  for (const { changes } of transactions) {
    for (const { event, to, how, attr } of changes) {
      if (attr !== undefined) continue
      if (to === '' && how !== 'add') statuses.delete(event)
      else statuses.set(event, to)
    }
  }
  return statuses
}

/** The changes of a writer without a journal since our last write. */
export interface ForeignWrite {
  /** `adopt`: the document has never been ours. */
  readonly op: 'adopt' | 'foreign'
  readonly changes: readonly JournalChange[]
  /** The documents differ in more than statuses. */
  readonly other: boolean
  /** A reason to record, `''` for none. */
  readonly why: string
  /** An older copy replaced the document: all claims until then have ended. */
  readonly isOlderCopy: boolean
}

/** The sum of a changed document until it is written. */
export const UNWRITTEN_SUM = '0:'

/**
 * Finds a foreign write: `lc:sum` does not match the events, or a higher version than any in the document is known.
 * Normal beside a .NET writer. A sum of another kind is not compared.
 *
 * @param versionFloor the version in the summary beside the document; 0 if unknown
 * @returns `undefined` without a foreign write
 */
export function findForeignWrite(document: StreamDocument, versionFloor: number): ForeignWrite | undefined {
  if (document.version === 0 && document.journal === '') {
    if (document.events.length === 0) return undefined
    const changes = statusChanges(document, new Map())
    return { op: 'adopt', changes, other: false, why: '', isOlderCopy: false }
  }
  const isChanged = isComparable(document.sum) && document.sum !== sumOf(document.events)
  const version = document.version < versionFloor ? highestVersion(document, 0) : versionFloor
  const isOlderCopy = version < versionFloor
  if (!isChanged && !isOlderCopy) return undefined
  const transactions = parseJournal(document.journal, document.prefix)
  const changes = isChanged ? statusChanges(document, replayStatuses(transactions)) : []
  return {
    op: 'foreign',
    changes: isOlderCopy ? [...changes, ...endedClaims(document, transactions)] : changes,
    other: isChanged && changes.length === 0,
    why: isOlderCopy ? `an older copy, version ${version}, was put over version ${versionFloor}` : '',
    isOlderCopy,
  }
}

/** The highest version in a document and its summary (`floor`): versions never go back. */
export function highestVersion(document: StreamDocument, floor: number): number {
  // The transaction that made it has taken the highest; its journal is a string in pieces, which a search would join.
  if (document.sum === UNWRITTEN_SUM) return Math.max(document.version, floor)
  let highest = Math.max(document.version, floor, lastVersion(document.journal, document.prefix))
  for (const event of document.events) highest = Math.max(highest, fenceOf(event) ?? 0)
  return highest
}

/** The claims that end with an older copy: their holders may have completed the events since, which no record shows. */
function endedClaims({ events }: StreamDocument, transactions: readonly Transaction[]): JournalChange[] {
  const claimed = restoreDroppedAttributes(events, transactions).filter(
    event => !isFinal(event) && event.lc.fence !== undefined,
  )
  return claimed.map(({ id, status }) => ({ event: id, from: status, to: status, how: 'target', attr: CLAIM }))
}

function statusChanges(document: StreamDocument, known: ReadonlyMap<string, string>): JournalChange[] {
  const stream = new EventStream(document.events)
  const changes: JournalChange[] = []
  document.events.forEach((event, at) => {
    if (!stream.counts(at)) return
    const from = known.get(event.id)
    if (from === undefined) changes.push({ event: event.id, from: '', to: event.status, how: 'add' })
    else if (from !== event.status)
      changes.push({ event: event.id, from, to: event.status, how: causeOf(event.status) })
  })
  for (const [event, from] of known) {
    if (stream.find(event) === undefined) changes.push({ event, from, to: '', how: 'target' })
  }
  return changes
}

/** A removed status must not look like a removed event: it is recorded as an added event without a status. */
function causeOf(to: string): JournalChange['how'] {
  return to === '' ? 'add' : 'target'
}

/** Whether one of our own transactions, not a foreign writer, set the event's present status. */
export function isOwnStatus(transactions: readonly Transaction[], id: string): boolean {
  const last = transactions.findLast(({ changes }) =>
    changes.some(({ event, attr }) => event === id && attr === undefined),
  )
  return last !== undefined && last.op !== 'foreign' && last.op !== 'adopt'
}

/** The gates that events were added with, by id. A condition that has held since is included. */
export function declaredGates(transactions: readonly Transaction[]): ReadonlyMap<string, LcAttributes> {
  const gates = new Map<string, LcAttributes>()
  for (const { changes } of transactions) {
    for (const { event, how, lc } of changes) if (how === 'add' && lc?.wait !== undefined) gates.set(event, lc)
  }
  return gates
}

/** Ids of the events that were ever claimed, started by a foreign writer, completed or aborted. */
export function eventsThatRan(transactions: readonly Transaction[]): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const { op, changes } of transactions) {
    for (const { event, from, to, how, owner } of changes) {
      const started = how === 'target' && from === 'init' && to === 'inprocess' && op !== 'retry' && op !== 'release'
      if (started || owner !== undefined || to === 'completed' || to === 'aborted') ids.add(event)
    }
  }
  return ids
}

/**
 * The number of attempts up to this one since the event was last reopened by a retry, which gives it all its attempts
 * again.
 */
export function attemptsSinceRetry(transactions: readonly Transaction[], id: string, attempt: number): number {
  if (attempt <= 1) return attempt
  let first = 1
  for (const { op, changes } of transactions) {
    if (op !== 'retry') continue
    for (const change of changes) if (change.event === id) first = change.attempt ?? first
  }
  return attempt - first + 1
}

/** Used as the name of an attribute: a foreign write ended the event's claim but kept its status. */
export const CLAIM = 'claim'

/**
 * Restores the `lc` attributes that a writer drops when it rebuilds events from its own class, as far as the journal
 * knows them: claims (without their end, hence expired), attempts, latest openings, gates, suspensions, pauses and
 * superseded marks. Without them a gate would never open, and the earlier failure of a retried event would count again.
 * Existing attributes stay. Returns the same list if nothing was missing.
 */
export function restoreDroppedAttributes(
  events: readonly StreamEvent[],
  transactions: readonly Transaction[],
): readonly StreamEvent[] {
  const stream = new EventStream(events)
  const facts = factsOf(stream, transactions)
  let restored = false
  const list = events.map((event, at) => {
    if (!stream.counts(at)) return event
    const lc = { ...facts.get(event.id)?.lc, ...event.lc }
    if (Object.keys(lc).length === Object.keys(event.lc).length) return event
    restored = true
    return { ...event, lc }
  })
  return restored ? list : events
}

/** The events without the claims that a foreign write ended. The owner stays: the next claim is another attempt. */
export function withoutEndedClaims(
  events: readonly StreamEvent[],
  changes: readonly JournalChange[],
): readonly StreamEvent[] {
  const ended = new Set(changes.filter(({ attr }) => attr === CLAIM).map(({ event }) => event))
  if (ended.size === 0) return events
  return events.map(event => {
    if (!ended.has(event.id)) return event
    const { fence: _, until: __, claimed: ___, ...lc } = event.lc
    return { ...event, lc }
  })
}

/** The facts of all events after the given transactions, oldest first. @param stream the links between the events */
export function factsOf(stream: EventStream, transactions: readonly Transaction[]): ReadonlyMap<string, JournalFacts> {
  const facts = new Map<string, JournalFacts>()
  const suspensions = new SuspensionReplay(stream, facts)
  for (const transaction of transactions) {
    for (const change of transaction.changes) record(facts, transaction, change)
    suspensions.take(transaction)
    if (transaction.op === 'retry' && transaction.on !== '') recordSuperseded(facts, transaction, stream)
  }
  return facts
}

function record(facts: Map<string, JournalFacts>, transaction: Transaction, change: JournalChange): void {
  const before = facts.get(change.event) ?? { added: transaction.version, lc: {} }
  const own = transaction.op !== 'foreign' && transaction.op !== 'adopt'
  // A foreign writer that changes the status takes the event from its worker.
  const lc = own ? afterOwn(before.lc, transaction, change) : afterForeign(before.lc, change)
  facts.set(change.event, { ...before, lc })
}

function afterOwn(lc: LcAttributes, transaction: Transaction, change: JournalChange): LcAttributes {
  const { op, at, version } = transaction
  const { how, to, owner, attempt, attr, lc: given } = change
  if (changesSuspension(change)) return withoutSuspension(lc)
  const appended = op === 'append' && attr !== undefined ? appendedIn(attr) : undefined
  if (appended !== undefined) return { ...lc, appended }
  if (attr !== undefined) return op === 'ack' ? { ...lc, ack: at } : op === 'skip' ? { ...lc, skipped: at } : lc
  if (how === 'add') return given ?? {}
  if (owner !== undefined) return { ...lc, owner, fence: String(version), attempt: String(attempt ?? 1), claimed: at }
  const isOpening = (how === 'join' || how === 'gate') && given === undefined && !isFinal({ status: to })
  if (isOpening) return { ...openedAnew(withoutGate(withoutClaim(lc))), opened: at }
  if (isFinal({ status: to })) return { ...withoutSuspension(lc), ...given }
  const kept = op === 'retry' ? withoutEnd(withoutClaim(lc)) : withoutClaim(lc)
  const gated = given === undefined ? kept : { ...withoutGate(kept), ...given }
  if (attempt === undefined) {
    // The wait for a signal begins when the other conditions hold, and its timeout with it.
    const waitBegins = how === 'gate' && given !== undefined && areSignalOnly(given)
    return waitBegins ? { ...openedAnew(gated), opened: at } : gated
  }
  if (op !== 'retry') return { ...gated, attempt: String(attempt) }
  return { ...openedAnew(gated), attempt: String(attempt), opened: at }
}

/** The pauses before an event was opened anew do not count for its limits. */
function openedAnew({ paused: _, ...lc }: LcAttributes): LcAttributes {
  return lc
}

function withoutGate(lc: LcAttributes): LcAttributes {
  const kept = { ...lc }
  for (const name of GATE_ATTRIBUTES) delete kept[name]
  return kept
}

function afterForeign(lc: LcAttributes, { attr, to }: JournalChange): LcAttributes {
  if (isFinal({ status: to })) return withoutSuspension(withoutClaim(lc))
  if (attr !== CLAIM) return withoutClaim(lc)
  const { fence: _, claimed: __, ...unclaimed } = lc
  return unclaimed
}

/** Without what a retry takes back. */
function withoutEnd({ outcome: _, failed: __, skipped: ___, ...lc }: LcAttributes): LcAttributes {
  return lc
}

function withoutClaim({ owner: _, fence: __, claimed: ___, ...lc }: LcAttributes): LcAttributes {
  return lc
}

function withoutSuspension({ suspended: _, suspendedBy: __, info: ___, ...lc }: LcAttributes): LcAttributes {
  return lc
}

/** Marks the events below the target that existed before the retry. */
function recordSuperseded(facts: Map<string, JournalFacts>, { on, version }: Transaction, stream: EventStream): void {
  const target = stream.positionOf(on)
  if (target < 0) return
  for (const at of stream.descendantPositions(target)) {
    const id = stream.at(at)?.id ?? ''
    const known = facts.get(id)
    if (known === undefined || known.added >= version || known.lc.superseded !== undefined) continue
    facts.set(id, { ...known, lc: { ...known.lc, superseded: String(version) } })
  }
}

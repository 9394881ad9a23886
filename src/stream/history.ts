import type { StreamDocument } from './document.ts'
import { ROOT_ID } from './event-id.ts'
import { EventStream } from './event-stream.ts'
import type { JournalChange, Transaction } from './journal.ts'
import { parseJournal } from './journal-text.ts'
import { sumOf } from './sum.ts'

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

/** What somebody who keeps no journal has done to the document since our last write. */
export interface ForeignWrite {
  /** `adopt`: the document has never been ours. */
  readonly op: 'adopt' | 'foreign'
  readonly changes: readonly JournalChange[]
  /** More than statuses differs. */
  readonly other: boolean
}

/** Stands for the sum of a changed document until writing renews it. */
export const UNWRITTEN_SUM = '0:'

/**
 * Finds a foreign write: `lc:sum` does not match the events. Normal where a .NET writer lives next door.
 * A sum of another kind (its leading number is not 1) is not compared. `undefined` when nobody else wrote.
 */
export function findForeignWrite(document: StreamDocument): ForeignWrite | undefined {
  if (document.version === 0 && document.journal === '') {
    if (document.events.length === 0) return undefined
    return { op: 'adopt', changes: statusChanges(document, new Map()), other: false }
  }
  if (document.sum !== '' && !document.sum.startsWith('1:')) return undefined
  if (document.sum === sumOf(document.events)) return undefined
  const known = replayStatuses(parseJournal(document.journal, document.prefix))
  const changes = statusChanges(document, known)
  return { op: 'foreign', changes, other: changes.length === 0 }
}

function statusChanges(document: StreamDocument, known: ReadonlyMap<string, string>): JournalChange[] {
  const stream = new EventStream(document.events)
  const changes: JournalChange[] = []
  document.events.forEach((event, at) => {
    if (!stream.counts(at)) return
    const from = known.get(event.id)
    if (from === undefined) changes.push({ event: event.id, from: '', to: event.status, how: 'add' })
    else if (from !== event.status)
      changes.push({ event: event.id, from, to: event.status, how: howLost(event.status) })
  })
  for (const [event, from] of known) {
    if (stream.find(event) === undefined) changes.push({ event, from, to: '', how: 'target' })
  }
  return changes
}

/** A status that was taken away must not look like an event that was removed: the event is there anew, without one. */
function howLost(to: string): JournalChange['how'] {
  return to === '' ? 'add' : 'target'
}

/** True if one of our own transactions, not a foreign writer, gave the event its present status. */
export function ownStatus(transactions: readonly Transaction[], id: string): boolean {
  const last = transactions.findLast(({ changes }) =>
    changes.some(({ event, attr }) => event === id && attr === undefined),
  )
  return last !== undefined && last.op !== 'foreign' && last.op !== 'adopt'
}

/** Ids of the events that a fork of ours declared as its join: no other event but the root begins as `inprocess`. */
export function declaredJoins(transactions: readonly Transaction[]): Set<string> {
  const ids = new Set<string>()
  for (const { op, changes } of transactions) {
    if (op !== 'init' && op !== 'advance') continue
    for (const { event, how, to } of changes) {
      if (how === 'add' && to === 'inprocess' && event !== ROOT_ID) ids.add(event)
    }
  }
  return ids
}

/** Ids of the events that were ever claimed, found worked by a foreign writer, completed or aborted. */
export function eventsThatRan(transactions: readonly Transaction[]): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const { op, changes } of transactions) {
    for (const { event, from, to, how, owner } of changes) {
      const begun = how === 'target' && from === 'init' && to === 'inprocess' && op !== 'retry'
      if (begun || owner !== undefined || to === 'completed' || to === 'aborted') ids.add(event)
    }
  }
  return ids
}

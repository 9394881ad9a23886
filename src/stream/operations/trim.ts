import type { StreamDocument } from '../document.ts'
import { isFailed, isFinal } from '../event.ts'
import { sortedById } from '../event-id.ts'
import { EventStream } from '../event-stream.ts'
import {
  appendTransaction,
  formatTransaction,
  type JournalChange,
  parseJournal,
  type Transaction,
} from '../journal/journal.ts'
import { appendedIn } from '../session.ts'
import { BETWEEN_ENTRIES } from '../xml/text.ts'

/** Operation of the entry that records what was dropped. */
const TRIM = 'trim'

/**
 * Drops the oldest completed steps of a session, with everything below them and their part of the journal, so that the document
 * stays small: the last `keep` of them stay. An entry `trim` says what was dropped, and replaces the earlier ones. A step that an
 * open event waits for, or that could have to be undone, is never dropped, nor one that failed, even if it was skipped: the
 * session would end as if nothing had failed. Ids of dropped events are not given again. Returns the same document if there is
 * nothing to drop.
 */
export function trimSession(document: StreamDocument, keep: number): StreamDocument {
  const stream = EventStream.of(document.events)
  const { root } = stream
  if (root?.lc.session === undefined || root.lc.onFailure === 'compensate') return document
  const steps = stream.successorPositions(0)
  // Usual in a session whose steps are not done yet, and much cheaper than reading its journal.
  if (steps.filter(at => stream.at(at)?.status === 'completed').length <= keep) return document
  const entries = parseJournal(document.journal, document.prefix)
  const needed = new Set([root.lc.session, ...neededIds(stream, entries), ...highestIds(stream)])
  const completed = steps.filter(at => isDroppable(stream, at, needed))
  // Numbered steps are done in the order of their ids, whatever the order in which they came.
  const inOrder = sortedById(completed, at => stream.at(at)?.id ?? '')
  const positions = inOrder.slice(0, Math.max(0, completed.length - keep))
  if (positions.length === 0) return document
  const dropped = new Set(positions.flatMap(at => [at, ...stream.descendantPositions(at)]))
  const ids = new Set([...dropped].flatMap(at => stream.at(at)?.id ?? []))
  const events = document.events
    .filter((_, at) => !dropped.has(at))
    .map(event => (event === root ? { ...event, next: withoutIds(event.next, ids) } : event))
  return { ...document, events, ...recorded(document, entries, ids, positions.length) }
}

/**
 * The ids that conditions of open events name, the last appended one, behind which the next is appended, and those for which
 * the end of the session waited when that was appended: from there its gate is restored if a foreign writer drops it. And what
 * waited for a step with a failure: that cannot be retried once it ran.
 */
function neededIds(stream: EventStream, entries: readonly Transaction[]): ReadonlySet<string> {
  const ids = new Set<string>()
  const failed = failedSteps(stream)
  const changes = failed.size === 0 ? [] : entries.flatMap(entry => entry.changes)
  for (const { event, lc } of changes) if (idsOf(lc?.after).some(id => failed.has(id))) ids.add(event)
  const last = entries.findLast(({ op }) => op === 'append')
  for (const { lc } of last?.changes ?? []) for (const id of idsOf(lc?.after)) ids.add(id)
  for (const event of stream.events) {
    if (event.lc.appended !== undefined) ids.add(event.lc.appended)
    if (!isFinal(event)) for (const id of idsOf(event.lc.after)) ids.add(id)
  }
  return ids
}

/** The steps that failed, or below which something did. */
function failedSteps(stream: EventStream): ReadonlySet<string> {
  const hasFailed = (at: number) => {
    const event = stream.at(at)
    return event !== undefined && isFailed(event)
  }
  if (!stream.events.some(isFailed)) return new Set()
  const steps = stream
    .successorPositions(0)
    .filter(at => hasFailed(at) || [...stream.descendantPositions(at)].some(hasFailed))
  return new Set(steps.map(at => stream.at(at)?.id ?? ''))
}

function idsOf(after: string | undefined): readonly string[] {
  return after?.split('|') ?? []
}

/**
 * The ids above which new events of the steps' thread are numbered. Without them the next ones would get the ids of dropped
 * events, and with them their attempt keys.
 */
function highestIds({ root, events }: EventStream): string[] {
  const last = root?.lc.appended ?? ''
  const thread = last.slice(0, last.lastIndexOf('.') + 1)
  const ids = events.map(({ id }) => id).filter(id => id.startsWith(thread))
  const isStep = (id: string) => !id.slice(thread.length).includes('.')
  const highest = (among: readonly string[]) => sortedById(among, id => id).slice(-1)
  return [...highest(ids.filter(isStep)), ...highest(ids.filter(id => !isStep(id)))]
}

function isDroppable(stream: EventStream, at: number, needed: ReadonlySet<string>): boolean {
  const below = [...stream.descendantPositions(at)].map(position => stream.at(position))
  const all = [stream.at(at), ...below].filter(event => event !== undefined)
  return all.every(event => event.status === 'completed' && !needed.has(event.id) && event.lc.undo === undefined)
}

function withoutIds(next: string, ids: ReadonlySet<string>): string {
  return next
    .split('|')
    .filter(id => !ids.has(id))
    .join('|')
}

/** The journal without the changes of dropped events, and the entry of the trim at its end. */
function recorded(
  { events, prefix, version, at }: StreamDocument,
  entries: readonly Transaction[],
  ids: ReadonlySet<string>,
  steps: number,
): Pick<StreamDocument, 'journal' | 'version'> {
  const sessionEnd = events[0]?.lc.session
  // The gate of the end changes with each step; the entry of the last append, which stays, has it.
  const isAside = (change: JournalChange) => change.event === sessionEnd && change.from === change.to
  let before = 0
  const kept: string[] = []
  for (const entry of entries) {
    if (entry.op === TRIM) before += stepsOf(entry)
    const changes = entry.changes.filter(({ event, attr }) => !ids.has(event) && !isMarkOf(attr, ids))
    const isOfDropped = changes.length < entry.changes.length && changes.every(isAside)
    if (entry.op !== TRIM && !isOfDropped) kept.push(formatTransaction({ ...entry, changes }, prefix))
  }
  const trim: Transaction = {
    ...{ version: version + 1, at, by: '', op: TRIM, on: '', commandId: '', hash: '', other: false, changes: [] },
    why: `${before + steps} steps dropped so far`,
  }
  return { journal: appendTransaction(kept.join(BETWEEN_ENTRIES), trim, prefix), version: version + 1 }
}

function stepsOf({ why }: Transaction): number {
  return Number(/^\d+/.exec(why)?.[0] ?? 0)
}

/** The mark in the root's change that a dropped step was appended. */
function isMarkOf(attr: string | undefined, ids: ReadonlySet<string>): boolean {
  return attr !== undefined && ids.has(appendedIn(attr) ?? '')
}

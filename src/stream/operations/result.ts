import type { StreamDocument } from '../document.ts'
import { fenceOf, isFinal } from '../event.ts'
import { EventStream } from '../event-stream.ts'
import { replayStatuses } from '../journal/history.ts'
import { type JournalChange, parseJournal, type Transaction } from '../journal/journal.ts'
import { silenceLimitMs } from '../time/deadlines.ts'
import type { ChangeResult } from './operation.ts'

/**
 * The first result of a command, rebuilt from its journal entry: for a repetition with the same id, or for an earlier
 * attempt of the same call, whose entry has the same nonce too.
 */
export function resultFromJournal(document: StreamDocument, first: Transaction, nonce?: string): ChangeResult {
  const claim = claimOf(document, first)
  const isOwn = nonce !== undefined && first.nonce === nonce
  return {
    outcome: isOwn ? 'done' : 'already',
    version: first.version,
    ...effectsOf(first.changes),
    done: wasDone(document, first.version),
    duplicate: !isOwn,
    added: first.changes.filter(({ how }) => how === 'add').map(({ event }) => event),
    ...(claim === undefined ? {} : { claim }),
  }
}

/** The effects of a transaction. One event may change twice in it: settling comes first, and a retry may revert it. */
export function effectsOf(changes: readonly JournalChange[]): Pick<ChangeResult, 'changed' | 'closed' | 'joined'> {
  const last = new Map(changes.map(change => [change.event, change]))
  const waiting = ({ event }: JournalChange) => last.get(event)?.how === 'join' && last.get(event)?.to === 'inprocess'
  return {
    changed: changes.map(({ event, from, to, how }) => ({ id: event, from, to, how })),
    closed: changes.filter(change => change.how === 'close' && last.get(change.event) === change).map(idOf),
    joined: changes.filter(change => change.how === 'join' && change.to === 'init' && !waiting(change)).map(idOf),
  }
}

function idOf({ event }: JournalChange): string {
  return event
}

function wasDone(document: StreamDocument, version: number): boolean {
  const transactions = parseJournal(document.journal, document.prefix)
  const root = document.events[0]
  if (root === undefined) return false
  const status = replayStatuses(transactions.filter(transaction => transaction.version <= version)).get(root.id)
  return isFinal({ status: status ?? '' })
}

/** The claim that `start` made. The event has its end only while this claim is the latest. */
function claimOf(document: StreamDocument, first: Transaction): ChangeResult['claim'] | undefined {
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

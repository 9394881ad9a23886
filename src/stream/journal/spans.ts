import { isFinal, type StreamEvent } from '../event.ts'
import type { EventStream } from '../event-stream.ts'
import type { TimeReader } from '../time/dates.ts'
import type { JournalChange, Transaction } from './journal.ts'

/** When an event came, was begun and ended: epoch ms, never one before another. */
export interface EventSpan {
  readonly event: StreamEvent
  /** When it was added; `undefined` when that cannot be read. */
  readonly createdMs: number | undefined
  /** When work on it first began, as the history tells; `undefined` for what never began and where nobody wrote it down. */
  readonly startedMs: number | undefined
  /** When it ended; `undefined` while it is open. */
  readonly endedMs: number | undefined
  /** What happened to the event itself, oldest first. */
  readonly steps: readonly EventStep[]
}

/** One transaction's part in the life of an event. */
export interface EventStep {
  /** Epoch ms; `undefined` when the entry's time cannot be read. */
  readonly atMs: number | undefined
  readonly transaction: Transaction
  readonly change: JournalChange
}

/** The span of every event that counts, in document order: of events with the same id the first. */
export function eventSpans(
  stream: EventStream,
  transactions: readonly Transaction[],
  read: TimeReader,
): readonly EventSpan[] {
  const steps = stepsByEvent(transactions, read)
  return stream.events
    .filter((_, at) => stream.counts(at))
    .map(event => spanOf(event, steps.get(event.id) ?? [], stream.isRoot(event), read))
}

function spanOf(event: StreamEvent, steps: readonly EventStep[], isRoot: boolean, read: TimeReader): EventSpan {
  const createdMs = read(event.created)
  const startedMs = notBefore(
    createdMs,
    steps.find(({ transaction, change }) => begins(transaction, change, isRoot))?.atMs,
  )
  const endedMs = isFinal(event) ? notBefore(startedMs ?? createdMs, read(event.timestamp)) : undefined
  return { event, createdMs, startedMs, endedMs, steps }
}

/**
 * A join is added `inprocess` while it waits for its branches, and put back so by a retry: nobody works on it then. What
 * was found when a document became ours had begun before.
 */
function begins({ op }: Transaction, { from, to, how, attr }: JournalChange, isRoot: boolean): boolean {
  if (to !== 'inprocess' || from === to || attr !== undefined || op === 'adopt') return false
  return isRoot || (how !== 'add' && how !== 'join')
}

/** Clocks of different writers disagree: what follows is not shown before what it follows. */
function notBefore(earliestMs: number | undefined, ms: number | undefined): number | undefined {
  return ms === undefined || earliestMs === undefined ? ms : Math.max(earliestMs, ms)
}

function stepsByEvent(transactions: readonly Transaction[], read: TimeReader): ReadonlyMap<string, EventStep[]> {
  const steps = new Map<string, EventStep[]>()
  for (const transaction of transactions) {
    const atMs = read(transaction.at)
    for (const change of transaction.changes) {
      const step = { atMs, transaction, change }
      const known = steps.get(change.event)
      if (known === undefined) steps.set(change.event, [step])
      else known.push(step)
    }
  }
  return steps
}

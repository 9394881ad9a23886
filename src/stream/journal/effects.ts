import { isFinal } from '../event.ts'
import { compareIds } from '../event-id.ts'
import type { EventStream } from '../event-stream.ts'
import type { JournalChange, Transaction } from './journal.ts'

/** An event whose work may have had an effect. */
export interface EffectOfWork {
  readonly position: number
  /** It was claimed and has not said since that its work was done: there may be nothing to undo. */
  readonly isUnsure: boolean
}

interface Work {
  /** Version of the last claim, and of the transaction that said the work was done; 0 for none. */
  claimed: number
  done: number
  /** The work goes on, or has not begun: what says that it is done counts. */
  isOpen: boolean
}

/**
 * The events that may have had an effect, in the order in which these have to be undone: first those whose work may
 * have been interrupted, the last claimed first; then those whose own work was done, the last done first. An event's
 * own work is done when it is completed or advanced, not when it closes.
 */
export function effectsOf(stream: EventStream, transactions: readonly Transaction[]): EffectOfWork[] {
  const works = new Map<string, Work>()
  for (const transaction of transactions) {
    for (const change of transaction.changes) {
      if (change.attr === undefined) record(works, stream, transaction, change)
    }
  }
  const found = [...works].flatMap(([id, { claimed, done }]) => {
    const position = stream.positionOf(id)
    if (position < 0 || (claimed === 0 && done === 0)) return []
    const isUnsure = claimed > done
    return [{ id, position, isUnsure, version: isUnsure ? claimed : done }]
  })
  found.sort((a, b) => Number(b.isUnsure) - Number(a.isUnsure) || b.version - a.version || compareIds(b.id, a.id))
  return found.map(({ position, isUnsure }) => ({ position, isUnsure }))
}

function record(
  works: Map<string, Work>,
  stream: EventStream,
  { op, on, version }: Transaction,
  { event, from, to, how, owner }: JournalChange,
): void {
  const work = works.get(event) ?? { claimed: 0, done: 0, isOpen: true }
  works.set(event, work)
  if (op === 'retry') work.isOpen = true
  else if (op === 'foreign' || op === 'adopt') recordForeign(works, stream, version, { event, to, how })
  else if (owner !== undefined) claim(work, version)
  else if (event === on && how === 'target' && !isFinal({ status: from })) {
    if (op === 'complete' || op === 'advance') finish(work, version)
  }
}

/**
 * Another writer shows only what it left: its own work is done, at the latest, when it completes an event or adds
 * successors; an event that it ended otherwise may have been at work.
 */
function recordForeign(
  works: Map<string, Work>,
  stream: EventStream,
  version: number,
  { event, to, how }: Pick<JournalChange, 'event' | 'to' | 'how'>,
): void {
  const work = works.get(event)
  const above = how === 'add' ? works.get(stream.find(event)?.prev ?? '') : undefined
  if (above !== undefined) finish(above, version)
  if (work === undefined || to === 'init') return
  if (to === 'completed') finish(work, version)
  else if (work.isOpen && how !== 'add') claim(work, version)
}

function claim(work: Work, version: number): void {
  work.claimed = version
  work.isOpen = true
}

function finish(work: Work, version: number): void {
  if (work.isOpen) work.done = version
  work.isOpen = false
}

import type { JournalEntry, StreamView } from '../ops/read-stream.ts'
import { isFinal } from '../stream/event.ts'
import type { SubscriptionSpec } from './types.ts'

/** Whether a transaction is handed over; the position moves on over the others. */
export function isWanted(
  { ops, eventNames, doneOnly }: Pick<SubscriptionSpec, 'ops' | 'eventNames' | 'doneOnly'>,
  view: StreamView,
  transaction: JournalEntry,
): boolean {
  if (ops.length > 0 && !ops.includes(transaction.op)) return false
  if (doneOnly && !endsStream(view, transaction)) return false
  if (eventNames.length === 0) return true
  return transaction.changes.some(({ event }) => eventNames.includes(view.stream.find(event)?.name ?? ''))
}

/** Whether the stream ended with this transaction: its root became final. */
export function endsStream({ stream: { root } }: StreamView, { changes }: JournalEntry): boolean {
  return changes.some(
    ({ event, from, to }) => event === root?.id && isFinal({ status: to }) && !isFinal({ status: from }),
  )
}

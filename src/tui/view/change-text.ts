import { changePieces, orderedChanges } from '../../formats/journal.ts'
import type { SeenTransaction } from '../../ops/read-stream.ts'
import type { JournalChange } from '../../stream/journal/journal.ts'
import type { Span } from './row.ts'
import { safeText } from './safe-text.ts'

/** What a transaction did, in a few words: `complete 01.02 → completed +2`. */
export function whatText(tx: SeenTransaction): string {
  const [first, ...others] = orderedChanges(tx)
  const moved = first === undefined || first.to === first.from ? '' : `→ ${first.to === '' ? 'removed' : first.to}`
  const more = others.length > 0 ? `+${others.length}` : ''
  const how = tx.provisional ? 'somebody else wrote' : tx.op
  return safeText([how, first?.event ?? tx.on, moved, more].filter(part => part !== '').join(' '))
}

/** One event's part in a transaction: `01.02  inprocess → ✓ completed`. */
export function changeSpans(change: JournalChange, tx: SeenTransaction): Span[] {
  const pieces = changePieces(change, tx).map(([text, style]): Span => [safeText(text), style])
  return [[`${safeText(change.event)}  `, 'plain'], ...pieces]
}

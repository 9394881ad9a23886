import type { JournalEntry } from '../../ops/read-stream.ts'
import type { EventStream } from '../../stream/event-stream.ts'
import type { Transaction } from '../../stream/journal/journal.ts'
import { changePieces, logCells, logRow, orderedChanges } from '../journal.ts'
import type { TimeStyle } from '../terminal/numbers.ts'
import { counted } from '../terminal/numbers.ts'
import { cellMarkup, isBlank, styled } from './cell.ts'
import { html, type Markup } from './markup.ts'
import { note } from './page.ts'
import { type PageColumn, pageTable } from './table.ts'

/** Transactions shown at most: the last ones. */
const MAX_TRANSACTIONS = 400
/** Changes shown at most of one transaction. */
const MAX_CHANGES = 20

const COLUMNS: readonly PageColumn[] = [
  { title: 'WHEN' },
  { title: 'VERSION' },
  { title: 'WHO' },
  { title: 'WHAT' },
  { title: 'REASON' },
  { title: 'CHANGES' },
]

/** Who changed what, when and why, oldest first. */
export function journalMarkup(
  name: string,
  stream: EventStream,
  transactions: readonly JournalEntry[],
  nowMs: number,
  time: TimeStyle,
): Markup {
  if (transactions.length === 0) return note('leasectl has not changed this stream yet.')
  const left = Math.max(0, transactions.length - MAX_TRANSACTIONS)
  const rows = transactions.slice(left).map(tx => {
    const eventName = stream.find(tx.on)?.name ?? ''
    const [when = '', , ...others] = logCells(logRow({ stream: name, tx, atMs: 0, eventName }, nowMs, time))
    const cells = [when, ...others].map(cell => ({ content: cellMarkup(cell), blank: isBlank(cell) }))
    return [...cells, { content: changesMarkup(tx), blank: tx.changes.length === 0 }]
  })
  return html`${pageTable('Journal', COLUMNS, rows)}${
    left === 0 ? undefined : note(`${counted(left, 'earlier transaction')} left out; log shows them.`)
  }`
}

function changesMarkup(tx: Transaction): Markup {
  const changes = orderedChanges(tx)
  const items = changes.slice(0, MAX_CHANGES).map(change => {
    const pieces = changePieces(change, tx).map(([text, style]) => styled(text, style))
    return html`<li><span class="id">${change.event}</span> ${pieces}</li>`
  })
  const more = changes.length - MAX_CHANGES
  return html`<ul class="changes">${items}${more > 0 ? html`<li class="dim">and ${more} more</li>` : undefined}</ul>`
}

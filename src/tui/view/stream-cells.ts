import { lookOf, statusWord } from '../../formats/stream/status.ts'
import { faultText, idsText } from '../../formats/stream/texts.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import type { Summary } from '../../stream/summary.ts'
import type { StreamEntry } from '../data/types.ts'
import type { Moment } from './columns.ts'
import { safeText } from './safe-text.ts'
import { agoText, dueCell } from './times.ts'

/** A glyph and a word. What nothing is known of yet is `…`, what cannot be read says so. */
export function statusCell({ item: { summary, fault }, isRead }: StreamEntry): Cell {
  if (summary === undefined && !isRead) return { text: '…', style: 'dim' }
  if (summary === undefined) return { text: safeText(`? ${fault?.code ?? 'not started'}`), style: 'warn' }
  const { glyph, style } = lookOf(summary.status)
  const hasErrors = summary.outcome === 'errors' && summary.status === 'completed'
  if (hasErrors) return { text: `${glyph} with errors`, style: 'warn' }
  return { text: `${glyph} ${safeText(statusWord(summary.status))}`, style }
}

/** Ended well, open, failed: together all events that count. */
export function progressCell(entry: StreamEntry): Cell {
  return known(entry, ({ total, open, failed }) => {
    const text = `${total - open - failed}/${open}/${failed}`
    return failed > 0 ? { text, style: 'bad' } : text
  })
}

/** What it waits on, or why it cannot be read. */
export function waitingCell(entry: StreamEntry): Cell {
  const fault = faultText(entry.item)
  if (fault !== undefined) return { text: safeText(fault), style: 'warn' }
  return known(entry, ({ waitingOn }) => safeText(idsText(waitingOn, 3)) || '-')
}

export function dueOf(entry: StreamEntry, moment: Moment): Cell {
  return known(entry, ({ dueMs }) => dueCell(dueMs, moment))
}

export function ageOf(entry: StreamEntry, moment: Moment): Cell {
  return known(entry, ({ createdMs }) => agoText(createdMs, moment))
}

/** Who has the lease. Azure tells only that somebody has. */
export function leaseCell({ item: { listed } }: StreamEntry): Cell {
  const { state, holder } = listed.lease
  if (state !== 'leased' && state !== 'breaking') return '-'
  return { text: holder === undefined ? state : safeText(holder.by), style: 'warn' }
}

/** A text of the summary. */
export function textOf(read: (summary: Summary) => string): (entry: StreamEntry) => Cell {
  return entry => known(entry, summary => safeText(read(summary)) || '-')
}

/** A value of the summary, of an older one while a newer is read; `…` before the first, `?` where nobody knows it. */
function known({ item: { summary, fault }, isRead }: StreamEntry, read: (summary: Summary) => Cell): Cell {
  if (summary !== undefined) return read(summary)
  if (!isRead) return { text: '…', style: 'dim' }
  return fault === undefined ? '-' : '?'
}

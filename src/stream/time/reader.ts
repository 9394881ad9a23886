import type { StreamDocument } from '../document.ts'
import { type DateOrder, decideDates, readTime, type TimeReader } from './dates.ts'

/**
 * A reader that knows how the ambiguous dates of this document are meant: as `lc:dates` says, else as its own texts
 * and the blob's Last-Modified tell. `dates` is what the next transaction fixes.
 */
export function timeReaderFor(
  document: StreamDocument,
  clock: { readonly lastModifiedMs?: number | undefined; readonly nowMs: number },
): { readonly read: TimeReader; readonly dates: DateOrder } {
  const dates = document.dates === '' ? decided(document, clock) : document.dates
  const context = { dates, nowMs: clock.nowMs }
  // What one transaction has touched carries one time: the same text comes again and again.
  let last = ''
  let lastMs: number | undefined
  const read = (text: string): number | undefined => {
    if (text === last) return lastMs
    last = text
    lastMs = readTime(text, context)
    return lastMs
  }
  const { nowMs, lastModifiedMs = nowMs } = clock
  return { read: Object.assign(read, { clock: { nowMs, writtenMs: Math.min(lastModifiedMs, nowMs) } }), dates }
}

/** Nearly always nothing is to be decided: a date of the old cultures has a slash. */
function decided(document: StreamDocument, clock: Parameters<typeof decideDates>[1]): DateOrder {
  const some = document.events.some(({ created, timestamp }) => created.includes('/') || timestamp.includes('/'))
  return some ? decideDates(timesOf(document), clock) : ''
}

function* timesOf(document: StreamDocument): Iterable<string> {
  for (const event of document.events) {
    yield event.created
    yield event.timestamp
  }
}

import type { EventStore, Listed } from '../../store/store.ts'
import { type StreamFilter, verdictOf } from '../filter.ts'
import { fromListing, type SummarizedStream, summaryOf } from '../summaries.ts'

/** A stream that was looked at. */
export interface Sight {
  readonly item: SummarizedStream
  /**
   * From when on, epoch ms, it passes the filter as long as it stands as it does, its lease aside: at once, when its
   * first limit ends (`overdue`), or never (`Infinity`).
   */
  readonly passesFromMs: number
}

/** Tells who passes a filter, now and later. */
export interface Entrance {
  /** Looks at a stream; reads its document where the summary beside it does not count. `undefined`: it is gone by now. */
  sight(row: Listed): Promise<Sight | undefined>
  /** Whether a stream passes now that was sighted in this state before. */
  isOpen(passesFromMs: number, row: Listed): boolean
}

/** @param filter the names in it are not compared: the listing did that */
export function entranceOf(store: EventStore, filter: StreamFilter, signal: AbortSignal | undefined): Entrance {
  const { overdue = false, locked = false, ...lasting } = filter
  const verdict = (item: SummarizedStream) => verdictOf(item, lasting, store.nowMs())
  const passesFromMs = (item: SummarizedStream) => (overdue ? (item.summary?.dueMs ?? Number.POSITIVE_INFINITY) : 0)
  return {
    async sight(row) {
      const item = row.summary === undefined ? undefined : fromListing(row, row.summary)
      if (item !== undefined && verdict(item) === 'yes') return { item, passesFromMs: passesFromMs(item) }
      if (item !== undefined && verdict(item) === 'no') return { item, passesFromMs: Number.POSITIVE_INFINITY }
      const whole = await summaryOf(store, row, signal)
      if (whole === undefined) return undefined
      const passes = verdict(whole) === 'yes'
      return { item: whole, passesFromMs: passes ? passesFromMs(whole) : Number.POSITIVE_INFINITY }
    },
    isOpen(fromMs, row) {
      return fromMs <= store.nowMs() && (!locked || isLocked(row))
    },
  }
}

function isLocked(row: Listed): boolean {
  return verdictOf({ listed: row, summary: undefined }, { locked: true }, 0) === 'yes'
}

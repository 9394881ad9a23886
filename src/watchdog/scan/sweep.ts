import { fromListing, type SummarizedStream } from '../../ops/summaries.ts'
import type { StreamStore } from '../../store/store.ts'
import type { Summary } from '../../stream/summary.ts'
import { isAhead } from '../../stream/time/dates.ts'
import type { ObservationTime } from '../observation-gaps.ts'
import type { WatchdogOptions } from '../options.ts'
import type { KnownStream, StreamState } from '../registry/known-stream.ts'
import type { StreamRegistry } from '../registry/registry.ts'
import type { MovedStream } from '../report.ts'

/** Stands for the status of a root that has none. */
export const NO_STATUS = 'no-status'

/** How a sweep is made. */
export interface SweepRules extends Pick<WatchdogOptions, 'names' | 'wantsMoved'> {
  owns(name: string): boolean
  readonly signal: AbortSignal
  /** The store is waited for again: what went on meanwhile was not its doing. */
  asks(): void
  /** The store answered: what time it is. */
  answered(): ObservationTime
  /** Told of streams that moved, where somebody wants to know. */
  moved(streams: readonly MovedStream[]): Promise<void>
}

/** A look at the clock takes a moment, and there may be a million rows. */
const ROWS_BETWEEN_SIGNS = 500

/**
 * One listing of all streams: of those that did not move since the last one not even a row is made. What it learns is put
 * into the registry; no document is read. A sweep that is cut off has forgotten nothing.
 */
export async function sweep(store: StreamStore, registry: StreamRegistry, rules: SweepRules): Promise<void> {
  const { names, signal } = rules
  const isOwed = (stream: KnownStream) => isReportDue(stream, rules)
  registry.beginSweep()
  let rows = 0
  const query = {
    order: 'any',
    skip: (name: string, etag: string) => {
      // a long listing in which nothing moved has no pages, and answers all the time
      if (rows++ % ROWS_BETWEEN_SIGNS === 0) rules.answered()
      return registry.skip(name, etag, isOwed) || names?.matches(name) === false
    },
    signal,
    ...(names === undefined ? {} : { prefix: names.prefix }),
  } as const
  for await (const page of store.list(query)) {
    const now = rules.answered()
    const moved: MovedStream[] = []
    for (const row of page) {
      const { name, etag, summary } = row
      // What a wrong clock wrote has its limits by that clock.
      const isBelieved = isOurs(summary) && !isAhead(row.modifiedMs, now.nowMs)
      const stream = registry.sawRow(name, etag, isBelieved ? stateOf(summary) : undefined, now)
      if (summary !== undefined && isOwed(stream)) moved.push(movedFrom(stream, fromListing(row, summary)))
    }
    if (moved.length > 0) await rules.moved(moved)
    if (moved.length > 0) rules.asks()
    for (const { listed, summary } of moved) registry.get(listed.name)?.markReported(summary?.version)
  }
  rules.answered()
  registry.endSweep()
}

/** A stream as observers of moves are told of it. */
export function movedFrom({ reportedVersion }: KnownStream, item: SummarizedStream): MovedStream {
  return { ...item, before: reportedVersion }
}

/** Observers of moves have to be told: also of what moved while the stream was another watchdog's. */
function isReportDue({ name, isReported }: KnownStream, { wantsMoved, owns }: SweepRules): boolean {
  return wantsMoved === true && !isReported && owns(name)
}

/**
 * Whether a transaction of ours wrote the document: then there is nothing to settle. What was imported has a summary that
 * counts around the bytes of somebody else.
 */
function isOurs(summary: Summary | undefined): summary is Summary {
  return summary !== undefined && summary.version > 0
}

/** All that can happen to what we wrote is that a limit ends. */
function stateOf({ status, open, dueMs = Number.POSITIVE_INFINITY }: Summary): StreamState {
  return { status: status === '' ? NO_STATUS : status, openEvents: open, dueMs, nextInspectionMs: dueMs }
}

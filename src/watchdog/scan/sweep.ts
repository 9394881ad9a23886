import { fromListing, type SummarizedStream } from '../../ops/summaries.ts'
import type { StreamStore } from '../../store/store.ts'
import type { Summary } from '../../stream/summary.ts'
import { isAhead } from '../../stream/time/dates.ts'
import type { ObservationTime } from '../observation-gaps.ts'
import type { WatchdogOptions } from '../options.ts'
import type { KnownStream, WatchedState } from '../registry/known-stream.ts'
import { pendingWorkOf } from '../registry/pending-work.ts'
import type { StreamRegistry } from '../registry/registry.ts'
import type { MovedStream } from '../report.ts'

/** Status for a root without one. */
export const NO_STATUS = 'no-status'

/** Parameters of a sweep. */
export interface SweepRules extends Pick<WatchdogOptions, 'names' | 'wantsMoved'> {
  owns(name: string): boolean
  readonly signal: AbortSignal
  /** A request to the store begins; time before it is not counted as its delay. */
  beginRequest(): void
  /** The store answered: returns the time. */
  answered(): ObservationTime
  /** Receives changed streams if `wantsMoved`. */
  moved(streams: readonly MovedStream[]): Promise<void>
}

/** Reading the clock for each row would be slow: there may be a million. */
const ROWS_PER_CLOCK_READING = 500

/**
 * Lists all streams; unchanged ones do not even produce a row. Records the results in the registry and reads no
 * document. An aborted sweep has forgotten nothing.
 */
export async function sweep(store: StreamStore, registry: StreamRegistry, rules: SweepRules): Promise<void> {
  const { names, signal } = rules
  const isOwed = (stream: KnownStream) => isReportDue(stream, rules)
  registry.beginSweep()
  let rows = 0
  const query = {
    order: 'any',
    skip: (name: string, etag: string) => {
      // A long listing without changes produces no pages, but the store answers all the time.
      if (rows++ % ROWS_PER_CLOCK_READING === 0) rules.answered()
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
      // A summary written by a wrong clock has wrong deadlines.
      const isBelieved = isOurs(summary) && !isAhead(row.modifiedMs, now.nowMs)
      const stream = registry.sawRow(name, etag, isBelieved ? stateOf(summary) : undefined, now)
      if (summary !== undefined && isOwed(stream)) moved.push(movedFrom(stream, fromListing(row, summary)))
    }
    if (moved.length > 0) await rules.moved(moved)
    if (moved.length > 0) rules.beginRequest()
    for (const { listed, summary } of moved) registry.get(listed.name)?.markReported(summary)
  }
  rules.answered()
  registry.endSweep()
}

/** A stream in the form for observers of changes. */
export function movedFrom(stream: KnownStream, item: SummarizedStream): MovedStream {
  return { ...item, before: stream.reportedVersion, isOtherLife: stream.isOtherLife(item.summary?.born) }
}

/** True if observers of changes have to receive it, including changes while the stream belonged to another watchdog. */
function isReportDue({ name, isReported }: KnownStream, { wantsMoved, owns }: SweepRules): boolean {
  return wantsMoved === true && !isReported && owns(name)
}

/**
 * True if a transaction of ours wrote the document: then there is nothing to settle. The summary of an imported
 * document describes bytes of another writer.
 */
function isOurs(summary: Summary | undefined): summary is Summary {
  return summary !== undefined && summary.version > 0
}

const NEVER = Number.POSITIVE_INFINITY

/** State of a document of ours: nothing but a deadline, or a gate that opens at a time, can require an action. */
function stateOf(summary: Summary): WatchedState {
  const { status, open: openEvents, dueMs = NEVER, wakeMs = NEVER } = summary
  const work = pendingWorkOf(summary)
  const nextInspectionMs = Math.min(dueMs, wakeMs)
  return { status: status || NO_STATUS, openEvents, dueMs, nextInspectionMs, onlyOpens: wakeMs < dueMs, work }
}

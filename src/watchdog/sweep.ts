import { fromListing, type SummarizedStream } from '../ops/summaries.ts'
import type { EventStore } from '../store/store.ts'
import type { Summary } from '../stream/summary.ts'
import type { WatchdogOptions } from './options.ts'
import type { MovedStream } from './report.ts'
import type { Kept, Roll } from './roll.ts'

/** Stands for the status of a root that has none. */
export const NO_STATUS = 'no-status'

/** How a sweep is made. */
export interface SweepRules extends Pick<WatchdogOptions, 'names' | 'wantsMoved'> {
  owns(name: string): boolean
  readonly signal: AbortSignal
  /** Told of streams that moved, where somebody wants to know. */
  moved(streams: readonly MovedStream[]): Promise<void>
}

export interface Swept {
  /** Streams that moved and have no summary that counts: only the document tells. */
  readonly unread: ReadonlySet<string>
}

/**
 * One listing of all streams: of those that did not move since the last one not even a row is made. What it learns is put
 * on the roll; no document is read. A sweep that is cut off has forgotten nothing.
 */
export async function sweep(store: EventStore, roll: Roll, rules: SweepRules, atMs: number): Promise<Swept> {
  const { names, signal } = rules
  const unread = new Set<string>()
  roll.beginSweep()
  const query = {
    order: 'any',
    skip: (name: string, etag: string) => roll.isUnmoved(name, etag) || names?.matches(name) === false,
    signal,
    ...(names === undefined ? {} : { prefix: names.prefix }),
  } as const
  for await (const page of store.list(query)) {
    const moved: MovedStream[] = []
    for (const row of page) {
      const { summary } = row
      if (summary === undefined) unread.add(row.name)
      else if (rules.wantsMoved && rules.owns(row.name)) moved.push(movedFrom(roll, fromListing(row, summary)))
      roll.met(row.name, row.etag, summary && keptOf(summary), atMs)
    }
    if (moved.length > 0) await rules.moved(moved)
  }
  roll.endSweep()
  return { unread }
}

/** Call it before the roll learns of the move. */
export function movedFrom(roll: Roll, stream: SummarizedStream): MovedStream {
  return { ...stream, before: roll.versionOf(stream.listed.name) }
}

/** A summary that counts was written by us, so there is nothing to settle: all that can happen is that a limit ends. */
function keptOf({ status, open, version, dueMs = Number.POSITIVE_INFINITY }: Summary): Kept {
  return { status: status === '' ? NO_STATUS : status, openEvents: open, version, dueMs, nextLookMs: dueMs }
}

import { isFailed, isFinal, isSuperseded, type StreamEvent } from '../../stream/event.ts'
import type { Transaction } from '../../stream/journal/journal.ts'
import { countText } from '../terminal/numbers.ts'
import { noPaint } from '../terminal/style.ts'
import { attemptLines } from './attempts.ts'
import { dataLines } from './data.ts'
import { firstLevels } from './depth.ts'
import { failureLines, type HeaderOptions, showHeader } from './header.ts'
import { signalLines } from './signals.ts'
import { timeline } from './timeline.ts'
import { eventTable, flatRows, type TreeRow, threadTree } from './tree.ts'
import { type ShownStream, stateOf } from './view.ts'

/** Layout of the events below the header. */
export type TreeLayout = 'tree' | 'table' | 'timeline'

/** A stream and how to display it. */
export interface StreamDisplay {
  readonly shown: ShownStream
  readonly layout: TreeLayout
  /** Transactions up to the displayed version, for the timeline. */
  readonly transactions: () => readonly Transaction[]
  /** Show only so many levels of the tree below its root. */
  readonly depth?: number
  /** Show only these events; without it all events and the failures. */
  readonly only?: readonly StreamEvent[]
}

/** A stream as text: a header, its events, and its failures with their messages. */
export function showLines(picture: StreamDisplay, options: HeaderOptions): string[] {
  return [
    ...showHeader(picture.shown, options),
    '',
    ...eventLines(picture, rowsOf(picture), options),
    ...failures(picture, options),
    ...(picture.only === undefined ? attemptLines(picture.shown, options) : []),
    ...(picture.only === undefined
      ? [...dataLines(picture.shown, options), ...signalLines(picture.shown, options)]
      : []),
  ]
}

/** The same in `height` lines: completed events are dropped first, then waiting ones. The rest is counted. */
export function showFitted(picture: StreamDisplay, options: HeaderOptions, height: number): string[] {
  const rows = rowsOf(picture)
  const header = [...showHeader(picture.shown, options), '']
  const around = header.length + eventLines(picture, [], options).length
  const all = failures(picture, options)
  const failed = around + rows.length + all.length <= height ? all : failures(picture, options, MAX_FAILURES)
  const room = Math.max(1, height - around - failed.length)
  const kept = rows.length <= room ? rows : mostInteresting(picture.shown, rows, Math.max(1, room - 1))
  const lines = eventLines(picture, kept, options)
  const more = (options.paint ?? noPaint)('dim', `… ${countText(rows.length - kept.length)} more`)
  // The column titles are above the rows, a legend may be below.
  const counted = kept === rows ? lines : lines.toSpliced(1 + kept.length, 0, more)
  return [...header, ...counted, ...failed].slice(0, Math.max(1, height))
}

/** Failures listed on a screen that is too small for all. */
const MAX_FAILURES = 3

function rowsOf({ shown, layout, depth, only }: StreamDisplay): readonly TreeRow[] {
  if (only !== undefined) return flatRows(only)
  if (layout === 'table') return flatRows(shown.stream.events)
  const rows = threadTree(shown.stream)
  return depth === undefined ? rows : firstLevels(shown, rows, depth)
}

function eventLines(picture: StreamDisplay, rows: readonly TreeRow[], options: HeaderOptions): string[] {
  const { shown, layout, transactions } = picture
  return layout === 'timeline' ? timeline(shown, rows, transactions(), options) : eventTable(shown, rows, options)
}

function failures({ shown, only }: StreamDisplay, options: HeaderOptions, atMost?: number): string[] {
  return only === undefined ? failureLines(shown, options, atMost) : []
}

/**
 * Up to `count` rows in their order: lowest rank first, within a rank the first ones. Tree lines are left out because
 * the rows they lead to may be missing.
 */
export function mostInteresting(shown: ShownStream, rows: readonly TreeRow[], count: number): TreeRow[] {
  const ranked = rows.map((row, at) => ({ row, at, rank: rankOf(shown, row) }))
  const kept = ranked.sort((a, b) => a.rank - b.rank || a.at - b.at).slice(0, count)
  return kept.sort((a, b) => a.at - b.at).map(({ row }) => ({ ...row, lines: '' }))
}

function rankOf(shown: ShownStream, { event, again, depth }: TreeRow): number {
  if (event === undefined || again) return 3
  if (depth === 0 && shown.stream.isRoot(event)) return 0
  if (isFailed(event) && !isSuperseded(event)) return 1
  if (isFinal(event)) return 4
  return stateOf(shown, event) === 'waiting' ? 2 : 0
}

import type { StreamView } from '../../ops/read-stream.ts'
import { attemptOf } from '../../stream/event.ts'
import { isPlainId } from '../../stream/event-id.ts'
import { jsonText } from '../json.ts'
import { type EventBar, eventBars } from './spans.ts'

/**
 * Streams in the Trace Event Format of chrome://tracing and ui.perfetto.dev: a stream is a process, a thread of the
 * stream a thread, an event a slice. Open events end now and are marked as open.
 */

/** One entry of `traceEvents`; `ts` and `dur` in microseconds. */
export type TraceEvent =
  | {
      readonly ph: 'X'
      readonly name: string
      readonly cat: string
      readonly ts: number
      readonly dur: number
      readonly pid: number
      readonly tid: number
      readonly cname?: string
      readonly args: Readonly<Record<string, string | number | boolean>>
    }
  | {
      readonly ph: 'M'
      readonly name: 'process_name' | 'process_sort_index' | 'thread_name' | 'thread_sort_index'
      readonly pid: number
      readonly tid: number
      readonly args: Readonly<Record<string, string | number>>
    }

/** Text around the entries, which are joined by `,\n`, so that a file can be written stream by stream. */
export const CHROME_TRACE = { head: '{"displayTimeUnit":"ms","traceEvents":[\n', tail: '\n]}\n' } as const

/** The entries of one stream as text, joined by `,\n`. @param pid unique in the file */
export function chromeTraceText(view: StreamView, pid: number): string {
  return traceEvents(view, pid)
    .map(event => jsonText(event, 0))
    .join(',\n')
}

/** The entries of one stream. */
export function traceEvents(view: StreamView, pid: number): TraceEvent[] {
  const rows = rowsOf(eventBars(view))
  const meta = [
    metadata('process_name', pid, 0, { name: view.name }),
    metadata('process_sort_index', pid, 0, { sort_index: pid }),
  ]
  return rows.reduce<TraceEvent[]>((events, { name, bars }, tid) => {
    events.push(
      metadata('thread_name', pid, tid, { name }),
      metadata('thread_sort_index', pid, tid, { sort_index: tid }),
    )
    for (const bar of bars) events.push(slice(bar, pid, tid))
    return events
  }, meta)
}

function metadata(name: Metadata['name'], pid: number, tid: number, args: Metadata['args']): TraceEvent {
  return { ph: 'M', name, pid, tid, args }
}
type Metadata = Extract<TraceEvent, { ph: 'M' }>

/** Colour names that the viewer knows. */
const COLOURS: { readonly [status: string]: string } = { completed: 'good', canceled: 'bad', aborted: 'terrible' }

function slice(bar: EventBar, pid: number, tid: number): TraceEvent {
  const { event, fromMs, toMs, createdMs, open } = bar
  const cname = Object.hasOwn(COLOURS, event.status) ? COLOURS[event.status] : undefined
  return {
    ph: 'X',
    name: `${event.id} ${event.name}`,
    cat: event.status === '' ? 'unknown' : event.status,
    ts: fromMs * 1_000,
    dur: (toMs - fromMs) * 1_000,
    pid,
    tid,
    ...(cname === undefined ? {} : { cname }),
    args: {
      id: event.id,
      status: event.status,
      attempt: attemptOf(event),
      ...(event.lc.owner === undefined ? {} : { owner: event.lc.owner }),
      ...(event.msg === '' ? {} : { msg: event.msg }),
      ...(bar.startedMs === undefined || createdMs === undefined ? {} : { waitedMs: bar.startedMs - createdMs }),
      ...(open ? { open } : {}),
    },
  }
}

/** Slices of one row, a thread in the viewer. */
interface Row {
  readonly name: string
  readonly bars: EventBar[]
}

/**
 * A viewer draws the slices of a thread as nested calls: they must not overlap otherwise. Steps of one thread of a
 * stream usually nest; one that does not goes into another row.
 */
function rowsOf(bars: readonly EventBar[]): Row[] {
  const threads = new Map<string, EventBar[]>()
  for (const bar of bars) {
    const thread = threadOf(bar.event.id)
    const known = threads.get(thread)
    if (known === undefined) threads.set(thread, [bar])
    else known.push(bar)
  }
  return [...threads].flatMap(([thread, own]) =>
    nested(own).map((row, at) => ({ name: at === 0 ? thread : `${thread} (${at + 1})`, bars: row })),
  )
}

/** Rows of a thread at most; further overlaps are drawn over each other. */
const MAX_ROWS = 50

function nested(bars: readonly EventBar[]): EventBar[][] {
  const inOrder = bars.toSorted((a, b) => a.fromMs - b.fromMs || b.toMs - a.toMs)
  const rows: { readonly bars: EventBar[]; readonly ends: number[] }[] = []
  for (const bar of inOrder) {
    const row = rows.find(({ ends }) => fits(ends, bar)) ?? (rows.length < MAX_ROWS ? undefined : rows.at(-1))
    if (row === undefined) {
      rows.push({ bars: [bar], ends: [bar.toMs] })
    } else {
      row.bars.push(bar)
      row.ends.push(bar.toMs)
    }
  }
  return rows.map(row => row.bars)
}

/** @param ends ends of the open slices of a row, the innermost last; ended ones are removed */
function fits(ends: number[], { fromMs, toMs }: EventBar): boolean {
  while ((ends.at(-1) ?? Number.POSITIVE_INFINITY) <= fromMs) ends.pop()
  return (ends.at(-1) ?? Number.POSITIVE_INFINITY) >= toMs
}

/** `01.02` for `01.02.03`, `root` for the root's thread. Irregular ids share one thread. */
function threadOf(id: string): string {
  if (!isPlainId(id)) return 'other ids'
  const dot = id.lastIndexOf('.')
  return dot < 0 ? 'root' : id.slice(0, dot)
}

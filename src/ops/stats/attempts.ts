import type { StreamStore } from '../../store/store.ts'
import { isFinal, type StreamEvent } from '../../stream/event.ts'
import { type EventHistory, type Period, type Phase, phasesOf } from '../../stream/journal/phases.ts'
import type { StreamView } from '../read-stream.ts'
import { readSelected, type Selection, type Unread } from '../selection.ts'

/**
 * One try at an event: from when it was created, or reopened by a retry, until it ended. Lengths are `undefined` where
 * there is none or where a part of it is not recorded; ms.
 */
export interface AttemptSpan {
  /** `completed`, `aborted`, `canceled`; `open` while it lasts. */
  readonly outcome: AttemptOutcome
  /** Epoch ms; `undefined` while it lasts, and where the time cannot be read. */
  readonly endedMs: number | undefined
  /** How long it was ready and no worker had it; after a release it is ready again. Of an attempt that was begun. */
  readonly waitedMs: number | undefined
  /** How long workers had it: waiting for its successors is no work. Of an attempt that ended. */
  readonly ranMs: number | undefined
  /** From its beginning to its end, all waiting included. */
  readonly tookMs: number | undefined
}

export type AttemptOutcome = 'completed' | 'aborted' | 'canceled' | 'open'

/** An event with all attempts at it, oldest first; never without one. */
export interface TriedEvent {
  readonly event: StreamEvent
  readonly attempts: readonly AttemptSpan[]
}

/** All events that count, those that a retry has replaced included. */
export function triedEvents(view: StreamView): TriedEvent[] {
  const { stream, time } = view
  const courses = phasesOf(stream.events, view.transactions(), time)
  return stream.events
    .filter((_, at) => stream.counts(at))
    .map(event => ({ event, attempts: attemptsOf(event, courses.get(event.id)) }))
}

/** @param course `undefined` for an event of which no time can be read */
function attemptsOf(event: StreamEvent, course: EventHistory | undefined): AttemptSpan[] {
  const { spans = [], ends = [], foundLate = false } = course ?? {}
  let next = 0
  const ended = ends.map(({ atMs, status }, at) => {
    const from = next
    while ((spans[next]?.fromMs ?? atMs) < atMs) next++
    return attempt(spans.slice(from, next), outcomeOf(status), atMs, foundLate && at === 0)
  })
  if (!isFinal(event)) {
    return [...ended, attempt(spans.slice(next), 'open', undefined, foundLate && ended.length === 0)]
  }
  return ended.length > 0 ? ended : [attempt([], outcomeOf(event.status), undefined, true)]
}

/** @param foundLate its beginning is not recorded */
function attempt(
  spans: readonly Period[],
  outcome: AttemptOutcome,
  endedMs: number | undefined,
  foundLate: boolean,
): AttemptSpan {
  const [first] = spans
  const isWhole = first !== undefined && !foundLate && !has(spans, 'unrecorded')
  return {
    outcome,
    endedMs,
    waitedMs: isWhole && wasBegun(spans, outcome) ? total(spans, 'ready') : undefined,
    ranMs: outcome !== 'open' && ranInSight(spans, foundLate) ? total(spans, 'running') : undefined,
    tookMs: isWhole && endedMs !== undefined ? endedMs - first.fromMs : undefined,
  }
}

/** A worker had it, or something followed the time in which it was ready: an end that was not its own does not count. */
function wasBegun(spans: readonly Period[], outcome: AttemptOutcome): boolean {
  const isReady = spans.at(-1)?.phase === 'ready'
  if (outcome === 'completed') return has(spans, 'ready') || has(spans, 'running')
  return has(spans, 'running') ? outcome !== 'open' || !isReady : has(spans, 'ready') && !isReady
}

/** What ran when leasectl first saw it began nobody knows when. */
function ranInSight(spans: readonly Period[], foundLate: boolean): boolean {
  const unseen = spans.some(({ phase }, at) => {
    const isFirst = at === 0 ? foundLate : spans[at - 1]?.phase === 'unrecorded'
    return phase === 'running' && isFirst
  })
  return has(spans, 'running') && !unseen
}

function has(spans: readonly Period[], wanted: Phase): boolean {
  return spans.some(({ phase }) => phase === wanted)
}

function total(spans: readonly Period[], wanted: Phase): number {
  return spans.reduce(
    (sum, { phase, fromMs, toMs }) => (phase === wanted && toMs !== undefined ? sum + toMs - fromMs : sum),
    0,
  )
}

function outcomeOf(status: string): AttemptOutcome {
  return status === 'completed' || status === 'aborted' ? status : 'canceled'
}

/** What became of reading one stream. */
export type TriedStream =
  | { readonly kind: 'read'; readonly stream: string; readonly events: readonly TriedEvent[] }
  | Unread

export interface TriedOptions {
  /** Only what ended at or after it is wanted, epoch ms: streams last written before are not read. */
  readonly sinceMs?: number
  readonly signal?: AbortSignal
}

/**
 * Reads the history of many streams, each document once, in the order of the selection. A stream that vanishes between
 * listing and reading is `missing`.
 *
 * @throws the store's faults, the signal's reason
 */
export function readTried(
  store: StreamStore,
  selection: Selection,
  { sinceMs = Number.NEGATIVE_INFINITY, signal }: TriedOptions = {},
): AsyncGenerator<TriedStream> {
  return readSelected<TriedStream>(store, selection, { floorMs: () => sinceMs, signal }, view => ({
    kind: 'read',
    stream: view.name,
    events: triedEvents(view),
  }))
}

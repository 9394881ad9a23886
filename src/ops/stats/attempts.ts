import type { StreamStore } from '../../store/store.ts'
import { isFinal, type StreamEvent } from '../../stream/event.ts'
import { attemptsByEvent } from '../../stream/journal/attempts.ts'
import { type EventHistory, type Period, type Phase, phasesOf } from '../../stream/journal/phases.ts'
import type { StreamView } from '../read-stream.ts'
import { readSelected, type Selection, type Unread } from '../selection.ts'

/**
 * One attempt at an event, from its creation or its reopening by a retry until its end. Durations in ms are `undefined`
 * if there is none or a part of it is not recorded.
 */
export interface AttemptSpan {
  /** `completed`, `aborted`, `canceled`; `open` before its end. */
  readonly outcome: AttemptOutcome
  /** Epoch ms; `undefined` before its end, and if the time is unreadable. */
  readonly endedMs: number | undefined
  /** For a started attempt: how long it was ready without a worker; after a release it is ready again. */
  readonly waitedMs: number | undefined
  /** For an ended attempt: how long workers had it, without the wait for its successors. */
  readonly ranMs: number | undefined
  /** From its beginning to its end, including all waiting. */
  readonly tookMs: number | undefined
}

export type AttemptOutcome = 'completed' | 'aborted' | 'canceled' | 'open'

/** An event with all its attempts, oldest first; at least one. */
export interface TriedEvent {
  readonly event: StreamEvent
  readonly attempts: readonly AttemptSpan[]
  /** When it failed for a passing reason, epoch ms: the same attempt went on. */
  readonly transientMs: readonly number[]
}

/** All events without duplicate ids, including those that a retry superseded. */
export function triedEvents(view: StreamView): TriedEvent[] {
  const { stream, time } = view
  const transactions = view.transactions()
  const histories = phasesOf(stream.events, transactions, time)
  const claims = attemptsByEvent(transactions)
  return stream.events
    .filter((_, at) => stream.counts(at))
    .map(event => ({
      event,
      attempts: attemptsOf(event, histories.get(event.id)),
      transientMs: (claims.get(event.id) ?? []).flatMap(({ end }) =>
        end?.outcome === 'failed' ? [Date.parse(end.at)] : [],
      ),
    }))
}

/** @param history `undefined` for an event without a readable time */
function attemptsOf(event: StreamEvent, history: EventHistory | undefined): AttemptSpan[] {
  const { spans = [], ends = [], foundLate = false } = history ?? {}
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
    waitedMs: isWhole && wasStarted(spans, outcome) ? total(spans, 'ready') : undefined,
    ranMs: outcome !== 'open' && isFullyRecorded(spans, foundLate) ? total(spans, 'running') : undefined,
    tookMs: isWhole && endedMs !== undefined ? endedMs - first.fromMs : undefined,
  }
}

/** Whether a worker had the attempt, or another phase followed *ready*. An end from outside does not count. */
function wasStarted(spans: readonly Period[], outcome: AttemptOutcome): boolean {
  const isReady = spans.at(-1)?.phase === 'ready'
  if (outcome === 'completed') return has(spans, 'ready') || has(spans, 'running')
  return has(spans, 'running') ? outcome !== 'open' || !isReady : has(spans, 'ready') && !isReady
}

/** Whether the whole running time is known: an event that was running when leasectl first saw it has no known start. */
function isFullyRecorded(spans: readonly Period[], foundLate: boolean): boolean {
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

/** The outcome of reading one stream. */
export type TriedStream =
  | { readonly kind: 'read'; readonly stream: string; readonly events: readonly TriedEvent[] }
  | Unread

export interface TriedOptions {
  /** Only attempts that ended at or after it are wanted, epoch ms: streams last written before it are not read. */
  readonly sinceMs?: number
  readonly signal?: AbortSignal
}

/**
 * Reads the history of many streams, each document once, in the order of the selection. A stream that is removed
 * between listing and reading is `missing`.
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

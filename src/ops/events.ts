import type { StreamStore } from '../store/store.ts'
import { attemptOf, isFinal, isGated, isSuperseded, type StreamEvent } from '../stream/event.ts'
import { openEvents as openIn, openWork } from '../stream/event-stream.ts'
import { type WaitsFor, waitsFor } from '../stream/gate.ts'
import { isAbandoned, isHeldStream, isOverdue } from '../stream/state.ts'
import { cutCount, type Summary } from '../stream/summary.ts'
import { claimEndMs, dueMs, openedMs } from '../stream/time/deadlines.ts'
import { readAhead } from '../util/concurrency.ts'
import type { StreamFilter } from './filter.ts'
import { gatedEvents, isCut, type OpenState, openEvents } from './open-events.ts'
import { readStream, type StreamView } from './read-stream.ts'
import { type SummarizedStream, summaries } from './summaries.ts'

/** State of a listed event. `waiting`: its gate is closed, or its successors are open and it is listed only for its limit. */
export type EventState = OpenState | 'overdue' | 'waiting' | 'failed'

/** An event of one of many streams. */
export interface ListedEvent {
  readonly stream: string
  /** `''` where the summary does not connect it with the name. */
  readonly id: string
  readonly name: string
  readonly state: EventState
  /** The worker; `''` without one. */
  readonly owner: string
  readonly attempt: number | undefined
  /** When it was claimed, became ready or failed, epoch ms; `undefined` where only the document knows. */
  readonly sinceMs: number | undefined
  /** The last sign of life of its worker, epoch ms. */
  readonly lastSeenMs: number | undefined
  readonly claimEndMs: number | undefined
  /** When its limit expires, epoch ms; `undefined` for never, or if limits were not asked for. */
  readonly dueMs: number | undefined
  /** Of a failed event. */
  readonly message: string
  /** What its closed gate waits for first. */
  readonly waitsFor?: WaitsFor | undefined
}

/** Which events are listed. All conditions must hold. */
export interface EventQuery {
  readonly names?: readonly string[]
  /** Default: every state but `failed` and `waiting`. */
  readonly states?: readonly EventState[]
  readonly owners?: readonly string[]
  /** Only events whose gate waits for one of these: `timer`, `after`, `step`, `branches`, `signal`, the name of a signal, an id. */
  readonly waitingFor?: readonly string[]
  /** Only events with a limit. */
  readonly hasLimit?: boolean
  /** Limits are wanted: the documents of streams with limits are read. */
  readonly withLimits: boolean
  /** Whether a limit is later than all that are still wanted: a stream without an earlier one is left out. */
  readonly isTooLate?: (dueMs: number) => boolean
  /** Times since when events are ready are wanted too. */
  readonly withTimes: boolean
}

/** The events of one stream, or why it cannot be read. */
export interface StreamEvents {
  readonly events: readonly ListedEvent[]
  readonly isUnreadable: boolean
}

/** Maximum number of concurrent reads. */
const READS_AT_ONCE = 8

/**
 * The events of all streams that pass a filter, stream by stream in the order of the store. Summaries answer; a document
 * is read only where they are cut or lack what is asked for.
 */
export async function* eventsOf(
  store: StreamStore,
  filter: StreamFilter,
  query: EventQuery,
  signal: AbortSignal,
): AsyncGenerator<StreamEvents> {
  for await (const page of summaries(store, filter, { signal })) {
    const found = readAhead(page, READS_AT_ONCE, item => eventsIn(store, item, query, signal))
    for await (const { events, isUnreadable } of found) {
      yield { events: events.filter(event => passes(event, query)), isUnreadable }
    }
  }
}

async function eventsIn(
  store: StreamStore,
  { listed: { name }, summary, fault }: SummarizedStream,
  query: EventQuery,
  signal: AbortSignal,
): Promise<StreamEvents> {
  if (summary === undefined) return { events: [], isUnreadable: fault !== undefined }
  if (summary.dueMs !== undefined && query.isTooLate?.(summary.dueMs)) return { events: [], isUnreadable: false }
  const nowMs = store.nowMs()
  if (!needsDocument(summary, query, nowMs)) {
    return { events: fromSummary(name, summary, query, nowMs), isUnreadable: false }
  }
  const view = await readStream(store, name, signal)
  return { events: view === undefined ? [] : fromDocument(view, query), isUnreadable: false }
}

const asksFor = ({ states }: EventQuery, state: EventState) => states?.includes(state) === true

const asksForGated = (query: EventQuery) => query.waitingFor !== undefined || asksFor(query, 'waiting')

function asksForOpen({ states }: EventQuery): boolean {
  return states === undefined || states.some(state => state !== 'failed')
}

function needsDocument(summary: Summary, query: EventQuery, nowMs: number): boolean {
  const { failed, dueMs: soonestMs, ready } = summary
  if (asksFor(query, 'failed') && failed > 1) return true
  if (!asksForOpen(query)) return false
  const isOnlyOverdue = query.states?.every(state => state === 'overdue' || state === 'failed') === true
  if (isOnlyOverdue) return isOverdue(summary, nowMs)
  if (query.withLimits && soonestMs !== undefined) return true
  if (asksForGated(query) && cutCount(summary.gated.at(-1)) > 0) return true
  return isCut(summary) || (query.withTimes && ready.length > 1)
}

function fromSummary(stream: string, summary: Summary, query: EventQuery, nowMs: number): ListedEvent[] {
  const { readySinceMs, ready, failed, failedId, failedName, failedAtMs, failure } = summary
  const open = openEvents(summary, nowMs).map(({ id, name, state, claim }): ListedEvent => {
    const sinceMs = claim === undefined && ready.length === 1 ? readySinceMs : claim?.sinceMs
    return {
      ...{ stream, id, name, state, owner: claim?.owner ?? '', attempt: claim?.attempt, sinceMs },
      ...{ lastSeenMs: claim?.lastSeenMs, claimEndMs: claim?.claimEndMs, dueMs: undefined, message: '' },
    }
  })
  if (asksForGated(query) && !isHeldStream(summary)) {
    for (const { id, name, waitsFor: what } of gatedEvents(summary))
      open.push({ ...NOTHING, stream, id, name, state: 'waiting', waitsFor: what })
  }
  if (failed !== 1 || !asksFor(query, 'failed')) return open
  const first = { ...NOTHING, stream, id: failedId, name: failedName, sinceMs: failedAtMs, message: failure }
  return [...open, { ...first, state: 'failed' }]
}

const NOTHING = {
  owner: '',
  attempt: undefined,
  sinceMs: undefined,
  lastSeenMs: undefined,
  claimEndMs: undefined,
  dueMs: undefined,
  message: '',
} as const

function fromDocument({ name, stream, time, nowMs }: StreamView, query: EventQuery): ListedEvent[] {
  const open = openIn(stream)
  const leaves = new Set(openWork(stream, open).leaves)
  const listed = (event: StreamEvent, state: EventState): ListedEvent => {
    const { id, lc, timestamp } = event
    const isTaken = !isFinal(event) && lc.owner !== undefined
    return {
      ...{ stream: name, id, name: event.name, state, owner: lc.owner ?? '', attempt: attemptOf(event) },
      sinceMs: isFinal(event) ? time(timestamp) : lc.claimed === undefined ? openedMs(event, time) : time(lc.claimed),
      lastSeenMs: isTaken ? time(timestamp) : undefined,
      claimEndMs: claimEndMs(event),
      dueMs: isFinal(event) ? undefined : dueMs(stream, event, time),
      message: isFinal(event) ? event.msg : '',
      waitsFor: isFinal(event) ? undefined : waitsFor(event),
    }
  }
  const stateOf = (event: StreamEvent): EventState => {
    const due = dueMs(stream, event, time)
    if (due !== undefined && due <= nowMs) return 'overdue'
    if (stream.held) return 'held'
    if (event.status === 'init') return stream.suspended ? 'suspended' : 'ready'
    if (!leaves.has(event)) return 'waiting'
    if (!isAbandoned({ claimEndMs: claimEndMs(event) }, nowMs)) return 'running'
    return stream.suspended ? 'suspended' : 'abandoned'
  }
  const isShown = (event: StreamEvent) =>
    leaves.has(event) || dueMs(stream, event, time) !== undefined || (asksForGated(query) && isGated(event))
  const shown = stream.done ? [] : open.filter(isShown)
  const failed = asksFor(query, 'failed')
    ? stream.events.filter((event, at) => event.status === 'aborted' && !isSuperseded(event) && stream.counts(at))
    : []
  return [...shown.map(event => listed(event, stateOf(event))), ...failed.map(event => listed(event, 'failed'))]
}

/** Whether a gate waits for something of this kind, or for the signal or event of this name. */
function isOf(what: WaitsFor, text: string): boolean {
  if (what.kind === text) return true
  return what.kind === 'signal' ? what.name === text : what.kind === 'after' && what.ids.includes(text)
}

/** A parent is listed for its limit only. */
function passes({ name, state, owner, dueMs: due, waitsFor: what }: ListedEvent, query: EventQuery): boolean {
  const { names, states, owners, waitingFor, hasLimit } = query
  if (waitingFor !== undefined && !(what !== undefined && waitingFor.some(text => isOf(what, text)))) return false
  const isParent = state === 'waiting' && what === undefined && !hasLimit
  if (states !== undefined && isParent) return false
  const isGate = waitingFor !== undefined
  if (states === undefined && isGate) return names?.includes(name) !== false
  if (states === undefined ? state === 'waiting' && !hasLimit : !states.includes(state)) return false
  if (names?.includes(name) === false || owners?.includes(owner) === false) return false
  return !hasLimit || due !== undefined
}

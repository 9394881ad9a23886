import type { StreamDocument } from './document.ts'
import {
  attemptOf,
  isFailed,
  isFinal,
  isGated,
  isOutcome,
  isSuperseded,
  memoOf,
  type StreamEvent,
  type StreamOutcome,
} from './event.ts'
import { EventStream, openWork } from './event-stream.ts'
import { isCanceledByGate, progressOf, waitsFor } from './gate.ts'
import {
  cutList,
  encodedIdLength,
  FAILURE_LENGTH,
  GATED_LIMIT_BYTES,
  READY_LIMIT_BYTES,
  RUNNING_LIMIT_BYTES,
  type Summary,
  WAITING_ON_LIMIT_BYTES,
} from './summary.ts'
import { encodedPart, gatedItem, runningItem } from './summary-items.ts'
import { suspensionOf } from './suspension.ts'
import { claimEndMs, dueMs, openedMs, opensAtMs, type TimeReader, timeReaderFor } from './time/deadlines.ts'
import { suspendedSinceMs } from './time/pauses.ts'

/** Maximum length of the reason of a suspension, in characters. */
const REASON_LENGTH = 200

export interface SummarizeOptions {
  readonly lastModifiedMs?: number | undefined
  readonly nowMs: number
  readonly lastBy: string
  /** The lists with all their items, not cut to what can be stored. */
  readonly whole?: boolean
}

/** The events of a stream by outcome. Of events with the same id only the first counts. */
interface Census {
  readonly open: StreamEvent[]
  readonly aborted: StreamEvent[]
  readonly canceled: StreamEvent[]
  done: number
  total: number
}

/**
 * The summary of a document (stream-format 8). Superseded events do not count anywhere. Open events below a final one,
 * which foreign writers may leave, count as open but are neither waited on nor ready: nothing above depends on them.
 */
export function summarize(document: StreamDocument, options: SummarizeOptions): Summary {
  const stream = EventStream.of(document.events)
  const { root } = stream
  const { read } = timeReaderFor(document, options)
  const { open, done, aborted, canceled, total } = census(stream)
  const failures = aborted.length > 0 ? aborted : canceled
  const failure = firstFailure(failures, read)
  return {
    version: document.version,
    born: document.born,
    status: root?.status ?? '',
    outcome: outcomeOf(
      stream,
      [...aborted, ...canceled].some(event => event !== root),
    ),
    lastBy: options.lastBy,
    root: root?.name ?? '',
    createdMs: root === undefined ? undefined : read(root.created),
    key: root?.key ?? '',
    topic: root?.topic ?? '',
    tag: root?.tag ?? '',
    trackingId: root?.trackingId ?? '',
    failedAtMs: latest(failures, event => read(event.timestamp)),
    failedId: failure?.id ?? '',
    failedName: failure?.name ?? '',
    ackMs: root?.lc.ack === undefined ? undefined : read(root.lc.ack),
    failure: firstCharacters(failure?.msg ?? '', FAILURE_LENGTH),
    ...suspensionIn(stream, read),
    open: open.length,
    done,
    failed: aborted.length,
    canceled: canceled.filter(event => isRequested(stream, event)).length,
    total,
    dueMs: earliest(open, event => dueMs(stream, event, read)),
    claimEndMs: stream.suspended ? undefined : earliest(open, claimEndMs),
    wakeMs: earliest(open, event => opensAtMs(stream, event, read)),
    ...waits(stream, open, read, options.whole ?? false),
  }
}

/**
 * What the failures of a stream have meant for the whole of it, by its policy; `''` without any.
 *
 * @param hasErrors an event below the root failed
 */
export function outcomeOf(stream: EventStream, hasErrors: boolean): StreamOutcome | '' {
  const outcome = stream.root?.lc.outcome
  if (isOutcome(outcome) && outcome.startsWith('compensat')) return outcome
  if (isBlocked(stream)) return 'blocked'
  return hasErrors ? 'errors' : ''
}

/** Whether a failure holds the stream up until it is retried or skipped. */
function isBlocked(stream: EventStream): boolean {
  if (stream.root?.lc.onFailure !== 'block' || stream.done) return false
  return stream.events.some((event, at) => {
    if (isSuperseded(event) || !stream.counts(at)) return false
    return isGated(event) ? progressOf(stream, event) === 'failed' : stream.blocks(at)
  })
}

function suspensionIn(
  stream: EventStream,
  read: TimeReader,
): Pick<Summary, 'suspendedMs' | 'suspendedBy' | 'suspendedWhy'> {
  const suspension = stream.suspended ? suspensionOf(stream) : undefined
  if (suspension === undefined) return { suspendedMs: undefined, suspendedBy: '', suspendedWhy: '' }
  // Without a readable time it is suspended all the same.
  const suspendedMs = suspendedSinceMs(stream, read) ?? 0
  return {
    suspendedMs,
    suspendedBy: suspension.by,
    suspendedWhy: firstCharacters(suspension.why, REASON_LENGTH),
  }
}

function census(stream: EventStream): Census {
  const found: Census = { open: [], aborted: [], canceled: [], done: 0, total: 0 }
  for (const [position, event] of stream.events.entries()) {
    if (isSuperseded(event) || !stream.counts(position)) continue
    found.total++
    if (!isFinal(event)) found.open.push(event)
    else if (event.status === 'aborted') found.aborted.push(event)
    else if (event.status === 'canceled') found.canceled.push(event)
    else found.done++
  }
  return found
}

/** The one that ended first. Of those that ended at the same time, as in a cascade, one with a message. */
function firstFailure(failed: readonly StreamEvent[], read: TimeReader): StreamEvent | undefined {
  let first: StreamEvent | undefined
  let firstRank = [Number.NEGATIVE_INFINITY]
  for (const event of failed) {
    const ms = read(event.timestamp) ?? Number.POSITIVE_INFINITY
    const rank = [-ms, event.msg === '' ? 0 : 1]
    if (first !== undefined && !isAbove(rank, firstRank)) continue
    first = event
    firstRank = rank
  }
  return first
}

/** Nothing above it has failed, and nothing that its gate names: it was canceled for itself. */
function isRequested(stream: EventStream, event: StreamEvent): boolean {
  const above = stream.predecessorPositions(stream.positionOf(event.id))
  return (
    !above.some(at => isFailed(stream.at(at) ?? { status: '' })) &&
    (event.lc.after === undefined || !isCanceledByGate(stream, event))
  )
}

function isAbove(rank: readonly number[], other: readonly number[]): boolean {
  const at = rank.findIndex((value, index) => value !== other[index])
  return at >= 0 && (rank[at] ?? 0) > (other[at] ?? 0)
}

function earliest(
  open: readonly StreamEvent[],
  timeOf: (event: StreamEvent) => number | undefined,
): number | undefined {
  let ms = Number.POSITIVE_INFINITY
  for (const event of open) ms = Math.min(ms, timeOf(event) ?? ms)
  return Number.isFinite(ms) ? ms : undefined
}

function latest(
  events: readonly StreamEvent[],
  timeOf: (event: StreamEvent) => number | undefined,
): number | undefined {
  let ms = Number.NEGATIVE_INFINITY
  for (const event of events) ms = Math.max(ms, timeOf(event) ?? ms)
  return Number.isFinite(ms) ? ms : undefined
}

function waits(
  stream: EventStream,
  open: readonly StreamEvent[],
  read: TimeReader,
  whole: boolean,
): Pick<Summary, 'readySinceMs' | 'waitingOn' | 'ready' | 'running' | 'gated'> {
  const { leaves, ready: startable } = openWork(stream, open)
  // Of a suspended stream those that its resumption makes ready.
  const ready = stream.suspended && !stream.held ? leaves.filter(({ status }) => status === 'init') : startable
  const running = leaves.filter(event => event.status !== 'init' && !isGated(event))
  const gated = open.flatMap(event => gatedItemOf(event) ?? [])
  const readySinceMs = stream.suspended ? undefined : earliest(ready, event => openedMs(event, read))
  if (whole) {
    return {
      readySinceMs,
      waitingOn: leaves.map(leaf => leaf.id),
      ready: ready.map(nameAndTopic),
      running: running.map(event => itemOf(event, read)),
      gated,
    }
  }
  return {
    readySinceMs,
    waitingOn: cutList(
      leaves.map(leaf => leaf.id),
      WAITING_ON_LIMIT_BYTES,
      encodedIdLength,
    ),
    ready: cutList(ready.map(nameAndTopic), READY_LIMIT_BYTES, itemLength),
    running: cutList(runningItems(running, read), RUNNING_LIMIT_BYTES, itemLength),
    gated: cutList(gated, GATED_LIMIT_BYTES, itemLength),
  }
}

function itemLength(item: string): number {
  return item.length
}

/** More of them never fit: the rest is only counted. */
const MAX_RUNNING_ITEMS = 60

function runningItems(running: readonly StreamEvent[], read: TimeReader): string[] {
  const items = running.slice(0, MAX_RUNNING_ITEMS).map(event => itemOf(event, read))
  const rest = running.length - items.length
  return rest > 0 ? [...items, `+${rest}`] : items
}

function itemOf(event: StreamEvent, read: TimeReader): string {
  const { id, name, timestamp, lc } = event
  return runningItem({
    id,
    name,
    owner: lc.owner ?? '',
    attempt: attemptOf(event),
    sinceMs: read(lc.claimed ?? ''),
    lastSeenMs: read(timestamp),
    claimEndMs: claimEndMs(event),
  })
}

function gatedItemOf(event: StreamEvent): string | undefined {
  const what = waitsFor(event)
  return what && gatedItem({ id: event.id, name: event.name, topic: event.topic, waitsFor: what })
}

function nameAndTopic(event: StreamEvent): string {
  const memo = memoOf(event)
  memo.readyItem ??= `${encodedPart(event.name)}|${encodedPart(event.topic)}`
  return memo.readyItem
}

function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  return [...text.slice(0, count * 2)].slice(0, count).join('')
}

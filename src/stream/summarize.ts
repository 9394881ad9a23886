import type { StreamDocument } from './document.ts'
import { isFailed, isFinal, isSuperseded, type StreamEvent } from './event.ts'
import { EventStream, openWork } from './event-stream.ts'
import { cutList, encodedIdLength, READY_LIMIT_BYTES, type Summary, WAITING_ON_LIMIT_BYTES } from './summary.ts'
import { claimEndMs, dueMs, type TimeReader, timeReaderFor } from './time/deadlines.ts'

/** Maximum length of the last failure's message, in characters. */
const FAILURE_LENGTH = 200

/** The events of a stream by outcome. Of events with the same id only the first counts. */
interface Census {
  readonly open: StreamEvent[]
  readonly failed: StreamEvent[]
  total: number
}

/**
 * The summary of a document (stream-format 8). Superseded events do not count anywhere. Open events below a final one,
 * which foreign writers may leave, count as open but are neither waited on nor ready: nothing above depends on them.
 */
export function summarize(
  document: StreamDocument,
  options: { readonly lastModifiedMs?: number | undefined; readonly nowMs: number; readonly lastBy: string },
): Summary {
  const stream = EventStream.of(document.events)
  const { root } = stream
  const { read } = timeReaderFor(document, options)
  const { open, failed, total } = census(stream)
  const failure = lastFailure(failed, read)
  return {
    version: document.version,
    born: document.born,
    status: root?.status ?? '',
    outcome: failed.some(event => event !== root) ? 'errors' : '',
    lastBy: options.lastBy,
    root: root?.name ?? '',
    createdMs: root === undefined ? undefined : read(root.created),
    key: root?.key ?? '',
    topic: root?.topic ?? '',
    tag: root?.tag ?? '',
    trackingId: root?.trackingId ?? '',
    failedAtMs: failure === undefined ? undefined : read(failure.timestamp),
    failedId: failure?.id ?? '',
    failure: firstCharacters(failure?.msg ?? '', FAILURE_LENGTH),
    open: open.length,
    failed: failed.length,
    total,
    dueMs: earliest(open, event => dueMs(stream, event, read)),
    claimEndMs: earliest(open, claimEndMs),
    ...waits(stream, open),
  }
}

function census(stream: EventStream): Census {
  const found: Census = { open: [], failed: [], total: 0 }
  for (const [position, event] of stream.events.entries()) {
    if (isSuperseded(event) || !stream.counts(position)) continue
    found.total++
    if (!isFinal(event)) found.open.push(event)
    else if (isFailed(event)) found.failed.push(event)
  }
  return found
}

/** Among events that ended at the same time, as in a cascade, an aborted one comes first, then one with a message. */
function lastFailure(failed: readonly StreamEvent[], read: TimeReader): StreamEvent | undefined {
  let last: StreamEvent | undefined
  let lastRank = [Number.NEGATIVE_INFINITY]
  for (const event of failed) {
    const ms = read(event.timestamp) ?? Number.NEGATIVE_INFINITY
    const rank = [ms, event.status === 'aborted' ? 1 : 0, event.msg === '' ? 0 : 1]
    if (last !== undefined && !isAbove(rank, lastRank)) continue
    last = event
    lastRank = rank
  }
  return last
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

function waits(stream: EventStream, open: readonly StreamEvent[]): Pick<Summary, 'waitingOn' | 'ready'> {
  const { leaves, ready } = openWork(stream, open)
  return {
    waitingOn: cutList(
      leaves.map(leaf => leaf.id),
      WAITING_ON_LIMIT_BYTES,
      encodedIdLength,
    ),
    ready: cutList(ready.map(nameAndTopic), READY_LIMIT_BYTES, item => item.length),
  }
}

/** Cached, as events are immutable. */
const READY = new WeakMap<StreamEvent, string>()

function nameAndTopic(event: StreamEvent): string {
  const known = READY.get(event)
  if (known !== undefined) return known
  const item = `${encodeURIComponent(event.name.toWellFormed())}|${encodeURIComponent(event.topic.toWellFormed())}`
  READY.set(event, item)
  return item
}

function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  return [...text.slice(0, count * 2)].slice(0, count).join('')
}

import { hash } from 'node:crypto'
import type { StreamView } from '../../ops/read-stream.ts'
import { attemptOf, isFailed, isFinal, isSuperseded, type StreamEvent } from '../../stream/event.ts'
import { declaredJoins } from '../../stream/journal/history.ts'
import { type KeyValue, keyValues, type OtelSpan, type ResourceSpans, STATUS_CODE, unixNano } from './otel-json.ts'
import { parentsOf } from './otel-parents.ts'
import { type EventBar, eventBars } from './spans.ts'

/**
 * Streams as OpenTelemetry traces: a stream is a trace, an event a span below the event it follows. Ids come from the
 * stream's `lc:born` and the ids of its events, so that exporting again gives the same spans.
 */
export interface OtelOptions {
  /** `service.name` of the resource. */
  readonly service: string
  /** Version of the program, for the scope. */
  readonly version: string
}

/**
 * The spans of one stream in parts of at most `maxSpans`: collectors limit what they take at a time. Each part is made
 * when it is taken, so that no more than one is held in memory.
 */
export function* resourceSpans(view: StreamView, options: OtelOptions, maxSpans: number): Generator<ResourceSpans> {
  const resource = { attributes: resourceAttributes(view, options) }
  const scope = { name: 'leasectl', version: options.version }
  let spans: OtelSpan[] = []
  for (const span of otelSpans(view)) {
    spans.push(span)
    if (spans.length < maxSpans) continue
    yield { resource, scopeSpans: [{ scope, spans }] }
    spans = []
  }
  if (spans.length > 0) yield { resource, scopeSpans: [{ scope, spans }] }
}

function resourceAttributes({ name, document }: StreamView, { service }: OtelOptions): KeyValue[] {
  return keyValues({
    'service.name': service,
    'leasectl.stream': name,
    'leasectl.born': document.born,
    'leasectl.version': document.version,
  })
}

/** A span for each event that counts, in document order. */
export function* otelSpans(view: StreamView): Generator<OtelSpan> {
  const life = view.document.born === '' ? view.name : view.document.born
  const traceId = idOf(life, 16)
  const spanId = (event: string) => idOf(`${life}\n${event}`, 8)
  const parents = parentsOf(view.stream)
  const branches = joinedBranches(view)
  for (const bar of eventBars(view)) {
    const { id } = bar.event
    const parent = parents.get(id)
    const linked = branches.get(id) ?? []
    const dropped = Math.max(0, linked.length - MAX_LINKS)
    yield {
      traceId,
      spanId: spanId(id),
      ...(parent === undefined ? {} : { parentSpanId: spanId(parent) }),
      ...spanOf(bar),
      links: linked.slice(0, MAX_LINKS).map(branch => ({ traceId, spanId: spanId(branch), attributes: [] })),
      ...(dropped === 0 ? {} : { droppedLinksCount: dropped }),
    }
  }
}

/**
 * Links of one span. OpenTelemetry's own limit:
 * https://opentelemetry.io/docs/specs/otel/trace/sdk/#span-limits
 */
const MAX_LINKS = 128

/** Internal: no call between processes. */
const SPAN_KIND_INTERNAL = 1

function spanOf(bar: EventBar): Omit<OtelSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'links'> {
  const { event, fromMs, toMs } = bar
  return {
    name: event.name === '' ? event.id : event.name,
    kind: SPAN_KIND_INTERNAL,
    startTimeUnixNano: unixNano(fromMs),
    endTimeUnixNano: unixNano(toMs),
    attributes: attributesOf(bar),
    events: triesOf(bar),
    status: statusOf(bar),
  }
}

function attributesOf({ event, open, startedMs, createdMs, steps }: EventBar): KeyValue[] {
  const last = steps.findLast(({ change }) => change.to === event.status && change.attr === undefined)
  return keyValues({
    'leasectl.id': event.id,
    'leasectl.status': event.status,
    'leasectl.owner': event.lc.owner,
    'leasectl.attempt': attemptOf(event),
    'leasectl.key': event.key,
    'leasectl.topic': event.topic,
    'leasectl.tag': event.tag,
    'leasectl.ref': event.ref,
    'leasectl.tracking_id': event.trackingId,
    'leasectl.msg': isFailed(event) ? undefined : event.msg,
    'leasectl.outcome': event.lc.outcome,
    'leasectl.failed': event.lc.failed,
    'leasectl.by': isFinal(event) ? last?.transaction.by : undefined,
    'leasectl.reason': isFinal(event) ? last?.transaction.why : undefined,
    'leasectl.waited_ms': startedMs === undefined || createdMs === undefined ? undefined : startedMs - createdMs,
    'leasectl.superseded': isSuperseded(event) || undefined,
    'leasectl.open': open || undefined,
  })
}

/** Each claim of a worker and each retry, as events of the span. */
function triesOf({ steps }: EventBar): OtelSpan['events'] {
  return steps.flatMap(({ atMs, transaction: { op, by, why }, change }) => {
    if (atMs === undefined || (op !== 'retry' && change.owner === undefined)) return []
    const { owner, attempt, from } = change
    const attributes = keyValues({
      'leasectl.by': by,
      'leasectl.reason': why,
      'leasectl.owner': owner,
      'leasectl.attempt': attempt,
      'leasectl.from': from,
    })
    return [{ timeUnixNano: unixNano(atMs), name: op, attributes }]
  })
}

function statusOf({ event }: EventBar): OtelSpan['status'] {
  if (isFailed(event)) return { code: STATUS_CODE.error, message: event.msg === '' ? event.status : event.msg }
  return event.status === 'completed' ? { code: STATUS_CODE.ok } : {}
}

/**
 * By the id of a join the branches it waits for, or has waited for. Of several joins of one fork each has the branches
 * listed since the one before, and the last one those after it too: so no event is a branch of two joins of a fork.
 */
function joinedBranches({ stream, transactions }: StreamView): ReadonlyMap<string, readonly string[]> {
  const declared = declaredJoins(transactions())
  const isJoin = (event: StreamEvent) => event.lc.join !== undefined || declared.has(event.id)
  const branches = new Map<string, readonly string[]>()
  for (const fork of new Set(stream.events.filter(isJoin).map(({ prev }) => prev))) {
    let last: string[] | undefined
    let since: string[] = []
    for (const at of stream.followingPositions(stream.positionOf(fork))) {
      const event = stream.events[at]
      if (event === undefined) continue
      if (isJoin(event) && event.prev === fork) {
        branches.set(event.id, since)
        last = since
        since = [event.id]
      } else since.push(event.id)
    }
    if (last !== undefined) last.push(...since.slice(1))
  }
  return branches
}

/** The first bytes of a hash as hex digits. An id of zeros only is none. */
function idOf(text: string, bytes: number): string {
  const id = hash('sha256', text, 'hex').slice(0, bytes * 2)
  return /^0+$/.test(id) ? `${id.slice(0, -1)}1` : id
}

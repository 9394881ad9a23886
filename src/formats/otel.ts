import { hash } from 'node:crypto'
import type { StreamView } from '../ops/read-stream.ts'
import { attemptOf, isFailed, isFinal, isSuperseded } from '../stream/event.ts'
import { declaredJoins } from '../stream/history.ts'
import { type EventBar, eventBars } from './event-bars.ts'
import { type KeyValue, keyValues, type OtelSpan, type ResourceSpans, STATUS_CODE, unixNano } from './otel-json.ts'
import { parentsOf } from './otel-parents.ts'

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

/** The spans of one stream in parts of at most `maxSpans`: collectors limit what they take at a time. */
export function resourceSpans(view: StreamView, options: OtelOptions, maxSpans: number): ResourceSpans[] {
  const spans = otelSpans(view)
  const resource = { attributes: resourceAttributes(view, options) }
  const scope = { name: 'leasectl', version: options.version }
  const parts: ResourceSpans[] = []
  for (let at = 0; at < spans.length; at += maxSpans) {
    parts.push({ resource, scopeSpans: [{ scope, spans: spans.slice(at, at + maxSpans) }] })
  }
  return parts
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
export function otelSpans(view: StreamView): OtelSpan[] {
  const life = view.document.born === '' ? view.name : view.document.born
  const traceId = idOf(life, 16)
  const spanId = (event: string) => idOf(`${life}\n${event}`, 8)
  const parents = parentsOf(view.stream)
  const links = joinedBranches(view)
  return eventBars(view).map(bar => {
    const { id } = bar.event
    const parent = parents.get(id)
    return {
      traceId,
      spanId: spanId(id),
      ...(parent === undefined ? {} : { parentSpanId: spanId(parent) }),
      ...spanOf(bar),
      links: (links.get(id) ?? []).map(branch => ({ traceId, spanId: spanId(branch), attributes: [] })),
    }
  })
}

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

/** By the id of a join the branches it waits for, or has waited for. */
function joinedBranches({ stream, transactions }: StreamView): ReadonlyMap<string, readonly string[]> {
  const joins = declaredJoins(transactions())
  const branches = new Map<string, readonly string[]>()
  for (const event of stream.events) {
    if (event.lc.join === undefined && !joins.has(event.id)) continue
    const fork = stream.find(event.prev)
    const all = fork === undefined ? [] : stream.successors(fork).events
    branches.set(
      event.id,
      all.map(({ id }) => id).filter(id => id !== event.id),
    )
  }
  return branches
}

/** The first bytes of a hash as hex digits. An id of zeros only is none. */
function idOf(text: string, bytes: number): string {
  const id = hash('sha256', text, 'hex').slice(0, bytes * 2)
  return /^0+$/.test(id) ? `${id.slice(0, -1)}1` : id
}

import { hash } from 'node:crypto'
import type { StreamView } from '../../ops/read-stream.ts'
import { attemptOf, isFailed, isFinal, isSuperseded, type StreamEvent } from '../../stream/event.ts'
import type { EventStream } from '../../stream/event-stream.ts'
import { declaredGates } from '../../stream/journal/history.ts'
import { type EventBar, eventBars } from './spans.ts'

/**
 * Streams as OpenTelemetry traces: a stream is a trace, an event a span below the event it follows. Ids are derived
 * from the stream's `lc:born` and the event ids, so that exporting again gives the same spans.
 */
export interface OtelOptions {
  /** `service.name` of the resource. */
  readonly service: string
  /** Version of the program, for the scope. */
  readonly version: string
}

/**
 * The spans of one stream in parts of at most `maxSpans`, as collectors limit the size of a request. Parts are made on
 * demand, so that only one is in memory.
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

/** Links of one span, OpenTelemetry's own limit: https://opentelemetry.io/docs/specs/otel/trace/sdk/#span-limits */
const MAX_LINKS = 128

/** Internal: not a call between processes. */
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

/** Claims and retries, as events of the span. */
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
 * The branches that each join waits or waited for, by the join's id. Of several joins of one fork each has the branches
 * listed since the one before, and the last one also those after it: so no event is a branch of two joins of one fork.
 */
function joinedBranches({ stream, transactions }: StreamView): ReadonlyMap<string, readonly string[]> {
  const declared = declaredGates(transactions())
  const isJoin = ({ id, lc }: StreamEvent) => (lc.join ?? declared.get(id)?.join) !== undefined
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

/** The first bytes of a hash as hex digits. An id of zeros only is invalid. */
function idOf(text: string, bytes: number): string {
  const id = hash('sha256', text, 'hex').slice(0, bytes * 2)
  return /^0+$/.test(id) ? `${id.slice(0, -1)}1` : id
}

/**
 * The part of OTLP's JSON that traces need (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): names in
 * lowerCamelCase, ids as hex, 64-bit integers as decimal texts, enums as numbers.
 */

export interface KeyValue {
  readonly key: string
  readonly value: { readonly stringValue: string } | { readonly intValue: string } | { readonly boolValue: boolean }
}

export interface OtelSpan {
  readonly traceId: string
  readonly spanId: string
  /** Absent for the root of the trace. */
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly KeyValue[]
  readonly events: readonly {
    readonly timeUnixNano: string
    readonly name: string
    readonly attributes: readonly KeyValue[]
  }[]
  readonly links: readonly {
    readonly traceId: string
    readonly spanId: string
    readonly attributes: readonly KeyValue[]
  }[]
  /** Number of links left out. Absent for none. */
  readonly droppedLinksCount?: number
  readonly status: { readonly code?: number; readonly message?: string }
}

export interface ResourceSpans {
  readonly resource: { readonly attributes: readonly KeyValue[] }
  readonly scopeSpans: readonly {
    readonly scope: { readonly name: string; readonly version: string }
    readonly spans: readonly OtelSpan[]
  }[]
}

const STATUS_CODE = { ok: 1, error: 2 } as const

/** Attributes; absent and empty values are left out. */
function keyValues(values: Readonly<Record<string, string | number | boolean | undefined>>): KeyValue[] {
  return Object.entries(values).flatMap(([key, value]): KeyValue[] => {
    if (value === undefined || value === '') return []
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }]
    if (typeof value === 'boolean') return [{ key, value: { boolValue: value } }]
    return [{ key, value: { intValue: String(value) } }]
  })
}

/** Nanoseconds as text, because they exceed a JSON number. */
function unixNano(ms: number): string {
  return String(BigInt(Math.round(ms)) * 1_000_000n)
}

/**
 * The parent of each event's span: the event it follows, or the root if that is missing or leads back to the event. The
 * root has none. Events with a duplicate id are left out.
 */
function parentsOf(stream: EventStream): ReadonlyMap<string, string | undefined> {
  const { root } = stream
  const parents = new Map<string, string | undefined>()
  if (root === undefined) return parents
  /** Ids from which `parents` leads to the root. */
  const anchored = new Set([root.id])
  parents.set(root.id, undefined)
  for (const [at, { id }] of stream.events.entries()) {
    if (stream.counts(at)) anchor(id, stream, root.id, parents, anchored)
  }
  return parents
}

/** Walks up to an anchored event; dead ends and cycles are attached to the root. */
function anchor(
  start: string,
  stream: EventStream,
  root: string,
  parents: Map<string, string | undefined>,
  anchored: Set<string>,
): void {
  const walked = new Set<string>()
  for (let id = start; !anchored.has(id); ) {
    walked.add(id)
    const prev = stream.find(id)?.prev ?? ''
    const usable = prev !== '' && stream.find(prev) !== undefined && !walked.has(prev)
    const parent = usable ? prev : root
    parents.set(id, parent)
    id = parent
  }
  for (const id of walked) anchored.add(id)
}

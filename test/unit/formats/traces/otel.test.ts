import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type KeyValue, type OtelSpan, otelSpans, resourceSpans } from '../../../../src/formats/traces/otel.ts'
import type { StreamView } from '../../../../src/ops/read-stream.ts'
import { anInit, aScript, aStrangeDocument, RUNS } from '../../../support/arbitraries.ts'
import { BORN, Play, START_MS, spec } from '../../../support/stream-builder.ts'
import { aWholeStory, played, viewOfEvents, viewOfPlay } from '../views.ts'

const OPTIONS = { service: 'leasectl', version: '1.2.3' }

function valuesOf(attributes: readonly KeyValue[]): Record<string, string | boolean> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? '']))
}

function byEvent(view: StreamView): Map<string, OtelSpan> {
  return new Map(otelSpans(view).map(span => [String(valuesOf(span.attributes)['leasectl.id']), span]))
}

function spanOf(view: StreamView, id: string): OtelSpan {
  const span = byEvent(view).get(id)
  if (span === undefined) throw new Error(`no span for ${id}`)
  return span
}

const nano = (ms: number) => `${START_MS + ms}000000`

test('a stream is a trace, an event a span below its predecessor', () => {
  const spans = byEvent(viewOfPlay(aWholeStory()))
  const root = spans.get('00')
  expect(root).not.toHaveProperty('parentSpanId')
  for (const id of ['01.00', '02.00', '01']) expect(spans.get(id)?.parentSpanId).toBe(root?.spanId)
  expect(new Set([...spans.values()].map(({ traceId }) => traceId)).size).toBe(1)
})

test('a span has the begin, the end and the attributes of its event', () => {
  const span = spanOf(viewOfPlay(aWholeStory()), '01.00')
  expect(span).toMatchObject({
    name: 'Search',
    kind: 1,
    startTimeUnixNano: nano(1_000),
    endTimeUnixNano: nano(5_000),
    status: { code: 1 },
  })
  expect(valuesOf(span.attributes)).toEqual({
    'leasectl.id': '01.00',
    'leasectl.status': 'completed',
    'leasectl.owner': 'w2',
    'leasectl.attempt': '2',
    'leasectl.msg': '12 results',
    'leasectl.by': 'test',
    'leasectl.waited_ms': '1000',
  })
})

test('claims and retries are events of the span', () => {
  const { events } = spanOf(viewOfPlay(aWholeStory()), '01.00')
  expect(events.map(({ name, timeUnixNano }) => [name, timeUnixNano])).toEqual([
    ['start', nano(1_000)],
    ['retry', nano(3_500)],
    ['start', nano(4_000)],
  ])
  expect(valuesOf(events[1]?.attributes ?? [])).toMatchObject({ 'leasectl.by': 'ann', 'leasectl.reason': 'once more' })
})

test('a failure is an error with its message and its reason', () => {
  const play = aWholeStory()
  const canceled = spanOf(viewOfPlay(play), '02.00')
  expect(canceled.status).toEqual({ code: 2, message: 'canceled' })
  expect(valuesOf(canceled.attributes)).toMatchObject({ 'leasectl.by': 'ann', 'leasectl.reason': 'not wanted' })
  play.after({ op: 'fail', event: '01', owner: 'w1', msg: 'boom' })
  expect(spanOf(viewOfPlay(play), '01').status).toEqual({ code: 2, message: 'boom' })
})

test('an open event ends now, is marked as open and has no status', () => {
  const span = spanOf(viewOfPlay(aWholeStory()), '01')
  expect(span.endTimeUnixNano).toBe(nano(10_000))
  expect(span.status).toEqual({})
  expect(span.attributes).toContainEqual({ key: 'leasectl.open', value: { boolValue: true } })
})

test('a join is linked to the branches it waited for', () => {
  const spans = byEvent(viewOfPlay(aWholeStory()))
  const branches = ['01.00', '02.00'].map(id => spans.get(id)?.spanId)
  expect(spans.get('01')?.links.map(({ spanId }) => spanId)).toEqual(branches)
  expect(spans.get('00')?.links).toEqual([])
})

test('each of several joins of a fork is linked to its branches and to the previous join', () => {
  const play = Play.joined('Done', 'A', 'B').after(
    { op: 'complete', event: '01.00' },
    { op: 'complete', event: '02.00' },
    { op: 'start', event: '01' },
    { op: 'advance', event: '00', forks: [spec('C')], join: spec('Again'), more: true },
  )
  const spans = byEvent(viewOfPlay(play))
  const linked = (id: string) => spans.get(id)?.links.map(({ spanId }) => spanId)
  const spanIds = (...ids: string[]) => ids.map(id => spans.get(id)?.spanId)
  expect(linked('01')).toEqual(spanIds('01.00', '02.00'))
  expect(linked('02')).toEqual(spanIds('01', '03.00'))
})

test('a span has at most 128 links and the number of omitted ones', () => {
  const branches = Array.from({ length: 200 }, (_, at) => `${at + 1}.00`)
  const view = viewOfEvents(
    [
      { id: '00', name: 'R', status: 'inprocess', next: [...branches, '01'].join('|') },
      ...branches.map(id => ({ id, name: 'B', status: 'init', prev: '00' })),
      { id: '01', name: 'J', status: 'inprocess', prev: '00', 'lc:wait': 'yes', 'lc:join': 'wait' },
    ],
    START_MS,
  )
  const join = spanOf(view, '01')
  expect(join.links).toHaveLength(128)
  expect(join.droppedLinksCount).toBe(72)
  expect(spanOf(view, '1.00')).not.toHaveProperty('droppedLinksCount')
})

test('thousands of joins of one fork have in total no more links than there are events', () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => `${at + 1}`)
  const view = viewOfEvents(
    [
      { id: '00', name: 'R', status: 'inprocess', next: ids.join('|') },
      ...ids.map(id => ({ id, name: 'J', status: 'inprocess', prev: '00', 'lc:wait': 'yes', 'lc:join': 'wait' })),
    ],
    START_MS,
  )
  let links = 0
  for (const span of otelSpans(view)) links += span.links.length
  expect(links).toBeLessThan(ids.length)
})

test('a repeated export has the same ids; another incarnation of the name has others', () => {
  const ids = (view: StreamView) => [...otelSpans(view)].map(({ traceId, spanId }) => `${traceId} ${spanId}`)
  const play = aWholeStory()
  const before = ids(viewOfPlay(play))
  expect(ids(viewOfPlay(play.wait(9_000)))).toEqual(before)
  expect(ids(viewOfPlay(play, 'elsewhere/1'))).toEqual(before)
  play.edit(text => text.replace(BORN, '99999999-2222-4333-8444-555555555555'))
  expect(ids(viewOfPlay(play)).filter(id => before.includes(id))).toEqual([])
})

test('spans are split into parts that collectors accept, each with its resource', () => {
  const view = viewOfPlay(aWholeStory(), 'orders/1')
  const parts = [...resourceSpans(view, OPTIONS, 3)]
  expect(parts.map(part => part.scopeSpans.map(({ spans }) => spans.length))).toEqual([[3], [1]])
  for (const { resource, scopeSpans } of parts) {
    expect(valuesOf(resource.attributes)).toMatchObject({ 'service.name': 'leasectl', 'leasectl.stream': 'orders/1' })
    expect(scopeSpans[0]?.scope).toEqual({ name: 'leasectl', version: '1.2.3' })
  }
})

describe('of any stream', () => {
  /** https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
  const check = (view: StreamView) => {
    const spans = [...otelSpans(view)]
    const ids = new Set(spans.map(({ spanId }) => spanId))
    expect(ids.size).toBe(spans.length)
    for (const span of spans) {
      expect(span.traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/)
      expect(span.spanId).toMatch(/^(?!0+$)[0-9a-f]{16}$/)
      expect(span.startTimeUnixNano).toMatch(/^\d{10,20}$/)
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano))
      expect([1, 2, undefined]).toContain(span.status.code)
      for (const { spanId } of span.links) expect(ids).toContain(spanId)
      for (const { value } of span.attributes) checkValue(value)
    }
    checkTree(spans)
  }

  test('its JSON follows the rules of OTLP and its spans are one tree', () => {
    fc.assert(
      fc.property(anInit(), aScript('dropped'), (init, script) => check(viewOfPlay(played(init, script)))),
      { numRuns: RUNS / 2 },
    )
  })

  test('so is that of malformed documents: cycles and missing predecessors are below the root', () => {
    fc.assert(
      fc.property(aStrangeDocument(), events => check(viewOfEvents(events, START_MS))),
      { numRuns: RUNS / 2 },
    )
  })
})

/** 64-bit integers are texts. */
function checkValue(value: object): void {
  const [[kind, content] = []] = Object.entries(value)
  expect(['stringValue', 'intValue', 'boolValue']).toContain(kind)
  if (kind === 'intValue') expect(content).toMatch(/^-?\d+$/)
  else expect(typeof content).toBe(kind === 'boolValue' ? 'boolean' : 'string')
}

/** One root, from which all spans can be reached. */
function checkTree(spans: readonly OtelSpan[]): void {
  const parents = new Map(spans.map(({ spanId, parentSpanId }) => [spanId, parentSpanId]))
  expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined)).toEqual(spans.slice(0, 1))
  for (const { spanId } of spans) {
    let at: string | undefined = spanId
    for (let steps = 0; at !== undefined; steps += 1) {
      expect(steps).toBeLessThanOrEqual(spans.length)
      expect(parents.has(at)).toBe(true)
      at = parents.get(at)
    }
  }
}

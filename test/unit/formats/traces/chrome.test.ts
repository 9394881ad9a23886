import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CHROME_TRACE, chromeTraceText, type TraceEvent, traceEvents } from '../../../../src/formats/traces/chrome.ts'
import type { StreamView } from '../../../../src/ops/read-stream.ts'
import { anInit, aScript, aStrangeDocument, RUNS } from '../../../support/arbitraries.ts'
import { Play, START_MS } from '../../../support/stream-builder.ts'
import { aWholeStory, played, viewOfEvents, viewOfPlay } from '../views.ts'

type Slice = Extract<TraceEvent, { ph: 'X' }>

const slicesOf = (events: readonly TraceEvent[]) => events.filter((event): event is Slice => event.ph === 'X')
const named = (view: StreamView) => new Map(slicesOf(traceEvents(view, 7)).map(slice => [slice.args.id, slice]))

test('an event is a slice from its begin to its end, in microseconds, with its details', () => {
  const slices = named(viewOfPlay(aWholeStory()))
  expect(slices.get('01.00')).toEqual({
    ph: 'X',
    name: '01.00 Search',
    cat: 'completed',
    ts: (START_MS + 1_000) * 1_000,
    dur: 4_000_000,
    pid: 7,
    tid: 1,
    cname: 'good',
    args: { id: '01.00', status: 'completed', attempt: 2, owner: 'w2', msg: '12 results', waitedMs: 1_000 },
  })
  expect(slices.get('02.00')).toMatchObject({ cat: 'canceled', cname: 'bad', dur: 5_000_000 })
})

test('an open event ends now and is marked as open', () => {
  const slices = named(viewOfPlay(aWholeStory()))
  expect(slices.get('01')).toMatchObject({ dur: 4_000_000, args: { open: true } })
  expect(slices.get('01.00')?.args).not.toHaveProperty('open')
})

test('a stream is a process and its threads are threads, each with a name', () => {
  const events = traceEvents(viewOfPlay(aWholeStory(), 'orders/1'), 7)
  const metadata = events.filter(event => event.ph === 'M' && event.name.endsWith('_name'))
  expect(metadata.map(({ name, pid, tid, args }) => [name, pid, tid, args])).toEqual([
    ['process_name', 7, 0, { name: 'orders/1' }],
    ['thread_name', 7, 0, { name: 'root' }],
    ['thread_name', 7, 1, { name: '01' }],
    ['thread_name', 7, 2, { name: '02' }],
  ])
})

test('overlapping steps that are not nested have separate rows', () => {
  const at = (seconds: number) => new Date(START_MS + seconds * 1_000).toISOString()
  const view = viewOfEvents(
    [
      { id: '00', status: 'completed', created: at(0), timestamp: at(9) },
      { id: '01.00', status: 'completed', created: at(1), timestamp: at(4), prev: '00' },
      { id: '01.01', status: 'completed', created: at(2), timestamp: at(6), prev: '00' },
      { id: '01.02', status: 'completed', created: at(4), timestamp: at(5), prev: '00' },
    ],
    START_MS,
  )
  const slices = named(view)
  const rows = ['01.00', '01.01', '01.02'].map(id => slices.get(id)?.tid)
  expect(rows).toEqual([1, 2, 1])
})

test('several streams make one document', () => {
  const text = [aWholeStory(), Play.started('A')].map((play, at) => chromeTraceText(viewOfPlay(play, `s${at}`), at + 1))
  const document: unknown = JSON.parse(CHROME_TRACE.head + text.join(',\n') + CHROME_TRACE.tail)
  expect(document).toMatchObject({ displayTimeUnit: 'ms', traceEvents: expect.any(Array) })
})

test('texts that a terminal would interpret are escaped', () => {
  const play = new Play().after({ op: 'init', root: { name: 'a\u202eb\u009b31m' } })
  expect(chromeTraceText(viewOfPlay(play), 1)).not.toMatch(/[\u0080-\u009f\u202e]/)
})

describe('of any stream', () => {
  /** https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU: slices of a thread nest. */
  const check = (view: StreamView) => {
    const events = traceEvents(view, 1)
    const slices = slicesOf(events)
    expect(slices).toHaveLength(view.stream.events.filter((_, at) => view.stream.counts(at)).length)
    for (const { ts, dur, tid } of slices) {
      expect([ts, dur, tid].every(Number.isSafeInteger)).toBe(true)
      expect(dur).toBeGreaterThanOrEqual(0)
    }
    const threads = Map.groupBy(slices, ({ tid }) => tid)
    for (const [tid, own] of threads) {
      expect(events.some(event => event.ph === 'M' && event.name === 'thread_name' && event.tid === tid)).toBe(true)
      for (const a of own) for (const b of own) expect(overlaps(a, b)).toBe(false)
    }
  }

  test('slices of one thread are disjoint or nested', () => {
    fc.assert(
      fc.property(anInit(), aScript('kept'), (init, script) => check(viewOfPlay(played(init, script)))),
      { numRuns: RUNS / 2 },
    )
  })

  test('slices of malformed documents are too', () => {
    fc.assert(
      fc.property(aStrangeDocument(), events => check(viewOfEvents(events, START_MS))),
      { numRuns: RUNS / 2 },
    )
  })
})

/** Each has a part that the other does not. */
function overlaps(a: Slice, b: Slice): boolean {
  return a.ts < b.ts && b.ts < a.ts + a.dur && a.ts + a.dur < b.ts + b.dur
}

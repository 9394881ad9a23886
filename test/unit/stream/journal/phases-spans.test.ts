import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFinal } from '../../../../src/stream/event.ts'
import { type EventSpan, eventSpans } from '../../../../src/stream/journal/phases.ts'
import { anInit, aScript, aStrangeDocument, RUNS } from '../../../support/arbitraries.ts'
import { documentText, Play, START_MS } from '../../../support/stream-builder.ts'
import { aWholeStory, played, viewOfEvents, viewOfPlay } from '../../formats/views.ts'

const spansOf = (view: ReturnType<typeof viewOfPlay>) => eventSpans(view.stream, view.transactions(), view.time)

/** Milliseconds after the beginning. */
function times({ createdMs, startedMs, endedMs }: EventSpan) {
  return [createdMs, startedMs, endedMs].map(ms => (ms === undefined ? undefined : ms - START_MS))
}

test('an event begins when it is first started and ends with its last attempt; a waiting join has not begun', () => {
  const spans = new Map(spansOf(viewOfPlay(aWholeStory())).map(span => [span.event.id, span]))
  const of = (id: string) => times(spans.get(id) as EventSpan)
  expect(of('00')).toEqual([0, 0, undefined])
  expect(of('01.00')).toEqual([0, 1_000, 5_000])
  expect(of('02.00')).toEqual([0, undefined, 5_000])
  expect(of('01')).toEqual([0, 6_000, undefined])
})

test('a join that waits again because its branch was retried has not begun', () => {
  const play = Play.joined('Done', 'Search').wait(1_000)
  play.after({ op: 'fail', event: '01.00' }).wait(1_000).after({ op: 'retry', event: '01.00' })
  expect(play.event('01').lc.join).toBe('wait')
  expect(spansOf(viewOfPlay(play)).find(({ event }) => event.id === '01')?.startedMs).toBeUndefined()
})

test('an event that another writer began before the adoption has no known beginning', () => {
  const play = new Play(documentText({ id: '00', status: 'inprocess', created: '2024-05-01T11:00:00Z' }))
  play.after({ op: 'advance', event: '00', next: { name: 'Next' } })
  const [root] = spansOf(viewOfPlay(play))
  expect(times(root as EventSpan)).toEqual([-3_600_000, undefined, undefined])
})

test('the steps of an event name their authors', () => {
  const [, search] = spansOf(viewOfPlay(aWholeStory()))
  expect(search?.steps.map(({ transaction: { op, by }, atMs }) => [op, by, (atMs ?? 0) - START_MS])).toEqual([
    ['init', 'test', 0],
    ['start', 'test', 1_000],
    ['fail', 'test', 3_000],
    ['retry', 'ann', 3_500],
    ['start', 'test', 4_000],
    ['complete', 'test', 5_000],
  ])
})

test('without a history and with unreadable times, no span is invented', () => {
  const [root, child] = spansOf(
    viewOfEvents(
      [
        { id: '00', status: 'completed', created: '2024-05-01T12:00:00Z', timestamp: '2024-05-01T12:00:09Z' },
        { id: '01.00', status: 'completed', created: 'yesterday', timestamp: '', prev: '00' },
      ],
      START_MS,
    ),
  )
  expect(times(root as EventSpan)).toEqual([0, undefined, 9_000])
  expect(times(child as EventSpan)).toEqual([undefined, undefined, undefined])
})

test('a time that clock differences put before the beginning of an event is moved to its beginning', () => {
  const [root] = spansOf(
    viewOfEvents(
      [{ id: '00', status: 'aborted', created: '2024-05-01T12:00:00Z', timestamp: '2024-05-01T11:00:00Z' }],
      START_MS,
    ),
  )
  expect(times(root as EventSpan)).toEqual([0, undefined, 0])
})

test('in any stream each event has one span in order, with an end if and only if it is final', () => {
  const check = (spans: readonly EventSpan[]) => {
    expect(new Set(spans.map(({ event }) => event.id)).size).toBe(spans.length)
    for (const span of spans) {
      const known = [span.createdMs, span.startedMs, span.endedMs].filter(ms => ms !== undefined)
      expect(known).toEqual(known.toSorted((a, b) => a - b))
      if (!isFinal(span.event)) expect(span.endedMs).toBeUndefined()
    }
  }
  fc.assert(
    fc.property(anInit(), aScript('dropped'), (init, script) => check(spansOf(viewOfPlay(played(init, script))))),
    { numRuns: RUNS / 2 },
  )
  fc.assert(
    fc.property(aStrangeDocument(), events => check(spansOf(viewOfEvents(events, START_MS)))),
    { numRuns: RUNS / 2 },
  )
})

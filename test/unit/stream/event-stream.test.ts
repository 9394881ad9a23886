import { describe, expect, it } from 'vitest'
import { attemptOf, fenceOf, newEvent, nextIds, type StreamEvent } from '../../../src/stream/event.ts'
import { EventStream } from '../../../src/stream/event-stream.ts'

type Row = readonly [id: string, prev: string, next: string, status?: string]

const rows = (...list: readonly Row[]) =>
  new EventStream(list.map(([id, prev, next, status = 'init']) => newEvent({ id, prev, next, status })))
const ids = (stream: EventStream, positions: readonly number[]) => positions.map(at => stream.at(at)?.id)
const found = (stream: EventStream, id: string): StreamEvent => stream.find(id) ?? newEvent({})

describe('event stream', () => {
  it('successors are the ids in next and the events that name it in prev, each once', () => {
    const stream = rows(['00', '', '01.00|02.00'], ['01.00', '00', ''], ['02.00', '00', ''], ['03.00', '00', ''])
    expect(stream.successors(found(stream, '00')).events.map(event => event.id)).toEqual(['01.00', '02.00', '03.00'])
  })

  it('an event in another state keeps the same links', () => {
    const stream = rows(['00', '', '01.00|09.00'], ['01.00', '00', ''])
    expect(stream.openSuccessors(found(stream, '00'))).toBe(true)
    const later = stream.withStates([newEvent({ id: '00', next: '01.00|09.00' }), found(stream, '01.00')])
    const fresh = rows(['00', '', '01.00|09.00'], ['01.00', '00', ''])
    for (const of of [later, fresh]) {
      expect(ids(of, of.descendantPositions(0))).toEqual(['01.00'])
      expect(of.missingIds(0)).toEqual(['09.00'])
    }
    const ended = rows(['00', '', '01.00'], ['01.00', '00', '']).withStates(
      rows(['00', '', '01.00'], ['01.00', '00', '', 'completed']).events,
    )
    expect(ended.openSuccessors(found(ended, '00'))).toBe(false)
  })

  it('missing successors count as open', () => {
    const stream = rows(['00', '', '01.00|09.00|10.00'], ['01.00', '00', '', 'completed'])
    expect(stream.successors(found(stream, '00')).missing).toEqual(['09.00', '10.00'])
    expect(stream.openSuccessors(found(stream, '00'))).toBe(true)
    expect(stream.openSuccessors(found(stream, '01.00'))).toBe(false)
  })

  it('superseded events do not count as successors', () => {
    const stream = new EventStream([
      newEvent({ id: '00', next: '01.00' }),
      newEvent({ id: '01.00', prev: '00', status: 'aborted' }, { superseded: '4' }),
    ])
    expect(stream.successors(found(stream, '00')).events).toEqual([])
    expect(ids(stream, stream.descendantPositions(0))).toEqual(['01.00'])
  })

  it('of duplicate events, the first one counts', () => {
    const stream = rows(['00', '', '01.00'], ['01.00', '00', ''], ['01.00', '', '', 'completed'], ['00', '01.00', ''])
    expect(stream.find('01.00')?.status).toBe('init')
    expect([0, 1, 2, 3].map(at => stream.counts(at))).toEqual([true, true, false, false])
    expect(ids(stream, stream.successorPositions(1))).toEqual([])
  })

  it('links to itself and to the root are ignored: the root is below no event', () => {
    const stream = rows(['00', '', '00|01.00'], ['01.00', '00', '00|01.00', 'completed'])
    expect(ids(stream, stream.successorPositions(1))).toEqual([])
    expect(stream.finalAncestor(0)).toBeUndefined()
  })

  it('a cycle is walked once', () => {
    const stream = rows(['00', '', 'a'], ['a', '00', 'b'], ['b', 'a', 'c'], ['c', 'b', 'a'])
    expect(ids(stream, stream.ancestorPositions(1))).toEqual(['00', 'c', 'b'])
    expect(ids(stream, stream.descendantPositions(1))).toEqual(['c', 'b'])
    expect(ids(stream, stream.childrenFirst())).toEqual(['c', 'b', 'a', '00'])
  })

  it('descendants are listed children first; below the root, all events are listed', () => {
    const stream = rows(['00', '', '01.00'], ['01.00', '00', '01.01'], ['01.01', '01.00', ''], ['99.00', '', ''])
    expect(ids(stream, stream.descendantPositions(1))).toEqual(['01.01'])
    expect(ids(stream, stream.descendantPositions(0))).toEqual(['01.01', '01.00', '99.00'])
  })

  it('the nearest final event above is found, and the root above every event', () => {
    const stream = rows(
      ['00', '', '01.00', 'completed'],
      ['01.00', '00', '01.01', 'aborted'],
      ['01.01', '01.00', ''],
      ['x', '', ''],
    )
    expect(stream.finalAncestor(2)?.id).toBe('01.00')
    expect(stream.finalAncestor(3)?.id).toBe('00')
  })

  it('a stream is done when its root is final, held while its root is init, and may be empty', () => {
    expect([rows(['00', '', '']), rows(['00', '', '', 'aborted'])].map(({ done, held }) => [done, held])).toEqual([
      [false, true],
      [true, false],
    ])
    const empty = rows()
    expect([empty.root, empty.done, empty.held, empty.find('00')]).toEqual([undefined, false, false, undefined])
  })
})

describe('event', () => {
  it('next is read as ids between bars; empty ids are ignored', () => {
    expect(nextIds({ next: '01.00||02.00|' })).toEqual(['01.00', '02.00'])
    expect(nextIds({ next: '' })).toEqual([])
  })

  it('fence and attempt are numbers of at most 15 digits; any other value is ignored', () => {
    const read = (fence: string, attempt: string) => {
      const event = newEvent({}, { fence, attempt })
      return [fenceOf(event), attemptOf(event)]
    }
    expect(read('12', '3')).toEqual([12, 3])
    expect(read('-1', 'x')).toEqual([undefined, 1])
    expect(read('1234567890123456', '')).toEqual([undefined, 1])
  })
})

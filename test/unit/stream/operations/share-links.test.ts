import { describe, expect, it } from 'vitest'
import { newEvent, type StreamEvent } from '../../../../src/stream/event.ts'
import { EventStream, shareLinks } from '../../../../src/stream/event-stream.ts'

const before = [
  newEvent({ id: '00', next: '01|09' }),
  newEvent({ id: '01', prev: '00', next: '02' }),
  newEvent({ id: '02', prev: '01' }),
]

/** All links of a list. */
function links(stream: EventStream) {
  return stream.events.map(({ id }, at) => ({
    position: stream.positionOf(id),
    below: stream.successorPositions(at),
    above: stream.predecessorPositions(at),
    missing: stream.missingIds(at),
    order: stream.descendantPositions(at),
  }))
}

function replaced(position: number, attributes: Partial<StreamEvent>): StreamEvent[] {
  return before.map((event, at) => (at === position ? { ...event, ...attributes } : event))
}

/** The stream of a list that may reuse links of `before`. */
function sharing(events: readonly StreamEvent[]): EventStream {
  EventStream.of(before)
  shareLinks(before, events)
  return EventStream.of(events)
}

describe('an event list derived from another', () => {
  it.each<[string, StreamEvent[]]>([
    ['another status', replaced(1, { status: 'completed' })],
    ['another next', replaced(0, { next: '02' })],
    ['another prev', replaced(2, { prev: '00' })],
    ['another id', replaced(2, { id: '09' })],
    ['an added event', [...before, newEvent({ id: '09', prev: '01' })]],
    ['a removed event', before.slice(0, 2)],
  ])('with %s has the same links as a list that is read from text', (_, events) => {
    expect(links(sharing(events))).toEqual(links(new EventStream(events)))
  })

  it('with the same links is not searched again', () => {
    let reads = 0
    const counting = before.map(event =>
      Object.defineProperty({ ...event, status: 'completed' }, 'next', {
        get: () => {
          reads += 1
          return event.next
        },
      }),
    )
    const stream = sharing(counting)
    const comparing = reads
    expect(comparing).toBeGreaterThan(0)
    links(stream)
    links(EventStream.of(counting))
    expect(reads).toBe(comparing)
  })

  it('is searched if the links of the other list are unknown', () => {
    const events = replaced(0, { next: '02' })
    shareLinks([...before], events)
    expect(links(EventStream.of(events))).toEqual(links(new EventStream(events)))
  })
})

import { describe, expect, it } from 'vitest'
import { type EventAttributes, newEvent, type StreamEvent } from '../../../../src/stream/event.ts'
import { EventStream } from '../../../../src/stream/event-stream.ts'
import { readTime, type TimeReader } from '../../../../src/stream/time/dates.ts'
import { heldSinceMs, pausedMs, pauseMs, pausesAfter, suspendedSinceMs } from '../../../../src/stream/time/pauses.ts'

const NOW = Date.parse('2026-07-01T12:00:00.000Z')
const HOUR = 3_600_000
const at = (hours: number) => new Date(NOW + hours * HOUR).toISOString()
const read: TimeReader = text => readTime(text)

type Lc = StreamEvent['lc']

function stream(root: Lc, ...events: readonly (readonly [Lc, Partial<EventAttributes>?])[]): EventStream {
  return new EventStream([
    newEvent({ id: '00', status: 'inprocess', created: at(-10), timestamp: at(-2) }, root),
    ...events.map(([lc, more], place) =>
      newEvent({ id: `0${place + 1}.00`, status: 'init', created: at(-10), ...more }, lc),
    ),
  ])
}

const EMPTY = new EventStream([])
const event = (lc: Lc) => newEvent({ id: '01.00', status: 'inprocess' }, lc)

describe('the time that an event paused', () => {
  it.each([
    ['3600000', HOUR],
    ['', 0],
    ['soon', 0],
    ['1.5', 0],
    ['-1', 0],
    ['1'.repeat(16), 0],
    ['x1', 0],
    ['1x', 0],
  ])('is read from %j', (paused, ms) => {
    expect(pausedMs(event({ paused }))).toBe(ms)
  })

  it('is nothing without one', () => {
    expect(pausedMs(event({}))).toBe(0)
  })

  it('counts as a whole for a limit that does not count from a sign of life, and where no resumption is known', () => {
    const paused = event({ paused: String(2 * HOUR) })
    expect(pauseMs(stream({ resumed: at(-1) }), paused, undefined, read)).toBe(2 * HOUR)
    expect(pauseMs(stream({}), paused, NOW, read)).toBe(2 * HOUR)
    expect(pauseMs(EMPTY, paused, NOW, read)).toBe(2 * HOUR)
    expect(pauseMs(stream({ resumed: at(-1) }), event({}), NOW - 3 * HOUR, read)).toBe(0)
  })

  it('counts from a sign of life to the resumption, at most as a whole and never less than nothing', () => {
    const paused = event({ paused: String(2 * HOUR) })
    const resumed = stream({ resumed: at(-1) })
    expect(pauseMs(resumed, paused, NOW - 2 * HOUR, read)).toBe(HOUR)
    expect(pauseMs(resumed, paused, NOW - 5 * HOUR, read)).toBe(2 * HOUR)
    expect(pauseMs(resumed, paused, NOW, read)).toBe(0)
  })
})

describe('the beginning of a pause', () => {
  it('is the suspension, unless a clock far ahead wrote it: then it is the last write', () => {
    const clock = { nowMs: NOW, writtenMs: NOW - HOUR }
    const clocked: TimeReader = Object.assign((text: string) => readTime(text), { clock })
    expect(suspendedSinceMs(stream({ suspended: at(-3) }), clocked)).toBe(NOW - 3 * HOUR)
    expect(suspendedSinceMs(stream({ suspended: at(24 * 400) }), clocked)).toBe(clock.writtenMs)
    expect(suspendedSinceMs(stream({ suspended: at(24 * 400) }), read)).toBe(NOW + 24 * 400 * HOUR)
    expect(suspendedSinceMs(stream({}), read)).toBeUndefined()
    expect(suspendedSinceMs(EMPTY, clocked)).toBeUndefined()
  })

  it('is the creation of a held stream, or when its root was handed back', () => {
    expect(heldSinceMs(stream({}), read)).toBe(NOW - 10 * HOUR)
    expect(heldSinceMs(stream({ opened: at(-9) }), read)).toBe(NOW - 9 * HOUR)
    expect(heldSinceMs(stream({ opened: at(-9), attempt: '2' }), read)).toBe(NOW - 2 * HOUR)
    expect(heldSinceMs(EMPTY, read)).toBeUndefined()
  })
})

describe('after a pause', () => {
  const pauses = (...events: Parameters<typeof stream>[1][]) => [
    ...pausesAfter(stream({}, ...events), NOW - 3 * HOUR, NOW, read),
  ]
  const root = [0, String(3 * HOUR)] as const

  it('each open event has the time of it added to its own, rounded to milliseconds', () => {
    expect(pauses([{}], [{ paused: '5' }])).toEqual([root, [1, String(3 * HOUR)], [2, String(3 * HOUR + 5)]])
    expect([...pausesAfter(stream({}), NOW - 1.4, NOW, read)]).toEqual([[0, '1']])
  })

  it('an event that opened meanwhile has the time since then, and one that opened later none', () => {
    expect(pauses([{ opened: at(-1) }], [{ opened: at(0) }], [{ opened: at(1) }])).toEqual([root, [1, String(HOUR)]])
    expect(pauses([{}, { created: at(-2) }], [{ opened: 'soon' }])).toEqual([
      root,
      [1, String(2 * HOUR)],
      [2, String(3 * HOUR)],
    ])
  })

  it('what has ended, was replaced or is there twice has none', () => {
    expect(pauses([{}, { status: 'completed' }], [{ superseded: '3' }], [{}, { id: '01.00' }])).toEqual([root])
  })
})

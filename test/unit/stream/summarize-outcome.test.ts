import { describe, expect, it } from 'vitest'
import { type EventAttributes, newEvent, type StreamEvent } from '../../../src/stream/event.ts'
import { EventStream } from '../../../src/stream/event-stream.ts'
import { outcomeOf } from '../../../src/stream/summarize.ts'

type Lc = StreamEvent['lc']
type Row = readonly [id: string, status: string, lc?: Lc, more?: Partial<EventAttributes>]

function stream(root: Lc, rows: readonly Row[], status = 'inprocess'): EventStream {
  return new EventStream([
    newEvent({ id: '00', status, next: rows.map(([id]) => id).join('|') }, root),
    ...rows.map(([id, rowStatus, lc = {}, more = {}]) => newEvent({ id, status: rowStatus, prev: '00', ...more }, lc)),
  ])
}

const BLOCK = { onFailure: 'block' }

describe('the outcome of a stream', () => {
  it.each(['compensating', 'compensated', 'compensation-failed'])('is %s as written at the root', outcome => {
    expect(outcomeOf(stream({ ...BLOCK, outcome }, [['01.00', 'aborted']]), true)).toBe(outcome)
  })

  it('is not taken from a text of the root that is none', () => {
    expect(outcomeOf(stream({ outcome: 'compensate' }, []), false)).toBe('')
    expect(outcomeOf(stream({ outcome: 'blocked' }, []), false)).toBe('')
    expect(outcomeOf(stream({ outcome: 'errors' }, []), false)).toBe('')
  })

  it('is blocked by a failure only where the policy says so', () => {
    expect(outcomeOf(stream(BLOCK, [['01.00', 'aborted']]), true)).toBe('blocked')
    expect(outcomeOf(stream({}, [['01.00', 'aborted']]), true)).toBe('errors')
    expect(outcomeOf(stream({ onFailure: 'continue' }, [['01.00', 'aborted']]), true)).toBe('errors')
  })

  it('is not blocked once the stream has ended', () => {
    expect(outcomeOf(stream(BLOCK, [['01.00', 'aborted']], 'aborted'), true)).toBe('errors')
  })

  it.each<[string, Row]>([
    ['skipped', ['01.00', 'aborted', { skipped: 'yes' }]],
    ['superseded', ['01.00', 'aborted', { superseded: '4' }]],
    ['canceled', ['01.00', 'canceled']],
    ['completed', ['01.00', 'completed']],
  ])('is not blocked by an event that was %s', (_, row) => {
    expect(outcomeOf(stream(BLOCK, [row]), true)).toBe('errors')
  })

  it('is not blocked by a second event of the same id', () => {
    expect(
      outcomeOf(
        stream(BLOCK, [
          ['01.00', 'completed'],
          ['01.00', 'aborted'],
        ]),
        true,
      ),
    ).toBe('errors')
  })

  it('is blocked by a gate after a canceled event, not by one that still waits', () => {
    const waiting: Row = ['02.00', 'inprocess', { wait: 'yes', after: '01.00' }]
    expect(outcomeOf(stream(BLOCK, [['01.00', 'canceled'], waiting]), true)).toBe('blocked')
    expect(outcomeOf(stream(BLOCK, [['01.00', 'inprocess'], waiting]), false)).toBe('')
    expect(outcomeOf(stream(BLOCK, [['01.00', 'completed'], waiting]), false)).toBe('')
  })

  it('is errors or none for the rest, as the caller knows', () => {
    expect(outcomeOf(stream({}, []), true)).toBe('errors')
    expect(outcomeOf(new EventStream([]), false)).toBe('')
  })
})

describe('an event', () => {
  it('blocks nothing at the root, nor where there is none', () => {
    expect(stream(BLOCK, [], 'aborted').blocks(0)).toBe(false)
    expect(stream(BLOCK, []).blocks(7)).toBe(false)
    expect(new EventStream([]).blocks(0)).toBe(false)
  })

  it('blocks nothing above it that has ended', () => {
    const ended = new EventStream([
      newEvent({ id: '00', status: 'inprocess', next: '01.00|02.00' }, BLOCK),
      newEvent({ id: '01.00', status: 'completed', prev: '00', next: '03.00' }),
      newEvent({ id: '02.00', status: 'inprocess', prev: '00', next: '03.00' }),
      newEvent({ id: '03.00', status: 'aborted', prev: '01.00|02.00' }),
      newEvent({ id: '04.00', status: 'aborted', prev: '02.00' }),
    ])
    expect(ended.blocks(3)).toBe(false)
    expect(ended.blocks(4)).toBe(true)
  })
})

it('a stream compensates while its root is open', () => {
  expect(stream({ outcome: 'compensating' }, []).compensating).toBe(true)
  expect(stream({ outcome: 'compensating' }, [], 'aborted').compensating).toBe(false)
  expect(stream({ outcome: 'compensated' }, []).compensating).toBe(false)
  expect(new EventStream([]).compensating).toBe(false)
})

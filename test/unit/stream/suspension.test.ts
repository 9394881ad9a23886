import { expect, it } from 'vitest'
import { newEvent } from '../../../src/stream/event.ts'
import { EventStream } from '../../../src/stream/event-stream.ts'
import { suspensionOf, suspensionText } from '../../../src/stream/suspension.ts'

const AT = '2026-07-01T12:00:00.000Z'
const stream = (lc: Record<string, string>, status = 'inprocess') =>
  new EventStream([newEvent({ id: '00', status }, lc)])

it('the suspension of a stream has the time, and what is known of who and why', () => {
  expect(suspensionOf(stream({ suspended: AT, suspendedBy: 'ana', info: 'gateway' }))).toEqual({
    at: AT,
    by: 'ana',
    why: 'gateway',
  })
  expect(suspensionOf(stream({ suspended: AT }))).toEqual({ at: AT, by: '', why: '' })
})

it('a stream that is not suspended, has ended or has no events has no suspension', () => {
  expect(suspensionOf(stream({}))).toBeUndefined()
  expect(suspensionOf(stream({ suspended: AT }, 'canceled'))).toBeUndefined()
  expect(suspensionOf(new EventStream([]))).toBeUndefined()
})

it('a suspension is told in one phrase, without what is not known', () => {
  expect(suspensionText({ at: AT, by: 'ana', why: 'gateway' })).toBe(`suspended by ana since ${AT}: gateway`)
  expect(suspensionText({ at: AT, by: '', why: '' })).toBe(`suspended since ${AT}`)
})

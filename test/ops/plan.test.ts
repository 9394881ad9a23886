import { expect, it } from 'vitest'
import { roomIn } from '../../src/ops/plan.ts'
import { EMPTY_DOCUMENT } from '../../src/stream/document.ts'
import { newEvent } from '../../src/stream/event.ts'

it.each([
  ['a small stream', 10, 2_000, 31_250],
  ['as many events as may be', 20_000, 0, 24],
  ['few events with a long history', 150, 8_000_000, 24],
  ['more of both than is ever planned at once', 500_000, 20_000_000, 1],
])('one plan takes of %s so many operations', (_, events, journal, room) => {
  const event = newEvent({ id: '00' })
  expect(roomIn({ ...EMPTY_DOCUMENT, events: Array(events).fill(event), journal: 'x'.repeat(journal) })).toBe(room)
})

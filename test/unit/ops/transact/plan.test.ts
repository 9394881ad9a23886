import { expect, it } from 'vitest'
import { maxOperations } from '../../../../src/ops/transact/plan.ts'
import { EMPTY_DOCUMENT } from '../../../../src/stream/document.ts'
import { newEvent } from '../../../../src/stream/event.ts'
import { init, intercept, memoryStore, run } from '../support.ts'

it.each([
  ['a small stream', 10, 2_000, 31_250],
  ['the maximum number of events', 20_000, 0, 24],
  ['few events with a long history', 150, 8_000_000, 24],
  ['more of both than are ever planned at once', 500_000, 20_000_000, 1],
])('one plan takes at most this number of operations of %s', (_, events, journal, room) => {
  const event = newEvent({ id: '00' })
  expect(maxOperations({ ...EMPTY_DOCUMENT, events: Array(events).fill(event), journal: 'x'.repeat(journal) })).toBe(
    room,
  )
})

it('the commit queue reports the number of other writers in the last seconds', async () => {
  const { store, advance } = memoryStore()
  const counts: (number | undefined)[] = []
  const counting = intercept(store, (_, decide, go) =>
    go((current, nowMs) => {
      const decision = decide(current, nowMs)
      counts.push(decision.kind === 'put' ? decision.othersLately?.().count : undefined)
      return decision
    }),
  )
  const write = (by: string) =>
    run(counting, 's', { op: 'set', event: '01.00', attributes: { key: `${counts.length}` } }, { by })
  await run(store, 's', init(['A']), { by: 'creator' })
  for (const by of ['a', 'a', 'b', 'c', 'a']) await write(by)
  expect(counts).toEqual([0, 0, 1, 2, 2])
  advance(6_000)
  await write('b')
  expect(counts.at(-1)).toBe(0)
})

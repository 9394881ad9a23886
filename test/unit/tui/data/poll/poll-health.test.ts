import { expect, it } from 'vitest'
import { NOTHING_VISIBLE } from '../../../../../src/tui/data/types.ts'
import { init, memoryStore, run } from '../../../ops/support.ts'
import { probe } from '../../../ops/watch/support.ts'
import { polling, withoutMarks } from '../support.ts'

it('an open stream is polled each time, the numbers of all streams after the first poll and then every ten seconds', async () => {
  const { store } = memoryStore()
  await run(store, 'orders/1', init())
  await run(store, 'orders/2', init())
  const asked = probe(withoutMarks(store))
  const demand = { ...NOTHING_VISIBLE, open: 'orders/1', health: true }
  const others = () => asked.listings.filter(({ prefix }) => prefix !== 'orders/1').length
  const { data, clock, stop } = await polling(asked.store, demand)
  expect([others(), data.streams.size, data.watchdog.state]).toEqual([0, 0, undefined])
  await clock.next()
  expect([others(), data.streams.size, data.watchdog.state?.watchdogs]).toEqual([1, 2, []])
  for (let second = 0; second < 9; second++) await clock.next()
  expect(others()).toBe(1)
  await clock.next()
  expect(others()).toBe(2)
  await stop()
})

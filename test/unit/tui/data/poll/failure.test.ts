import { expect, it } from 'vitest'
import { NOTHING_VISIBLE } from '../../../../../src/tui/data/types.ts'
import { init, memoryStore, run } from '../../../ops/support.ts'
import { probe } from '../../../ops/watch/support.ts'
import { polling } from '../support.ts'

const SHOWN = { ...NOTHING_VISIBLE, streams: true, failure: 'orders/1' }
const message = `${'many words '.repeat(40)}\nCaused by: THE REAL REASON`

it('the whole failure of a stream is read once, and again after a change', async () => {
  const { store } = memoryStore()
  await run(store, 'orders/1', init(['A', 'B']))
  await run(store, 'orders/1', { op: 'abort', event: '01.00', msg: message })
  const asked = probe(store)
  const { data, clock, stop } = await polling(asked.store, SHOWN)
  expect(data.failure).toMatchObject({ stream: 'orders/1', text: message })
  expect(data.streams.get('orders/1')?.item.summary?.failure.length).toBeLessThan(message.length)
  await clock.next()
  expect(asked.reads).toEqual(['orders/1'])
  await run(store, 'orders/1', { op: 'set', event: '00', attributes: { key: 'k1' } })
  await clock.next()
  expect(asked.reads).toEqual(['orders/1', 'orders/1'])
  await stop()
})

it('nothing is read of a stream that is not in the list', async () => {
  const { store } = memoryStore()
  const asked = probe(store)
  const { data, stop } = await polling(asked.store, SHOWN)
  expect([data.failure, asked.reads]).toEqual([undefined, []])
  await stop()
})

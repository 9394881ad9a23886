import { expect, it } from 'vitest'
import { init, memoryStore, run } from '../../../ops/support.ts'
import { LISTED, polling } from '../support.ts'

it('subscriptions are read only while their screen is visible', async () => {
  const { store } = memoryStore()
  await run(store, 'a', init(['Pay']))
  const hidden = await polling(store, LISTED)
  expect(hidden.data.subscriptions.rows).toBeUndefined()
  await hidden.stop()
  const shown = await polling(store, { ...LISTED, subscriptions: true })
  expect(shown.data.subscriptions.rows).toEqual([])
  await shown.stop()
})

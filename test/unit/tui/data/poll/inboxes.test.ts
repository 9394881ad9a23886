import { expect, it } from 'vitest'
import { createInbox } from '../../../../../src/inbox/inbox.ts'
import { InboxWriter } from '../../../../../src/inbox/writer.ts'
import { memoryStore } from '../../../ops/support.ts'
import { LISTED, polling } from '../support.ts'

it('inboxes are read only while their screen is visible, with what waits in them', async () => {
  const { store } = memoryStore()
  const created = await createInbox(store, 'orders', 2, { by: 'ann' })
  if (!('inbox' in created)) throw new Error(created.kind)
  await new InboxWriter(store, created.inbox, { lingerMs: 0 }).put({ id: 'o-1', json: '{}' })
  const hidden = await polling(store, LISTED)
  expect(hidden.data.inboxes.rows).toBeUndefined()
  await hidden.stop()
  const shown = await polling(store, { ...LISTED, inboxes: true })
  expect(shown.data.inboxes.rows).toMatchObject([
    { key: 'orders', view: { lag: { records: 1 } }, lags: [{ records: 1 }] },
  ])
  await shown.stop()
})

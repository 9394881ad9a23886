import { expect, it } from 'vitest'
import { parseFilter, searchable } from '../../../../../src/tui/state/lists/filter.ts'
import { STREAM_FILTER, streamText } from '../../../../../src/tui/state/lists/stream-text.ts'
import { init, memoryStore, run } from '../../../ops/support.ts'
import { LISTED, polling } from '../../data/support.ts'

it('a filter finds a stream by the names and the conditions that its row shows', async () => {
  const { store } = memoryStore()
  await run(store, 'a', init(['Search', 'Pay']))
  const forks = [{ name: 'Check', signal: 'approve' }]
  await run(store, 'b', { op: 'init', root: { name: 'Order' }, forks, hold: false, born: 'b' })
  const { data, stop } = await polling(store, LISTED)
  const found = (filter: string) =>
    [...data.streams.values()]
      .filter(entry => parseFilter(filter, STREAM_FILTER).accepts(() => searchable([streamText(entry, 0)]), entry, 0))
      .map(({ name }) => name)
  for (const word of ['search', 'Pay']) expect([word, found(word)]).toEqual([word, ['a']])
  for (const word of ['Check', '"for signal approve"']) expect([word, found(word)]).toEqual([word, ['b']])
  await stop()
})

import { expect, test } from 'vitest'
import { changeStream, follow } from '../../../src/library/streams.ts'
import { storeWith } from './support.ts'

test('a stream is followed from its beginning, or from a version, until the loop breaks or the signal aborts', async () => {
  const { store } = await storeWith({ forks: ['A'] })
  const stop = new AbortController()
  const seen: string[] = []
  for await (const item of follow(store, 's', { intervalMs: 0, signal: stop.signal })) {
    seen.push(item.kind === 'transaction' ? item.tx.op : item.kind)
    if (item.kind === 'done') stop.abort()
    else if (seen.length === 1) await changeStream(store, 's', { by: 'w' }, s => void s.mustFind('01.00').complete())
  }
  expect(seen).toEqual(['init', 'complete', 'done'])
  for await (const item of follow(store, 's', { fromVersion: 1 })) {
    expect(item).toMatchObject({ kind: 'transaction', tx: { version: 2 } })
    break
  }
})

import { createStream } from '../../../src/library/streams.ts'
import { parseBody } from '../../../src/ops/transact/plan.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { NewStream } from '../../../src/stream/specs.ts'
import { summarize } from '../../../src/stream/summarize.ts'
import { memoryStore } from '../ops/support.ts'

/** A memory store with one stream, `s`; its clock is fixed until it is moved. */
export async function storeWith(stream: NewStream = { forks: ['Search', 'Pay'], join: 'Ship' }) {
  const made = memoryStore()
  const outcome = await createStream(made.store, 's', { by: 'shop' }, stream)
  if (outcome.kind !== 'done') throw new Error(`not created: ${JSON.stringify(outcome)}`)
  return made
}

/** The text of the document. */
export async function textOf(store: StreamStore): Promise<string> {
  return Buffer.from((await store.read('s'))?.body ?? []).toString()
}

/** A store with a foreign document. */
export async function storeWithText(text: string): Promise<StreamStore> {
  const { store } = memoryStore()
  const body = Buffer.from(text)
  await store.create('s', body, summarize(parseBody(body, 's'), { nowMs: store.nowMs(), lastBy: '' }))
  return store
}

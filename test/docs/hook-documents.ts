import { hookFormat } from '../../src/commands/watchdog/hooks.ts'
import { readStream } from '../../src/ops/read-stream.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { documentOf, noticeOf } from '../../src/watchdog/hooks/events.ts'
import { eventsIn } from '../unit/watchdog/hooks/support.ts'
import { everything } from './json-world.ts'

/** The documents that hooks would receive for the world of these tests, and for an event with notification only. */
export async function hookDocuments(): Promise<unknown[]> {
  const { store } = await everything()
  const texts: string[] = []
  for (const name of ['open', 'failed', 'done', 'foreign', 'odd']) texts.push(...(await textsOf(store, name)))
  return texts.map(text => JSON.parse(text))
}

async function textsOf(store: StreamStore, name: string): Promise<string[]> {
  const view = await readStream(store, name)
  if (view === undefined) return []
  const rules = { store: store.address, foreignSinceMs: 0 }
  const due = { event: '00', name: '', limit: 'stream', dueMs: store.nowMs(), message: 'late', commandId: 'c' } as const
  const notice = noticeOf(view, { kind: 'notify', stream: name, ends: 0, ...due }, store.address)
  return [notice, ...eventsIn(view, rules)].map(each => documentOf(each, store.address, hookFormat))
}

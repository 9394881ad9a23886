import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { multiply } from './multiply.ts'
import { createStream } from './streams.ts'
import { largeStream, OPEN } from './top-tree-load.ts'

/** The first stream of the list. */
export const FIRST = 'orders/000000'

/** A database of so many streams and, before them by name, one of ten thousand events where it is asked for. */
export async function topStore(file: string, streams: number, events = 0): Promise<void> {
  const store = openSqliteStore(file)
  try {
    await createStream(store, FIRST)
    multiply(file, streams)
    if (events === 0) return
    const { body, summary } = largeStream(events)
    if (summary === undefined) throw new Error('no summary')
    const { kind } = await store.create(OPEN, body, summary)
    if (kind !== 'created') throw new Error(`${OPEN} was not created: ${kind}`)
  } finally {
    await store.close()
  }
}

/** From now on all streams are so old; nothing of them falls due. */
export function setAge(file: string, ageMs: number): void {
  const db = new DatabaseSync(file)
  const nowMs = Date.now()
  const summary = `json_remove(json_set(summary, '$.createdMs', ${nowMs - ageMs}), '$.claimEndMs')`
  db.exec(`UPDATE streams SET summary = ${summary}, due_ms = ${nowMs + 7_200_000}`)
  db.close()
}

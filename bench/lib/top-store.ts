import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { multiply } from './multiply.ts'
import { createStream } from './streams.ts'
import { largeStream, OPEN } from './top-tree-load.ts'

/** The first stream of the list. */
export const FIRST = 'orders/000000'

/** A database of this many streams and, if requested, one of ten thousand events that sorts before them. */
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

/** Sets the age of all streams; no event becomes due, and no claim ends. */
export function setAge(file: string, ageMs: number): void {
  const db = new DatabaseSync(file)
  const nowMs = Date.now()
  const summary = `json_remove(json_set(summary, '$.createdMs', ${nowMs - ageMs}, '$.running', json('[]')), '$.claimEndMs')`
  db.exec(`UPDATE streams SET summary = ${summary}, due_ms = ${nowMs + 7_200_000}`)
  db.close()
}

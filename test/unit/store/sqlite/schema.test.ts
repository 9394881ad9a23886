import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { createOrMigrate, schemaState } from '../../../../src/store/sqlite/schema.ts'
import { testFolder } from './support.ts'

function opened(path: string): DatabaseSync {
  const db = new DatabaseSync(path)
  onTestFinished(() => db.close())
  return db
}

/** The same database, in which another process creates the tables after each query. */
function createdMeanwhile(db: DatabaseSync, path: string): DatabaseSync {
  const another = opened(path)
  const prepare = (sql: string) => ({
    get: () => {
      const answer = db.prepare(sql).get()
      createOrMigrate(another, path)
      return answer
    },
  })
  return Object.assign(Object.create(db), { prepare })
}

it('a file that another process turns into a store counts as empty or as a store, never as foreign', () => {
  const path = join(testFolder(), 'streams.db')
  const db = opened(path)
  expect(schemaState(createdMeanwhile(db, path), path)).toBe('empty')
  expect(schemaState(db, path)).toBe('ready')
})

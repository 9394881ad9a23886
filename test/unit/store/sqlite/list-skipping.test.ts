import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { given } from '../../../contract/harness.ts'
import { inFile, testFolder } from './support.ts'

test('a skipping listing returns any number of names, each once', async () => {
  const path = join(testFolder(), 'a.db')
  const store = openSqliteStore(path)
  await given(store, 's/00000')
  inFile(path, db => {
    const columns = db
      .prepare("SELECT name FROM pragma_table_info('streams')")
      .all()
      .map(({ name }) => String(name))
    const values = columns.map(name => (name === 'name' ? "printf('s/%05d', n)" : name === 'body_id' ? 'n + 1' : name))
    db.exec(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2999)
      INSERT INTO streams SELECT ${values.join(', ')} FROM numbers, streams WHERE streams.name = 's/00000'`)
  })
  const asked: string[] = []
  const found: string[] = []
  const skip = (name: string) => {
    asked.push(name)
    return !name.endsWith('99')
  }
  for await (const page of store.list({ prefix: 's/', skip })) found.push(...page.map(({ name }) => name))
  expect(asked).toHaveLength(3000)
  expect(new Set(asked).size).toBe(3000)
  expect(found).toHaveLength(30)
  expect(found.slice(9, 11)).toEqual(['s/00999', 's/01099'])
  await store.close()
})

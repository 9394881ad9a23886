import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Cursor, PAGE_ROWS, pageQuery } from '../../../../src/store/sqlite/list.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { ListQuery } from '../../../../src/store/store.ts'
import { given } from '../../../contract/harness.ts'
import { inFile, testFolder } from './support.ts'

async function filled(count: number): Promise<string> {
  const path = join(testFolder(), 'streams.db')
  const store = openSqliteStore(path, { onOpen: db => db.exec('PRAGMA synchronous = OFF') })
  const due = (i: number) => ({ dueMs: 1_000_000 + ((i * 7919) % 1009) })
  for (let i = 0; i < count; i += 1) await given(store, `s/${String(i).padStart(5, '0')}`, '0', due(i))
  await store.close()
  return path
}

function planOf(path: string, query: ListQuery, cursor?: Cursor): string[] {
  const { sql, values } = pageQuery(query, cursor, 200)
  expect(sql).not.toMatch(/bod(y|ies)/)
  const plan = inFile(path, db => db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values))
  return plan.map(step => String(step.detail))
}

describe('the plan of a listing', () => {
  const cursor = { name: 's/00001', dueMs: 1_000_001 }

  it.each<[string, ListQuery, Cursor | undefined, RegExp]>([
    ['by name', {}, undefined, /^SEARCH streams USING PRIMARY KEY \(name>\?\)$/],
    ['by name, next page', {}, cursor, /^SEARCH streams USING PRIMARY KEY \(name>\?\)$/],
    ['by name with prefix', { prefix: 's/' }, cursor, /^SEARCH streams USING PRIMARY KEY \(name>\? AND name<\?\)$/],
    ['by due time', { order: 'due' }, undefined, /^SEARCH streams USING INDEX streams_due \(due_ms>\?\)$/],
    [
      'by due time, next page',
      { order: 'due' },
      cursor,
      /^SEARCH streams USING INDEX streams_due \(\(?due_ms,name\)?>/,
    ],
    ['by due time with prefix', { order: 'due', prefix: 's/' }, cursor, /^SEARCH streams USING INDEX streams_due/],
  ])('for %s seeks in the clustered table or its due index and sorts nothing', async (_, query, from, plan) => {
    const path = await filled(2)
    const steps = planOf(path, query, from)
    expect(steps).toHaveLength(1)
    expect(steps[0]).toMatch(plan)
  })

  it('finds the streams in a table whose rows have no bodies', async () => {
    const path = await filled(1)
    const columns = inFile(path, db => db.prepare("SELECT name, type FROM pragma_table_info('streams')").all())
    expect(columns.filter(column => column.type === 'BLOB')).toEqual([])
    const made = inFile(path, db => db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'streams'").get())
    expect(made?.sql).toMatch(/WITHOUT ROWID$/)
  })
})

describe('the pages of a listing', () => {
  it.each(['name', 'due'] as const)('by %s are bounded and together complete, with each row once', async order => {
    const count = 2 * PAGE_ROWS + 3
    const store = openSqliteStore(await filled(count))
    const pages: number[] = []
    const names: string[] = []
    for await (const page of store.list({ order })) {
      pages.push(page.length)
      names.push(...page.map(row => row.name))
    }
    expect(pages).toEqual([PAGE_ROWS, PAGE_ROWS, 3])
    expect(new Set(names).size).toBe(count)
    if (order === 'name') expect(names).toEqual(names.toSorted())
    await store.close()
  })

  it('hold no lock between them: others write while a listing pauses', async () => {
    const path = await filled(PAGE_ROWS + 1)
    const [reader, writer] = [openSqliteStore(path), openSqliteStore(path)]
    const names: string[] = []
    for await (const page of reader.list({})) {
      names.push(...page.map(row => row.name))
      if (page.length === PAGE_ROWS) {
        await given(writer, 't/new')
        await writer.remove('s/00000', {})
      }
    }
    expect(names).toHaveLength(PAGE_ROWS + 2)
    expect(names.at(-1)).toBe('t/new')
    await Promise.all([reader.close(), writer.close()])
  })
})

describe('rows under names that are not stream names', () => {
  it('are omitted from a listing by due time on any page, and can be removed', async () => {
    const path = await filled(450)
    inFile(path, db => db.exec("UPDATE streams SET name = replace(name, '/', char(92)) WHERE name LIKE '%7'"))
    const store = openSqliteStore(path)
    const due: string[] = []
    for await (const page of store.list({ order: 'due' })) due.push(...page.map(({ name }) => name))
    expect(due).toHaveLength(405)
    expect(due.filter(name => name.includes('\\'))).toEqual([])
    expect(await store.remove('s\\00007', {})).toEqual({ kind: 'removed' })
    await store.close()
  })
})

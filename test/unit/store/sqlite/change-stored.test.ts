import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { StoreDamaged } from '../../../../src/store/errors.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { StreamSnapshot, StreamStore } from '../../../../src/store/store.ts'
import { changeOptions, given, put, stored, text } from '../../../contract/harness.ts'
import { testFolder } from './support.ts'

async function storeWithOne(): Promise<{ store: StreamStore; path: string }> {
  const path = join(testFolder(), 'streams.db')
  const store = openSqliteStore(path)
  onTestFinished(() => store.close())
  await given(store, 'a', 'old')
  return { store, path }
}

function watchSelects(): string[] {
  const { get } = StatementSync.prototype
  const seen: string[] = []
  const spy = vi.spyOn(StatementSync.prototype, 'get').mockImplementation(function (this: StatementSync, ...values) {
    seen.push(this.sourceSQL)
    return Reflect.apply(get, this, values)
  })
  onTestFinished(() => spy.mockRestore())
  return seen
}

it('fetches no body that the change does not look at', async () => {
  const { store } = await storeWithOne()
  const selects = watchSelects()
  await store.update('a', put('new'), changeOptions())
  expect(selects.filter(sql => /body FROM/.test(sql))).toEqual([])
  expect(text((await stored(store, 'a')).body)).toBe('new')
})

it('fetches what it looks at once', async () => {
  const { store } = await storeWithOne()
  const selects = watchSelects()
  const decide = ({ body, summary, size }: StreamSnapshot) => put(`${text(body)} ${size} ${summary?.status}`)()
  await store.update('a', decide, changeOptions())
  expect(selects.filter(sql => /body FROM/.test(sql))).toHaveLength(1)
})

it('tells nothing of the stream any more when the transaction is over', async () => {
  const { store } = await storeWithOne()
  let late: StreamSnapshot | undefined
  const decide = (current: StreamSnapshot) => {
    late = current
    return put('new')()
  }
  await store.update('a', decide, changeOptions())
  expect(() => late?.body).toThrow('while decide runs')
})

it.each([
  ['looked at', ({ body }: StreamSnapshot) => put(text(body))()],
  ['looked at in vain', (current: StreamSnapshot) => put(String(Object.keys({ ...current })))()],
  ['written over', () => put('new')()],
])('is a damaged store where the document is missing that is %s', async (_, decide) => {
  const { store, path } = await storeWithOne()
  const db = new DatabaseSync(path)
  db.exec('DELETE FROM bodies')
  db.close()
  await expect(store.update('a', decide, changeOptions())).rejects.toThrow(StoreDamaged)
})

it('is a fault of the store, whatever the change makes of it', async () => {
  const { store, path } = await storeWithOne()
  const db = new DatabaseSync(path)
  db.exec('DELETE FROM bodies')
  db.close()
  const decide = (current: StreamSnapshot) => {
    try {
      return put(text(current.body))()
    } catch {
      return put('made up')()
    }
  }
  await expect(store.update('a', decide, changeOptions())).rejects.toThrow(StoreDamaged)
})

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

it('a change that does not read the body fetches none', async () => {
  const { store } = await storeWithOne()
  const selects = watchSelects()
  await store.update('a', put('new'), changeOptions())
  expect(selects.filter(sql => /body FROM/.test(sql))).toEqual([])
  expect(text((await stored(store, 'a')).body)).toBe('new')
})

it('a change that reads the body fetches it once', async () => {
  const { store } = await storeWithOne()
  const selects = watchSelects()
  const decide = ({ body, summary, size }: StreamSnapshot) => put(`${text(body)} ${size} ${summary?.status}`)()
  await store.update('a', decide, changeOptions())
  expect(selects.filter(sql => /body FROM/.test(sql))).toHaveLength(1)
})

it('a snapshot of the stream is unusable after the transaction', async () => {
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
  ['read', ({ body }: StreamSnapshot) => put(text(body))()],
  ['read and skipped', (current: StreamSnapshot) => put(String(Object.keys({ ...current })))()],
  ['overwritten', () => put('new')()],
])('a missing document of a stream that is %s is a damaged store', async (_, decide) => {
  const { store, path } = await storeWithOne()
  const db = new DatabaseSync(path)
  db.exec('DELETE FROM bodies')
  db.close()
  await expect(store.update('a', decide, changeOptions())).rejects.toThrow(StoreDamaged)
})

it('a damaged document is an error of the store, whatever the change does with it', async () => {
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

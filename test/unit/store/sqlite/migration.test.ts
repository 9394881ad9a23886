import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { bytes, changeOptions, holder, increment, listed, stored, summary } from '../../../contract/harness.ts'
import { inFile, integrity, testFolder } from './support.ts'
import { toVersion1, toVersion2 } from './version-1.ts'

const versionOf = (path: string): unknown => inFile(path, db => db.prepare('PRAGMA user_version').get()?.user_version)

const FULL = summary({
  outcome: 'errors',
  lastBy: 'é & <ada> "\\n" \n',
  failedAtMs: 1_000,
  failure: 'a\0b, 😀',
  dueMs: 5,
  claimEndMs: 6,
  readySinceMs: 7,
  waitingOn: ['01.00', '09.00\\n', '+3'],
  ready: ['Scan|a%20b', '+1'],
})

/** A store of version 1 with a stream of each kind, and its listing. */
async function olderStore() {
  const path = join(testFolder(), 'streams.db')
  const store = openSqliteStore(path)
  for (const [name, one] of Object.entries({ full: FULL, plain: summary(), leased: summary({ ready: [] }) }))
    await store.create(name, bytes('1'), one)
  await store.acquireLease('leased', { leaseId: 'kept', durationS: -1, holder: holder('ada') })
  const rows = await listed(store)
  await store.close()
  toVersion1(path)
  return { path, rows }
}

it('the first read migrates a store of version 1 and keeps all but the summaries', async () => {
  const { path, rows } = await olderStore()
  expect(versionOf(path)).toBe(1)
  const store = openSqliteStore(path)
  onTestFinished(() => store.close())
  const kept = rows.map(({ summary: _, ...row }) => row)
  expect(await listed(store)).toStrictEqual(kept)
  expect(await listed(store, { order: 'due' })).toEqual([])
  expect(await stored(store, 'full')).toMatchObject({ versionFloor: FULL.version })
  expect(await store.renewLease('leased', 'kept')).toMatchObject({ kind: 'ok' })
  expect([versionOf(path), integrity(path)]).toEqual([3, 'ok'])
})

it('a store of version 2 is migrated with its summaries, and takes logs', async () => {
  const path = join(testFolder(), 'streams.db')
  const before = openSqliteStore(path)
  await before.create('full', bytes('1'), FULL)
  const rows = await listed(before)
  await before.close()
  toVersion2(path)
  const store = openSqliteStore(path)
  onTestFinished(() => store.close())
  expect(await listed(store)).toStrictEqual(rows)
  expect(await store.log('.leasectl/log').append(bytes('a\n'))).toEqual({ kind: 'appended' })
  expect([versionOf(path), integrity(path)]).toEqual([3, 'ok'])
})

it('several processes that open it at the same time migrate it once, and it takes their changes', async () => {
  const { path } = await olderStore()
  const stores = [1, 2, 3].map(() => openSqliteStore(path))
  const changes = stores.map(store => store.update('full', increment, changeOptions()))
  expect((await Promise.all(changes)).map(({ kind }) => kind)).toEqual(['committed', 'committed', 'committed'])
  for (const store of stores) await store.close()
  expect([versionOf(path), integrity(path)]).toEqual([3, 'ok'])
})

it('a SQLite that must not write leaves it as it is and reports why', async () => {
  const { path } = await olderStore()
  const store = openSqliteStore(path, { sqliteVersion: '3.51.2' })
  await expect(store.read('full')).rejects.toMatchObject({
    code: 'store-incompatible',
    message: `${path} was written by an older leasectl (tables 1, known 3) and cannot be migrated here`,
  })
  await store.close()
  expect(versionOf(path)).toBe(1)
})

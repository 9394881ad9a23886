import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { bytes, changeOptions, given, increment, listed, stored, summary, text } from '../../../contract/harness.ts'
import { integrity, testFolder } from './support.ts'

/** Reads check the file at each call. */
const open = (path: string): StreamStore => openSqliteStore(path, { checkMs: 0 })

/** A closed store with one stream. */
async function storeFile(path: string, name: string): Promise<string> {
  const store = open(path)
  await given(store, name, '1')
  await store.close()
  return path
}

async function names(store: StreamStore): Promise<string[]> {
  return (await listed(store)).map(({ name }) => name)
}

describe('a file that is replaced while it is open', () => {
  it('is abandoned: the current file is read and written', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'store.db'), 'old')
    const backup = await storeFile(join(folder, 'backup.db'), 'counter')
    const store = open(path)
    await given(store, 'old/2', 'x'.repeat(50_000))
    renameSync(backup, path)
    expect(await names(store)).toEqual(['counter'])
    expect(await store.update('counter', increment, changeOptions())).toMatchObject({ kind: 'committed' })
    await store.close()
    expect(integrity(path)).toBe('ok')
    const again = open(path)
    expect(text((await stored(again, 'counter')).body)).toBe('2')
    expect(await names(again)).toEqual(['counter'])
    await again.close()
  })

  it('is not written any more, not even by a write that comes first', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'store.db'), 'old')
    const backup = await storeFile(join(folder, 'backup.db'), 'counter')
    const store = openSqliteStore(path)
    await given(store, 'old/2', '1')
    renameSync(backup, path)
    expect(await store.update('counter', increment, changeOptions())).toMatchObject({ kind: 'committed' })
    expect(await names(store)).toEqual(['counter'])
    await store.close()
  })

  it('has all acknowledged changes at its new path, and passes none of them to the new file', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'store.db'), 'old')
    const backup = await storeFile(join(folder, 'backup.db'), 'counter')
    const store = open(path)
    for (let at = 0; at < 5; at++) await given(store, `late/${at}`, 'x'.repeat(20_000))
    const aside = join(folder, 'aside.db')
    renameSync(path, aside)
    renameSync(backup, path)
    await store.close()
    expect(statSync(path).size).toBeLessThan(statSync(aside).size)
    expect([integrity(path), integrity(aside)]).toEqual(['ok', 'ok'])
    const moved = open(aside)
    expect(await names(moved)).toEqual(['late/0', 'late/1', 'late/2', 'late/3', 'late/4', 'old'])
    await moved.close()
  })

  it('is abandoned by all processes that have it open, one after the other', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'store.db'), 'old')
    const backup = await storeFile(join(folder, 'backup.db'), 'counter')
    const stores = [open(path), open(path), open(path)]
    for (const [at, store] of stores.entries()) await given(store, `old/${at}`, '1')
    renameSync(backup, path)
    for (const store of stores) {
      expect(await store.update('counter', increment, changeOptions())).toMatchObject({ kind: 'committed' })
    }
    for (const store of stores) expect(text((await stored(store, 'counter')).body)).toBe('4')
    for (const store of stores) await store.close()
    expect(integrity(path)).toBe('ok')
  })

  it('gets no write that only waits: it goes into the new file', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'store.db'), 'old')
    const backup = await storeFile(join(folder, 'backup.db'), 'counter')
    const store = open(path)
    await given(store, 'old/2', '1')
    const waiting = store.create('new', bytes('x'), summary())
    renameSync(backup, path)
    const reading = names(store)
    expect(await waiting).toMatchObject({ kind: 'created' })
    await reading
    expect(await names(store)).toEqual(['counter', 'new'])
    await store.close()
  })

  it('is not checked again if it is still the same', async () => {
    const path = await storeFile(join(testFolder(), 'store.db'), 'counter')
    let opened = 0
    const store = openSqliteStore(path, { checkMs: 0, onOpen: () => opened++ })
    for (let at = 0; at < 3; at++) await store.update('counter', increment, changeOptions())
    await names(store)
    expect(opened).toBe(1)
    await store.close()
  })
})

describe('a file that is deleted while it is open', () => {
  it('reads as an empty store and is not recreated by reading', async () => {
    const path = await storeFile(join(testFolder(), 'store.db'), 'old')
    const store = open(path)
    await given(store, 'old/2', '1')
    rmSync(path)
    expect(await names(store)).toEqual([])
    expect(await store.read('old')).toBeUndefined()
    expect(await store.update('old', increment, changeOptions())).toMatchObject({ kind: 'missing' })
    expect([path, `${path}-wal`, `${path}-shm`].filter(file => existsSync(file))).toEqual([])
    await store.close()
  })

  it('is recreated by a create, and keeps that', async () => {
    const path = await storeFile(join(testFolder(), 'store.db'), 'old')
    const store = open(path)
    await given(store, 'old/2', '1')
    rmSync(path)
    expect(await store.create('new', bytes('x'), summary())).toMatchObject({ kind: 'created' })
    await store.close()
    expect(integrity(path)).toBe('ok')
    const again = open(path)
    expect(await names(again)).toEqual(['new'])
    await again.close()
  })

  it('is restored with a copy of it', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'store.db'), 'counter')
    const copy = join(folder, 'copy.db')
    copyFileSync(path, copy)
    const store = open(path)
    expect(await names(store)).toEqual(['counter'])
    rmSync(path)
    expect(await names(store)).toEqual([])
    renameSync(copy, path)
    expect(await names(store)).toEqual(['counter'])
    await store.close()
    expect(readFileSync(path).length).toBeGreaterThan(0)
  })
})

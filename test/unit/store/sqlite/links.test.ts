import { copyFileSync, existsSync, linkSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { StoreIncompatible } from '../../../../src/store/errors.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { changeOptions, given, increment, stored, text } from '../../../contract/harness.ts'
import { integrity, testFolder } from './support.ts'

/** Reads check the file at each call. */
const open = (path: string): StreamStore => openSqliteStore(path, { checkMs: 0 })

async function storeFile(path: string, name = 'counter'): Promise<string> {
  const store = open(path)
  await given(store, name, '0')
  await store.close()
  return path
}

const change = (store: StreamStore) => store.update('counter', increment, changeOptions())

async function counted(path: string): Promise<string> {
  const store = open(path)
  const { body } = await stored(store, 'counter')
  await store.close()
  return text(body)
}

describe('a file with a second name (hard link)', () => {
  it('loses no acknowledged change of two processes that use one name each', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'a.db'))
    const second = join(folder, 'b.db')
    const stores = [open(path), open(second)]
    let acknowledged = 0
    const tryBoth = async () => {
      for (const store of stores) {
        const outcome = await change(store).catch((error: unknown) => error)
        if (!(outcome instanceof StoreIncompatible)) acknowledged += 1
      }
    }
    linkSync(path, second)
    for (let at = 0; at < 16; at++) await tryBoth()
    for (const store of stores) await store.close()
    rmSync(second)
    expect(await counted(path)).toBe(String(acknowledged))
  })

  it('is refused under either name for reading and writing, and the error explains how to continue', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'a.db'))
    const second = join(folder, 'b.db')
    linkSync(path, second)
    for (const name of [path, second]) {
      const store = open(name)
      const refusal = { code: 'store-incompatible', message: expect.stringContaining(`${name} has 2 names`) }
      await expect(store.read('counter')).rejects.toMatchObject(refusal)
      await expect(change(store)).rejects.toMatchObject(refusal)
      await expect(given(store, 'other')).rejects.toMatchObject(refusal)
      await store.close()
    }
    rmSync(second)
    expect(await counted(path)).toBe('0')
  })

  it('is refused as soon as the name is made, until it is removed', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'a.db'))
    const second = join(folder, 'b.db')
    const store = open(path)
    expect(await change(store)).toMatchObject({ kind: 'committed' })
    linkSync(path, second)
    await expect(change(store)).rejects.toBeInstanceOf(StoreIncompatible)
    await expect(store.read('counter')).rejects.toBeInstanceOf(StoreIncompatible)
    rmSync(second)
    expect(await change(store)).toMatchObject({ kind: 'committed' })
    expect(text((await stored(store, 'counter')).body)).toBe('2')
    await store.close()
    expect(integrity(path)).toBe('ok')
  })

  it('is reported in the facts', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'a.db'))
    linkSync(path, join(folder, 'b.db'))
    const store = open(path)
    expect(await store.inspect()).toMatchObject({ names: 2 })
    await store.close()
  })
})

describe('a symbolic link to the file', () => {
  it('opens the same store', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'a.db'))
    const link = join(folder, 'link.db')
    symlinkSync('a.db', link)
    const stores = [open(path), open(link)]
    for (let at = 0; at < 4; at++) for (const store of stores) await change(store)
    for (const store of stores) expect(text((await stored(store, 'counter')).body)).toBe('8')
    expect([`${link}-wal`, `${link}-shm`].filter(file => existsSync(file))).toEqual([])
    for (const store of stores) await store.close()
  })

  it('leaves no write-ahead log for the file that replaces its target', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'a.db'))
    const backup = await storeFile(join(folder, 'backup.db'))
    const link = join(folder, 'link.db')
    symlinkSync('a.db', link)
    const stores = [open(link), open(link), open(path)]
    for (const [at, store] of stores.entries()) await given(store, `late/${at}`, 'x'.repeat(20_000))
    renameSync(backup, path)
    for (const store of stores) expect(await change(store)).toMatchObject({ kind: 'committed' })
    for (const store of stores) expect(text((await stored(store, 'counter')).body)).toBe('3')
    for (const store of stores) await store.close()
    expect(integrity(path)).toBe('ok')
    expect(await counted(path)).toBe('3')
  })

  it('shows the size of the write-ahead log of its target', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'a.db'))
    const link = join(testFolder(), 'link.db')
    symlinkSync(path, link)
    const store = open(path)
    await change(store)
    const facts = await open(link).inspect()
    expect(facts).toMatchObject({ names: 1, walSize: statSync(`${path}-wal`).size })
    await store.close()
  })

  it('is followed after it was changed to another target', async () => {
    const folder = testFolder()
    const path = await storeFile(join(folder, 'a.db'))
    const other = join(folder, 'other.db')
    copyFileSync(path, other)
    const link = join(folder, 'link.db')
    symlinkSync('a.db', link)
    const store = open(link)
    expect(await change(store)).toMatchObject({ kind: 'committed' })
    rmSync(link)
    symlinkSync('other.db', link)
    for (let at = 0; at < 3; at++) await change(store)
    await store.close()
    expect([await counted(path), await counted(other)]).toEqual(['1', '3'])
  })
})

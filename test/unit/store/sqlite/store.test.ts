import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BadAddress, NotPermitted, StoreClosed } from '../../../../src/store/errors.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { changeOptions, given, holder, increment, listed, stored, text } from '../../../contract/harness.ts'
import { inFile, testFolder } from './support.ts'

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)

describe('a store that does not exist yet', () => {
  it('is empty to readers, which create nothing', async () => {
    const folder = testFolder()
    const store = openSqliteStore(join(folder, 'deep', 'streams.db'))
    expect(await listed(store)).toEqual([])
    expect(await store.read('a')).toBeUndefined()
    expect(await store.update('a', increment, changeOptions())).toEqual({ kind: 'missing' })
    expect(await store.acquireLease('a', { leaseId: 'x', durationS: 15, holder: holder('ada') })).toEqual({
      kind: 'missing',
    })
    expect(await store.remove('a', {})).toEqual({ kind: 'missing' })
    expect(await store.breakLease('a', 0)).toEqual({ kind: 'missing' })
    await store.close()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is visible to a reader as soon as another process writes it', async () => {
    const path = join(testFolder(), 'streams.db')
    const [reader, writer] = [openSqliteStore(path), openSqliteStore(path)]
    expect(await listed(reader)).toEqual([])
    await given(writer, 'a', 'here')
    expect(text((await stored(reader, 'a')).body)).toBe('here')
    await Promise.all([reader.close(), writer.close()])
  })

  it.each(['create', 'createContainer'])('is created by %s, unreadable for other users', async way => {
    const folder = join(testFolder(), 'deep', 'er')
    const path = join(folder, 'streams.db')
    const store = openSqliteStore(path)
    if (way === 'create') await given(store, 'a')
    else await store.createContainer()
    expect(mode(folder)).toBe('700')
    expect(mode(join(folder, '..'))).toBe('700')
    expect(readdirSync(folder).toSorted()).toEqual(['streams.db', 'streams.db-shm', 'streams.db-wal'])
    for (const name of readdirSync(folder)) expect(mode(join(folder, name))).toBe('600')
    await store.close()
    expect(readdirSync(folder)).toEqual(['streams.db'])
  })

  it('replaces an empty file, such as one that an interrupted creation left', async () => {
    const path = join(testFolder(), 'streams.db')
    inFile(path, db => db.exec('PRAGMA journal_mode = WAL'))
    const store = openSqliteStore(path)
    expect(await listed(store)).toEqual([])
    await given(store, 'a')
    expect(await listed(store)).toHaveLength(1)
    await store.close()
  })

  it('cannot be a folder or be below a file', async () => {
    const folder = testFolder()
    mkdirSync(join(folder, 'sub'))
    await expect(openSqliteStore(join(folder, 'sub')).read('a')).rejects.toBeInstanceOf(BadAddress)
    await given(openSqliteStore(join(folder, 'file')), 'a')
    const below = openSqliteStore(join(folder, 'file', 'x.db'))
    await expect(below.createContainer()).rejects.toSatisfy(e => e instanceof BadAddress || e instanceof NotPermitted)
  })
})

// Node's own recursive mkdir never ends there.
it.runIf(existsSync('/proc/self'))('a folder that cannot be created is an error', async () => {
  await expect(openSqliteStore('/proc/leasectl/x.db').createContainer()).rejects.toMatchObject({
    code: expect.stringMatching(/bad-address|not-permitted/),
  })
})

describe('a store in use', () => {
  it('keeps streams and leases when it is opened again', async () => {
    const path = join(testFolder(), 'a b%20#?.db')
    const first = openSqliteStore(path)
    await given(first, 'a', 'kept')
    await first.acquireLease('a', { leaseId: 'lease-1', durationS: -1, holder: holder('grace') })
    await first.close()
    expect(existsSync(path)).toBe(true)
    const second = openSqliteStore(path)
    expect(await stored(second, 'a')).toMatchObject({ lease: { state: 'leased', holder: holder('grace') } })
    expect(await second.releaseLease('a', 'lease-1')).toMatchObject({ kind: 'ok' })
    await second.close()
  })

  it('commits with synchronous FULL to a WAL, in pages of 8 KiB', async () => {
    let settings: unknown[] = []
    const path = join(testFolder(), 'streams.db')
    const store = openSqliteStore(path, {
      onOpen: db => {
        const of = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]
        settings = [of('synchronous'), of('journal_mode'), of('page_size')]
      },
    })
    await given(store, 'a')
    expect(settings).toEqual([2, 'wal', 8192])
    await store.close()
  })

  it('fails with a clear error after it was closed', async () => {
    const store = openSqliteStore(join(testFolder(), 'streams.db'))
    await given(store, 'a')
    await store.close()
    await expect(store.read('a')).rejects.toBeInstanceOf(StoreClosed)
  })
})

it('a store is identified by its absolute path, whatever the folder of a later process', () => {
  const store = openSqliteStore('streams.db')
  onTestFinished(() => store.close())
  expect(store.address).toBe(`sqlite:${resolve('streams.db')}`)
})

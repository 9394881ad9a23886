import { chmodSync, chownSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { StoreDamaged, StoreIncompatible } from '../../../../src/store/errors.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { bytes, changeOptions, increment, listed, stored, summary, text } from '../../../contract/harness.ts'
import { trustRow } from '../../../guarantees/record.ts'
import { SAMPLE_STREAMS, sampleFile } from './sample.ts'
import { inFile, NOBODY, startChild, testFolder } from './support.ts'

const row = trustRow('sqlite')
/** The number of opened files of each kind. */
const injected = new Map<string, number>()
afterAll(() => {
  for (const [kind, count] of injected) row.injected(kind, count)
})
const reached = (kind: string): unknown => injected.set(kind, (injected.get(kind) ?? 0) + 1)

type Fault = typeof StoreDamaged | typeof StoreIncompatible

/** Every operation on the file fails with the given error, and the file stays unchanged, byte by byte. */
async function expectFault(path: string, fault: Fault, kind: string): Promise<void> {
  expect(await withoutFault(path, fault)).toEqual([])
  reached(kind)
}

/** The operations on the file that do not fail with the given error, and whether they change it. */
async function withoutFault(path: string, fault: Fault, open = openSqliteStore): Promise<string[]> {
  const before = readFileSync(path)
  const store = open(path)
  const tries = {
    list: () => listed(store),
    read: () => store.read('counter'),
    create: () => store.create('new', bytes('x'), summary()),
    change: () => store.update('counter', increment, changeOptions()),
    break: () => store.breakLease('counter', 0),
  }
  const done: string[] = []
  for (const [name, attempt] of Object.entries(tries)) {
    const ended: unknown = await attempt().catch((error: unknown) => error)
    if (!(ended instanceof fault)) done.push(name)
  }
  await store.close()
  return existsSync(path) && readFileSync(path).equals(before) ? done : [...done, 'the file is another one']
}

describe('a file that is not an intact store', () => {
  it('is damaged if it is not a database', async () => {
    const path = join(testFolder(), 'streams.db')
    for (const content of ['hello', 'hello world '.repeat(1_000)]) {
      writeFileSync(path, content)
      await expectFault(path, StoreDamaged, 'no database')
    }
  })

  it('would be lost in a store that recreates unreadable files', async () => {
    const path = join(testFolder(), 'streams.db')
    writeFileSync(path, 'hello')
    const done = await withoutFault(path, StoreDamaged, broken => {
      rmSync(broken)
      return openSqliteStore(broken)
    })
    expect(done).toEqual(['list', 'read', 'create', 'change', 'break', 'the file is another one'])
    row.control('what cannot be read is made anew', true)
  })

  it('is damaged if it is a database of another program', async () => {
    const path = join(testFolder(), 'streams.db')
    for (const sql of ['CREATE TABLE other (a)', 'DROP TABLE other; PRAGMA application_id = 7']) {
      inFile(path, db => db.exec(sql))
      await expectFault(path, StoreDamaged, 'a database of another program')
    }
  })

  it.each([16, 100, 600, 4_096, 5_000, 16_384])('is damaged if it ends after %d bytes', async size => {
    const path = await sampleFile()
    truncateSync(path, size)
    await expectFault(path, StoreDamaged, 'truncated')
  })

  it('is damaged if its pages are overwritten, and fails instead of showing wrong rows', async () => {
    const path = await sampleFile()
    const content = readFileSync(path)
    writeFileSync(path, content.fill(0xaa, 4_096))
    await expectFault(path, StoreDamaged, 'overwritten')
  })

  it.each([0, -1])('is left as it is if its tables have the version %d, which no leasectl wrote', async version => {
    const path = await sampleFile()
    inFile(path, db => db.exec(`PRAGMA user_version = ${version}`))
    await expectFault(path, StoreDamaged, 'a schema that nobody wrote')
  })

  it('is incompatible if a newer leasectl wrote it', async () => {
    const path = await sampleFile()
    inFile(path, db => db.exec('PRAGMA user_version = 4'))
    await expectFault(path, StoreIncompatible, 'a newer schema')
  })

  it('is incompatible once a newer leasectl migrates it, also for processes that have it open', async () => {
    const path = await sampleFile()
    const store = openSqliteStore(path)
    await store.update('counter', increment, changeOptions())
    inFile(path, db => db.exec('PRAGMA user_version = 4'))
    await expect(store.update('counter', increment, changeOptions())).rejects.toThrow(/newer leasectl/)
    await expect(store.read('counter')).rejects.toThrow(/newer leasectl/)
    await store.close()
    reached('a newer schema while it is open')
  })
})

describe('a SQLite that is too old to write safely', () => {
  const sqliteVersion = '3.51.2'

  it('is used for reading, and writes are refused', async () => {
    const store = openSqliteStore(await sampleFile(), { sqliteVersion })
    expect(text((await stored(store, 'counter')).body)).toBe('1')
    expect(await listed(store)).toHaveLength(SAMPLE_STREAMS)
    await expect(store.update('counter', increment, changeOptions())).rejects.toBeInstanceOf(StoreIncompatible)
    await expect(store.create('new', bytes('x'), summary())).rejects.toThrow(/3\.51\.2/)
    await store.close()
    reached('a SQLite that is too old')
  })

  it('creates nothing', async () => {
    const path = join(testFolder(), 'sub', 'streams.db')
    const store = openSqliteStore(path, { sqliteVersion })
    await expect(store.createContainer()).rejects.toBeInstanceOf(StoreIncompatible)
    expect(existsSync(dirname(path))).toBe(false)
  })
})

describe('a read-only store', () => {
  it.each([
    ['file', 0o755],
    ['file in a folder without write rights', 0o555],
  ])('can be read, and a write names the reason: %s', async (_, folderMode) => {
    const folder = testFolder()
    const path = await sampleFile(folder)
    if (process.getuid?.() === 0) for (const each of [folder, path]) chownSync(each, NOBODY, NOBODY)
    chmodSync(path, 0o444)
    chmodSync(folder, folderMode)
    onTestFinished(() => chmodSync(folder, 0o755))
    const child = startChild(['try', path], { asNobody: true })
    expect(await child.ended).toBe(0)
    const seen = JSON.parse(child.lines[0] ?? '{}')
    expect(seen).toMatchObject({ body: '1', code: 'not-permitted' })
    // Unknown where the file cannot be shared, never a wrong one.
    expect(['wal', undefined]).toContain(seen.journalMode)
    expect(seen.names).toHaveLength(SAMPLE_STREAMS)
    reached('read-only')
  })
})

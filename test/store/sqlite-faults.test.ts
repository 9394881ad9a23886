import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { StoreDamaged, StoreFull, StoreIncompatible } from '../../src/store/errors.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { bytes, changeOptions, given, increment, listed, put, stored, summary, text } from '../contract/harness.ts'
import { trustRow } from '../trust/record.ts'
import { inFile, integrity, NOBODY, startChild, testFolder } from './sqlite-support.ts'

const row = trustRow('sqlite')

/** A store with the stream `counter` = 1 and a few more, closed. */
async function storeFile(folder = testFolder()): Promise<string> {
  const path = join(folder, 'streams.db')
  const store = openSqliteStore(path)
  await given(store, 'counter', '1')
  for (let i = 0; i < 20; i += 1) await given(store, `s/${i}`, 'x'.repeat(2_000))
  await store.close()
  return path
}

/** Everything one can do with the file ends in the given fault, and the file stays as it is, byte by byte. */
async function expectFault(path: string, fault: typeof StoreDamaged | typeof StoreIncompatible): Promise<void> {
  const before = readFileSync(path)
  const store = openSqliteStore(path)
  await expect(listed(store)).rejects.toBeInstanceOf(fault)
  await expect(store.read('counter')).rejects.toBeInstanceOf(fault)
  await expect(store.create('new', bytes('x'), summary())).rejects.toBeInstanceOf(fault)
  await expect(store.changeUnderLease('counter', increment, changeOptions())).rejects.toBeInstanceOf(fault)
  await expect(store.break('counter', 0)).rejects.toBeInstanceOf(fault)
  await store.close()
  expect(readFileSync(path).equals(before)).toBe(true)
}

describe('a file that is not a sound store', () => {
  it('is damaged when it is no database', async () => {
    const path = join(testFolder(), 'streams.db')
    for (const content of ['hello', 'hello world '.repeat(1_000)]) {
      writeFileSync(path, content)
      await expectFault(path, StoreDamaged)
    }
  })

  it('is damaged when it is a database of another program', async () => {
    const path = join(testFolder(), 'streams.db')
    inFile(path, db => db.exec('CREATE TABLE other (a)'))
    await expectFault(path, StoreDamaged)
    inFile(path, db => db.exec('DROP TABLE other; PRAGMA application_id = 7'))
    await expectFault(path, StoreDamaged)
  })

  it.each([16, 100, 600, 4_096, 5_000, 16_384])('is damaged when it ends after %d bytes', async size => {
    const path = await storeFile()
    truncateSync(path, size)
    await expectFault(path, StoreDamaged)
  })

  it('is damaged where its pages are overwritten, and says so instead of showing wrong rows', async () => {
    const path = await storeFile()
    const content = readFileSync(path)
    writeFileSync(path, content.fill(0xaa, 4_096))
    await expectFault(path, StoreDamaged)
  })

  it.each([0, -1])('is left as it is where its tables have the version %d, which no leasectl wrote', async version => {
    const path = await storeFile()
    inFile(path, db => db.exec(`PRAGMA user_version = ${version}`))
    await expectFault(path, StoreDamaged)
  })

  it('is incompatible when a newer leasectl wrote it', async () => {
    const path = await storeFile()
    inFile(path, db => db.exec('PRAGMA user_version = 2'))
    await expectFault(path, StoreIncompatible)
  })

  it('is incompatible as soon as a newer leasectl migrates it, also for those who have it open', async () => {
    const path = await storeFile()
    const store = openSqliteStore(path)
    await store.changeUnderLease('counter', increment, changeOptions())
    inFile(path, db => db.exec('PRAGMA user_version = 2'))
    await expect(store.changeUnderLease('counter', increment, changeOptions())).rejects.toThrow(/newer leasectl/)
    await expect(store.read('counter')).rejects.toThrow(/newer leasectl/)
    await store.close()
  })
})

describe('a SQLite that is too old to write safely', () => {
  const sqliteVersion = '3.51.2'

  it('reads and refuses to write', async () => {
    const store = openSqliteStore(await storeFile(), { sqliteVersion })
    expect(text((await stored(store, 'counter')).body)).toBe('1')
    expect(await listed(store)).toHaveLength(21)
    await expect(store.changeUnderLease('counter', increment, changeOptions())).rejects.toBeInstanceOf(
      StoreIncompatible,
    )
    await expect(store.create('new', bytes('x'), summary())).rejects.toThrow(/3\.51\.2/)
    await store.close()
  })

  it('creates nothing', async () => {
    const path = join(testFolder(), 'sub', 'streams.db')
    const store = openSqliteStore(path, { sqliteVersion })
    await expect(store.createContainer()).rejects.toBeInstanceOf(StoreIncompatible)
    expect(existsSync(dirname(path))).toBe(false)
  })
})

describe('a store that may only be read', () => {
  it.each([
    ['file', 0o755],
    ['file in a folder without write rights', 0o555],
  ])('is read, and writing says why not: %s', async (_, folderMode) => {
    const folder = testFolder()
    const path = await storeFile(folder)
    if (process.getuid?.() === 0) for (const each of [folder, path]) chownSync(each, NOBODY, NOBODY)
    chmodSync(path, 0o444)
    chmodSync(folder, folderMode)
    onTestFinished(() => chmodSync(folder, 0o755))
    const child = startChild(['try', path], { asNobody: true })
    expect(await child.ended).toBe(0)
    const seen = JSON.parse(child.lines[0] ?? '{}')
    expect(seen).toMatchObject({ body: '1', code: 'not-permitted' })
    expect(seen.names).toHaveLength(21)
  })
})

describe('a store without room', () => {
  it('refuses what does not fit, keeps all the rest, and goes on when there is room again', async () => {
    const path = await storeFile()
    let db: DatabaseSync | undefined
    const store = openSqliteStore(path, {
      onOpen: opened => {
        db = opened
        opened.exec('PRAGMA max_page_count = 1')
      },
    })
    const grow = (): ReturnType<typeof put> => put('y'.repeat(200_000))
    await expect(store.changeUnderLease('counter', grow(), changeOptions())).rejects.toBeInstanceOf(StoreFull)
    await expect(store.create('new', bytes('z'.repeat(200_000)), summary())).rejects.toBeInstanceOf(StoreFull)
    expect(text((await stored(store, 'counter')).body)).toBe('1')
    expect(await listed(store)).toHaveLength(21)
    db?.exec('PRAGMA max_page_count = 100000')
    expect(await store.changeUnderLease('counter', grow(), changeOptions())).toMatchObject({ kind: 'committed' })
    await store.close()
    expect(integrity(path)).toBe('ok')
  })

  it('on a full disk too, where the commit is what fails', async ctx => {
    const disk = smallDisk()
    if (disk === undefined) {
      row.skipped('a full disk', 'no right to mount a tmpfs')
      return ctx.skip('needs the right to mount a tmpfs')
    }
    const store = openSqliteStore(join(disk, 'streams.db'))
    onTestFinished(() => store.close())
    await given(store, 'counter', '1')
    writeFileSync(join(disk, 'ballast'), new Uint8Array(300 * 1024))
    let refused = 0
    for (let i = 0; i < 400 && refused === 0; i += 1) {
      const fault = await store.changeUnderLease('counter', increment, changeOptions()).catch(error => error)
      if (fault instanceof StoreFull) refused = i + 1
      else expect(fault).toMatchObject({ kind: 'committed' })
    }
    expect(refused).toBeGreaterThan(0)
    expect(text((await stored(store, 'counter')).body)).toBe(String(refused))
    row.injected('full disk', 1)
    rmSync(join(disk, 'ballast'))
    expect(await store.changeUnderLease('counter', increment, changeOptions())).toMatchObject({ kind: 'committed' })
    await store.close()
    expect(integrity(join(disk, 'streams.db'))).toBe('ok')
  })
})

const MOUNT = '/bin/mount'
const UNMOUNT = '/bin/umount'

/** A file system of 1 MiB for one test; `undefined` where it cannot be mounted. */
function smallDisk(): string | undefined {
  const disk = join(testFolder(), 'disk')
  mkdirSync(disk)
  try {
    execFileSync(MOUNT, ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync(UNMOUNT, [disk]))
  return disk
}

it('copies of a closed store are whole', async () => {
  const path = await storeFile()
  copyFileSync(path, `${path}.copy`)
  const store = openSqliteStore(`${path}.copy`)
  expect(await listed(store)).toHaveLength(21)
  await store.close()
})

import { execFileSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { setImmediate as otherWork } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { bytes, changeOptions, holder, listed, stored, summary } from '../../../contract/harness.ts'
import { document, faultsOf, idsOf, once } from '../../../faults/sqlite/judgement.ts'
import { trustRow } from '../../../guarantees/record.ts'
import { inFile, testFolder } from './support.ts'

const row = trustRow('sqlite')

async function storeInUse(): Promise<{ store: StreamStore; path: string; acknowledged: string[] }> {
  const path = join(testFolder(), 'streams.db')
  const store = openSqliteStore(path)
  onTestFinished(() => store.close())
  const acknowledged: string[] = []
  for (let at = 0; at < 8; at += 1) {
    await store.create(`s/${at}`, bytes(document(`made-${at}`)), summary())
    await store.update(`s/${at}`, once(`c-${at}`), changeOptions())
    acknowledged.push(`made-${at}`, `c-${at}`)
  }
  return { store, path, acknowledged }
}

/** Writes until `work` is done. Returns the number of writes, and all ids. */
async function whileWriting(store: StreamStore, work: Promise<unknown>): Promise<string[]> {
  let isOver = false
  const done = work.finally(() => {
    isOver = true
  })
  const ids: string[] = []
  for (let at = 0; !isOver || at === 0; at += 1) {
    await store.update(`s/${at % 8}`, once(`late-${at}`), changeOptions())
    ids.push(`late-${at}`)
    await otherWork()
  }
  await done
  return ids
}

function connect(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 5_000 })
  onTestFinished(() => db.close())
  return db
}

const WAYS: Readonly<Record<string, (path: string, copy: string) => Promise<unknown>>> = {
  'the backup of SQLite': (path, copy) => backup(connect(path), copy, { rate: 1_000_000 }),
  'VACUUM INTO': async (path, copy) => connect(path).exec(`VACUUM INTO '${copy}'`),
}

describe('a copy of the file that SQLite makes during writes', () => {
  it.each(Object.entries(WAYS))('has every change acknowledged before: %s', async (_, make) => {
    const { store, path, acknowledged } = await storeInUse()
    const copy = `${path}.copy`
    const late = await whileWriting(store, make(path, copy))
    expect(late.length).toBeGreaterThan(0)
    expect(await faultsOf(copy, { acknowledged })).toEqual([])
    expect(await faultsOf(path, { acknowledged: [...acknowledged, ...late] })).toEqual([])
  })

  it.each(Object.entries(WAYS))('is the same store when it is restored: %s', async (_, make) => {
    const { store, path } = await storeInUse()
    await store.acquireLease('s/0', { leaseId: 'kept', durationS: -1, holder: holder('ada') })
    const copy = `${path}.copy`
    await make(path, copy)
    const restored = openSqliteStore(copy)
    onTestFinished(() => restored.close())
    expect(await listed(restored)).toEqual(await listed(store))
    for (const { name } of await listed(store)) {
      expect(idsOf((await stored(restored, name)).body)).toEqual(idsOf((await stored(store, name)).body))
    }
  })

  it('would lack changes if only the database file were copied', async () => {
    const { path, acknowledged } = await storeInUse()
    copyFileSync(path, `${path}.copy`)
    expect(await faultsOf(`${path}.copy`, { acknowledged })).toContain('lost: c-7')
    row.control('the file alone is copied while it is open', true)
  })

  it('can be made with the program sqlite3, as documented', async ctx => {
    const { path, acknowledged } = await storeInUse()
    try {
      execFileSync('sqlite3', [path, `.backup '${path}.copy'`], { stdio: 'pipe' })
    } catch {
      row.skipped('a backup by sqlite3', 'the program sqlite3 is missing')
      return ctx.skip('the program sqlite3 is missing')
    }
    expect(inFile(`${path}.copy`, db => db.prepare('PRAGMA journal_mode').get())).toEqual({ journal_mode: 'wal' })
    expect(await faultsOf(`${path}.copy`, { acknowledged })).toEqual([])
  })
})

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { InspectOptions, SqliteFacts } from '../../../../src/store/facts.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { given } from '../../../contract/harness.ts'
import { testFolder } from './support.ts'

async function inspected(path: string, options: InspectOptions = {}): Promise<SqliteFacts> {
  const store = openSqliteStore(path)
  const facts = await store.inspect(options)
  await store.close()
  if (facts.kind !== 'sqlite') throw new Error(facts.kind)
  return facts
}

async function storeFile(): Promise<string> {
  const path = join(testFolder(), 'streams.db')
  const store = openSqliteStore(path)
  for (let at = 0; at < 20; at++) await given(store, `s/${at}`, 'x'.repeat(5_000))
  await store.close()
  return path
}

describe('the facts of a SQLite store', () => {
  it('are about its file, its settings and its disk', async () => {
    const path = await storeFile()
    chmodSync(path, 0o640)
    const facts = await inspected(path)
    expect(facts).toMatchObject({
      path,
      exists: true,
      mayWrite: true,
      size: readFileSync(path).length,
      walSize: expect.any(Number),
      mode: 0o640,
      journalMode: 'wal',
      synchronous: 'full',
      schemaVersion: 3,
      unknown: {},
    })
    expect(facts.freeBytes).toBeGreaterThan(0)
    expect(facts.sqliteVersion).toMatch(/^\d+\.\d+\.\d+$/)
    expect(facts.faults).toBeUndefined()
  })

  it('of a missing file say so, and create none', async () => {
    const path = join(testFolder(), 'not/yet/streams.db')
    expect(await inspected(path, { deep: true })).toMatchObject({ exists: false, creatable: true, unknown: {} })
    expect(existsSync(join(path, '..'))).toBe(false)
  })

  it('include with deep a check of the whole file: sound, or the damaged pages', async () => {
    const path = await storeFile()
    expect(await inspected(path, { deep: true })).toMatchObject({ faults: [], unknown: {} })
    const bytes = readFileSync(path)
    bytes.fill(0xff, bytes.length - 8_192)
    writeFileSync(path, bytes)
    expect((await inspected(path, { deep: true })).faults?.length).toBeGreaterThan(0)
  })

  it('of a file that is not a database: all that can be known, and the reason for the rest', async () => {
    const path = join(testFolder(), 'streams.db')
    writeFileSync(path, 'hello world '.repeat(1_000))
    const facts = await inspected(path, { deep: true })
    expect(facts).toMatchObject({
      exists: true,
      size: 12_000,
      unknown: { journalMode: expect.stringMatching(/not a SQLite/) },
    })
    expect(facts.faults).toEqual([expect.stringMatching(/not a database/)])
  })

  it('stop reading the whole file when the signal aborts', async () => {
    const interruption = new AbortController()
    const looking = inspected(await storeFile(), { deep: true, signal: interruption.signal })
    interruption.abort(new Error('stop'))
    await expect(looking).rejects.toThrow('stop')
  })
})

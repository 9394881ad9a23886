import { copyFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { changeOptions, given, leased, put } from '../../../contract/harness.ts'
import { testFolder } from './support.ts'

/** Reads check at each call whether the file is still the same. */
const open = (path: string) => openSqliteStore(path, { checkMs: 0 })

describe('change tokens of a file that several programs use', () => {
  it('change when another program writes, including leases', async () => {
    const path = join(testFolder(), 'a.db')
    const [reader, writer] = [open(path), open(path)]
    await given(writer, 'a')
    const seen = [await reader.changeToken?.()]
    for (const write of [
      () => writer.update('a', put('1'), changeOptions()),
      () => leased(writer, 'a'),
      () => writer.breakLease('a', 0),
      () => writer.remove('a', {}),
    ]) {
      await write()
      seen.push(await reader.changeToken?.(), await reader.changeToken?.())
    }
    expect(seen).not.toContain(undefined)
    expect(new Set(seen).size).toBe(5)
    await reader.close()
    await writer.close()
  })

  it('differ when another file with the same number of writes takes its place', async () => {
    const folder = testFolder()
    const path = join(folder, 'a.db')
    const store = open(path)
    await given(store, 'a')
    await store.close()
    const copy = join(folder, 'b.db')
    copyFileSync(path, copy)
    const again = open(path)
    const before = await again.changeToken?.()
    renameSync(copy, path)
    const after = await again.changeToken?.()
    expect(before).toBeDefined()
    expect(after).toBeDefined()
    expect(after).not.toBe(before)
    await again.close()
  })

  it('do not exist before the file', async () => {
    const store = open(join(testFolder(), 'none.db'))
    expect(await store.changeToken?.()).toBeUndefined()
    await given(store, 'a')
    expect(await store.changeToken?.()).toBeDefined()
    await store.close()
  })
})

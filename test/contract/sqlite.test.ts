import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { given } from './harness.ts'
import { describeStoreContract } from './store-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'leasectl-contract-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let nowMs = 1_700_000_000_000

const files = new Map<StreamStore, string>()

describeStoreContract('sqlite', {
  open: async () => {
    const path = join(folder, `${randomUUID()}.db`)
    const store = openSqliteStore(path, { clock: () => nowMs })
    files.set(store, path)
    return store
  },
  plant: async (store, name) => {
    await given(store, 'planted', 'planted', { dueMs: 1 })
    const file = new DatabaseSync(files.get(store) ?? '')
    file.prepare("UPDATE streams SET name = ? WHERE name = 'planted'").run(name)
    file.close()
  },
  advance: async ms => {
    nowMs += ms
  },
  features: { leaseEnds: true, utf8Order: true, changeMarks: true },
})

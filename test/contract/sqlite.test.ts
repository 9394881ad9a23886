import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { describeStoreContract } from './store-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'leasectl-contract-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let nowMs = 1_700_000_000_000

describeStoreContract('sqlite', {
  open: async () => openSqliteStore(join(folder, `${randomUUID()}.db`), { clock: () => nowMs }),
  advance: async ms => {
    nowMs += ms
  },
  features: { leaseEnds: true, utf8Order: true, changeMarks: true },
})

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../../src/store/store.ts'

let folder: string
let path: string
let store: StreamStore

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-must-exist-'))
  path = join(folder, 'typo.db')
  store = openSqliteStore(path, { mustExist: true })
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const HOLDER = { by: 'me', host: 'h', pid: 1, purpose: 'test', sinceMs: 0 }
const LEASE = '6b1f2f3e-0000-4000-8000-000000000000'

async function listed(): Promise<readonly string[]> {
  const names: string[] = []
  for await (const page of store.list({})) names.push(...page.map(({ name }) => name))
  return names
}

test.each<readonly [string, () => Promise<unknown>]>([
  ['list', listed],
  ['list in order of due times', async () => store.list({ order: 'due' })[Symbol.asyncIterator]().next()],
  [
    'list with skip',
    async () =>
      store
        .list({ skip: () => false })
        [Symbol.asyncIterator]()
        .next(),
  ],
  ['read', () => store.read('s')],
  ['update', () => store.update('s', () => ({ kind: 'leave' }), { waitMs: 0, holder: HOLDER })],
  ['remove', () => store.remove('s', {})],
  ['acquireLease', () => store.acquireLease('s', { durationS: 15, leaseId: LEASE, holder: HOLDER })],
  ['breakLease', () => store.breakLease('s', 0)],
])('%s fails if the file of the store does not exist, and creates nothing', async (_, call) => {
  await expect(call()).rejects.toMatchObject({
    code: 'container-missing',
    message: `there is no store at sqlite:${path}: the file does not exist`,
  })
  expect(existsSync(path)).toBe(false)
})

test('creating the container makes the missing file an empty store', async () => {
  await expect(listed()).rejects.toMatchObject({ code: 'container-missing' })
  await store.createContainer()
  expect(await listed()).toEqual([])
})

test('an empty file is an empty store, because it is where it was named', async () => {
  writeFileSync(path, '')
  expect(await listed()).toEqual([])
})

test('a file that is deleted while the store is open is missing too', async () => {
  const own = openSqliteStore(path, { mustExist: true, checkMs: 0 })
  await own.createContainer()
  await own.read('s')
  rmSync(path)
  await expect(own.read('s')).rejects.toMatchObject({ code: 'container-missing' })
  await own.close()
})

test('a log is not what creates a store: its lines would be in one without an inbox', async () => {
  const usual = openSqliteStore(path)
  const append = () => usual.log('.leasectl/inbox/orders/0001').append(Buffer.from('a\n'))
  await expect(append()).rejects.toThrow('the file does not exist')
  expect(existsSync(path)).toBe(false)
  await usual.createContainer()
  expect(await append()).toEqual({ kind: 'appended' })
  rmSync(path)
  await expect(append()).rejects.toThrow('the file does not exist')
  expect(existsSync(path)).toBe(false)
  await usual.close()
})

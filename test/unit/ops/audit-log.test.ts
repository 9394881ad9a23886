import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  AUDIT_LOG,
  type AuditEntry,
  beginAuditEntry,
  endAuditEntry,
  MAX_AUDIT_BYTES,
  readAuditLog,
} from '../../../src/ops/audit-log.ts'
import { globOf } from '../../../src/ops/glob.ts'
import { readSystemDocument } from '../../../src/ops/read-system-document.ts'
import { createSystemDocument } from '../../../src/ops/system-documents.ts'
import { openStore } from '../../../src/store/open.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { memoryStore } from './support.ts'

const WRITER = { by: 'ada', waitMs: 20_000 }

function entry(id: string, more: Partial<AuditEntry> = {}): AuditEntry {
  const texts = { at: '2026-03-01T12:00:00.000Z', by: 'ada', host: 'h', op: 'rm', why: '', commandId: 'c', source: '' }
  return { id, ...texts, streams: 1, names: [`s/${id}`], end: undefined, ...more }
}

const END = { at: '2026-03-01T12:00:01.000Z', counts: { done: 1 } }

async function idsIn(store: StreamStore): Promise<readonly string[]> {
  return (await readAuditLog(store, {})).map(({ id }) => id)
}

const folder = mkdtempSync(join(tmpdir(), 'leasectl-audit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const DRIVERS: readonly (readonly [string, () => Promise<StreamStore>])[] = [
  ['memory', async () => memoryStore().store],
  ['SQLite', () => openStore(`sqlite:${join(folder, 'audit.db')}`, {})],
  ['Azurite', async () => openAzuriteStore((await sharedAzurite()).port)],
]

describe.each(DRIVERS)('in %s', (_, open) => {
  test('of commands that write the audit log at once, none is lost', async () => {
    const store = await open()
    const ids = ['a', 'b', 'c', 'd', 'e', 'f']
    const outcomes = await Promise.all(ids.map(id => beginAuditEntry(store, entry(id), WRITER)))
    expect(outcomes).toEqual(ids.map(() => 'written'))
    await Promise.all(ids.map(id => endAuditEntry(store, entry(id, { end: END }), WRITER)))
    const found = await readAuditLog(store, {})
    expect(found.map(({ id }) => id).sort()).toEqual(ids)
    expect(found.map(({ end }) => end)).toEqual(ids.map(() => END))
    await store.close()
  })
})

test('an entry is read as it was written, also without an end', async () => {
  const { store } = memoryStore()
  const written = entry('1', { why: 'a "reason"\nof two lines', source: 'azurite:old', names: ['x', 'y'], streams: 2 })
  await beginAuditEntry(store, written, WRITER)
  expect(await readAuditLog(store, {})).toEqual([written])
  await endAuditEntry(store, { ...written, end: END }, WRITER)
  expect(await readAuditLog(store, {})).toEqual([{ ...written, end: END }])
})

test('the oldest entries are dropped where there is no room; an end then brings its entry back', async () => {
  const { store } = memoryStore()
  const name = 'n'.repeat(1_000)
  await beginAuditEntry(store, entry('first'), WRITER)
  for (let at = 0; at < 200; at += 1) await beginAuditEntry(store, entry(`${at}`, { names: [name, name] }), WRITER)
  const ids = await idsIn(store)
  expect(ids).not.toContain('first')
  expect(ids.at(-1)).toBe('199')
  const text = (await readSystemDocument(store, AUDIT_LOG, undefined, 2 * MAX_AUDIT_BYTES)) ?? ''
  expect(text.length).toBeLessThanOrEqual(MAX_AUDIT_BYTES)
  expect(text.length).toBeGreaterThan(MAX_AUDIT_BYTES - 3_000)
  await endAuditEntry(store, entry('first', { end: END }), WRITER)
  expect((await idsIn(store)).at(-1)).toBe('first')
})

test('an entry has a bounded size, however many streams and however long texts a command has', async () => {
  const { store } = memoryStore()
  const names = Array.from({ length: 10_000 }, (_, at) => `${'n'.repeat(900)}/${at}`)
  await beginAuditEntry(store, entry('1', { names, streams: 10_000, why: 'w'.repeat(5_000) }), WRITER)
  const [found] = await readAuditLog(store, {})
  expect(found).toMatchObject({ streams: 10_000, names: names.slice(0, 2) })
  expect(found?.why).toHaveLength(1_024)
})

test('damaged lines are left out, and stay in the document', async () => {
  const { store } = memoryStore()
  await createSystemDocument(store, AUDIT_LOG, 'not json\n{"id":"x"}\n[1]\n', WRITER)
  await beginAuditEntry(store, entry('1'), WRITER)
  expect(await idsIn(store)).toEqual(['1'])
  expect(await readSystemDocument(store, AUDIT_LOG)).toMatch(/^not json\n\{"id":"x"\}\n\[1\]\n\{"id":"1"/)
})

test('entries are filtered by time, actor and operation', async () => {
  const { store } = memoryStore()
  const hour = (at: number) => `2026-03-01T${at}:00:00.000Z`
  await beginAuditEntry(store, entry('a', { at: hour(10), by: 'ops@x' }), WRITER)
  await beginAuditEntry(store, entry('b', { at: hour(11), op: 'import' }), WRITER)
  await beginAuditEntry(store, entry('c', { at: hour(12) }), WRITER)
  const ids = async (query: Parameters<typeof readAuditLog>[1]) =>
    (await readAuditLog(store, query)).map(({ id }) => id)
  expect(await ids({ sinceMs: Date.parse(hour(11)) })).toEqual(['b', 'c'])
  expect(await ids({ untilMs: Date.parse(hour(11)) })).toEqual(['a', 'b'])
  expect(await ids({ by: globOf('ops@*') })).toEqual(['a'])
  expect(await ids({ ops: ['import'] })).toEqual(['b'])
})

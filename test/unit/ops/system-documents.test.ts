import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { MAX_SYSTEM_DOCUMENT_BYTES, readSystemDocument } from '../../../src/ops/read-system-document.ts'
import {
  changeSystemDocument,
  createSystemDocument,
  type SystemDocumentOutcome,
} from '../../../src/ops/system-documents.ts'
import { openStore } from '../../../src/store/open.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { InvalidValue } from '../../../src/stream/errors.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { storeWith } from '../commands/store-with.ts'
import { HOLDER, memoryStore } from './support.ts'

const NAME = '.leasectl/test/small.json'
const OPTIONS = { by: 'ada@here', purpose: 'test', waitMs: 0 }

/** Adds a word to a list, unless it is present. */
const add = (word: string) => (text: string | undefined) => {
  const words = text ? text.split(' ') : []
  return words.includes(word) ? undefined : [...words, word].join(' ')
}

const change = (store: StreamStore, word: string, more: { waitMs?: number } = {}): Promise<SystemDocumentOutcome> =>
  changeSystemDocument(store, NAME, add(word), { ...OPTIONS, ...more })

const folder = mkdtempSync(join(tmpdir(), 'leasectl-aside-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const DRIVERS: readonly (readonly [string, () => Promise<StreamStore>])[] = [
  ['memory', async () => memoryStore().store],
  ['SQLite', () => openStore(`sqlite:${join(folder, 'aside.db')}`, {})],
  ['Azurite', async () => openAzuriteStore((await sharedAzurite()).port)],
]

describe.each(DRIVERS)('in %s', (_, open) => {
  test('a system document is created, changed, skipped and read, and no listing shows it', async () => {
    const store = await open()
    expect(await readSystemDocument(store, NAME)).toBeUndefined()
    expect(await changeSystemDocument(store, NAME, () => undefined, OPTIONS)).toBe('left')
    expect(await change(store, 'one')).toBe('written')
    expect(await change(store, 'two')).toBe('written')
    expect(await change(store, 'two')).toBe('left')
    expect(await changeSystemDocument(store, NAME, text => text, OPTIONS)).toBe('left')
    expect(await readSystemDocument(store, NAME)).toBe('one two')
    const names: string[] = []
    for await (const page of store.list({})) names.push(...page.map(({ name }) => name))
    expect(names).toEqual([])
    expect((await store.read(NAME))?.lease.state).toBe('available')
    await store.close()
  })

  test('many concurrent creations and changes lose none', async () => {
    const store = await open()
    const words = ['a', 'b', 'c', 'd', 'e']
    const outcomes = await Promise.all(words.map(word => change(store, word, { waitMs: 20_000 })))
    expect(new Set(outcomes)).toEqual(new Set(['written']))
    const written = (await readSystemDocument(store, NAME))?.split(' ')
    expect(written).toEqual(expect.arrayContaining(words))
    await store.close()
  })
})

test('a system document leased by another is busy and unchanged', async () => {
  const { store } = memoryStore()
  await change(store, 'one')
  await store.acquireLease(NAME, { leaseId: '11111111-1111-4111-8111-111111111111', durationS: 60, holder: HOLDER })
  expect(await change(store, 'two')).toBe('busy')
  expect(await readSystemDocument(store, NAME)).toBe('one')
})

test('a creation that comes second becomes a change', async () => {
  const { store } = memoryStore()
  const raced = storeWith(store, {
    async create(name, body, summary) {
      await createSystemDocument(store, NAME, 'theirs', OPTIONS)
      return store.create(name, body, summary)
    },
  })
  expect(await change(raced, 'ours')).toBe('written')
  expect(await readSystemDocument(store, NAME)).toBe('theirs ours')
})

test('a creation whose answer was lost is resolved', async () => {
  const { store } = memoryStore()
  const lossy = storeWith(store, {
    async create(...args) {
      await store.create(...args)
      return { kind: 'unknown', cause: 'silence' }
    },
  })
  expect(await change(lossy, 'one')).toBe('left')
  expect(await readSystemDocument(store, NAME)).toBe('one')
})

test('a creation that may still land is unknown, and so is a change', async () => {
  const { store } = memoryStore()
  const unknown = { kind: 'unknown', cause: 'silence' } as const
  expect(await change(storeWith(store, { create: async () => unknown }), 'one')).toBe('unknown')
  expect(await change(storeWith(store, { update: async () => unknown }), 'one')).toBe('unknown')
})

test('a document that is removed again and again does not cause an endless loop', async () => {
  const { store } = memoryStore()
  const fleeting = storeWith(store, { create: async () => ({ kind: 'exists' }) })
  expect(await change(fleeting, 'one')).toBe('busy')
})

test('a text that is too long is refused, and none of it is written', async () => {
  const { store } = memoryStore()
  const long = () => 'ä'.repeat(MAX_SYSTEM_DOCUMENT_BYTES / 2 + 1)
  await expect(changeSystemDocument(store, NAME, long, OPTIONS)).rejects.toThrow(InvalidValue)
  await change(store, 'one')
  await expect(changeSystemDocument(store, NAME, long, OPTIONS)).rejects.toThrow(InvalidValue)
  expect(await readSystemDocument(store, NAME)).toBe('one')
  expect(await changeSystemDocument(store, NAME, () => 'x'.repeat(MAX_SYSTEM_DOCUMENT_BYTES), OPTIONS)).toBe('written')
})

test('a foreign document is read as far as possible', async () => {
  const { store } = memoryStore()
  await change(store, 'one')
  const seen = await store.read(NAME)
  if (seen?.summary === undefined) throw new Error('no summary')
  const { summary } = seen
  const put = (body: Uint8Array) =>
    store.update(NAME, () => ({ kind: 'put', body, summary }), { waitMs: 0, holder: HOLDER })
  await put(Buffer.from([0xff, 0x41]))
  expect(await readSystemDocument(store, NAME)).toBe('\ufffdA')
  await put(Buffer.alloc(MAX_SYSTEM_DOCUMENT_BYTES + 5, 'x'))
  expect(await readSystemDocument(store, NAME)).toHaveLength(MAX_SYSTEM_DOCUMENT_BYTES)
})

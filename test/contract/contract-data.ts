import { describe, expect, it } from 'vitest'
import {
  DATA_PREFIX,
  dataName,
  lifeDataPrefix,
  listData,
  ORPHAN_AGE_MS,
  readDataBytes,
  removeLifeData,
  writeDataBytes,
} from '../../src/ops/event-data.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { dataOf, MAX_DATA_BYTES } from '../../src/stream/data.ts'
import { given, namesOf, type StoreHarness, withStore } from './harness.ts'

const LIFE = { stream: 'orders/1', born: '11111111-2222-4333-8444-555555555555' }
const OTHER = { ...LIFE, born: '99999999-2222-4333-8444-555555555555' }
const BY = { by: 'tester' }

const LONG = Buffer.from('0123456789'.repeat(1_000))
const DATA = dataOf(LONG, 'text/csv')

async function dataNames(store: StreamStore, prefix = DATA_PREFIX): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of listData(store, prefix)) names.push(name)
  return names
}

/** Data beside documents is kept in the same way in every store. */
export function describeData(harness: StoreHarness): void {
  describe('data beside documents', () => {
    it('is read back as it was written, up to 16 MiB', () =>
      withStore(harness, async store => {
        const most = Buffer.alloc(MAX_DATA_BYTES, 0x91)
        const largest = dataOf(most)
        await writeDataBytes(store, LIFE, largest, most, BY)
        await writeDataBytes(store, LIFE, DATA, LONG, BY)
        expect(Buffer.compare(await readDataBytes(store, LIFE, largest), most)).toBe(0)
        expect(Buffer.from(await readDataBytes(store, LIFE, DATA))).toEqual(LONG)
      }))

    it('is written again without effect, and damaged data is replaced', () =>
      withStore(harness, async store => {
        await writeDataBytes(store, LIFE, DATA, LONG, BY)
        const { etag } = (await store.read(dataName(LIFE, DATA))) ?? {}
        await writeDataBytes(store, LIFE, DATA, LONG, BY)
        expect((await store.read(dataName(LIFE, DATA)))?.etag).toBe(etag)
        const other = dataOf(Buffer.alloc(5_000))
        await writeDataBytes(store, LIFE, other, LONG, BY)
        await expect(readDataBytes(store, LIFE, other)).rejects.toMatchObject({ code: 'data-damaged' })
        await writeDataBytes(store, LIFE, other, Buffer.alloc(5_000), BY)
        expect(await readDataBytes(store, LIFE, other)).toHaveLength(5_000)
      }))

    it('is missing with a clear error, and found in another incarnation of its stream', () =>
      withStore(harness, async store => {
        await expect(readDataBytes(store, LIFE, DATA)).rejects.toMatchObject({
          code: 'data-missing',
          stream: 'orders/1',
        })
        await writeDataBytes(store, OTHER, DATA, LONG, BY)
        expect(await readDataBytes(store, LIFE, DATA)).toHaveLength(LONG.length)
        await expect(readDataBytes(store, { ...LIFE, stream: 'orders/2' }, DATA)).rejects.toMatchObject({
          code: 'data-missing',
        })
      }))

    it('is in no listing of streams, in any order, and streams are in no listing of data', () =>
      withStore(harness, async store => {
        await given(store, 'a')
        await given(store, '.leasectl0')
        await writeDataBytes(store, LIFE, DATA, LONG, BY)
        expect(await namesOf(store)).toEqual(['.leasectl0', 'a'])
        expect([...(await namesOf(store, { order: 'any' }))].sort()).toEqual(['.leasectl0', 'a'])
        expect(await namesOf(store, { order: 'due' })).not.toContain(dataName(LIFE, DATA))
        expect(await namesOf(store, { reserved: true })).toEqual([dataName(LIFE, DATA)])
        expect(await namesOf(store, { reserved: true, prefix: 'a' })).toEqual([])
        expect(await namesOf(store, { reserved: true, limit: 1, prefix: DATA_PREFIX })).toHaveLength(1)
      }))

    it('is removed for one incarnation alone', () =>
      withStore(harness, async store => {
        await writeDataBytes(store, LIFE, DATA, LONG, BY)
        await writeDataBytes(store, OTHER, DATA, LONG, BY)
        expect(await removeLifeData(store, LIFE)).toBe(1)
        expect(await dataNames(store)).toEqual([dataName(OTHER, DATA)])
        expect(await removeLifeData(store, LIFE)).toBe(0)
        expect(await dataNames(store, lifeDataPrefix(OTHER))).toHaveLength(1)
      }))

    it('of an old write becomes new when it is written again, so that it is not taken for an orphan', () =>
      withStore(harness, async store => {
        await writeDataBytes(store, LIFE, DATA, LONG, BY)
        const before = await store.read(dataName(LIFE, DATA))
        const later = { ...store, nowMs: () => (before?.modifiedMs ?? 0) + ORPHAN_AGE_MS }
        for (const name of ['create', 'read', 'update', 'list', 'remove'] as const) {
          Object.assign(later, { [name]: store[name].bind(store) })
        }
        await writeDataBytes(later, LIFE, DATA, LONG, BY)
        expect((await store.read(dataName(LIFE, DATA)))?.etag).not.toBe(before?.etag)
      }))
  })
}

import { describe, expect, it } from 'vitest'
import { compareNames } from '../../src/store/names.ts'
import type { ListQuery, StreamStore } from '../../src/store/store.ts'
import {
  changeOptions,
  given,
  holder,
  leased,
  listed,
  namesOf,
  put,
  type StoreHarness,
  stored,
  withStore,
} from './harness.ts'

export function describeListings(harness: StoreHarness): void {
  describe('list by name', () => byName(harness))
  describe('list by due time', () => byDue(harness))
  describe('list in any order', () => inAnyOrder(harness))
}

function byName(harness: StoreHarness): void {
  it('lists nothing in an empty store', () =>
    withStore(harness, async store => {
      expect(await listed(store)).toEqual([])
      expect(await listed(store, { order: 'due' })).toEqual([])
    }))

  it('lists the names in the order of their bytes, whatever the order of creation', () =>
    withStore(harness, async store => {
      const names = ['B', 'a', 'a b', 'a-b', 'a/b', 'a/b/c', 'a0', 'aé', 'z', 'é', '日']
      for (const name of names.toReversed()) await given(store, name)
      expect(await namesOf(store)).toEqual(names)
    }))

  it.runIf(harness.features.utf8Order)('sorts characters beyond U+FFFF last', () =>
    withStore(harness, async store => {
      for (const name of ['😀', 'ﬀ', 'x']) await given(store, name)
      expect(await namesOf(store)).toEqual(['x', 'ﬀ', '😀'])
      expect(await namesOf(store, { after: 'ﬀ' })).toEqual(['😀'])
    }),
  )

  it('lists the names that begin with the prefix, taken literally', () =>
    withStore(harness, async store => {
      for (const name of ['a', 'a/1', 'a/2', 'aa', 'a_1', 'A/1', 'b/1']) await given(store, name)
      expect(await namesOf(store, { prefix: 'a/' })).toEqual(['a/1', 'a/2'])
      expect(await namesOf(store, { prefix: 'a_' })).toEqual(['a_1'])
      expect(await namesOf(store, { prefix: 'c' })).toEqual([])
      expect(await namesOf(store, { prefix: '' })).toHaveLength(7)
    }))

  it('continues after a name, also after a missing one', () =>
    withStore(harness, async store => {
      for (const name of ['a', 'b', 'c', 'd']) await given(store, name)
      expect(await namesOf(store, { after: 'b' })).toEqual(['c', 'd'])
      expect(await namesOf(store, { after: 'bb' })).toEqual(['c', 'd'])
      expect(await namesOf(store, { after: 'd' })).toEqual([])
    }))

  it('stops at the limit, with prefix and after', () =>
    withStore(harness, async store => {
      for (const name of ['a/1', 'a/2', 'a/3', 'a/4', 'b']) await given(store, name)
      expect(await namesOf(store, { limit: 2 })).toEqual(['a/1', 'a/2'])
      expect(await namesOf(store, { prefix: 'a/', after: 'a/1', limit: 2 })).toEqual(['a/2', 'a/3'])
      expect(await namesOf(store, { prefix: 'a/', after: 'a/3', limit: 2 })).toEqual(['a/4'])
      expect(await namesOf(store, { limit: 0 })).toEqual([])
    }))

  it('omits skipped rows before the limit is counted', () =>
    withStore(harness, async store => {
      for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) await given(store, name, name, { dueMs: 9 - at })
      const all = await listed(store)
      const etagOf = (name: string) => all.find(row => row.name === name)?.etag
      const skip = (name: string, etag: string) => name !== 'c' && name !== 'd' && etag === etagOf(name)
      expect(await listed(store, { skip })).toEqual(all.slice(2))
      expect(await namesOf(store, { skip, limit: 1 })).toEqual(['c'])
      expect(await namesOf(store, { skip, after: 'c' })).toEqual(['d'])
      expect(await namesOf(store, { skip, order: 'due', limit: 1 })).toEqual(['d'])
      expect(await listed(store, { skip: () => true })).toEqual([])
    }))

  it('passes to skip whether a lease is held, which does not change an ETag', () =>
    withStore(harness, async store => {
      for (const name of ['free', 'held', 'released', 'broken']) await given(store, name)
      await leased(store, 'held')
      await store.releaseLease('released', await leased(store, 'released'))
      await leased(store, 'broken')
      await store.breakLease('broken', 0)
      const skip: ListQuery['skip'] = (_name, _etag, isLeased) => !isLeased()
      expect(await namesOf(store, { skip })).toEqual(['held'])
      expect(await namesOf(store, { skip, order: 'any' })).toEqual(['held'])
      await store.breakLease('held', 60)
      expect((await listed(store, { skip })).map(({ lease }) => lease.state)).toEqual(['breaking'])
    }))

  it('does so for streams by due time', () =>
    withStore(harness, async store => {
      for (const [at, name] of ['free', 'held'].entries()) await given(store, name, '0', { dueMs: at })
      await leased(store, 'held')
      expect(await namesOf(store, { order: 'due', skip: (_name, _etag, isLeased) => !isLeased() })).toEqual(['held'])
    }))

  it('omits names under .leasectl/, which can still be read', () =>
    withStore(harness, async store => {
      for (const name of ['.leasectl/shard', '.leasectl', '.leasectl0', 'a', '-']) {
        await given(store, name, name, { dueMs: 5 })
      }
      expect(await namesOf(store)).toEqual(['-', '.leasectl', '.leasectl0', 'a'])
      expect(await namesOf(store, { prefix: '.leasectl/' })).toEqual([])
      expect(await namesOf(store, { order: 'due' })).not.toContain('.leasectl/shard')
      expect(await namesOf(store, { limit: 3 })).toEqual(['-', '.leasectl', '.leasectl0'])
      expect(await stored(store, '.leasectl/shard')).toMatchObject({ name: '.leasectl/shard' })
    }))

  it('returns for each stream what a read returns', () =>
    withStore(harness, async store => {
      await given(store, 'a', 'some body')
      await store.update('a', put('another', { version: 2, status: 'completed' }), changeOptions())
      const { body: _, versionFloor: __, ...head } = await stored(store, 'a')
      expect(await listed(store)).toEqual([head])
    }))

  it('returns the lease holders', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      await given(store, 'b')
      await leased(store, 'a', 'grace')
      const [a, b] = await listed(store)
      expect(a?.lease).toMatchObject({ state: 'leased', duration: 'fixed', holder: holder('grace') })
      expect(b?.lease).toEqual({ state: 'available' })
    }))
}

function byDue(harness: StoreHarness): void {
  it('lists the streams that have a due time, soonest first, then by name', () =>
    withStore(harness, async store => {
      await given(store, 'never')
      await given(store, 'late', '0', { dueMs: 3_000 })
      await given(store, 'tie-b', '0', { dueMs: 2_000 })
      await given(store, 'tie-a', '0', { dueMs: 2_000 })
      await given(store, 'early', '0', { dueMs: 1_000 })
      expect(await namesOf(store, { order: 'due' })).toEqual(['early', 'tie-a', 'tie-b', 'late'])
    }))

  it('accepts prefix, after and limit', () =>
    withStore(harness, async store => {
      const due = { 'a/1': 4, 'a/2': 3, 'a/3': 2, 'b/1': 1 }
      for (const [name, dueMs] of Object.entries(due)) await given(store, name, '0', { dueMs })
      expect(await namesOf(store, { order: 'due', prefix: 'a/' })).toEqual(['a/3', 'a/2', 'a/1'])
      expect(await namesOf(store, { order: 'due', limit: 2 })).toEqual(['b/1', 'a/3'])
      expect(await namesOf(store, { order: 'due', after: 'a/1', limit: 2 })).toEqual(['b/1', 'a/3'])
    }))

  it('follows each write of the due time', () =>
    withStore(harness, async store => {
      await given(store, 'a', '0', { dueMs: 1_000 })
      await given(store, 'b', '0', { dueMs: 2_000 })
      const order = () => namesOf(store, { order: 'due' })
      await store.update('a', put('1', { dueMs: 3_000 }), changeOptions())
      expect(await order()).toEqual(['b', 'a'])
      await store.update('b', put('1', { dueMs: undefined }), changeOptions())
      expect(await order()).toEqual(['a'])
      await store.update('b', put('2', { dueMs: 500 }), changeOptions())
      expect(await order()).toEqual(['b', 'a'])
      await store.remove('a', {})
      expect(await order()).toEqual(['b'])
    }))
}

function inAnyOrder(harness: StoreHarness): void {
  const anyOf = async (store: StreamStore, query: ListQuery = {}): Promise<string[]> =>
    (await namesOf(store, { ...query, order: 'any' })).toSorted()

  it('lists the same streams as a listing by name, each once', () =>
    withStore(harness, async store => {
      expect(await anyOf(store)).toEqual([])
      const names = ['top', 'a/1', 'a/2', 'a/b/3', 'a-b', 'b/1', 'é/ü', '-', '.leasectl', '.leasectl0', 'z z/&<%2F']
      for (const [at, name] of names.entries()) await given(store, name, name, { dueMs: at })
      await given(store, '.leasectl/shard')
      await leased(store, 'a/2', 'grace')
      const rows = await listed(store, { order: 'any' })
      expect(rows.toSorted((a, b) => compareNames(a.name, b.name))).toEqual(await listed(store))
      expect(rows).toHaveLength(names.length)
    }))

  it('accepts prefix, after and limit', () =>
    withStore(harness, async store => {
      for (const name of ['a/1', 'a/2', 'a/3', 'b/1', 'c']) await given(store, name)
      expect(await anyOf(store, { prefix: 'a/' })).toEqual(['a/1', 'a/2', 'a/3'])
      expect(await anyOf(store, { prefix: '.leasectl/' })).toEqual([])
      expect(await anyOf(store, { after: 'a/2' })).toEqual(['a/3', 'b/1', 'c'])
      expect(await anyOf(store, { prefix: 'a/', after: 'a/1' })).toEqual(['a/2', 'a/3'])
      expect(await anyOf(store, { prefix: 'a/', after: 'b' })).toEqual([])
      expect(await anyOf(store, { prefix: 'b/', after: 'a/2' })).toEqual(['b/1'])
      expect(await anyOf(store, { limit: 2 })).toHaveLength(2)
      expect(await anyOf(store, { limit: 0 })).toEqual([])
    }))

  it('omits skipped rows, and calls skip once for each', () =>
    withStore(harness, async store => {
      for (const name of ['a/1', 'a/2', 'b']) await given(store, name)
      const etags = new Map((await listed(store)).map(row => [row.name, row.etag]))
      const asked: string[] = []
      const skip = (name: string, etag: string) => asked.push(name) > 0 && name !== 'b' && etags.get(name) === etag
      expect(await anyOf(store, { skip })).toEqual(['b'])
      expect(asked.toSorted()).toEqual(['a/1', 'a/2', 'b'])
    }))

  it('can be left early, and canceled', () =>
    withStore(harness, async store => {
      for (const name of ['a', 'b']) await given(store, name)
      for await (const page of store.list({ order: 'any' })) {
        expect(page.length).toBeGreaterThan(0)
        break
      }
      const signal = AbortSignal.abort(new Error('enough'))
      await expect(listed(store, { order: 'any', signal })).rejects.toThrow('enough')
      expect(await anyOf(store)).toEqual(['a', 'b'])
    }))
}

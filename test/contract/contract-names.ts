import { describe, expect, it } from 'vitest'
import { BadName } from '../../src/store/errors.ts'
import { InvalidValue } from '../../src/stream/errors.ts'
import { ODD_NAMES } from '../support/odd-blobs.ts'
import { bytes, changeOptions, given, listed, put, type StoreHarness, summary, withStore } from './harness.ts'

/** The blob under a name that is not a stream name. */
export function describeNames({ plant, ...harness }: StoreHarness): void {
  describe.runIf(plant !== undefined)('a name that is not a stream name', () => {
    it.each(ODD_NAMES)('%j is a row without a summary, cannot be read or changed, and can be removed', name =>
      withStore(harness, async store => {
        await plant?.(store, name)
        await given(store, 'good', 'good', { dueMs: 2 })
        const rows = (await listed(store)).toSorted((a, b) => Number(a.name === 'good') - Number(b.name === 'good'))
        expect(rows).toMatchObject([
          { name, size: 7 },
          { name: 'good', summary: { dueMs: 2 } },
        ])
        const [odd] = rows
        expect(odd?.summary).toBeUndefined()
        expect(await listed(store, { order: 'any', skip: () => false })).toHaveLength(2)
        expect(await listed(store, { prefix: name })).toEqual([odd])
        expect((await listed(store, { order: 'due' })).map(row => row.name)).toEqual(['good'])
        await expect(store.read(name)).rejects.toBeInstanceOf(BadName)
        await expect(store.update(name, put('x'), changeOptions())).rejects.toBeInstanceOf(BadName)
        expect(await store.remove(name, { etag: '"0"' })).toEqual({ kind: 'changed' })
        expect(await store.remove(name, { etag: odd?.etag ?? '' })).toEqual({ kind: 'removed' })
        expect((await listed(store)).map(row => row.name)).toEqual(['good'])
      }),
    )

    it('removes only the blob with exactly that name', () =>
      withStore(harness, async store => {
        await given(store, 'a/b')
        for (const name of ['a/./b', 'a/b/', 'a/c/../b', './a/b']) {
          expect(await store.remove(name, {}), name).toEqual({ kind: 'missing' })
        }
        expect(await store.read('a/b')).toBeDefined()
      }))

    it('never treats a backslash as a slash', () =>
      withStore(harness, async store => {
        await given(store, 'a/b')
        await expect(store.create('a\\b', bytes('x'), summary())).rejects.toBeInstanceOf(InvalidValue)
        await expect(store.read('a\\b')).rejects.toBeInstanceOf(BadName)
        const removed = await store.remove('a\\b', {}).catch((error: unknown) => error)
        if (!(removed instanceof BadName)) expect(removed).toEqual({ kind: 'missing' })
        expect(await store.read('a/b')).toBeDefined()
      }))
  })
}

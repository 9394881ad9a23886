import { describe, expect, it } from 'vitest'
import type { StreamStore } from '../../src/store/store.ts'
import { changeOptions, given, leased, listed, put, type StoreHarness, stored, withStore } from './harness.ts'

export function describeMarks(harness: StoreHarness): void {
  describe('change tokens', () => {
    if (harness.features.changeMarks) marks(harness)
    else
      it('do not exist, because a request would cost as much as a listing', () =>
        withStore(harness, async store => expect(store.changeToken).toBeUndefined()))
  })
}

function marks(harness: StoreHarness): void {
  it('stay the same as long as nothing is written', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const mark = await markOf(store)
      await listed(store)
      await stored(store, 'a')
      await store.releaseLease('a', 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee')
      expect(await markOf(store)).toBe(mark)
    }))

  it('change with everything that alters a listing or a read', () =>
    withStore(harness, async store => {
      await given(store, 'first')
      const seen = [await markOf(store)]
      const step = async (change: Promise<unknown>) => {
        await change
        seen.push(await markOf(store))
      }
      await step(given(store, 'a'))
      await step(store.update('a', put('1', { version: 2 }), changeOptions()))
      const lease = leased(store, 'a')
      await step(lease)
      await step(store.renewLease('a', await lease))
      await step(store.breakLease('a', 60))
      await step(store.releaseLease('a', await lease))
      await step(given(store, '.leasectl/aside'))
      await step(store.remove('a', {}))
      expect(new Set(seen).size).toBe(seen.length)
    }))

  it('can be canceled with the signal', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      await expect(store.changeToken?.(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
    }))
}

async function markOf(store: StreamStore): Promise<string> {
  const mark = await store.changeToken?.()
  if (mark === undefined) throw new Error('no mark')
  return mark
}

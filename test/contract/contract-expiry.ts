import { describe, expect, it, vi } from 'vitest'
import {
  changeOptions,
  given,
  holder,
  increment,
  leased,
  pass,
  passEnd,
  type StoreHarness,
  stored,
  text,
  withStore,
} from './harness.ts'

/**
 * The rules that need an expired lease. At most five tests, in parallel: if the clock cannot be moved they wait in
 * real time, up to 21 s.
 */
export function describeExpiry(harness: StoreHarness): void {
  const timeout = 40_000 + (harness.lateMs ?? 0)
  // A movable clock is shared by all tests, so they must not run in parallel.
  const suite = harness.advance ? describe : describe.concurrent

  suite('a lease that expires', () => {
    it('releases the stream for others, and its id is lost', { timeout }, () =>
      withStore(harness, async store => {
        await given(store, 'a', '0')
        const old = await leased(store, 'a', 'grace', 15)
        await passEnd(harness, 15_000)
        const found = await stored(store, 'a')
        expect(found.lease.state).toBe('expired')
        expect(found.lease.holder).toBeUndefined()
        const write = await store.update('a', increment, changeOptions({ leaseId: old }))
        expect(write).toMatchObject({ kind: 'lost', code: expect.stringMatching(/^Lease/) })
        await leased(store, 'a', 'ada')
        expect((await stored(store, 'a')).lease).toMatchObject({ state: 'leased', holder: holder('ada') })
        expect(await store.renewLease('a', old)).toMatchObject({ kind: 'lost' })
        expect(text((await stored(store, 'a')).body)).toBe('0')
      }),
    )

    it('can be renewed as long as no other has written or leased since', { timeout }, () =>
      withStore(harness, async store => {
        await given(store, 'a', '0')
        const leaseId = await leased(store, 'a', 'grace', 15)
        await passEnd(harness, 15_000)
        expect(await store.renewLease('a', leaseId)).toEqual({ kind: 'ok', leaseId })
        expect((await stored(store, 'a')).lease.state).toBe('leased')
        const write = await store.update('a', increment, changeOptions({ leaseId }))
        expect(write).toMatchObject({ kind: 'committed' })
      }),
    )

    it('cannot be renewed after a write of another', { timeout }, () =>
      withStore(harness, async store => {
        await given(store, 'a', '0')
        const leaseId = await leased(store, 'a', 'grace', 15)
        await passEnd(harness, 15_000)
        const write = await store.update('a', increment, changeOptions({ waitMs: 5_000 }))
        expect(write).toMatchObject({ kind: 'committed' })
        expect(await store.renewLease('a', leaseId)).toMatchObject({ kind: 'lost' })
        // The lease of the write is released after its answer.
        await vi.waitFor(async () => expect(await store.remove('a', {})).toEqual({ kind: 'removed' }), 10_000)
      }),
    )

    it('lasts longer when renewed', { timeout }, () =>
      withStore(harness, async store => {
        await given(store, 'a', '0')
        const leaseId = await leased(store, 'a', 'grace', 15)
        await pass(harness, 13_000)
        await store.renewLease('a', leaseId)
        await pass(harness, 4_000)
        expect((await stored(store, 'a')).lease.state).toBe('leased')
        expect(await store.update('a', increment, changeOptions({ waitMs: 0 }))).toMatchObject({
          kind: 'held',
        })
      }),
    )

    it('is broken after its break period, not before', { timeout }, () =>
      withStore(harness, async store => {
        await given(store, 'a', '0')
        await leased(store, 'a', 'grace', -1)
        expect(await store.breakLease('a', 10)).toMatchObject({ kind: 'broken' })
        expect((await stored(store, 'a')).lease.state).toBe('breaking')
        await passEnd(harness, 10_000)
        expect((await stored(store, 'a')).lease.state).toBe('broken')
        expect(await store.update('a', increment, changeOptions())).toMatchObject({ kind: 'committed' })
        expect((await stored(store, 'a')).lease.state).toBe('available')
      }),
    )
  })
}

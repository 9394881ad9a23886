import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { StreamStore } from '../../src/store/store.ts'
import { InvalidValue } from '../../src/stream/errors.ts'
import { changeOptions, given, holder, leased, put, type StoreHarness, stored, withStore } from './harness.ts'

export function describeLeases(harness: StoreHarness): void {
  describe('acquire', () => acquire(harness))
  describe('renew', () => renew(harness))
  describe('change', () => change(harness))
  describe('release', () => release(harness))
  describe('break', () => breakIt(harness))
  describe('read under a lease', () => read(harness))
  it('lease methods reject with the reason of an aborted signal', () => aborted(harness))
}

const code = expect.stringMatching(/^Lease/)

function read(harness: StoreHarness): void {
  it('gives the stream to the holder of its lease', () =>
    withStore(harness, async store => {
      await given(store, 'a', 'body')
      const leaseId = await leased(store, 'a')
      const found = await store.readLeased('a', leaseId)
      expect(found).toMatchObject({ kind: 'read', stored: { name: 'a', lease: { state: 'leased' } } })
      expect(found).toEqual({ kind: 'read', stored: await stored(store, 'a') })
    }))

  it('is lost for any other id, and once the lease is released', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const leaseId = await leased(store, 'a')
      expect(await store.readLeased('a', randomUUID())).toEqual({ kind: 'lost', code })
      await store.releaseLease('a', leaseId)
      expect(await store.readLeased('a', leaseId)).toEqual({ kind: 'lost', code })
    }))

  it('tells that there is no such stream', () =>
    withStore(harness, async store => {
      await store.createContainer()
      expect(await store.readLeased('nix', randomUUID())).toEqual({ kind: 'missing' })
    }))
}

function acquire(harness: StoreHarness): void {
  const options = (leaseId: string, durationS = 60) => ({ leaseId, durationS, holder: holder('ada') })

  it('leases a free stream with the proposed id and keeps its etag', () =>
    withStore(harness, async store => {
      const etag = await given(store, 'a')
      const leaseId = randomUUID()
      expect(await store.acquireLease('a', options(leaseId))).toEqual({ kind: 'acquired', leaseId, etag })
      const found = await stored(store, 'a')
      expect(found).toMatchObject({ etag, lease: { state: 'leased', duration: 'fixed' } })
      expect(JSON.stringify(found)).not.toContain(leaseId)
    }))

  it('returns when the lease ends, if the store knows', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const before = store.nowMs()
      await leased(store, 'a', 'grace', 60)
      const { untilMs } = (await stored(store, 'a')).lease
      if (!harness.features.leaseEnds) expect(untilMs).toBeUndefined()
      else expect(Math.abs((untilMs ?? 0) - before - 60_000)).toBeLessThan(10_000)
    }))

  it('returns the etag after a recorded holder was written', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const outcome = await store.acquireLease('a', { ...options(randomUUID()), record: true })
      const found = await stored(store, 'a')
      expect(outcome).toMatchObject({ kind: 'acquired', etag: found.etag })
      expect(found.lease.holder).toEqual(holder('ada'))
      expect(found.summary).toBeDefined()
    }))

  it('leases without an end with -1', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      await leased(store, 'a', 'grace', -1)
      expect((await stored(store, 'a')).lease).toMatchObject({ state: 'leased', duration: 'infinite' })
    }))

  it('may be repeated with the same id', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const leaseId = randomUUID()
      for (const _ of [1, 2])
        expect(await store.acquireLease('a', options(leaseId))).toMatchObject({ kind: 'acquired', leaseId })
    }))

  it('returns held, with the holder and the last writer', () =>
    withStore(harness, async store => {
      await given(store, 'a', '0', { lastBy: 'linus' })
      const leaseId = await leased(store, 'a', 'grace')
      expect(await store.acquireLease('a', options(randomUUID()))).toMatchObject({
        kind: 'held',
        lease: { state: 'leased', holder: holder('grace') },
        lastBy: 'linus',
      })
      expect(await store.renewLease('a', leaseId)).toMatchObject({ kind: 'ok' })
    }))

  it('succeeds for exactly one of several concurrent attempts', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const tries = Array.from({ length: 8 }, () => store.acquireLease('a', options(randomUUID())))
      const kinds = (await Promise.all(tries)).map(outcome => outcome.kind)
      expect(kinds.filter(kind => kind === 'acquired')).toHaveLength(1)
      expect(kinds.filter(kind => kind === 'held')).toHaveLength(7)
    }))

  it('returns missing if there is no stream', () =>
    withStore(harness, async store => {
      expect(await store.acquireLease('a', options(randomUUID()))).toEqual({ kind: 'missing' })
    }))

  it.each([0, 14, 61, -2, 15.5, Number.NaN])('refuses a duration of %d s as an invalid value', durationS =>
    withStore(harness, async store => {
      await given(store, 'a')
      await expect(store.acquireLease('a', options(randomUUID(), durationS))).rejects.toBeInstanceOf(InvalidValue)
      expect((await stored(store, 'a')).lease).toEqual({ state: 'available' })
    }),
  )
}

function renew(harness: StoreHarness): void {
  it('renews only the lease with the given id', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      expect(await store.renewLease('a', randomUUID())).toEqual({ kind: 'lost', code })
      const leaseId = await leased(store, 'a')
      expect(await store.renewLease('a', leaseId)).toEqual({ kind: 'ok', leaseId })
      expect(await store.renewLease('a', randomUUID())).toEqual({ kind: 'lost', code })
      expect((await stored(store, 'a')).lease).toMatchObject({ state: 'leased', holder: holder('grace') })
    }))

  it('returns lost for a released, a breaking and a broken lease', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const first = await leased(store, 'a')
      await store.releaseLease('a', first)
      expect(await store.renewLease('a', first)).toEqual({ kind: 'lost', code })
      const second = await leased(store, 'a')
      await store.breakLease('a', 30)
      expect(await store.renewLease('a', second)).toEqual({ kind: 'lost', code: 'LeaseIsBrokenAndCannotBeRenewed' })
      await store.breakLease('a', 0)
      expect(await store.renewLease('a', second)).toEqual({ kind: 'lost', code: 'LeaseIsBrokenAndCannotBeRenewed' })
    }))

  it('returns missing if there is no stream', () =>
    withStore(harness, async store => {
      expect(await store.renewLease('a', randomUUID())).toEqual({ kind: 'missing' })
    }))
}

function change(harness: StoreHarness): void {
  it('gives the lease another id, and may be repeated', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const [first, second] = [await leased(store, 'a'), randomUUID()]
      for (const _ of [1, 2])
        expect(await store.changeLeaseId('a', first, second)).toEqual({ kind: 'ok', leaseId: second })
      expect(await store.renewLease('a', first)).toEqual({ kind: 'lost', code })
      expect(await store.renewLease('a', second)).toEqual({ kind: 'ok', leaseId: second })
      expect((await stored(store, 'a')).lease.holder).toEqual(holder('grace'))
    }))

  it('returns lost without a lease, for another id and while breaking', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      expect(await store.changeLeaseId('a', randomUUID(), randomUUID())).toEqual({ kind: 'lost', code })
      const leaseId = await leased(store, 'a')
      expect(await store.changeLeaseId('a', randomUUID(), randomUUID())).toEqual({ kind: 'lost', code })
      await store.breakLease('a', 30)
      const outcome = await store.changeLeaseId('a', leaseId, randomUUID())
      expect(outcome).toEqual({ kind: 'lost', code: 'LeaseIsBreakingAndCannotBeChanged' })
    }))

  it('returns missing if there is no stream', () =>
    withStore(harness, async store => {
      expect(await store.changeLeaseId('a', randomUUID(), randomUUID())).toEqual({ kind: 'missing' })
    }))
}

function release(harness: StoreHarness): void {
  it('frees the stream for others and removes the holder', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const leaseId = await leased(store, 'a', 'grace')
      expect(await store.releaseLease('a', leaseId)).toEqual({ kind: 'ok', leaseId })
      expect((await stored(store, 'a')).lease).toEqual({ state: 'available' })
      await leased(store, 'a', 'ada')
      expect((await stored(store, 'a')).lease.holder).toEqual(holder('ada'))
    }))

  it('returns lost for a wrong lease id', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const leaseId = await leased(store, 'a')
      expect(await store.releaseLease('a', randomUUID())).toEqual({ kind: 'lost', code })
      await store.releaseLease('a', leaseId)
      expect(await store.releaseLease('a', leaseId)).toEqual({ kind: 'lost', code })
    }))

  it('releases a breaking and a broken lease', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      for (const periodS of [30, 0]) {
        const leaseId = await leased(store, 'a')
        await store.breakLease('a', periodS)
        expect(await store.releaseLease('a', leaseId)).toEqual({ kind: 'ok', leaseId })
        expect((await stored(store, 'a')).lease).toEqual({ state: 'available' })
      }
    }))

  it('returns missing if there is no stream', () =>
    withStore(harness, async store => {
      expect(await store.releaseLease('a', randomUUID())).toEqual({ kind: 'missing' })
    }))
}

function breakIt(harness: StoreHarness): void {
  it('ends a lease at once with 0', () =>
    withStore(harness, async store => {
      const etag = await given(store, 'a')
      const leaseId = randomUUID()
      await store.acquireLease('a', { leaseId, durationS: 60, holder: holder('grace') })
      expect(await store.breakLease('a', 0)).toEqual({ kind: 'broken', remainingS: 0 })
      expect(await stored(store, 'a')).toMatchObject({ etag, lease: { state: 'broken' } })
      expect((await stored(store, 'a')).lease.holder).toBeUndefined()
      await leased(store, 'a', 'ada')
    }))

  it('ends a lease after a period, which can only be shortened', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      await leased(store, 'a', 'grace', -1)
      expect(await store.breakLease('a', 20)).toMatchObject({ kind: 'broken', remainingS: 20 })
      expect((await stored(store, 'a')).lease).toMatchObject({ state: 'breaking', holder: holder('grace') })
      expect(await remaining(store, 60)).toBeLessThanOrEqual(20)
      expect(await remaining(store, 5)).toBeLessThanOrEqual(5)
      const outcome = await store.acquireLease('a', { leaseId: randomUUID(), durationS: 15, holder: holder('ada') })
      expect(outcome).toMatchObject({ kind: 'held', lease: { state: 'breaking' } })
    }))

  it('lets a finite lease expire and ends an infinite one at once without a period', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      await leased(store, 'a', 'grace', 15)
      const left = await remaining(store, undefined)
      expect(left).toBeGreaterThan(5)
      expect(left).toBeLessThanOrEqual(15)
      await store.breakLease('a', 0)
      await leased(store, 'a', 'grace', -1)
      expect(await remaining(store, undefined)).toBe(0)
      expect((await stored(store, 'a')).lease.state).toBe('broken')
    }))

  it('returns that there is no lease, also after a write over a broken lease', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      expect(await store.breakLease('a', 0)).toEqual({ kind: 'not-leased' })
      const leaseId = await leased(store, 'a')
      await store.breakLease('a', 0)
      expect(await store.breakLease('a', 0)).toEqual({ kind: 'broken', remainingS: 0 })
      await store.update('a', put('1'), changeOptions())
      expect(await store.releaseLease('a', leaseId)).toEqual({ kind: 'lost', code })
    }))

  it('returns missing if there is no stream', () =>
    withStore(harness, async store => {
      expect(await store.breakLease('a', 0)).toEqual({ kind: 'missing' })
    }))

  it.each([-1, 61, 1.5])('refuses a period of %d s as an invalid value', periodS =>
    withStore(harness, async store => {
      await given(store, 'a')
      await leased(store, 'a')
      await expect(store.breakLease('a', periodS)).rejects.toBeInstanceOf(InvalidValue)
      expect((await stored(store, 'a')).lease.state).toBe('leased')
    }),
  )
}

async function remaining(store: StreamStore, periodS: number | undefined): Promise<number> {
  const outcome = await store.breakLease('a', periodS)
  if (outcome.kind !== 'broken') throw new Error(outcome.kind)
  return outcome.remainingS
}

function aborted(harness: StoreHarness): Promise<void> {
  return withStore(harness, async store => {
    await given(store, 'a')
    const leaseId = await leased(store, 'a')
    const reason = new Error('stop')
    const signal = AbortSignal.abort(reason)
    const again = { leaseId, durationS: 60, holder: holder('ada'), signal }
    await expect(store.acquireLease('a', again)).rejects.toBe(reason)
    await expect(store.renewLease('a', leaseId, signal)).rejects.toBe(reason)
    await expect(store.changeLeaseId('a', leaseId, randomUUID(), signal)).rejects.toBe(reason)
    await expect(store.releaseLease('a', leaseId, signal)).rejects.toBe(reason)
    await expect(store.breakLease('a', 0, signal)).rejects.toBe(reason)
    await expect(store.remove('a', { leaseId, signal })).rejects.toBe(reason)
    await expect(store.createContainer(signal)).rejects.toBe(reason)
    expect(await store.renewLease('a', leaseId)).toEqual({ kind: 'ok', leaseId })
  })
}

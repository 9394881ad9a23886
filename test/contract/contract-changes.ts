import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type {
  ChangeOptions,
  LeaseAttempt,
  RemoveOutcome,
  StreamSnapshot,
  StreamStore,
  WriteMode,
} from '../../src/store/store.ts'
import {
  bytes,
  changeOptions as defaultOptions,
  given,
  holder,
  increment,
  leased,
  put,
  type StoreHarness,
  stored,
  summary,
  text,
  withStore,
} from './harness.ts'

const never = (): never => {
  throw new Error('decide was called')
}

type OptionsOf = (over?: Partial<ChangeOptions>) => ChangeOptions

export function describeChanges(harness: StoreHarness): void {
  const modes: readonly WriteMode[] = ['lease', 'optimistic']
  describe.each(modes)('write: %s', write => {
    const changeOptions: OptionsOf = over => defaultOptions({ write, ...over })
    describe('update', () => oneChange(harness, changeOptions))
    describe('update beside a lease of another', () => heldByAnother(harness, changeOptions))
    describe('update under a given lease', () => underGivenLease(harness, changeOptions))
  })
  describe('changes in both ways at once', () => bothWays(harness))
}

function bothWays(harness: StoreHarness): void {
  it('lose nothing of each other', () =>
    withStore(harness, async store => {
      await given(store, 'a', '0', { version: 1 })
      const all = Array.from({ length: 12 }, (_, at) => {
        const write: WriteMode = at % 2 === 0 ? 'lease' : 'optimistic'
        return store.update('a', increment, defaultOptions({ write, waitMs: 100_000 }))
      })
      for (const outcome of await Promise.all(all)) expect(outcome).toMatchObject({ kind: 'committed' })
      expect(await stored(store, 'a')).toMatchObject({ body: bytes('12'), versionFloor: 13 })
    }))
}

function oneChange(harness: StoreHarness, changeOptions: OptionsOf): void {
  it('passes the stored stream to decide and writes the result', () =>
    withStore(harness, async store => {
      const etag = await given(store, 'a', 'old', { version: 3 })
      const seen: StreamSnapshot[] = []
      const outcome = await store.update(
        'a',
        (current, nowMs) => {
          expect(Math.abs(nowMs - store.nowMs())).toBeLessThan(10_000)
          seen.push({ ...current })
          return put('new', { version: 4, lastBy: 'ada' })()
        },
        changeOptions(),
      )
      expect(seen).toHaveLength(1)
      expect(seen[0]).toMatchObject({
        name: 'a',
        etag,
        body: bytes('old'),
        summary: summary({ version: 3 }),
        versionFloor: 3,
      })
      const found = await stored(store, 'a')
      expect(outcome).toEqual({ kind: 'committed', etag: found.etag })
      expect(found.etag).not.toBe(etag)
      expect(found).toMatchObject({ body: bytes('new'), size: 3, versionFloor: 4 })
      expect(found.modifiedMs).toBeGreaterThanOrEqual(seen[0]?.modifiedMs ?? Number.NaN)
    }))

  it('releases the stream', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      await store.update('a', increment, changeOptions())
      expect(await store.update('a', increment, changeOptions())).toMatchObject({ kind: 'committed' })
      await store.close()
    }))

  it('writes nothing when decide skips', () =>
    withStore(harness, async store => {
      const etag = await given(store, 'a', 'old')
      expect(await store.update('a', () => ({ kind: 'leave' }), changeOptions())).toEqual({ kind: 'left' })
      expect(await stored(store, 'a')).toMatchObject({ etag, body: bytes('old') })
    }))

  it('returns missing without a decision if there is no stream', () =>
    withStore(harness, async store => {
      expect(await store.update('a', never, changeOptions())).toEqual({ kind: 'missing' })
    }))

  it('returns missing for a stream that it wrote and that was removed since', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      expect(await store.update('a', increment, changeOptions())).toMatchObject({ kind: 'committed' })
      expect(await removed(store, 'a')).toEqual({ kind: 'removed' })
      expect(await store.update('a', increment, changeOptions())).toEqual({ kind: 'missing' })
    }))

  it('passes to decide its own last write, with the time of the write, and keeps it when decide skips', () =>
    withStore(harness, async store => {
      await given(store, 'a', '0', { version: 1 })
      await store.update('a', increment, changeOptions())
      const found = await stored(store, 'a')
      const seen: StreamSnapshot[] = []
      const decide = (current: StreamSnapshot) => {
        seen.push(current)
        return increment(current)
      }
      await store.update('a', decide, changeOptions())
      const { etag, body, size, modifiedMs, summary: kept, versionFloor } = found
      expect(seen.at(-1)).toMatchObject({ name: 'a', etag, body, size, modifiedMs, versionFloor, summary: kept })
    }))

  it('passes on an error of decide, writes nothing and releases the stream', () =>
    withStore(harness, async store => {
      const etag = await given(store, 'a')
      const fault = new Error('no plan')
      const failing = () => {
        throw fault
      }
      await expect(store.update('a', failing, changeOptions())).rejects.toBe(fault)
      expect(await stored(store, 'a')).toMatchObject({ etag })
      expect(await store.update('a', increment, changeOptions())).toMatchObject({ kind: 'committed' })
    }))

  it('loses none of 20 concurrent increments', () =>
    withStore(harness, async store => {
      await given(store, 'a', '0', { version: 1 })
      const options = changeOptions({ waitMs: 100_000 })
      const all = await Promise.all(Array.from({ length: 20 }, () => store.update('a', increment, options)))
      expect(all.map(outcome => outcome.kind)).toEqual(Array.from({ length: 20 }, () => 'committed'))
      expect(await stored(store, 'a')).toMatchObject({ body: bytes('20'), versionFloor: 21 })
    }))

  it('makes at least one of two concurrent changes see the other', () =>
    withStore(harness, async store => {
      await given(store, 'a', '')
      const append = (letter: string) => (current: StreamSnapshot) => put(text(current.body) + letter)()
      await Promise.all(['x', 'y'].map(letter => store.update('a', append(letter), changeOptions())))
      expect(['xy', 'yx']).toContain(text((await stored(store, 'a')).body))
    }))

  it('changes different streams independently', () =>
    withStore(harness, async store => {
      const names = ['a', 'b', 'c', 'd']
      for (const name of names) await given(store, name, '0')
      await leased(store, 'a')
      const rest = names.slice(1).map(name => store.update(name, increment, changeOptions({ waitMs: 0 })))
      expect((await Promise.all(rest)).map(outcome => outcome.kind)).toEqual(['committed', 'committed', 'committed'])
    }))

  it('rejects with the reason of a signal that was already aborted', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const reason = new Error('stop')
      const options = changeOptions({ signal: AbortSignal.abort(reason) })
      await expect(store.update('a', never, options)).rejects.toBe(reason)
    }))
}

/** A release of our own may still be in flight after the last change. */
async function removed(store: StreamStore, name: string): Promise<RemoveOutcome> {
  const deadline = performance.now() + 5_000
  for (;;) {
    const outcome = await store.remove(name, {})
    if (outcome.kind !== 'held' || performance.now() > deadline) return outcome
  }
}

function heldByAnother(harness: StoreHarness, changeOptions: OptionsOf): void {
  it('returns held, with the holder and the last writer, after one attempt if it may not wait', () =>
    withStore(harness, async store => {
      await given(store, 'a', 'old', { lastBy: 'linus' })
      await leased(store, 'a', 'grace')
      const outcome = await store.update('a', never, changeOptions({ waitMs: 0 }))
      expect(outcome).toMatchObject({
        kind: 'held',
        lease: { state: 'leased', holder: holder('grace') },
        waitedMs: expect.any(Number),
        lastBy: 'linus',
      })
      expect(text((await stored(store, 'a')).body)).toBe('old')
    }))

  it('reports each attempt with the holder and the wait, and the end', () =>
    withStore(harness, async store => {
      await given(store, 'a', '0', { lastBy: 'linus' })
      const leaseId = await leased(store, 'a', 'grace')
      const seen: LeaseAttempt[] = []
      const onLeaseAttempt = (attempt: LeaseAttempt) => {
        seen.push(attempt)
        if (attempt.kind === 'held' && attempt.attempt === 2) void store.releaseLease('a', leaseId)
      }
      expect(await store.update('a', increment, changeOptions({ onLeaseAttempt }))).toMatchObject({ kind: 'committed' })
      const held = { kind: 'held', stream: 'a', lease: { state: 'leased', holder: holder('grace') }, lastBy: 'linus' }
      expect(seen.slice(0, 2)).toMatchObject([
        { ...held, attempt: 1 },
        { ...held, attempt: 2 },
      ])
      expect(seen.at(-1)).toMatchObject({ kind: 'acquired', stream: 'a', attempt: seen.length })
      const waits = seen.map(({ waitedMs }) => waitedMs)
      expect(waits).toEqual(waits.toSorted((one, other) => one - other))
      await leased(store, 'a')
      seen.length = 0
      await store.update('a', never, changeOptions({ onLeaseAttempt, waitMs: 0 }))
      expect(seen.map(({ kind, attempt }) => [kind, attempt])).toEqual([
        ['held', 1],
        ['given-up', 1],
      ])
    }))

  it('returns held when the wait is over', () =>
    withStore(harness, async store => {
      await given(store, 'a', 'old')
      await leased(store, 'a', 'grace')
      const outcome = await store.update('a', never, changeOptions({ waitMs: 120 }))
      expect(outcome.kind).toBe('held')
      if (outcome.kind === 'held') expect(outcome.waitedMs).toBeGreaterThanOrEqual(100)
    }))

  it('continues as soon as the lease is released', () =>
    withStore(harness, async store => {
      await given(store, 'a', '0')
      const leaseId = await leased(store, 'a')
      const waiting = store.update('a', increment, changeOptions())
      expect(await store.releaseLease('a', leaseId)).toMatchObject({ kind: 'ok' })
      expect(await waiting).toMatchObject({ kind: 'committed' })
      expect(text((await stored(store, 'a')).body)).toBe('1')
    }))

  it('stops waiting with the reason of its signal', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      await leased(store, 'a')
      const { etag } = await stored(store, 'a')
      const stop = new AbortController()
      const reason = new Error('stop')
      const waiting = store.update('a', never, changeOptions({ signal: stop.signal }))
      setTimeout(() => stop.abort(reason), 30)
      await expect(waiting).rejects.toBe(reason)
      expect((await stored(store, 'a')).etag).toBe(etag)
    }))

  it('waits for a lease that is breaking, and continues after a broken one', () =>
    withStore(harness, async store => {
      await given(store, 'a', '0')
      await leased(store, 'a')
      await store.breakLease('a', 30)
      const held = await store.update('a', never, changeOptions({ waitMs: 0 }))
      expect(held).toMatchObject({ kind: 'held', lease: { state: 'breaking' } })
      await store.breakLease('a', 0)
      expect(await store.update('a', increment, changeOptions())).toMatchObject({ kind: 'committed' })
    }))
}

function underGivenLease(harness: StoreHarness, changeOptions: OptionsOf): void {
  it('writes and keeps the lease', () =>
    withStore(harness, async store => {
      await given(store, 'a', '0')
      const leaseId = await leased(store, 'a', 'grace')
      for (const body of ['1', '2']) {
        expect(await store.update('a', increment, changeOptions({ leaseId }))).toMatchObject({
          kind: 'committed',
        })
        const found = await stored(store, 'a')
        expect(text(found.body)).toBe(body)
        expect(found.lease).toMatchObject({ state: 'leased', holder: holder('grace') })
      }
      expect(await store.releaseLease('a', leaseId)).toEqual({ kind: 'ok', leaseId })
    }))

  it('returns lost without writing if the lease is another one', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      await leased(store, 'a')
      const { etag } = await stored(store, 'a')
      const options = changeOptions({ leaseId: randomUUID() })
      const outcome = await store.update('a', increment, options)
      expect(outcome).toMatchObject({ kind: 'lost', code: expect.stringMatching(/^Lease/) })
      expect((await stored(store, 'a')).etag).toBe(etag)
    }))

  it('returns lost without writing if there is no lease', () =>
    withStore(harness, async store => {
      const etag = await given(store, 'a')
      const outcome = await store.update('a', increment, changeOptions({ leaseId: randomUUID() }))
      expect(outcome).toMatchObject({ kind: 'lost', code: expect.stringMatching(/^Lease/) })
      expect((await stored(store, 'a')).etag).toBe(etag)
    }))

  it('writes while its lease is breaking and returns lost once it is broken', () =>
    withStore(harness, async store => {
      await given(store, 'a', '0')
      const leaseId = await leased(store, 'a')
      await store.breakLease('a', 30)
      expect(await store.update('a', increment, changeOptions({ leaseId }))).toMatchObject({
        kind: 'committed',
      })
      await store.breakLease('a', 0)
      expect(await store.update('a', increment, changeOptions({ leaseId }))).toMatchObject({ kind: 'lost' })
      expect(text((await stored(store, 'a')).body)).toBe('1')
    }))

  it('returns missing if there is no stream', () =>
    withStore(harness, async store => {
      const options = changeOptions({ leaseId: randomUUID() })
      expect(await store.update('a', never, options)).toEqual({ kind: 'missing' })
    }))
}

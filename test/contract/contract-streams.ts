import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { InvalidValue } from '../../src/stream/errors.ts'
import {
  bytes,
  changeOptions,
  given,
  leased,
  listed,
  put,
  type StoreHarness,
  stored,
  summary,
  text,
  withStore,
} from './harness.ts'

const AWKWARD_NAMES = ['a b/ü ö/😀', '%2e%2e/x', 'quote\'"<&>?#+%', 'x'.repeat(255), '_%*/[a]', 'ﬀ/e\u0301', 'a//b']

/** Characters that XML allows and that headers, SQL and percent-encoding may break. */
const NASTY = `tab\t line\n quote'"\\ per%25cent =;,& <tag> ünï 😀 \u{10ffff} \ufffd ~ `

export function describeStreams(harness: StoreHarness): void {
  describe('create and read', () => createAndRead(harness))
  describe('bodies, names and summaries', () => contents(harness))
  describe('remove', () => remove(harness))
  describe('container', () => container(harness))
}

function createAndRead(harness: StoreHarness): void {
  it('returns a created stream with its etag, size, time, free lease and summary', () =>
    withStore(harness, async store => {
      const etag = await given(store, 'orders/1', 'body', { version: 7 })
      const found = await stored(store, 'orders/1')
      expect(text(found.body)).toBe('body')
      expect(found).toMatchObject({ name: 'orders/1', etag, size: 4, versionFloor: 7, lease: { state: 'available' } })
      expect(found.summary).toStrictEqual(summary({ version: 7 }))
      expect(Math.abs(found.modifiedMs - store.nowMs())).toBeLessThan(10_000)
    }))

  it('returns undefined if there is no stream', () =>
    withStore(harness, async store => {
      await given(store, 'orders/1')
      expect(await store.read('orders/2')).toBeUndefined()
      expect(await store.read('orders')).toBeUndefined()
    }))

  it('does not overwrite an existing stream', () =>
    withStore(harness, async store => {
      const etag = await given(store, 'orders/1', 'first')
      expect(await store.create('orders/1', bytes('second'), summary())).toEqual({ kind: 'exists' })
      expect(await stored(store, 'orders/1')).toMatchObject({ etag, body: bytes('first') })
    }))

  it('lets exactly one of several concurrent creates succeed', () =>
    withStore(harness, async store => {
      const tries = Array.from({ length: 8 }, (_, i) => store.create('orders/1', bytes(String(i)), summary()))
      const kinds = (await Promise.all(tries)).map(outcome => outcome.kind)
      expect(kinds.filter(kind => kind === 'created')).toHaveLength(1)
      expect(kinds.filter(kind => kind === 'exists')).toHaveLength(7)
    }))

  it('gives each write its own etag, also for equal bodies', () =>
    withStore(harness, async store => {
      const first = await given(store, 'a', 'same')
      const second = await given(store, 'b', 'same')
      await store.update('a', put('same'), changeOptions())
      expect(new Set([first, second, (await stored(store, 'a')).etag]).size).toBe(3)
    }))

  it('keeps its own copy of a body', () =>
    withStore(harness, async store => {
      const body = bytes('body')
      await store.create('a', body, summary())
      body[0] = 0
      const seen = (await stored(store, 'a')).body
      seen[1] = 0
      expect(text((await stored(store, 'a')).body)).toBe('body')
    }))

  it('refuses an invalid name', () =>
    withStore(harness, async store => {
      for (const name of ['', 'x'.repeat(1025), 'a\u0000b', 'half\ud800']) {
        await expect(store.create(name, bytes('x'), summary())).rejects.toBeInstanceOf(InvalidValue)
      }
      expect(await listed(store)).toEqual([])
    }))

  it('rejects with the reason of an aborted signal and does nothing', () =>
    withStore(harness, async store => {
      const reason = new Error('stop')
      const signal = AbortSignal.abort(reason)
      await expect(store.create('a', bytes('x'), summary(), signal)).rejects.toBe(reason)
      await expect(store.read('a', signal)).rejects.toBe(reason)
      await expect(listed(store, { signal })).rejects.toBe(reason)
      expect(await store.read('a')).toBeUndefined()
    }))
}

function contents(harness: StoreHarness): void {
  it.each(AWKWARD_NAMES)('keeps the name %j unchanged', name =>
    withStore(harness, async store => {
      await given(store, name, 'here')
      expect(await stored(store, name)).toMatchObject({ name, body: bytes('here') })
      expect((await listed(store)).map(row => row.name)).toEqual([name])
      expect(await store.update(name, put('there'), changeOptions())).toMatchObject({ kind: 'committed' })
      expect(await store.remove(name, {})).toEqual({ kind: 'removed' })
      expect(await store.read(name)).toBeUndefined()
    }),
  )

  it('distinguishes names by case and by composition', () =>
    withStore(harness, async store => {
      const names = ['A', 'a', 'é', 'e\u0301']
      for (const name of names) await given(store, name, name)
      for (const name of names) expect(text((await stored(store, name)).body)).toBe(name)
    }))

  it('keeps a body of 1 MiB byte by byte', () =>
    withStore(harness, async store => {
      const body = Uint8Array.from({ length: 1024 * 1024 }, (_, i) => (i * 7 + (i >> 8)) & 0xff)
      await store.create('big', body, summary())
      const found = await stored(store, 'big')
      expect(found.size).toBe(body.length)
      expect(Buffer.from(found.body).equals(body)).toBe(true)
    }))

  it('keeps an empty body', () =>
    withStore(harness, async store => {
      expect(await store.create('empty', new Uint8Array(0), summary())).toMatchObject({ kind: 'created' })
      expect(await stored(store, 'empty')).toMatchObject({ size: 0, body: new Uint8Array(0) })
      await given(store, 'emptied', 'x')
      await store.update('emptied', put(''), changeOptions())
      expect(await stored(store, 'emptied')).toMatchObject({ size: 0, body: new Uint8Array(0) })
    }))

  it('keeps every field of a summary, including special characters', () =>
    withStore(harness, async store => {
      const full = summary({
        version: 123_456,
        status: 'completed',
        outcome: 'errors',
        lastBy: `ada ${NASTY}`,
        root: NASTY,
        createdMs: undefined,
        key: NASTY,
        topic: ' ',
        tag: '=',
        trackingId: 'null',
        failedAtMs: 1_767_323_045_000,
        failedId: '01.02-1',
        failure: NASTY,
        open: 3,
        failed: 2,
        total: 10,
        dueMs: 4_102_444_800_123,
        waitingOn: ['01', '02.01-3', '+7'],
        ready: ['pay%20now|orders%2Ffast', 'ship|', '+1'],
      })
      await store.create('a', bytes('x'), full)
      expect((await stored(store, 'a')).summary).toStrictEqual(full)
      expect((await listed(store))[0]?.summary).toStrictEqual(full)
      const plain = summary({ version: 2 })
      await store.update('a', () => ({ kind: 'put', body: bytes('y'), summary: plain }), changeOptions())
      expect((await stored(store, 'a')).summary).toStrictEqual(plain)
    }))
}

function remove(harness: StoreHarness): void {
  it('removes a stream with the given etag', () =>
    withStore(harness, async store => {
      const etag = await given(store, 'a')
      await given(store, 'b')
      expect(await store.remove('a', { etag })).toEqual({ kind: 'removed' })
      expect(await store.read('a')).toBeUndefined()
      expect((await listed(store)).map(row => row.name)).toEqual(['b'])
    }))

  it('returns missing for a missing stream', () =>
    withStore(harness, async store => {
      expect(await store.remove('a', {})).toEqual({ kind: 'missing' })
    }))

  it('keeps a stream that was written since', () =>
    withStore(harness, async store => {
      const etag = await given(store, 'a')
      await store.update('a', put('new'), changeOptions())
      expect(await store.remove('a', { etag })).toEqual({ kind: 'changed' })
      expect(text((await stored(store, 'a')).body)).toBe('new')
    }))

  it('keeps a stream that another holds', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      await leased(store, 'a')
      expect(await store.remove('a', {})).toMatchObject({ kind: 'held', lease: { state: 'leased' } })
      expect(await store.read('a')).toBeDefined()
    }))

  it('removes under the lease, and only under the right one', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      const leaseId = await leased(store, 'a')
      expect(await store.remove('a', { leaseId: randomUUID() })).toMatchObject({
        kind: 'lost',
        code: expect.any(String),
      })
      expect(await store.read('a')).toBeDefined()
      expect(await store.remove('a', { leaseId })).toEqual({ kind: 'removed' })
    }))

  it('removes lease and history too: a new stream of that name starts free', () =>
    withStore(harness, async store => {
      await given(store, 'a', 'old', { version: 9 })
      const leaseId = await leased(store, 'a')
      await store.remove('a', { leaseId })
      await given(store, 'a', 'new', { version: 1 })
      expect(await stored(store, 'a')).toMatchObject({ lease: { state: 'available' }, versionFloor: 1 })
      expect(await store.renewLease('a', leaseId)).toMatchObject({ kind: 'lost' })
    }))
}

function container(harness: StoreHarness): void {
  it('accepts an existing container without touching its streams', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      await store.createContainer()
      expect(await store.read('a')).toBeDefined()
    }))

  it('can be closed more than once', () =>
    withStore(harness, async store => {
      await given(store, 'a')
      await store.close()
      await store.close()
    }))

  it('has an address without secrets', () =>
    withStore(harness, async store => {
      expect(store.address).toMatch(/^[a-z+]+:/)
      expect(store.address).not.toMatch(/sig=|key/i)
    }))
}

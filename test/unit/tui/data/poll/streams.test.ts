import { describe, expect, it } from 'vitest'
import { globOf } from '../../../../../src/ops/glob.ts'
import { StoreUnreachable } from '../../../../../src/store/errors.ts'
import type { ListQuery } from '../../../../../src/store/store.ts'
import { DataStore } from '../../../../../src/tui/data/store.ts'
import { NOTHING_VISIBLE } from '../../../../../src/tui/data/types.ts'
import { silenceMs } from '../../../../../src/tui/view/title.ts'
import { given, leased } from '../../../../contract/harness.ts'
import { init, memoryStore, run } from '../../../ops/support.ts'
import { probe, withoutSummary } from '../../../ops/watch/support.ts'
import { LISTED, namesIn, othersDone, polling, withoutMarks } from '../support.ts'

const advanced = { op: 'set', event: '00', attributes: { key: 'k1' } } as const

describe('the listing of streams', () => {
  it('is one request per poll, and none while nothing was written', async () => {
    const { store } = memoryStore()
    for (const name of ['a', 'b', 'c']) await run(store, name, init())
    const asked = probe(store)
    const { data, clock, stop } = await polling(asked.store)
    expect(namesIn(data)).toEqual(['a', 'b', 'c'])
    expect(data.streams.isComplete).toBe(true)
    await clock.next()
    await clock.next()
    expect(asked.listings).toHaveLength(1)
    await run(store, 'b', advanced)
    asked.reads.length = 0
    await clock.next()
    expect(asked.listings).toHaveLength(2)
    expect(data.streams.get('b')?.item.summary?.key).toBe('k1')
    expect(asked.reads).toEqual([])
    await stop()
  })

  it('is an answer with each of its pages, however long it takes', async () => {
    const { store, advance } = memoryStore()
    for (const name of ['a', 'b']) await run(store, name, init())
    const silences: (number | undefined)[] = []
    const slow = new Proxy(withoutMarks(store), {
      get(target, key) {
        if (key !== 'list') return Reflect.get(target, key)
        return async function* (query: ListQuery) {
          for await (const page of target.list(query)) {
            for (const row of page) {
              advance(20_000)
              silences.push(silenceMs(data.freshness, store.nowMs()))
              yield [row]
              silences.push(silenceMs(data.freshness, store.nowMs()))
            }
          }
        }
      },
    })
    const data = new DataStore()
    const { stop } = await polling(slow, LISTED, {}, data)
    expect(silences).toEqual([20_000, undefined, 20_000, undefined])
    await stop()
  })

  it('is shown as it arrives, before it ends', async () => {
    const { store } = memoryStore()
    for (const name of ['a', 'b']) await run(store, name, init())
    const plain = withoutMarks(store)
    let fails = true
    const cutOff = new Proxy(plain, {
      get(target, key) {
        if (key !== 'list') return Reflect.get(target, key)
        return async function* (query: ListQuery) {
          for await (const page of target.list(query)) {
            for (const row of page) {
              yield [row]
              if (fails) throw new StoreUnreachable('cut off')
            }
          }
        }
      },
    })
    const { data, clock, stop } = await polling(cutOff)
    expect(namesIn(data)).toEqual(['a'])
    expect(data.streams.isComplete).toBe(false)
    fails = false
    await clock.next()
    expect(namesIn(data)).toEqual(['a', 'b'])
    expect(data.streams.isComplete).toBe(true)
    await stop()
  })

  it('creates no row for an unchanged stream', async () => {
    const { store } = memoryStore()
    for (const name of ['a', 'b']) await run(store, name, init())
    const made: string[] = []
    const asked = probe(withoutMarks(store))
    asked.row = row => {
      made.push(row.name)
      return row
    }
    const { data, clock, stop } = await polling(asked.store)
    await clock.next()
    await run(store, 'b', advanced)
    const before = data.streams.get('a')
    await clock.next()
    expect(made).toEqual(['a', 'b', 'b'])
    expect(data.streams.get('a')).toBe(before)
    expect(asked.listings).toHaveLength(3)
    await stop()
  })

  it('detects leases that are taken, change hands and are released, without a new ETag', async () => {
    const { store, advance } = memoryStore()
    await given(store, 'a')
    const { data, clock, stop } = await polling(withoutMarks(store))
    const holder = () => data.streams.get('a')?.item.listed.lease.holder?.by
    const id = await leased(store, 'a', 'ada')
    await clock.next()
    expect(holder()).toBe('ada')
    await store.releaseLease('a', id)
    const other = await leased(store, 'a', 'grace')
    await clock.next()
    expect(holder()).toBe('grace')
    await store.releaseLease('a', other)
    await clock.next()
    expect(data.streams.get('a')?.item.listed.lease.state).toBe('available')
    expect(data.streams.get('a')?.leasedSinceMs).toBeUndefined()
    advance(0)
    await stop()
  })

  it('shows leases as expired when their time is over, although nothing was written', async () => {
    const { store, advance } = memoryStore()
    await given(store, 'a')
    await leased(store, 'a', 'ada', 15)
    const asked = probe(store)
    const { data, clock, stop } = await polling(asked.store)
    expect(data.streams.get('a')?.item.listed.lease.state).toBe('leased')
    advance(15_000)
    await clock.next()
    expect(data.streams.get('a')?.item.listed.lease.state).toBe('expired')
    expect(asked.listings).toHaveLength(1)
    await stop()
  })

  it('removes missing streams, but only after a complete listing', async () => {
    const { store } = memoryStore()
    for (const name of ['a', 'b', 'c']) await run(store, name, init())
    const asked = probe(store)
    const { data, clock, stop } = await polling(asked.store)
    const membership = data.streams.membership
    await store.remove('b', {})
    asked.fails.list = 1
    await clock.next()
    expect(namesIn(data)).toEqual(['a', 'b', 'c'])
    await clock.next()
    expect(namesIn(data)).toEqual(['a', 'c'])
    expect(data.streams.membership).toBeGreaterThan(membership)
    await stop()
  })

  it('has only matching names, requested by their prefix', async () => {
    const { store } = memoryStore()
    for (const name of ['a/1', 'a/x/1', 'b/1']) await run(store, name, init())
    const asked = probe(store)
    const { data, stop } = await polling(asked.store, LISTED, { match: globOf('a/*') })
    expect(namesIn(data)).toEqual(['a/1'])
    expect(asked.listings[0]).toMatchObject({ prefix: 'a/', order: 'any' })
    await stop()
  })

  it('is not requested while it is not visible', async () => {
    const { store } = memoryStore()
    await run(store, 'a', init())
    const asked = probe(withoutMarks(store))
    const { poll, clock, data, stop } = await polling(asked.store, NOTHING_VISIBLE)
    await clock.next()
    expect(asked.listings).toEqual([])
    poll.setVisible(LISTED)
    await clock.resting()
    expect(namesIn(data)).toEqual(['a'])
    poll.setVisible(NOTHING_VISIBLE)
    poll.setVisible(LISTED)
    await clock.resting()
    expect(asked.listings).toHaveLength(1)
    await stop()
  })
})

describe('documents without a valid summary', () => {
  it('are read only if visible, once, at most eight at a time', async () => {
    const { store } = memoryStore()
    const names = Array.from({ length: 20 }, (_, at) => `s${String(at).padStart(2, '0')}`)
    for (const name of names) await run(store, name, init())
    const asked = probe(withoutMarks(store))
    asked.row = withoutSummary
    let under = 0
    let most = 0
    const read = asked.store.read
    const slow = new Proxy(asked.store, {
      get(target, key) {
        if (key !== 'read') return Reflect.get(target, key)
        return async (name: string) => {
          most = Math.max(most, ++under)
          await new Promise(resolve => setImmediate(resolve))
          under--
          return read(name)
        }
      },
    })
    const { poll, data, clock, stop } = await polling(slow)
    expect(data.streams.get('s00')).toMatchObject({ isRead: false, item: { summary: undefined } })
    expect(asked.reads).toEqual([])
    poll.setVisible({ ...LISTED, unread: names.slice(0, 12) })
    await othersDone()
    expect(asked.reads.toSorted()).toEqual(names.slice(0, 12))
    expect(most).toBe(8)
    expect(data.streams.get('s00')).toMatchObject({ isRead: true, item: { summary: { root: 'Start' } } })
    await clock.next()
    expect(asked.reads).toHaveLength(12)
    expect(data.streams.get('s00')?.isRead).toBe(true)
    await stop()
  })

  it('are read again when they change, and keep their known values until then', async () => {
    const { store } = memoryStore()
    await run(store, 'a', init())
    const asked = probe(withoutMarks(store))
    asked.row = withoutSummary
    const { poll, data, clock, stop } = await polling(asked.store, { ...LISTED, unread: ['a'] })
    await othersDone()
    expect(data.streams.get('a')?.isRead).toBe(true)
    poll.setVisible(LISTED)
    await run(store, 'a', advanced)
    await clock.next()
    expect(data.streams.get('a')).toMatchObject({ isRead: false, item: { summary: { root: 'Start', key: '' } } })
    poll.setVisible({ ...LISTED, unread: ['a'] })
    await othersDone()
    expect(data.streams.get('a')).toMatchObject({ isRead: true, item: { summary: { key: 'k1' } } })
    await stop()
  })

  it('that are unreadable are marked and not requested again', async () => {
    const { store } = memoryStore()
    await given(store, 'a', 'no xml')
    const asked = probe(withoutMarks(store))
    asked.row = withoutSummary
    const { data, clock, stop } = await polling(asked.store, { ...LISTED, unread: ['a'] })
    await othersDone()
    await clock.next()
    expect(data.streams.get('a')).toMatchObject({ isRead: true, item: { fault: { code: 'bad-document' } } })
    expect(asked.reads).toEqual(['a'])
    await stop()
  })

  it('that are gone when they are read are not requested again before the listing changes', async () => {
    const { store } = memoryStore()
    await run(store, 'a', init())
    const asked = probe(store)
    asked.row = withoutSummary
    const { poll, data, stop } = await polling(asked.store)
    await store.remove('a', {})
    for (let at = 0; at < 3; at++) {
      poll.setVisible({ ...LISTED, unread: ['a'] })
      await othersDone()
    }
    expect(asked.reads).toEqual(['a'])
    expect(data.streams.get('a')?.isRead).toBe(false)
    await stop()
  })

  it('are requested again after the next poll in an outage, and the error is shown meanwhile', async () => {
    const { store } = memoryStore()
    await run(store, 'a', init())
    const asked = probe(withoutMarks(store))
    asked.row = withoutSummary
    asked.fails.read = 1
    const { data, clock, stop } = await polling(asked.store, { ...LISTED, unread: ['a'] })
    await othersDone()
    expect(data.freshness.error?.code).toBe('store-unreachable')
    expect(asked.reads).toEqual(['a'])
    await clock.next()
    expect(data.streams.get('a')?.isRead).toBe(true)
    expect(data.freshness.error).toBeUndefined()
    await stop()
  })
})

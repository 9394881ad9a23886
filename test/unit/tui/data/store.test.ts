import { describe, expect, it } from 'vitest'
import { fromListing, type SummarizedStream } from '../../../../src/ops/summaries.ts'
import type { LeaseView } from '../../../../src/store/store.ts'
import { rateNow } from '../../../../src/tui/data/activity-rate.ts'
import { DataStore } from '../../../../src/tui/data/store.ts'
import { RATE_SLOTS } from '../../../../src/tui/data/types.ts'
import { summary } from '../../../contract/harness.ts'

const NOW = 100 * RATE_SLOTS.slotMs
const FREE: LeaseView = { state: 'available' }

function row(name: string, version = 1, lease = FREE): SummarizedStream {
  const found = summary({ version })
  return fromListing({ name, etag: `${name}-${version}`, size: 1, modifiedMs: NOW, lease, summary: found }, found)
}

describe('the table of streams', () => {
  it('replaces a changed entry and keeps the others', () => {
    const data = new DataStore()
    data.putStreams([row('a'), row('b')], NOW)
    const [a, b] = [data.streams.get('a'), data.streams.get('b')]
    const { revision } = data
    data.putStreams([row('a'), row('b', 2)], NOW)
    expect(data.streams.get('a')).toBe(a)
    expect(data.streams.get('b')).not.toBe(b)
    expect(b?.item.summary?.version).toBe(1)
    expect(data.revision).toBe(revision + 1)
    expect(data.streams.membership).toBe(2)
  })

  it('keeps the state before the changes of a second, and none for a new stream', () => {
    const data = new DataStore()
    const before = () => data.streams.get('a')?.previous
    data.putStreams([row('a')], NOW)
    expect(before()).toBeUndefined()
    data.putStreams([row('a', 2)], NOW + 5_000)
    data.putStreams([row('a', 3)], NOW + 5_900)
    expect([before()?.item.summary?.version, before()?.atMs]).toEqual([1, NOW + 5_000])
    data.putStreams([row('a', 4)], NOW + 6_100)
    expect([before()?.item.summary?.version, before()?.atMs]).toEqual([3, NOW + 6_100])
    const { revision } = data.streams
    data.putListed([{ ...row('a', 4).listed }], NOW + 60_000)
    expect([before(), data.streams.revision]).toEqual([undefined, revision])
  })

  it('counts what fails after the first complete listing, new streams included', () => {
    const data = new DataStore()
    const failing = (name: string, failed: number, version = 1) => {
      const found = summary({ version, failed, failedId: '01.00', failedName: 'Pay', failure: 'card refused' })
      return fromListing(
        { name, etag: `${name}-${version}`, size: 1, modifiedMs: NOW, lease: FREE, summary: found },
        found,
      )
    }
    data.putStreams([failing('a', 3)], NOW)
    data.completeStreams()
    expect(data.failures).toEqual({ count: 0, latest: undefined })
    data.putStreams([failing('a', 5, 2), failing('b', 1)], NOW)
    expect(data.failures).toEqual({ count: 3, latest: { stream: 'b', text: '01.00 Pay card refused' } })
    data.putStreams([failing('a', 4, 3)], NOW)
    expect(data.failures.count).toBe(3)
  })

  it('counts changes by versions in moving time intervals', () => {
    const data = new DataStore()
    data.putStreams([row('a')], NOW)
    data.putStreams([row('a', 4)], NOW)
    data.putStreams([row('a', 5)], NOW + 2 * RATE_SLOTS.slotMs)
    const entry = data.streams.get('a')
    expect(entry?.rate.slice(-4)).toEqual([0, 3, 0, 1])
    if (entry === undefined) throw new Error('no entry')
    expect(rateNow(entry, NOW + 3 * RATE_SLOTS.slotMs).slice(-4)).toEqual([3, 0, 1, 0])
    expect(rateNow(entry, NOW + 99 * RATE_SLOTS.slotMs)).toEqual(new Array(RATE_SLOTS.count).fill(0))
  })

  it('counts a new stream as a change once all were listed, and a lease never', () => {
    const data = new DataStore()
    data.putStreams([row('a')], NOW)
    data.completeStreams()
    data.putStreams([row('b'), row('a', 1, { state: 'leased', duration: 'fixed' })], NOW)
    expect(data.streams.get('a')?.rate.at(-1)).toBe(0)
    expect(data.streams.get('b')?.rate.at(-1)).toBe(1)
  })

  it('has the start of a lease: from its holder, otherwise from its first observation', () => {
    const data = new DataStore()
    const anonymous: LeaseView = { state: 'leased', duration: 'infinite' }
    const since = () => data.streams.get('a')?.leasedSinceMs
    data.putStreams([row('a', 1, anonymous)], NOW)
    data.putStreams([row('a', 2, anonymous)], NOW + 5_000)
    expect(since()).toBe(NOW)
    data.putStreams([row('a', 3)], NOW)
    expect(since()).toBeUndefined()
    const holder = { by: 'ada', host: 'h', pid: 1, purpose: 'p', sinceMs: 77 }
    data.putStreams([row('a', 3, { ...anonymous, holder })], NOW)
    expect(since()).toBe(77)
  })

  it('notifies listeners of visible changes only', () => {
    const data = new DataStore()
    let told = 0
    const end = data.onChange(() => told++)
    data.putStreams([row('a')], NOW)
    data.putStreams([row('a')], NOW)
    data.removeStreams(['b'])
    data.expireLeases(NOW)
    expect(told).toBe(1)
    data.putFreshness({ polledMs: NOW })
    data.putFreshness({ polledMs: NOW + 1_000, waitingSinceMs: NOW })
    expect(told).toBe(2)
    end()
    data.removeStreams(['a'])
    expect(told).toBe(2)
  })

  it('is a separate copy when it is frozen', () => {
    const data = new DataStore()
    data.putStreams([row('a'), row('b')], NOW)
    data.completeStreams()
    const { revision, membership } = data.streams
    const picture = data.snapshot()
    data.putStreams([row('a', 2), row('c')], NOW)
    data.removeStreams(['b'])
    data.setDryRun({ kind: 'failed', message: 'no' })
    expect(Array.from(picture.streams.values(), ({ item }) => item.pin.ifVersion)).toEqual([1, 1])
    expect(picture.streams).toMatchObject({ revision, membership, size: 2, isComplete: true })
    expect(picture.watchdog.dryRun).toBeUndefined()
    expect(picture.revision).toBeLessThan(data.revision)
  })
})

import { describe, expect, it } from 'vitest'
import { anyGlobOf } from '../../../../../src/ops/glob.ts'
import type { LeaseView } from '../../../../../src/store/store.ts'
import { runningItem } from '../../../../../src/stream/summary-items.ts'
import { DataStore } from '../../../../../src/tui/data/store.ts'
import type { StreamTable } from '../../../../../src/tui/data/types.ts'
import { Lists } from '../../../../../src/tui/state/lists/lists.ts'
import type { ListState } from '../../../../../src/tui/state/state.ts'
import { FREE, NOW, row, stateOn } from './support.ts'

const PAY = runningItem({
  id: '01.02.00',
  name: 'Pay',
  owner: 'W-7',
  attempt: 1,
  sinceMs: NOW,
  lastSeenMs: NOW,
  claimEndMs: NOW + 60_000,
})

/** The rows of a screen, computed repeatedly. */
function streams(data: DataStore, lists = new Lists()) {
  return (list: Partial<ListState> = {}, nowMs = NOW) => lists.listing(stateOn('streams', list), data, nowMs)
}

describe('the list of streams', () => {
  it('is sorted by name in the order of code points', () => {
    const data = new DataStore()
    data.putStreams([row('😀'), row('b/1'), row('ﬀ'), row('a'), row('b')], NOW)
    const listing = streams(data)()
    expect(listing.keys).toEqual(['a', 'b', 'b/1', 'ﬀ', '😀'])
    expect([listing.indexOf('b/1'), listing.indexOf('c')]).toEqual([2, -1])
    expect(streams(data)({ sort: { by: 'name', isDescending: true } }).keys[0]).toBe('😀')
  })

  it('is the same value as long as no relevant data change', () => {
    const data = new DataStore()
    data.putStreams([row('a'), row('b')], NOW)
    const list = streams(data)
    const first = list()
    expect(list({ moves: 3, marks: new Set(['a']) }, NOW + 999)).toBe(first)
    data.putStreams([row('c')], NOW)
    expect(list().keys).toEqual(['a', 'b', 'c'])
    data.removeStreams(['b'])
    expect(list().keys).toEqual(['a', 'c'])
  })

  it('does not process a stream again while frames are drawn', () => {
    const data = new DataStore()
    data.putStreams([row('a'), row('b')], NOW)
    let looks = 0
    const table = data.streams
    const counting: StreamTable = {
      ...{ revision: table.revision, membership: table.membership, size: table.size, isComplete: false },
      get: name => {
        looks++
        return table.get(name)
      },
      values: () => table.values(),
    }
    const lists = new Lists()
    const frame = () =>
      lists.listing(stateOn('streams', { filter: 'a' }), { ...data.snapshot(), streams: counting }, NOW)
    frame()
    const once = looks
    for (let at = 0; at < 100; at++) frame()
    expect(looks).toBe(once)
  })

  it('is sorted again at most once a second after changes', () => {
    const data = new DataStore()
    data.putStreams([row('a', { failed: 1 }), row('b', { failed: 2 })], NOW)
    const list = streams(data)
    const sort = { by: 'failed', isDescending: false }
    expect(list({ sort }).keys).toEqual(['b', 'a'])
    data.putStreams([row('a', { failed: 3 })], NOW)
    expect(list({ sort }, NOW + 900).keys).toEqual(['b', 'a'])
    expect(list({ sort }, NOW + 1_000).keys).toEqual(['a', 'b'])
    data.putStreams([row('b', { failed: 4 })], NOW)
    expect(list({ sort: { by: 'failed', isDescending: true } }, NOW + 1_000).keys).toEqual(['a', 'b'])
  })

  it.each([
    ['failed', ['most', 'some', 'none', 'unread']],
    ['due', ['some', 'most', 'none', 'unread']],
    ['age', ['some', 'none', 'most', 'unread']],
    ['changed', ['most', 'some', 'none', 'unread']],
    ['status', ['most', 'none', 'some', 'unread']],
  ])('by %s has unknown and missing values last, in either direction', (by, order) => {
    const data = new DataStore()
    data.putListed([{ name: 'unread', etag: '1', size: 1, modifiedMs: 0, lease: FREE }], NOW)
    data.putStreams(
      [
        row('none', { failed: 0, createdMs: 2, version: 1, status: 'inprocess' }),
        row('some', { failed: 1, createdMs: 1, version: 2, dueMs: 5, status: 'completed' }),
        row('most', { failed: 9, createdMs: 3, version: 3, dueMs: 9, status: 'aborted' }),
      ],
      NOW,
    )
    expect(streams(data)({ sort: { by, isDescending: false } }).keys).toEqual(order)
    if (by === 'due') {
      expect(streams(data)({ sort: { by, isDescending: true } }).keys).toEqual(['most', 'some', 'none', 'unread'])
    }
  })
})

describe('the filter of streams', () => {
  const data = new DataStore()
  data.putStreams(
    [
      row('orders/1', { root: 'SearchOrder', key: 'K1', waitingOn: ['01.02.00'], running: [PAY] }),
      row('orders/2', { status: 'aborted', failed: 1, failedId: '02.00', failure: 'Disk full', topic: 'cpu' }),
      row('other', { tag: 'night run', trackingId: 'tr-77', dueMs: NOW - 134_000 }),
    ],
    NOW,
  )
  const found = (filter: string) => streams(data)({ filter }).keys

  it.each([
    ['ORDERS', ['orders/1', 'orders/2']],
    ['orders 01', ['orders/1']],
    ['orders !01', ['orders/2']],
    ['root:search', ['orders/1']],
    ['!root:search', ['orders/2', 'other']],
    ['01.02', ['orders/1']],
    ['key:k1', ['orders/1']],
    ['k1', ['orders/1']],
    ['w-7', ['orders/1']],
    ['owner:w-7', ['orders/1']],
    ['status:abort', ['orders/2']],
    ['failed:disk', ['orders/2']],
    ['failed: !failed:disk', []],
    ['name:other', ['other']],
    ['failed', ['orders/2']],
    ['✗', ['orders/2']],
    ['overdue 2m14s', ['other']],
    ['mode:x', ['orders/1', 'orders/2', 'other']],
    ['failed>0', ['orders/2']],
    ['failed=1', ['orders/2']],
    ['failed=0 status:open', ['orders/1', 'other']],
    ['due<10m', ['other']],
    ['due>0s', []],
    ['event:pay', ['orders/1']],
    ['event=02.00', ['orders/2']],
    ['/^ord.*1$/', ['orders/1']],
    ['name:/^ord.*1$/', ['orders/1']],
    ['/DISK (full|gone)/', ['orders/2']],
    ['"disk full"', ['orders/2']],
    ['"full disk"', []],
    ['abort', ['orders/2']],
    ['disk topic:cpu', ['orders/2']],
    ['tag:night tracking:tr-7', ['other']],
    ['!orders', ['other']],
    ['nothing', []],
    ['  ! ', ['orders/1', 'orders/2', 'other']],
  ])('%j finds %j', (filter, names) => expect(found(filter)).toEqual(names))

  it('finds what time alone has changed', () => {
    const silent = new DataStore()
    silent.putStreams([row('a', { claimEndMs: NOW + 5_000, dueMs: NOW + 9_000 })], NOW)
    const list = streams(silent)
    expect(list({ filter: 'abandoned' }).keys).toEqual([])
    expect(list({ filter: 'abandoned' }, NOW + 5_000).keys).toEqual(['a'])
    expect(list({ filter: 'overdue' }, NOW + 9_000).keys).toEqual(['a'])
  })

  it('does not find streams that completed with errors as completed', () => {
    const ended = new DataStore()
    const status = 'completed'
    const failed = { failed: 1, failedId: '01', failedAtMs: NOW }
    ended.putStreams(
      [
        row('errors', { status, outcome: 'errors', ...failed }),
        row('good', { status }),
        row('seen', { status, outcome: 'errors', ...failed, ackMs: NOW }),
        row('withdrawn', { status: 'canceled', canceled: 3 }),
      ],
      NOW,
    )
    const find = (filter: string) => streams(ended)({ filter }).keys
    expect(find('completed')).toEqual(['good'])
    expect(find('status:completed')).toEqual(['errors', 'good', 'seen'])
    expect(find('with errors')).toEqual(['errors', 'seen'])
    expect(find('failed')).toEqual(['errors'])
    expect(find('acknowledged')).toEqual(['seen'])
    expect(find('canceled')).toEqual(['withdrawn'])
  })

  it('finds unreadable streams by the code of their error', () => {
    const bad = new DataStore()
    const listed = { name: 'x', etag: '1', size: 1, modifiedMs: 0, lease: FREE }
    bad.putStreams([{ listed, summary: undefined, fault: { code: 'bad-document', message: 'm' }, pin: {} }], NOW)
    expect(streams(bad)({ filter: 'bad-doc' }).keys).toEqual(['x'])
  })

  it('counts the matches and the total', () => {
    expect(streams(data)({ filter: 'orders' })).toMatchObject({ matching: 2, total: 3 })
  })
})

describe('only what is broken', () => {
  const data = new DataStore()
  const failed = { failed: 1, failedId: '01', failedAtMs: NOW - 9 }
  data.putStreams(
    [
      row('abandoned', { claimEndMs: NOW }),
      row('canceled', { status: 'canceled', canceled: 2 }),
      row('failed', { ...failed, status: 'completed', outcome: 'errors' }),
      row('good', { dueMs: NOW + 1, claimEndMs: NOW + 1 }),
      row('late', { dueMs: NOW }),
      row('seen', { ...failed, ackMs: NOW - 9 }),
    ],
    NOW,
  )
  const listed = { name: 'unreadable', etag: '1', size: 1, modifiedMs: 0, lease: FREE }
  data.putStreams([{ listed, summary: undefined, fault: { code: 'bad-document', message: 'm' }, pin: {} }], NOW)

  it('lists streams with new failures, silent workers, missed deadlines and damaged documents', () => {
    const listing = streams(data)({ onlyBroken: true })
    expect(listing.keys).toEqual(['abandoned', 'failed', 'late', 'unreadable'])
    expect(listing).toMatchObject({ matching: 4, total: 7 })
  })

  it('goes together with a filter', () => {
    expect(streams(data)({ onlyBroken: true, filter: 'late' }).keys).toEqual(['late'])
  })

  it('finds what breaks by time alone', () => {
    const list = streams(data)
    list({ onlyBroken: true })
    expect(list({ onlyBroken: true }, NOW + 1_000).keys).toContain('good')
  })
})

describe('a dashboard that was started with filters', () => {
  it('lists the streams that pass them now, and those that have to be read first', () => {
    const data = new DataStore()
    data.putListed([{ name: 'unread', etag: '1', size: 1, modifiedMs: 0, lease: FREE }], NOW)
    data.putStreams([row('late', { dueMs: NOW + 1_000 }), row('late/not', { dueMs: NOW }), row('other')], NOW)
    const notNames = anyGlobOf(['late/*'])
    const list = streams(data, new Lists({ overdue: true, notNames }))
    expect(list().keys).toEqual(['unread'])
    expect(list({}, NOW + 1_000)).toMatchObject({ keys: ['late', 'unread'], total: 2 })
  })
})

describe('the order by failures', () => {
  it('has aborted streams first, then open ones with failures, and canceled ones behind all that failed', () => {
    const data = new DataStore()
    const failed = { failed: 2, failedAtMs: NOW }
    data.putStreams(
      [
        row('aborted', { ...failed, status: 'aborted' }),
        row('canceled', { status: 'canceled', canceled: 90 }),
        row('errors', { ...failed, failed: 9, status: 'completed', outcome: 'errors' }),
        row('failing', failed),
        row('failing more', { ...failed, failed: 3 }),
        row('good'),
        row('seen', { ...failed, failed: 50, ackMs: NOW }),
      ],
      NOW,
    )
    const { keys } = streams(data)({ sort: { by: 'failed', isDescending: false } })
    expect(keys).toEqual(['aborted', 'failing more', 'failing', 'errors', 'seen', 'canceled', 'good'])
  })
})

describe('a row that leaves the filter', () => {
  it('stays, faintly, until the cursor moves', () => {
    const data = new DataStore()
    data.putStreams([row('a', { status: 'aborted' }), row('b', { status: 'aborted' })], NOW)
    const list = streams(data)
    const at = (moves: number, nowMs: number) => list({ filter: 'aborted', moves }, nowMs)
    at(0, NOW)
    data.putStreams([row('a', { status: 'completed', version: 2 })], NOW)
    const held = at(0, NOW + 1_000)
    expect([held.keys, held.isFaint('a'), held.isFaint('b'), held.matching]).toEqual([['a', 'b'], true, false, 1])
    expect(at(0, NOW + 5_000).keys).toEqual(['a', 'b'])
    expect(at(1, NOW + 5_000).keys).toEqual(['b'])
  })

  it('is restored when it matches again, and gone when its stream is', () => {
    const data = new DataStore()
    data.putStreams([row('a', { status: 'aborted' }), row('b', { status: 'aborted' })], NOW)
    const list = streams(data)
    list({ filter: 'aborted' })
    data.putStreams([row('a'), row('b')], NOW)
    expect(list({ filter: 'aborted' }, NOW + 1_000).isFaint('a')).toBe(true)
    data.putStreams([row('a', { status: 'aborted', version: 3 })], NOW)
    data.removeStreams(['b'])
    const listing = list({ filter: 'aborted' }, NOW + 2_000)
    expect([listing.keys, listing.isFaint('a')]).toEqual([['a'], false])
  })

  it('does not stay when another filter is typed', () => {
    const data = new DataStore()
    data.putStreams([row('a', { status: 'aborted' }), row('b')], NOW)
    const list = streams(data)
    list({ filter: '' })
    expect(list({ filter: 'aborted' }).keys).toEqual(['a'])
  })
})

describe('the list of leases', () => {
  const held = (by: string, sinceMs: number, untilMs?: number): LeaseView => ({
    state: 'leased',
    duration: untilMs === undefined ? 'infinite' : 'fixed',
    holder: { by, host: 'h', pid: 1, purpose: 'p', sinceMs },
    ...(untilMs === undefined ? {} : { untilMs }),
  })

  it('has held leases, the longest first', () => {
    const data = new DataStore()
    data.putStreams(
      [
        row('free'),
        row('old', {}, held('zoe', 1)),
        row('new', {}, held('ada', 9)),
        row('ran-out', {}, held('eve', 5, NOW)),
        row('breaking', {}, { state: 'breaking', untilMs: NOW + 1 }),
      ],
      NOW - 10,
    )
    const listing = new Lists().listing(stateOn('leases'), data, NOW)
    expect(listing.keys).toEqual(['old', 'new', 'breaking'])
    expect([listing.matching, listing.total]).toEqual([3, 3])
    const byHolder = stateOn('leases', { sort: { by: 'holder', isDescending: false } })
    expect(new Lists().listing(byHolder, data, NOW).keys).toEqual(['new', 'old', 'breaking'])
    expect(new Lists().listing(stateOn('leases', { filter: 'ADA' }), data, NOW).keys).toEqual(['new'])
  })

  it('keeps of the released leases only the one under the cursor', () => {
    const data = new DataStore()
    data.putStreams([row('a', {}, held('x', 1)), row('b', {}, held('x', 2)), row('c', {}, held('x', 3))], NOW)
    const lists = new Lists()
    const state = stateOn('leases', { cursor: 'b' })
    lists.listing(state, data, NOW)
    data.putStreams([row('a'), row('b')], NOW)
    const listing = lists.listing(state, data, NOW + 1_000)
    expect([[...listing.keys].sort(), listing.isFaint('b'), listing.total]).toEqual([['b', 'c'], true, 1])
  })
})

describe('deadlines and decisions', () => {
  it('are listed in their given order, and filtered by their texts', () => {
    const data = new DataStore()
    data.putWatchdog({
      next: [
        { stream: 'z', dueMs: 1, limit: undefined },
        { stream: 'a', dueMs: 2, limit: undefined },
      ],
    })
    const lists = new Lists()
    expect(lists.listing(stateOn('watchdog'), data, NOW).keys).toEqual(['z', 'a'])
    expect(lists.listing(stateOn('watchdog', { filter: 'A' }), data, NOW)).toMatchObject({ keys: ['a'], total: 2 })
    const tx = {
      version: 1,
      at: '',
      by: 'ada',
      op: 'start',
      on: '01',
      commandId: '',
      hash: '',
      why: 'because',
      other: false,
    }
    const changes = [{ event: '02.00', from: '', to: 'init', how: 'add' as const }]
    const item = (key: string, more: object) => ({
      key,
      stream: 's',
      atMs: 1,
      tx: { ...tx, changes: [], provisional: false, ...more },
    })
    data.putActivity([item('s@2', { changes }), item('s@1', {})], 0)
    const done = (filter: string) => lists.listing(stateOn('activity', { filter }), data, NOW).keys
    expect(done('')).toEqual(['s@2', 's@1'])
    expect(done('02.00')).toEqual(['s@2'])
    expect(done('because ada start')).toEqual(['s@2', 's@1'])
    expect(lists.listing(stateOn('activity'), data, NOW)).toBe(lists.listing(stateOn('activity'), data, NOW + 9_000))
  })
})

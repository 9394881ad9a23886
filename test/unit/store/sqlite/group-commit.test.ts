import { join } from 'node:path'
import { StatementSync } from 'node:sqlite'
import { expect, it, type Mock, onTestFinished, vi } from 'vitest'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { Decision, StreamSnapshot, StreamStore } from '../../../../src/store/store.ts'
import { changeOptions, given, increment, put, stored, text } from '../../../contract/harness.ts'
import { integrity, testFolder } from './support.ts'

const NAMES = Array.from({ length: 8 }, (_, at) => `orders/${at}`)

async function storeWithCounters(): Promise<{ store: StreamStore; path: string }> {
  const path = join(testFolder(), 'streams.db')
  const store = openSqliteStore(path)
  onTestFinished(() => store.close())
  for (const name of NAMES) await given(store, name, '1')
  return { store, path }
}

/** Counts COMMITs; the next `failing` of them report a disk error after they succeeded. */
function watchCommits(failing = 0): { commits: number } {
  const { run } = StatementSync.prototype
  const seen = { commits: 0 }
  const spy = vi.spyOn(StatementSync.prototype, 'run').mockImplementation(function (this: StatementSync, ...values) {
    const result = Reflect.apply(run, this, values)
    if (this.sourceSQL === 'COMMIT' && ++seen.commits <= failing) {
      throw Object.assign(new Error('disk I/O error'), { errcode: 1034 })
    }
    return result
  })
  onTestFinished(() => spy.mockRestore())
  return seen
}

const counters = (store: StreamStore) => Promise.all(NAMES.map(async name => text((await stored(store, name)).body)))

it('changes of several streams that are submitted together are written in one transaction', async () => {
  const { store } = await storeWithCounters()
  const seen = watchCommits()
  // A transaction ends after 20 ms, which a busy machine can take between any two lines.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  const outcomes = await Promise.all(NAMES.map(name => store.update(name, increment, changeOptions())))
  clock.mockRestore()
  expect(outcomes.map(({ kind }) => kind)).toEqual(NAMES.map(() => 'committed'))
  expect(seen.commits).toBe(1)
  expect(await counters(store)).toEqual(NAMES.map(() => '2'))
})

it('if one change throws, the changes of the others are kept', async () => {
  const { store, path } = await storeWithCounters()
  const bad = () => {
    throw new RangeError('unreadable')
  }
  const changes = NAMES.map((name, at) => store.update(name, at === 3 ? bad : increment, changeOptions()))
  const outcomes = await Promise.allSettled(changes)
  expect(outcomes[3]).toMatchObject({ status: 'rejected', reason: new RangeError('unreadable') })
  expect(await counters(store)).toEqual(NAMES.map((_, at) => (at === 3 ? '1' : '2')))
  expect(integrity(path)).toBe('ok')
})

it('a decision in a transaction that another of its changes rolled back is discarded', async () => {
  const { store } = await storeWithCounters()
  const discards: Mock<() => void>[] = []
  const counted = (current: StreamSnapshot) => {
    const discard = vi.fn()
    discards.push(discard)
    return { ...increment(current), discard }
  }
  const bad = () => {
    throw new RangeError('unreadable')
  }
  const [outcome] = await Promise.allSettled([
    store.update('orders/0', counted, changeOptions()),
    store.update('orders/1', bad, changeOptions()),
  ])
  expect(outcome).toMatchObject({ value: { kind: 'committed' } })
  expect(discards.map(discard => discard.mock.calls.length)).toEqual([1, 0])
})

it('no change is reported before the COMMIT', async () => {
  const { store } = await storeWithCounters()
  watchCommits(NAMES.length * 100)
  const removals = await Promise.all(NAMES.map(name => store.remove(name, {})))
  expect(removals.map(({ kind }) => kind)).toEqual(NAMES.map(() => 'unknown'))
})

it('each change of a group is looked up after a COMMIT without a clear answer, and none is made twice', async () => {
  const { store } = await storeWithCounters()
  watchCommits(1)
  const once =
    (id: string) =>
    ({ body }: StreamSnapshot): Decision =>
      text(body).includes(id) ? { kind: 'leave' } : put(`${text(body)} ${id}`)()
  const changes = NAMES.map((name, at) => store.update(name, once(`id-${at}`), changeOptions()))
  expect((await Promise.all(changes)).map(({ kind }) => kind)).toEqual(NAMES.map(() => 'left'))
  expect(await counters(store)).toEqual(NAMES.map((_, at) => `1 id-${at}`))
})

it('submitted changes are written before the store is closed', async () => {
  const { store, path } = await storeWithCounters()
  const change = store.update('orders/0', increment, changeOptions())
  await store.close()
  expect(await change).toMatchObject({ kind: 'committed' })
  const again = openSqliteStore(path)
  onTestFinished(() => again.close())
  expect(text((await stored(again, 'orders/0')).body)).toBe('2')
})

it('timers and signals run between slow changes, however soon the next one follows', async () => {
  const { store } = await storeWithCounters()
  let looks = 0
  const look = () => {
    looks += 1
    next = setImmediate(look)
  }
  let next = setImmediate(look)
  onTestFinished(() => clearImmediate(next))
  const slow = (current: StreamSnapshot): Decision => {
    for (const untilMs = performance.now() + 30; performance.now() < untilMs; );
    return increment(current)
  }
  for (let at = 0; at < 5; at += 1) await store.update('orders/0', slow, changeOptions())
  expect(looks).toBeGreaterThanOrEqual(4)
})

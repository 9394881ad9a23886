import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ContainerMissing, NotPermitted } from '../../../../../src/store/errors.ts'
import { openSqliteStore } from '../../../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../../../src/store/store.ts'
import { PollInterval } from '../../../../../src/tui/data/poll/interval.ts'
import { NOTHING_VISIBLE } from '../../../../../src/tui/data/types.ts'
import { init, memoryStore, run } from '../../../ops/support.ts'
import { probe } from '../../../ops/watch/support.ts'
import { LISTED, namesIn, polling, type StepClock, withoutMarks } from '../support.ts'

/** A store with an action before each listing. */
function before(store: StreamStore, each: () => void): StreamStore {
  const plain = withoutMarks(store)
  return new Proxy(plain, {
    get(target, key) {
      if (key !== 'list') return Reflect.get(target, key)
      return async function* (query: Parameters<StreamStore['list']>[0]) {
        each()
        yield* target.list(query)
      }
    },
  })
}

describe('the poll interval', () => {
  it('excludes the duration of the poll', async () => {
    const { store } = memoryStore()
    let clock: StepClock | undefined
    const polled = await polling(before(store, () => clock?.goOn(200)))
    clock = polled.clock
    await clock.next()
    expect(clock.waits).toEqual([1_000, 800])
    expect(polled.data.freshness).toMatchObject({ intervalMs: 1_000, isSlow: false })
    await polled.stop()
  })

  it('is twice the duration of slow polls, and is shown', async () => {
    const { store } = memoryStore()
    let clock: StepClock | undefined
    let tookMs = 3_000
    const polled = await polling(before(store, () => clock?.goOn(tookMs)))
    clock = polled.clock
    await clock.next()
    expect(clock.waits.at(-1)).toBe(0)
    await clock.next()
    expect(clock.waits.at(-1)).toBe(3_000)
    expect(polled.data.freshness).toMatchObject({ intervalMs: 6_000, isSlow: true })
    const { nextPollMs = 0 } = polled.data.freshness
    expect(nextPollMs - store.nowMs()).toBe(3_000)
    tookMs = 0
    await clock.next()
    expect(polled.data.freshness).toMatchObject({ intervalMs: 1_000, isSlow: false })
    await polled.stop()
  })

  it('is at most a minute, but never less than configured', () => {
    const afterTwo = (askedMs: number, tookMs: number) => {
      const interval = new PollInterval(askedMs)
      interval.answered(tookMs)
      return interval.answered(tookMs)
    }
    expect(afterTwo(1_000, 100_000)).toBe(60_000)
    expect(afterTwo(120_000, 100_000)).toBe(120_000)
  })

  it('is the usual one after a single slow answer: the store has hung', () => {
    const interval = new PollInterval(1_000)
    interval.answered(5)
    expect(interval.answered(20_000)).toBe(1_000)
    expect(interval.answered(5)).toBe(1_000)
  })

  it('takes a twenty-fifth of the time if polls follow each other within a second', () => {
    const interval = new PollInterval(100)
    expect([4, 4, 20, 20, 200, 200, 800, 800].map(ms => interval.answered(ms))).toEqual([
      100, 100, 100, 500, 500, 2_000, 2_000, 2_000,
    ])
    expect([interval.isSlow(2_000), interval.isSlow(2_001)]).toEqual([false, true])
  })

  it('is cut short by a request, without two listings at once', async () => {
    const { store } = memoryStore()
    const asked = probe(withoutMarks(store))
    const { poll, clock, stop } = await polling(asked.store)
    poll.readNow()
    poll.readNow()
    await clock.resting()
    expect(asked.listings).toHaveLength(2)
    await stop()
  })

  it('is cut short by a request during a listing, too', async () => {
    const { store } = memoryStore()
    let wish = () => {}
    let listings = 0
    const { poll, clock, stop } = await polling(
      before(store, () => {
        listings++
        wish()
      }),
    )
    wish = () => {
      wish = () => {}
      poll.readNow()
    }
    await clock.next()
    expect(listings).toBe(3)
    await stop()
  })

  it('does not depend on how often screens are changed', async () => {
    const { store } = memoryStore()
    const asked = probe(withoutMarks(store))
    const { poll, clock, stop } = await polling(asked.store)
    for (let at = 0; at < 5; at++) {
      poll.setVisible({ ...NOTHING_VISIBLE, open: `s${at}` })
      await clock.resting()
      poll.setVisible(LISTED)
      await clock.resting()
    }
    expect(asked.listings.filter(({ order }) => order === 'any')).toHaveLength(1)
    expect(clock.waits.at(-1)).toBe(1_000)
    await clock.next()
    expect(asked.listings.filter(({ order }) => order === 'any')).toHaveLength(2)
    await stop()
  })
})

describe('a quiet store with change tokens', () => {
  it('is asked for its token twice an interval, and the first write is shown at once', async () => {
    const { store } = memoryStore()
    const asked = probe(store)
    const { data, clock, stop } = await polling(asked.store)
    await clock.next()
    await clock.next()
    await run(store, 'a', init())
    await clock.next()
    expect(clock.waits).toEqual([1_000, 500, 500, 1_000])
    expect(namesIn(data)).toEqual(['a'])
    expect(asked.listings).toHaveLength(2)
    await stop()
  })

  it('that is written constantly is polled once an interval', async () => {
    const { store } = memoryStore()
    const { data, clock, stop } = await polling(store)
    for (const name of ['a', 'b', 'c']) {
      await run(store, name, init())
      await clock.next()
    }
    expect(clock.waits).toEqual([1_000, 1_000, 1_000, 1_000])
    expect(namesIn(data)).toEqual(['a', 'b', 'c'])
    await stop()
  })

  it('that fails is polled at growing intervals all the same', async () => {
    const { store } = memoryStore()
    let isBad = false
    const bad = new Proxy(store, {
      get(target, key) {
        if (key === 'changeToken' && isBad) return () => Promise.reject(new NotPermitted('no rights'))
        const value: unknown = Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const { data, clock, stop } = await polling(bad)
    await clock.next()
    isBad = true
    for (let at = 0; at < 4; at++) await clock.next()
    expect(clock.waits).toEqual([1_000, 500, 1_000, 2_000, 4_000, 8_000])
    expect(data.freshness.error).toMatchObject({ code: 'not-permitted' })
    await stop()
  })
})

describe('a failing store', () => {
  it('is polled at growing intervals, and all data are kept; then it recovers', async () => {
    const { store } = memoryStore()
    await run(store, 'a', init())
    const asked = probe(withoutMarks(store))
    const { data, clock, stop } = await polling(asked.store)
    const polledMs = data.freshness.polledMs
    asked.fails.list = 6
    for (let at = 0; at < 6; at++) await clock.next()
    expect(clock.waits.slice(1)).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
    expect(data.freshness).toMatchObject({
      polledMs,
      error: { code: 'store-unreachable', message: 'nobody answers' },
    })
    expect(data.freshness.waitingSinceMs).toBeUndefined()
    expect(namesIn(data)).toEqual(['a'])
    await run(store, 'b', init())
    await clock.next()
    expect(data.freshness.error).toBeUndefined()
    expect(namesIn(data)).toEqual(['a', 'b'])
    expect(clock.waits.at(-1)).toBe(1_000)
    await stop()
  })

  it('stays marked while other screens are visible, as long as there was no request', async () => {
    const { store } = memoryStore()
    const asked = probe(withoutMarks(store))
    const { poll, data, clock, stop } = await polling(asked.store)
    asked.fails.list = 6
    for (let at = 0; at < 3; at++) await clock.next()
    const { polledMs } = data.freshness
    poll.setVisible(NOTHING_VISIBLE)
    poll.setVisible(LISTED)
    await clock.resting()
    poll.setVisible({ ...LISTED, activity: true })
    await clock.resting()
    expect(data.freshness).toMatchObject({ polledMs, error: { code: 'store-unreachable' } })
    await stop()
  })

  it('is detected at once if the streams are needed again while the open one is read', async () => {
    const { store } = memoryStore()
    const asked = probe(withoutMarks(store))
    let comeBack = () => {}
    const { poll, data, clock, stop } = await polling(
      new Proxy(asked.store, {
        get(target, key) {
          if (key === 'read') comeBack()
          return Reflect.get(target, key)
        },
      }),
    )
    comeBack = () => poll.setVisible(LISTED)
    asked.fails.list = 1
    clock.goOn(5_000)
    poll.setVisible({ ...NOTHING_VISIBLE, open: 'a' })
    await clock.resting()
    expect(data.freshness.error).toMatchObject({ code: 'store-unreachable' })
    await stop()
  })

  it.each([new NotPermitted('no rights'), new ContainerMissing('no such container')])(
    'is also one with the error $code, from the first poll on',
    async fault => {
      const { store } = memoryStore()
      let isBad = true
      const bad = before(store, () => {
        if (isBad) throw fault
      })
      const { data, clock, stop } = await polling(bad)
      expect(data.freshness).toMatchObject({ polledMs: undefined, error: { code: fault.code } })
      isBad = false
      await clock.next()
      expect(data.freshness.error).toBeUndefined()
      expect(data.freshness.polledMs).toBeDefined()
      await stop()
    },
  )

  it('is also one whose file is gone: it is not shown as empty, and is polled when it is back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'leasectl-poll-'))
    const file = join(folder, 'a.db')
    const store = openSqliteStore(file, { checkMs: 0 })
    await run(store, 'a', init())
    const { data, clock, stop } = await polling(store)
    await rename(file, `${file}.away`)
    await clock.next()
    expect(data.freshness.error?.message).toContain('no longer exists')
    expect(data.streams.get('a')).toBeDefined()
    await rename(`${file}.away`, file)
    await run(store, 'b', init())
    await clock.next()
    expect(data.freshness.error).toBeUndefined()
    expect(namesIn(data)).toEqual(['a', 'b'])
    await stop()
    await store.close()
    await rm(folder, { recursive: true })
  })

  it('is not one without a file from the start, which is empty', async () => {
    const store = openSqliteStore(join(tmpdir(), 'leasectl-nowhere', 'a.db'))
    const { data, clock, stop } = await polling(store)
    await clock.next()
    expect([data.freshness.error, data.streams.isComplete]).toEqual([undefined, true])
    await stop()
    await store.close()
  })

  it('is shown with the start of the failure', async () => {
    const { store, advance } = memoryStore()
    const asked = probe(withoutMarks(store))
    asked.fails.list = 2
    const { data, clock, stop } = await polling(asked.store)
    const sinceMs = data.freshness.error?.sinceMs
    advance(5_000)
    await clock.next()
    expect(data.freshness.error?.sinceMs).toBe(sinceMs)
    await stop()
  })

  it('is distinguished from a bug, which ends the poll', async () => {
    const { store } = memoryStore()
    const buggy = before(store, () => {
      throw new TypeError('a bug')
    })
    await expect(polling(buggy)).rejects.toThrow('a bug')
  })
})

it('the poll ends without an error with the signal, also in the middle of a poll', async () => {
  const { store } = memoryStore()
  const asked = probe(withoutMarks(store))
  const { stop } = await polling(asked.store)
  await stop()
  const count = asked.listings.length
  await new Promise(resolve => setImmediate(resolve))
  expect(asked.listings).toHaveLength(count)
})

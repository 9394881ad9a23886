import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { WATCHDOG_STATE } from '../../../../../src/ops/watchdog-state/parse.ts'
import { given } from '../../../../contract/harness.ts'
import { BORN } from '../../../../support/stream-builder.ts'
import { init, memoryStore, run, writeForeign } from '../../../ops/support.ts'
import { probe } from '../../../ops/watch/support.ts'
import { LISTED, polling, withoutMarks } from '../support.ts'

const FEED = { ...LISTED, activity: true }
const claim = { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 } as const
const set = (key: string) => ({ op: 'set', event: '00', attributes: { key } }) as const

/** Bytes of live objects. */
function heapAfterGc(): number {
  setFlagsFromString('--expose-gc')
  const gc: unknown = runInNewContext('gc')
  if (typeof gc === 'function') gc()
  return process.memoryUsage().heapUsed
}

describe('the activity feed', () => {
  it('begins with the most recently changed streams, and reads no more than forty', async () => {
    const { store, advance } = memoryStore()
    for (let at = 0; at < 45; at++) {
      await run(store, `s${at}`, init())
      advance(1_000)
    }
    const asked = probe(store)
    const { data, stop } = await polling(asked.store, FEED)
    expect(asked.reads).toHaveLength(40)
    expect(data.activity.items.map(({ key }) => key).slice(0, 2)).toEqual(['s44@1', 's43@1'])
    expect(data.activity.items.at(-1)?.stream).toBe('s5')
    expect(data.activity.behind).toBe(0)
    await stop()
  })

  it('continues with changed streams, of which only new entries are shown', async () => {
    const { store, advance } = memoryStore()
    for (const name of ['a', 'b']) await run(store, name, init())
    const asked = probe(withoutMarks(store))
    const { data, clock, stop } = await polling(asked.store, FEED)
    advance(1_000)
    await run(store, 'b', set('1'))
    await run(store, 'b', set('2'))
    asked.reads.length = 0
    await clock.next()
    expect(asked.reads).toEqual(['b'])
    expect(data.activity.items.map(({ key }) => key)).toEqual(['b@3', 'b@2', 'b@1', 'a@1'])
    const { items } = data.activity
    await clock.next()
    expect(data.activity.items).toBe(items)
    await stop()
  })

  it('keeps no document of a stream that it has read', async () => {
    const { store } = memoryStore()
    for (let at = 0; at < 10; at++)
      await run(
        store,
        `s${at}`,
        init(
          Array.from({ length: 4_000 }, () => 'A'),
          BORN,
        ),
      )
    const size = (await store.read('s0'))?.size ?? 0
    const { poll, data, clock, stop } = await polling(withoutMarks(store))
    const before = heapAfterGc()
    poll.setVisible(FEED)
    await clock.resting()
    expect(data.activity.items.length).toBeGreaterThan(9)
    poll.setVisible(LISTED)
    data.putActivity([], 0)
    expect(heapAfterGc() - before).toBeLessThan(5 * size)
    await stop()
  })

  it('is read only while it is visible', async () => {
    const { store } = memoryStore()
    await run(store, 'a', init())
    const asked = probe(withoutMarks(store))
    const { poll, data, clock, stop } = await polling(asked.store)
    expect(asked.reads).toEqual([])
    poll.setVisible(FEED)
    await clock.resting()
    poll.setVisible(LISTED)
    await run(store, 'a', set('1'))
    asked.reads.length = 0
    await clock.next()
    expect(asked.reads).toEqual([])
    poll.setVisible(FEED)
    await clock.resting()
    expect(data.activity.items.map(({ key }) => key)).toEqual(['a@2', 'a@1'])
    await stop()
  })

  it('includes foreign writes as long as they are unrecorded', async () => {
    const { store, advance } = memoryStore()
    for (const name of ['a', 'b']) await run(store, name, init())
    const { data, clock, stop } = await polling(store, FEED)
    advance(1_000)
    await writeForeign(store, 'a', 'name="Start"', 'name="Begun"')
    await clock.next()
    const ofA = () => data.activity.items.filter(({ stream }) => stream === 'a').map(({ key, tx }) => [key, tx.op])
    const unrecorded = [
      ['a@1+', 'foreign'],
      ['a@1', 'init'],
    ]
    expect(ofA()).toEqual(unrecorded)
    advance(1_000)
    await run(store, 'b', set('1'))
    await clock.next()
    expect(ofA()).toEqual(unrecorded)
    await run(store, 'a', set('1'))
    await clock.next()
    expect(ofA()).toEqual([
      ['a@3', 'set'],
      ['a@2', 'foreign'],
      ['a@1', 'init'],
    ])
    await stop()
  })

  it('shows its lag, and catches up', async () => {
    const { store } = memoryStore()
    const names = Array.from({ length: 50 }, (_, at) => `s${at}`)
    for (const name of names) await run(store, name, init())
    const { data, clock, stop } = await polling(withoutMarks(store), FEED)
    for (const name of names) await run(store, name, set('1'))
    await clock.next()
    expect(data.activity.behind).toBe(10)
    await clock.next()
    expect(data.activity.behind).toBe(0)
    expect(data.activity.items.filter(({ tx }) => tx.op === 'set')).toHaveLength(50)
    await stop()
  })

  it('keeps failures and other changes, however many attributes are set', async () => {
    const { store, advance } = memoryStore()
    for (const name of ['bad', 'good', 'busy']) await run(store, name, init(['Pay']))
    const { data, clock, stop } = await polling(withoutMarks(store), FEED)
    await run(store, 'bad', claim)
    await run(store, 'bad', { op: 'fail', event: '01.00', owner: 'w', msg: 'card refused' })
    await run(store, 'good', claim)
    await clock.next()
    for (let at = 0; at < 300; at++) {
      advance(100)
      await run(store, 'busy', set(`${at}`))
      if (at % 50 === 0) await clock.next()
    }
    await clock.next()
    const ops = data.activity.items.map(({ stream, tx }) => `${stream} ${tx.op}`)
    expect(ops.filter(op => op === 'busy set')).toHaveLength(100)
    expect(ops.filter(op => op !== 'busy set').toSorted()).toEqual([
      'bad fail',
      'bad init',
      'bad start',
      'busy init',
      'good init',
      'good start',
    ])
    await stop()
  })

  it('begins with the latest failures, too, although other streams have changed since', async () => {
    const { store, advance } = memoryStore()
    await run(store, 'bad', init(['Pay']))
    await run(store, 'bad', claim)
    await run(store, 'bad', { op: 'fail', event: '01.00', owner: 'w', msg: 'card refused' })
    for (let at = 0; at < 45; at++) {
      advance(1_000)
      await run(store, `s${at}`, init())
    }
    const { data, stop } = await polling(store, FEED)
    expect(data.activity.items.some(({ stream, tx }) => stream === 'bad' && tx.op === 'fail')).toBe(true)
    await stop()
  })

  it('reads the journals of failed streams before others', async () => {
    const { store, advance } = memoryStore()
    const names = Array.from({ length: 50 }, (_, at) => `s${at}`)
    for (const name of names) await run(store, name, init(['Pay']))
    const { data, clock, stop } = await polling(withoutMarks(store), FEED)
    await run(store, 's0', claim)
    await run(store, 's0', { op: 'fail', event: '01.00', owner: 'w', msg: 'card refused' })
    for (const name of names) {
      advance(100)
      if (name !== 's0') await run(store, name, set('1'))
    }
    await clock.next()
    expect(data.activity.behind).toBe(10)
    expect(data.activity.items.some(({ stream, tx }) => stream === 's0' && tx.op === 'fail')).toBe(true)
    await stop()
  })

  it('loses nothing in an outage, and skips unreadable documents', async () => {
    const { store } = memoryStore()
    for (const name of ['a', 'b']) await run(store, name, init())
    await given(store, 'c', 'no xml')
    const asked = probe(withoutMarks(store))
    asked.fails.read = 1
    const { data, clock, stop } = await polling(asked.store, FEED)
    expect(data.freshness.error?.code).toBe('store-unreachable')
    expect(data.activity.items).toEqual([])
    await clock.next()
    expect(data.activity.items.map(({ key }) => key).toSorted()).toEqual(['a@1', 'b@1'])
    expect(data.freshness.error).toBeUndefined()
    await stop()
  })
})

describe('the view of watchdogs', () => {
  it('has the soonest deadlines of all streams, soonest first, at most 200', async () => {
    const { store } = memoryStore()
    for (let at = 0; at < 450; at++) await given(store, `s${at}`, '0', { dueMs: 10_000 - (at % 400) })
    await given(store, 'never')
    const { data, stop } = await polling(store, { ...LISTED, watchdog: true })
    const { next } = data.watchdog
    expect(next).toHaveLength(200)
    expect(next.slice(0, 2)).toMatchObject([
      { stream: 's399', dueMs: 9_601 },
      { stream: 's398', dueMs: 9_602 },
    ])
    expect(next.every(({ dueMs }, at) => at === 0 || dueMs >= (next[at - 1]?.dueMs ?? 0))).toBe(true)
    await stop()
  })

  it('is read while it is visible, and unchanged content causes no update', async () => {
    const { store } = memoryStore()
    const asked = probe(withoutMarks(store))
    const { poll, data, clock, stop } = await polling(asked.store)
    expect(data.watchdog.state).toBeUndefined()
    poll.setVisible({ ...LISTED, watchdog: true })
    await clock.resting()
    expect(data.watchdog.state).toEqual({ watchdogs: [], damaged: false })
    const { revision } = data.watchdog
    await clock.next()
    expect(asked.reads).toEqual([WATCHDOG_STATE, WATCHDOG_STATE])
    expect(data.watchdog.revision).toBe(revision)
    await given(store, WATCHDOG_STATE, 'nonsense')
    await clock.next()
    expect(data.watchdog.state?.damaged).toBe(true)
    await stop()
  })
})

import { describe, expect, it } from 'vitest'
import { NOTHING_VISIBLE } from '../../../../../src/tui/data/types.ts'
import { changeOptions, given, leased, put } from '../../../../contract/harness.ts'
import { init, memoryStore, run } from '../../../ops/support.ts'
import { probe } from '../../../ops/watch/support.ts'
import { LISTED, polling, withoutMarks } from '../support.ts'

const SHOWN = { ...NOTHING_VISIBLE, open: 'orders/1' }
const moved = { op: 'set', event: '00', attributes: { key: 'k1' } } as const

describe('the open stream', () => {
  it('is read first and when it changes; other streams are not listed', async () => {
    const { store } = memoryStore()
    for (const name of ['orders/1', 'orders/2']) await run(store, name, init(['A']))
    const asked = probe(withoutMarks(store))
    const { data, clock, stop } = await polling(asked.store, SHOWN)
    expect(data.open).toMatchObject({ name: 'orders/1', presence: 'there' })
    expect(data.open?.nodes.map(({ id }) => id)).toEqual(['00', '01.00'])
    expect(asked.reads).toEqual(['orders/1'])
    const before = data.open
    await clock.next()
    expect(asked.listings).toMatchObject([{ prefix: 'orders/1', limit: 1 }])
    expect(data.open).toBe(before)
    await run(store, 'orders/1', moved)
    asked.reads.length = 0
    await clock.next()
    expect(asked.reads).toEqual(['orders/1'])
    expect(data.open?.event('00')?.key).toBe('k1')
    expect(data.open?.nodes).toBe(before?.nodes)
    expect(data.streams.size).toBe(0)
    await stop()
  })

  it('is not polled while the store reports that nothing was written', async () => {
    const { store, advance } = memoryStore()
    await run(store, 'orders/1', init())
    await leased(store, 'orders/1', 'ada', 15)
    const asked = probe(store)
    const { data, clock, stop } = await polling(asked.store, SHOWN)
    await clock.next()
    advance(15_000)
    for (let half = 0; half < 2; half++) await clock.next()
    expect([asked.listings.length, asked.reads.length]).toEqual([0, 1])
    expect(data.open?.listed?.lease.state).toBe('expired')
    await stop()
  })

  it('is waited for, gone when it is removed, and present again when it is created again', async () => {
    const { store } = memoryStore()
    const { data, clock, stop } = await polling(store, SHOWN)
    expect(data.open).toMatchObject({ presence: 'missing', view: undefined, listed: undefined })
    await run(store, 'orders/1', init(['A']))
    await clock.next()
    expect(data.open?.presence).toBe('there')
    await store.remove('orders/1', {})
    await clock.next()
    expect(data.open).toMatchObject({ presence: 'gone', listed: undefined })
    expect(data.open?.nodes).toHaveLength(2)
    expect(data.open?.text.join('')).toContain('<EventStream')
    await run(store, 'orders/1', init())
    await clock.next()
    expect(data.open?.presence).toBe('there')
    expect(data.open?.nodes).toHaveLength(1)
    await stop()
  })

  it('is not confused with another name', async () => {
    const { store } = memoryStore()
    await run(store, 'orders/10', init())
    const { data, clock, stop } = await polling(withoutMarks(store), SHOWN)
    await clock.next()
    expect(data.open?.presence).toBe('missing')
    await stop()
  })

  it('that is not XML shows its text, the reason, and its last readable state', async () => {
    const { store } = memoryStore()
    await run(store, 'orders/1', init(['A']))
    const { data, clock, stop } = await polling(store, SHOWN)
    await store.update('orders/1', put('<a\nb'), changeOptions())
    await clock.next()
    expect(data.open).toMatchObject({ presence: 'unreadable', fault: { code: 'bad-document' }, text: ['<a', 'b'] })
    expect(data.open?.nodes).toHaveLength(2)
    await store.remove('orders/1', {})
    await run(store, 'orders/1', init())
    await clock.next()
    expect(data.open).toMatchObject({ presence: 'there', fault: undefined })
    await stop()
  })

  it('is replaced at once: no data of the previous one are shown under its name', async () => {
    const { store } = memoryStore()
    await run(store, 'orders/1', init())
    await given(store, 'bad', 'no xml')
    const { poll, data, clock, stop } = await polling(store, SHOWN)
    poll.setVisible({ ...NOTHING_VISIBLE, open: 'bad' })
    expect(data.open).toMatchObject({ name: 'bad', presence: 'waiting', nodes: [], text: [] })
    await clock.resting()
    expect(data.open).toMatchObject({ name: 'bad', presence: 'unreadable', view: undefined })
    poll.setVisible(SHOWN)
    await clock.resting()
    expect(data.open).toMatchObject({ name: 'orders/1', presence: 'there' })
    // there and back between two polls
    poll.setVisible({ ...NOTHING_VISIBLE, open: 'bad' })
    poll.setVisible(SHOWN)
    expect(data.open?.presence).toBe('waiting')
    await clock.resting()
    expect(data.open).toMatchObject({ name: 'orders/1', presence: 'there' })
    await stop()
  })

  it('keeps its state while another screen is visible, and is updated on return', async () => {
    const { store } = memoryStore()
    await run(store, 'orders/1', init())
    const { poll, data, clock, stop } = await polling(store, SHOWN)
    poll.setVisible(LISTED)
    await clock.resting()
    await run(store, 'orders/1', moved)
    await clock.next()
    expect(data.open?.event('00')?.key).toBe('')
    poll.setVisible(SHOWN)
    await clock.resting()
    expect(data.open?.event('00')?.key).toBe('k1')
    await stop()
  })
})

import { expect, it } from 'vitest'
import { NOTHING_VISIBLE } from '../../../../src/tui/data/types.ts'
import { visibleDataOf } from '../../../../src/tui/state/visible-data.ts'
import { Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const failed = (count = 1) =>
  ({ kind: 'failed', count, latest: { stream: 'orders/1', text: '01.00 Pay card\u001b refused' } }) as const

it('a failure rings only while the bell is on', () => {
  const there = new Stage().act(failed())
  expect(there.effectsOf('ring')).toEqual([])
  there.press('B').act(failed())
  expect(there.notice).toContain('rings when something fails')
  expect(there.effectsOf('ring')).toEqual([
    { kind: 'ring', text: 'orders/1: 01.00 Pay card␛ refused', title: '✗ 1 leasectl' },
  ])
  there.press('B').act(failed())
  expect(there.effectsOf('ring')).toHaveLength(1)
})

it('the title counts failures until a key is pressed', () => {
  const there = new Stage(undefined, { bell: true }).act(failed(2)).act(failed())
  expect(there.effectsOf('ring').map(({ title }) => title)).toEqual(['✗ 2 leasectl', '✗ 3 leasectl'])
  expect(there.effectsOf('ring')[0]?.text).toBe('2 failed, the last in orders/1: 01.00 Pay card␛ refused')
  there.press('j', 'j')
  expect(there.effectsOf('title')).toEqual([{ kind: 'title', title: 'leasectl' }])
  expect(there.act(failed()).effectsOf('ring').at(-1)?.title).toBe('✗ 1 leasectl')
})

it('with the bell all streams are read on every screen', () => {
  const visible = (bell: boolean) => {
    const { state, seen } = new Stage(worldWith(), { bell, stream: 'a' })
    return visibleDataOf(state, seen.listing, seen.data)
  }
  expect(visible(false)).toEqual({ ...NOTHING_VISIBLE, health: true, open: 'a' })
  expect(visible(true)).toEqual({ ...NOTHING_VISIBLE, health: true, open: 'a', streams: true })
})

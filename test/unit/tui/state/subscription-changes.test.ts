import { expect, it } from 'vitest'
import { DEMO_SUBSCRIPTIONS } from '../support/demo-subscriptions.ts'
import { Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const WORLD = worldWith({ streams: ['orders/4711', 'orders/4712'], subscriptions: DEMO_SUBSCRIPTIONS })
const stage = () => new Stage(WORLD, { writes: 'unlocked' }).press('7')
const PARKED = { stream: 'orders/4711', subscription: 'billing' }

it('retry on a subscription means all that are parked in it, on a halted stream that stream', () => {
  expect(stage().press('R').effectsOf('preview')[0]).toMatchObject({ verb: 'retry-delivery', targets: [PARKED] })
  expect(stage().press('enter', 'j', 'R').effectsOf('preview')[0]?.targets).toEqual([
    { stream: 'orders/4712', subscription: 'billing' },
  ])
})

it('skip takes a halted stream', () => {
  expect(stage().press('P').notice).toContain('skip takes one stream')
  expect(stage().press('enter', 'P').effectsOf('preview')[0]).toMatchObject({
    verb: 'skip-delivery',
    targets: [PARKED],
  })
})

it('nothing is asked of a subscription without a yes, and no reason', () => {
  const there = stage().press('R').previewed({ count: 1 })
  expect(there.state.dialog).toMatchObject({ kind: 'change', focus: 'no' })
  expect(there.press('enter').effectsOf('carry-out')).toEqual([])
  expect(stage().press('R').previewed({ count: 1 }).press('y', 'enter').effectsOf('carry-out')).toHaveLength(1)
})

it('reset is about the subscription, and takes its name', () => {
  const there = stage().press('Z')
  expect(there.effectsOf('preview')[0]).toMatchObject({
    verb: 'reset',
    targets: [{ stream: 'billing', subscription: 'billing' }],
  })
  there.previewed({ count: 1, confirm: { kind: 'type', text: 'billing', what: 'the name' } })
  expect(there.state.dialog).toMatchObject({ focus: 'typed' })
  there.type('billing').press('enter', 'y', 'enter')
  expect(there.effectsOf('carry-out')).toHaveLength(1)
})

it('all of it is refused while changes are locked', () => {
  for (const key of ['R', 'Z']) {
    expect(new Stage(WORLD, {}).press('7', key).effectsOf('preview')).toEqual([])
  }
})

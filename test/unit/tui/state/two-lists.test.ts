import { expect, it } from 'vitest'
import { Lists } from '../../../../src/tui/state/lists/lists.ts'
import { DEMO_INBOXES } from '../support/demo-inboxes.ts'
import { DEMO_SUBSCRIPTIONS } from '../support/demo-subscriptions.ts'
import { Stage } from '../support/stage.ts'
import { NOW_MS, worldWith } from '../support/world.ts'

const WORLD = worldWith({ streams: ['orders/4711', 'orders/4712'], subscriptions: DEMO_SUBSCRIPTIONS })
const stage = () => new Stage(WORLD, {})
const cursor = (there: Stage) =>
  new Lists().listing(there.state, WORLD.data, NOW_MS).keys.find(key => key === there.state.lists.subscriptions.cursor)

it('enter goes from a subscription to its first halted stream, and opens that stream; esc goes back', () => {
  const halted = stage().press('7', 'enter')
  expect(cursor(halted)).toBe('billing\norders/4711')
  expect(cursor(stage().press('7', 'enter', 'escape'))).toBe('billing')
  const open = halted.press('enter')
  expect(open.state).toMatchObject({ screen: 'stream', stream: 'orders/4711', cameFrom: 'subscriptions' })
})

it('enter on a subscription without halted streams says so', () => {
  const there = stage().press('7', 'j', 'enter')
  expect([there.state.screen, there.notice]).toEqual(['subscriptions', expect.stringContaining('no stream of it')])
})

it('enter goes from an inbox to its first partition; esc goes back', () => {
  const world = worldWith({ inboxes: DEMO_INBOXES })
  const press = (...keys: string[]) => new Stage(world, {}).press('8', ...keys)
  expect(press('enter').state.lists.inboxes.cursor).toBe('deliveries\n0')
  expect(press('enter', 'j', 'escape').state.lists.inboxes.cursor).toBe('deliveries')
  expect(press('enter', 'enter').state.screen).toBe('inboxes')
  expect(press('G', 'k', 'k').state.screen).toBe('inboxes')
})

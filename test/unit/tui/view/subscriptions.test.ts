import { expect, it } from 'vitest'
import type { Scene } from '../../../../src/tui/state/context.ts'
import { Lists } from '../../../../src/tui/state/lists/lists.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { lagBars } from '../../../../src/tui/view/subscriptions.ts'
import { DEMO_SUBSCRIPTIONS } from '../support/demo-subscriptions.ts'
import { demoScene, frameText } from '../support/scenes.ts'
import { NOW_MS } from '../support/world.ts'

const SIZE = { columns: 160, rows: 40 }

/** The screen with the rows that its list has for this cursor. */
function screen(cursor: string, scene: Scene = demoScene('subscriptions', SIZE), filter = ''): string {
  const { lists } = scene.state
  const state = { ...scene.state, lists: { ...lists, subscriptions: { ...lists.subscriptions, cursor, filter } } }
  return frameText(frameOf({ ...scene, state, listing: new Lists().listing(state, scene.data, NOW_MS) }))
}

it('a subscription shows its lag, its rate, what is halted, and who runs which shards', () => {
  expect(screen('billing')).toMatch(/billing +4s .*6\.3\/s +1 +1 +3\/3 +bill@aks-1 0-1, bill@aks-2 2 +orders\/\*/)
  expect(screen('billing')).toMatch(/read-model +2h .* 0\/2 +nobody +all/)
  expect(screen('billing')).toMatch(/stats +! it is from a newer version of leasectl/)
})

it('below are the parked and waiting streams of the subscription with the cursor, and why', () => {
  expect(screen('billing')).toMatch(/orders\/4711 +parked +5 .*the handler ended with 2: no such customer/)
  expect(screen('billing')).toMatch(/orders\/4712 +waiting +2 .*connection refused/)
  expect(screen('read-model')).toContain('none waits, none is parked')
  expect(screen('read-model')).not.toContain('no such customer')
  expect(screen('stats')).toContain('stats: streams that do not go on')
})

it('a filter finds subscriptions by the streams that do not go on, and leaves only these', () => {
  const shown = screen('billing', undefined, 'customer')
  expect(shown).toContain('orders/4711')
  expect(shown).not.toContain('orders/4712')
  expect(shown).not.toContain('read-model')
})

it('each bar of the lag stands for four times the one before', () => {
  expect(lagBars([0, 900, 1_000, 4_000, 16_000, 1e12])).toBe('▁▁▂▃▄█')
})

it('texts of a handler cannot reach the terminal', () => {
  const [billing] = DEMO_SUBSCRIPTIONS
  if (billing === undefined) throw new Error('no subscription')
  const halted = billing.halted.map(one => ({ ...one, why: 'a\u001b[31mred\nline' }))
  const scene = demoScene('subscriptions', SIZE)
  const data = { ...scene.data, subscriptions: { revision: 2, rows: [{ ...billing, halted }] } }
  expect(screen('billing', { ...scene, data })).not.toContain('\u001b')
})

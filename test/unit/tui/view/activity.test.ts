import { expect, it } from 'vitest'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { frameText, sceneWith } from '../support/scenes.ts'
import { activity } from '../support/world.ts'

it('a change of an event of 45 levels leaves room for what happened and why', () => {
  const event = `${'01.'.repeat(44)}00`
  const changes = [{ event, from: 'init', to: 'aborted', how: 'target' }] as const
  const item = activity('orders/1', 1, { op: 'fail', on: event, why: 'no answer', changes })
  const size = { columns: 100, rows: 24 }
  const scene = sceneWith({ activity: [item], rows: [item.key], size, state: { screen: 'activity' } })
  expect(frameText(frameOf(scene))).toMatch(/fail 01\S*…\S*01\.00 → aborted {2}no answer/)
})

it('a signal is told by its name', () => {
  const changes = [{ event: '00', from: 'inprocess', to: 'inprocess', how: 'target', attr: 'signal:paid' }] as const
  const item = activity('orders/1', 1, { op: 'signal', on: '', why: 'by hand', changes })
  const scene = sceneWith({ activity: [item], rows: [item.key], state: { screen: 'activity' } })
  expect(frameText(frameOf(scene))).toMatch(/signal paid {2,}by hand/)
})

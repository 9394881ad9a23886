import { expect, it } from 'vitest'
import type { State } from '../../../../src/tui/state/state.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { frameText, sceneWith } from '../support/scenes.ts'
import { NOW_MS } from '../support/world.ts'

const foot = (state: Partial<State> = {}, columns = 80) => {
  const rows = frameText(frameOf(sceneWith({ state, size: { columns, rows: 24 } }))).split('\n')
  return rows.at(-2) ?? ''
}
const typed = (text: string, at = text.length) => ({ text, at })

it('the footer has the keys of the screen, and always those for help and quitting', () => {
  expect(foot({ writes: { kind: 'unlocked', untilMs: NOW_MS + 60_000 } }, 120)).toContain('space mark')
  expect(foot()).not.toContain('space mark')
  expect(foot({ screen: 'watchdog' })).toContain('D dry run')
  expect(foot({ screen: 'watchdog' })).not.toContain('space mark')
  for (const columns of [40, 60, 200]) expect(foot({}, columns)).toMatch(/\? keys {2}q quit$/)
})

it('the footer shows a prompt instead of the keys', () => {
  expect(foot({ prompt: { kind: 'filter', field: typed('failed eu'), before: '' } })).toBe('/failed eu│')
  expect(foot({ prompt: { kind: 'line', field: typed('show orders/1', 4), past: undefined } })).toBe(':show│ orders/1')
})

it('the footer shows a notice until that is too old, and a prompt before a notice', () => {
  const notice = { text: 'copied', style: 'good', untilMs: NOW_MS + 1_000 } as const
  expect(foot({ notice })).toBe(' copied')
  expect(foot({ notice: { ...notice, untilMs: NOW_MS } })).toContain('? keys')
  expect(foot({ notice, prompt: { kind: 'filter', field: typed('a'), before: '' } })).toBe('/a│')
})

it('the footer is empty under a dialog, which receives the keys', () => {
  expect(foot({ dialog: { kind: 'quit' } })).not.toContain('? keys')
})

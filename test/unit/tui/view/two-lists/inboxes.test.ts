import { expect, it } from 'vitest'
import type { Scene } from '../../../../../src/tui/state/context.ts'
import { Lists } from '../../../../../src/tui/state/lists/lists.ts'
import { frameOf } from '../../../../../src/tui/view/frame.ts'
import { recordBars } from '../../../../../src/tui/view/two-lists/inboxes.ts'
import { DEMO_INBOXES } from '../../support/demo-inboxes.ts'
import { demoScene, frameText } from '../../support/scenes.ts'
import { NOW_MS } from '../../support/world.ts'

const SIZE = { columns: 160, rows: 40 }

/** The screen with the rows that its list has for this cursor. */
function screen(
  cursor: string,
  scene: Scene = demoScene('inboxes', SIZE),
  more: Partial<Scene['state']> = {},
  filter = '',
) {
  const { lists } = scene.state
  const state = { ...scene.state, ...more, lists: { ...lists, inboxes: { ...lists.inboxes, cursor, filter } } }
  return frameText(frameOf({ ...scene, state, listing: new Lists().listing(state, scene.data, NOW_MS) }))
}

it('an inbox shows what waits and for how long, its rates, dead letters, and who drains which partitions', () => {
  expect(screen('deliveries')).toMatch(
    /deliveries +4 +~61043 +▁▃▄▆▆ +1h +▁▁▁▃▄ +3750\/s +931\/s +2 +drain@aks-1 0-1, drain@aks-2 2, nobody 3/,
  )
  expect(screen('deliveries')).toMatch(/refunds +1 +▁ +▁ +nobody/)
  expect(screen('deliveries')).toMatch(/stats +! it is from a newer version of leasectl/)
  expect(screen('deliveries')).toContain('✗ 2 dead letters')
})

it('where there is little room, dead letters and an inbox without a drain are shown longest', () => {
  const narrow = (columns: number) => screen('deliveries', demoScene('inboxes', { columns, rows: 16 }))
  expect(narrow(100)).toMatch(/3 inboxes · .*✗ 2 dead letters · ~61 0\d\d records waiting/)
  expect(narrow(40)).toMatch(/─ .*✗ 2 dead letters ─/)
  expect(narrow(40)).toMatch(/INBOX .*DEAD/)
  expect(narrow(40)).not.toMatch(/INBOX .*OUT/)
})

it('below are the partitions of the inbox with the cursor', () => {
  expect(screen('deliveries')).toMatch(/2 +~48600 +1m10s +1250\/s +310\/s +1 +drain@aks-2 +120400 +1s/)
  expect(screen('deliveries')).toMatch(/3 +12 +1h .*nobody/)
  expect(screen('refunds')).not.toContain('drain@aks-1  ')
  expect(screen('stats')).toContain('stats: partitions')
})

it('the details have each partition, and the commands for dead letters', () => {
  const details = screen('deliveries', undefined, { isDetailOpen: true })
  expect(details).toContain('~61 043 records, 60 MiB, the oldest for 1h')
  expect(screen('deliveries\n2', undefined, { isDetailOpen: true })).toContain('3:4096, written')
})

it('a filter finds inboxes by the lag and the drain of a partition', () => {
  expect(screen('deliveries', undefined, {}, 'owner:aks-2')).not.toMatch(/refunds|nobody +-/)
  expect(screen('deliveries', undefined, {}, 'age>30m')).toMatch(/deliveries/)
  expect(screen('deliveries', undefined, {}, 'age>30m')).not.toContain('refunds')
})

it('each bar of the records stands for ten times the one before', () => {
  expect(recordBars([0, 1, 9, 10, 100, 1e12])).toBe('▁▂▂▃▄█')
})

it('texts of an inbox cannot reach the terminal', () => {
  const scene = demoScene('inboxes', SIZE)
  const rows = DEMO_INBOXES.map(row => ({
    ...row,
    view: { kind: 'unreadable', name: row.key, why: 'a\u001b[31mred' } as const,
  }))
  expect(screen('deliveries', { ...scene, data: { ...scene.data, inboxes: { revision: 2, rows } } })).not.toContain(
    '\u001b',
  )
})

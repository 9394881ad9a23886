import { expect, it } from 'vitest'
import { parseFilter } from '../../../../src/tui/state/lists/filter.ts'
import type { State } from '../../../../src/tui/state/state.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { withMatches } from '../../../../src/tui/view/matches.ts'
import { sceneWith } from '../support/scenes.ts'

const filter = parseFilter('err !x', {})

it('marks what the filter looks for, and keeps the text and the other styles', () => {
  const row = withMatches(
    {
      spans: [
        ['an Error: no err', 'bad'],
        ['  err', 'dim'],
        ['x', 'plain'],
      ],
    },
    filter,
  )
  expect(row.spans).toEqual([
    ['an ', 'bad'],
    ['Err', 'mark'],
    ['or: no ', 'bad'],
    ['err', 'mark'],
    ['  err', 'dim'],
    ['x', 'plain'],
  ])
})

it('marks nothing in a row that does not match', () => {
  const row = { spans: [['err', 'plain'] as const], highlight: 'faint' as const }
  expect(withMatches(row, filter)).toBe(row)
})

/** The marked texts of a screen. */
function markedOn(more: Partial<State>, typed: string) {
  const { lists } = sceneWith().state
  const screen = more.screen ?? 'streams'
  const filtered = { ...lists, [screen]: { ...lists[screen], filter: typed } }
  const scene = sceneWith({ size: { columns: 120, rows: 40 }, state: { ...more, lists: filtered } })
  return frameOf(scene).rows.flatMap(({ spans }) => spans.flatMap(([text, style]) => (style === 'mark' ? [text] : [])))
}

it.each([
  ['streams', {}, 'orders', 'orders'],
  ['the tree', { screen: 'stream' }, 'search', 'Search'],
  ['leases', { screen: 'leases' }, 'importer', 'importer'],
  ['watchdog', { screen: 'watchdog' }, 'name:orders', 'orders'],
  ['activity', { screen: 'activity' }, 'worker', 'worker'],
] as const)('marks the matches on the screen of %s', (_, state, typed, found) => {
  expect(markedOn(state, typed)).toContain(found)
  expect(markedOn(state, '')).toEqual([])
})

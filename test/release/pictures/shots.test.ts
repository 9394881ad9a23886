import { expect, test } from 'vitest'
import { SIZE, takeShots } from '../../../build/pictures/shots.ts'
import { svgOf } from '../../../build/pictures/svg.ts'
import type { Cell } from '../../unit/tui/support/terminal.ts'

function rows(cells: readonly (readonly Cell[])[]): string[] {
  return cells.map(row =>
    row
      .map(({ text, width }) => (width === 0 ? '' : text || ' '))
      .join('')
      .trimEnd(),
  )
}

test('pictures are screens of the program; the same screens give the same pictures', async () => {
  const shots = await takeShots()
  expect(shots.map(({ name }) => name)).toEqual(['streams', 'tree', 'timeline', 'dialog'])
  for (const { cells } of shots) {
    expect(cells.length).toBe(SIZE.rows)
    expect(cells.every(row => row.length === SIZE.columns)).toBe(true)
  }
  const [streams = [], tree = [], timeline = [], dialog = []] = shots.map(({ cells }) => rows(cells))
  expect(streams).toContainEqual(expect.stringMatching(/^› [ ~]orders\/4711 .*▶/))
  expect(tree).toContainEqual(expect.stringMatching(/^›│ {3}├─ {2}01\.02\.00 Search .*worker-7/))
  expect(timeline).toContainEqual(expect.stringMatching(/01\.03\.00 Search .*░+█+✓/))
  expect(dialog).toContainEqual(expect.stringContaining('This cancels 4 streams'))
  expect(dialog).toContainEqual(expect.stringContaining('supplier 3 is down until Monday'))

  const svg = () => shots.map(({ title, cells }) => svgOf(cells, { title, fontFamily: 'Some Mono' }))
  expect(svg()).toEqual(svg())
})

import { describe, expect, it } from 'vitest'
import { ColumnWidths } from '../../../../src/tui/state/column-widths.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { columnWidths, type FlexColumn, tableRows } from '../../../../src/tui/view/table.ts'
import { screenFormat } from '../../../../src/tui/view/times.ts'
import { demoScene, frameText, sceneWith } from '../support/scenes.ts'
import { NOW_MS, streamEntry } from '../support/world.ts'
import { textOf } from './stream-scene.ts'

type Row = readonly [name: string, count: string, why: string, lease: string]
const COLUMNS: readonly FlexColumn<Row>[] = [
  { title: 'NAME', least: 8, cut: 'middle', cell: ([name]) => name },
  { title: 'COUNT', align: 'right', spare: 1, cell: ([, count]) => count },
  { title: 'WHY', least: 6, isText: true, spare: 2, cell: ([, , why]) => why },
  { title: 'LEASE', least: 4, spare: 3, cell: ([, , , lease]) => lease },
]
const FORMAT = screenFormat(0, 'relative')

function linesOf(rows: readonly Row[], columns: number, widths = new ColumnWidths()): string[] {
  const items = rows.map(item => ({ item, marks: {} }))
  return textOf(tableRows(COLUMNS, items, { columns, format: FORMAT, widths, hasTitles: true, list: 'streams' }))
}

describe('the columns of a list', () => {
  it('give way where they are empty, before a text of another is cut', () => {
    const rows: Row[] = [['orders/4711', '', 'no card', 'worker@ops-1']]
    expect(linesOf(rows, 37)[1]).toBe('   orders/4711  no card  worker@ops-1')
  })

  it('are as wide as what is shown, and the text has the rest', () => {
    expect(linesOf([['orders/4711', '12/400', 'no such card', 'eva']], 50)).toEqual([
      '   NAME          COUNT  WHY                  LEASE',
      '   orders/4711  12/400  no such card         eva',
    ])
  })

  it('show nothing as nothing, but a name of one hyphen', () => {
    expect(linesOf([['-', '-', '-', '-']], 40)[1]).toBe('   -')
  })

  it('without any text are dropped before a name is cut', () => {
    const [titles, row] = linesOf([['a-name-of-twenty-cols', '12/400', 'why', '-']], 40)
    expect(titles).not.toContain('LEASE')
    expect(row).toContain('a-name-of-twenty-cols')
  })

  it('that are extras are dropped before a text is too short to be read', () => {
    const extra = COLUMNS.map(column => (column.title === 'LEASE' ? { ...column, spare: 7 } : column))
    const items = [{ item: ['orders/4711', '3', 'the supplier does not answer', 'eva@ops-1'] as const, marks: {} }]
    const lines = (columns: number) => {
      const widths = new ColumnWidths()
      return textOf(tableRows(extra, items, { columns, format: FORMAT, widths, hasTitles: true, list: 'streams' }))[1]
    }
    expect(lines(60)).toBe('   orders/4711      3  the supplier does not ans…  eva@ops-1')
    expect(lines(57)).toBe('   orders/4711      3  the supplier does not answer')
  })

  it('cut texts before names, and numbers never', () => {
    const row: Row = ['a-name-of-twenty-cols', '2700/5401', 'a reason of many words', 'ops']
    for (let columns = 30; columns < 90; columns++) {
      const [, line = ''] = linesOf([row], columns)
      if (line.includes('…') && line.includes('2700')) expect(line).toContain('2700/5401')
      if (!line.includes('a reason of many words') && line.includes('a rea')) continue
      if (line.includes('a reason of many words')) expect(line).toContain('a-name-of-twenty-cols')
    }
    expect(linesOf([row], 60)[1]).toBe('   a-name-of-twenty-cols  2700/5401  a reason of man…  ops')
  })

  it('grow while the screen is open, and do not shrink', () => {
    const widths = new ColumnWidths()
    widths.show('streams')
    const at = (lines: string[]) => lines[0]?.indexOf('WHY')
    const long = at(linesOf([['a-longer-name', '1/2', 'x', '']], 60, widths))
    expect(at(linesOf([['a', '1/2', 'x', '']], 60, widths))).toBe(long)
    widths.show('streams')
    expect(at(linesOf([['a', '1/2', 'x', '']], 60, widths))).toBe(long)
    widths.show('leases')
    expect(at(linesOf([['a', '1/2', 'x', '']], 60, widths))).toBeLessThan(long ?? 0)
  })

  it('fill no more than the width, however narrow it is', () => {
    const needed = COLUMNS.map(column => ({ column, content: 30 }))
    for (let columns = 0; columns < 120; columns++) {
      const placed = columnWidths(needed, columns)
      const total = placed.reduce((sum, { width }) => sum + width, 3 + 2 * (placed.length - 1))
      expect(total).toBeLessThanOrEqual(Math.max(columns, 3))
    }
  })
})

it('cells that have changed are inverted without their blanks, and the row has a sign of it', () => {
  const options = {
    columns: 60,
    format: FORMAT,
    widths: new ColumnWidths(),
    hasTitles: false,
    list: 'streams',
  } as const
  const [item, before]: readonly Row[] = [
    ['a', '3', 'now', ''],
    ['a', '2', 'before', ''],
  ]
  if (item === undefined || before === undefined) throw new Error('no rows')
  const rowOf = (previous: Row | undefined, marks = {}) => tableRows(COLUMNS, [{ item, marks, previous }], options)
  expect(rowOf(before)[0]?.spans.filter(([, style]) => style === 'mark')).toEqual([
    ['3', 'mark'],
    ['now', 'mark'],
  ])
  expect(textOf(rowOf(before))[0]).toMatch(/^ {2}~a/)
  expect(textOf(rowOf(['b', '3', 'now', ''], { isMarked: true }))[0]).toMatch(/^ •~a/)
  expect(rowOf(item)).toEqual(rowOf(undefined))
})

describe('the list of streams', () => {
  const titlesOf = (more: object, columns = 160, time: 'relative' | 'utc' = 'relative') => {
    const scene = demoScene('streams', { columns, rows: 30 }, { time, ...more })
    return frameText(frameOf(scene)).split('\n')[3] ?? ''
  }
  const sorted = (by: string, isDescending = false) => {
    const { lists } = demoScene('streams', { columns: 80, rows: 24 }).state
    return { lists: { ...lists, streams: { ...lists.streams, sort: { by, isDescending } } } }
  }

  it('has an arrow in the title of the column that it is sorted by: up where the shown values rise', () => {
    expect(titlesOf(sorted('name'))).toContain('NAME ↑')
    expect(titlesOf(sorted('failed'))).toContain('FAILED ↓')
    expect(titlesOf(sorted('failed', true))).toContain('FAILED ↑')
    expect(titlesOf(sorted('due'))).toContain('DUE ↑')
    expect(titlesOf(sorted('age'))).toContain('AGE ↓')
    expect(titlesOf(sorted('age'), 160, 'utc')).toContain('AGE ↑')
  })

  it('keeps the column that it is sorted by, on 80 columns too', () => {
    expect(titlesOf({}, 80)).not.toContain('AGE')
    expect(titlesOf(sorted('age'), 80)).toContain('AGE ↓')
    expect(titlesOf(sorted('age'), 40)).toContain('NAME  ')
  })

  it('takes no column away with w', () => {
    for (const columns of [40, 60, 80, 100, 120, 160, 200]) {
      const usual = titlesOf({}, columns).trim().split(/ {2,}/)
      const wide = titlesOf({ isWide: true }, columns)
      for (const title of usual) expect(wide).toContain(title)
    }
    expect(titlesOf({ isWide: true }, 240)).toContain('VERSION')
  })

  it('has name and status on 40 columns', () => {
    expect(titlesOf({}, 40)).toMatch(/NAME ↑ +STATUS/)
    expect(titlesOf({ isWide: true }, 40)).toMatch(/NAME ↑ +STATUS/)
  })

  it('has the chosen columns in their order; those of another version are left out', () => {
    const settings = { columns: { streams: ['STATUS', 'NO SUCH', 'NAME', 'KEY'] }, views: {} }
    expect(titlesOf({ settings }).trim().split(/ {2,}/)).toEqual(['STATUS', 'NAME ↑', 'KEY'])
    expect(titlesOf({ settings: { columns: { streams: ['NO SUCH'] }, views: {} } })).toContain('PROGRESS')
  })

  it('says how long a stream took that has ended, and when that was', () => {
    const entry = streamEntry('a', { status: 'completed', open: 0, createdMs: NOW_MS - 3_600_000 })
    const { item } = entry
    const ended = { ...entry, item: { ...item, listed: { ...item.listed, modifiedMs: NOW_MS - 3_585_000 } } }
    const text = frameText(frameOf(sceneWith({ streams: [ended], rows: ['a'], size: { columns: 120, rows: 24 } })))
    expect(text).toMatch(/took 15s/)
    expect(text).toMatch(/ended 59m ago/)
  })
})

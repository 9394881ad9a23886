import { expect, it } from 'vitest'
import { ColumnWidths } from '../../../../src/tui/state/column-widths.ts'
import { sparkline } from '../../../../src/tui/view/streams.ts'
import { tableRows } from '../../../../src/tui/view/table.ts'
import { screenFormat } from '../../../../src/tui/view/times.ts'

it('cursor and mark are signs, in addition to the style of the row', () => {
  const row = (marks: object) => {
    const options = { columns: 20, format: screenFormat(0, 'relative'), widths: new ColumnWidths(), hasTitles: false }
    const columns = [{ title: 'NAME', cell: (text: string) => text }]
    const [drawn] = tableRows(columns, [{ item: 'a', marks }], { ...options, list: 'streams' })
    return { text: drawn?.spans.map(([text]) => text).join(''), highlight: drawn?.highlight }
  }
  expect(row({ isCursor: true }).text).toMatch(/^› {2}a/)
  expect(row({ isCursor: true, isMarked: true }).text).toMatch(/^›• a/)
  expect(row({ isCursor: true, isFaint: true }).highlight).toBe('cursor')
  expect(row({ isFaint: true }).highlight).toBe('faint')
  expect(row({}).highlight).toBeUndefined()
})

it('recent changes are drawn on one scale, the latest at the right, and move with time', () => {
  const rate = [0, 0, 0, 0, 1, 2, 4, 64]
  expect(sparkline({ rate, rateSlot: 10 }, 10 * 15_000)).toBe('▁▁▁▁▂▃▄█')
  expect(sparkline({ rate, rateSlot: 10 }, 12 * 15_000)).toBe('▁▁▂▃▄█▁▁')
  expect(sparkline({ rate, rateSlot: 10 }, 18 * 15_000)).toBe('')
})

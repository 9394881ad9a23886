import { expect, it } from 'vitest'
import { type ListColumn, listRow, placeColumns, titleRow } from '../../../../src/tui/view/columns.ts'
import { sparkline } from '../../../../src/tui/view/streams.ts'
import { screenFormat } from '../../../../src/tui/view/times.ts'

const FORMAT = screenFormat(0, 'relative')
const COLUMNS: readonly ListColumn<readonly string[]>[] = [
  { title: 'NAME', width: 6, share: 1, cut: 'middle', cell: ([name = '']) => name },
  { title: 'AGE', width: 4, align: 'right', spare: 1, cell: ([, age = '']) => ({ text: age, style: 'dim' }) },
  { title: 'WHY', width: 5, share: 1, from: 40, spare: 2, cell: ([, , why = '']) => why },
]

const textOf = ({ spans }: { readonly spans: readonly (readonly [string, string])[] }) =>
  spans.map(([text]) => text).join('')

it('columns are placed by the width of the list only', () => {
  const widths = (columns: number) => placeColumns(COLUMNS, columns).map(({ width }) => width)
  expect(widths(40)).toEqual([15, 4, 14])
  expect(widths(39)).toEqual([30, 4])
  expect(widths(15)).toEqual([6, 4])
  expect(widths(14)).toEqual([11])
  expect(widths(5)).toEqual([2])
})

it('each cell fits into its column', () => {
  const columns = placeColumns(COLUMNS, 40)
  expect(textOf(titleRow(columns))).toBe('   NAME              AGE  WHY')
  const row = listRow(columns, ['orders/eu/2024/4711', '3m', '日本の客户が言いました'], FORMAT)
  expect(textOf(row)).toBe('   orde…/2024/4711    3m  日本の客户が…')
})

it('cells that have changed are inverted without their blanks, and the row has a sign of it', () => {
  const columns = placeColumns(COLUMNS, 40)
  const row = listRow(columns, ['a', '3m', 'now'], FORMAT, {}, ['a', '2m', 'before'])
  expect(row.spans.filter(([, style]) => style === 'mark')).toEqual([
    ['3m', 'mark'],
    ['now', 'mark'],
  ])
  expect(textOf(row)).toBe('  ~a                  3m  now')
  expect(textOf(listRow(columns, ['a', '3m', 'now'], FORMAT, { isMarked: true }, ['b', '3m', 'now']))).toMatch(/^ •~a/)
  expect(listRow(columns, ['a', '3m', 'now'], FORMAT, {}, ['a', '3m', 'now'])).toEqual(
    listRow(columns, ['a', '3m', 'now'], FORMAT),
  )
})

it('cursor and mark are signs, in addition to the style of the row', () => {
  const row = (marks: object) => listRow(placeColumns(COLUMNS, 20), ['a'], FORMAT, marks)
  expect(textOf(row({ isCursor: true }))).toMatch(/^› {2}a/)
  expect(textOf(row({ isCursor: true, isMarked: true }))).toMatch(/^›• a/)
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

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { table } from '../../../../src/formats/terminal/table.ts'
import { cut, cutInside, pad, widthOf } from '../../../../src/formats/terminal/width.ts'

const COLUMNS = [
  { title: 'NAME', give: 1, min: 4 },
  { title: 'N', align: 'right' },
  { title: 'NOTE', give: 2, min: 4 },
] as const

test('columns are as wide as their widest cell, the last one is not padded', () => {
  expect(
    table(COLUMNS, [
      ['a', '1', 'x'],
      ['bcdefg', '1000', ''],
    ]),
  ).toEqual(['NAME       N  NOTE', 'a          1  x', 'bcdefg  1000'])
})

test('wide characters keep columns straight', () => {
  const [, ...rows] = table(COLUMNS, [
    ['注文', '1', 'x'],
    ['e\u0301te', '1', 'x'],
    ['🚀', '1', 'x'],
  ])
  expect(rows.map(row => widthOf(row.slice(0, row.indexOf('1'))))).toEqual([6, 6, 6])
})

test('cells are cut only to fit a width, the most flexible first, and never below their minimum', () => {
  const rows = [['a'.repeat(20), '7', 'n'.repeat(20)]]
  expect(table(COLUMNS, rows)[1]).toBe(`${'a'.repeat(20)}  7  ${'n'.repeat(20)}`)
  expect(table(COLUMNS, rows, { width: 35 })[1]).toBe(`${'a'.repeat(20)}  7  ${'n'.repeat(9)}…`)
  expect(table(COLUMNS, rows, { width: 15 })[1]).toBe(`${'a'.repeat(5)}…  7  nnn…`)
  expect(table(COLUMNS, rows, { width: 1 })[1]).toBe('aaa…  7  nnn…')
})

test('a cut text never exceeds its width and is cut at a whole character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 20 }), (text, width) => {
      const short = cut(text, width)
      expect(widthOf(short)).toBeLessThanOrEqual(Math.max(width, 0))
      expect(short.isWellFormed()).toBe(text.isWellFormed())
      expect(widthOf(pad(short, width))).toBe(width)
    }),
  )
})

test('a name is cut inside: names with the same beginning stay distinguishable', () => {
  const name = { title: 'NAME', give: 1, min: 8, cut: 'middle' } as const
  const rows = [['orders/2026-11/0001'], ['orders/2026-11/0002']]
  expect(table([name], rows, { width: 12 })).toEqual(['NAME', 'ord…-11/0001', 'ord…-11/0002'])
  expect(table([name], rows, { width: 40 })[1]).toBe('orders/2026-11/0001')
})

test('a text cut inside never exceeds its width and is cut at whole characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 20 }), (text, width) => {
      const short = cutInside(text, width)
      expect(widthOf(short)).toBeLessThanOrEqual(Math.max(width, 0))
      expect(short.isWellFormed()).toBe(text.isWellFormed())
      if (widthOf(text) <= width) expect(short).toBe(text)
    }),
  )
})

test('a running cell is never cut and takes only its minimum from the others', () => {
  const columns = [COLUMNS[0], { title: 'WHY', runsOn: true, min: 6 }]
  const rows = [['a'.repeat(20), 'w'.repeat(30)]]
  expect(table(columns, rows, { width: 20 })[1]).toBe(`${'a'.repeat(11)}…  ${'w'.repeat(30)}`)
  expect(table(columns, rows, { width: 28 })[1]).toBe(`${'a'.repeat(20)}  ${'w'.repeat(30)}`)
})

test('optional columns are dropped before the last flexible one is cut, and only as many as needed', () => {
  const columns = [...COLUMNS, { title: 'AGE', spare: 1 }, { title: 'VERSION', spare: 2 }]
  const rows = [['a'.repeat(20), '7', 'n'.repeat(20), '3m', '12']]
  const header = (width: number) => table(columns, rows, { width })[0]?.trim().split(/ +/)
  expect(header(80)).toEqual(['NAME', 'N', 'NOTE', 'AGE', 'VERSION'])
  expect(header(43)).toEqual(['NAME', 'N', 'NOTE', 'AGE', 'VERSION'])
  expect(header(42)).toEqual(['NAME', 'N', 'NOTE', 'AGE'])
  expect(header(32)).toEqual(['NAME', 'N', 'NOTE'])
  expect(table(columns, rows)[1]).toContain('12')
})

test('empty columns are dropped before a name is cut, and lesser ones after them', () => {
  const columns = [
    { title: 'NAME', give: 1, min: 4 },
    { title: 'DUE' },
    { title: 'AGE', spare: 2 },
    { title: 'LEASE', spare: 1 },
  ]
  const rows = [
    ['abcdefghij', '-', '5m', 'bob'],
    ['abcdefghik', '', '6m', '-'],
  ]
  const titles = (width: number) => table(columns, rows, { width })[0]?.split(/ +/)
  expect(titles(27)).toEqual(['NAME', 'DUE', 'AGE', 'LEASE'])
  expect(titles(26)).toEqual(['NAME', 'AGE', 'LEASE'])
  expect(titles(21)).toEqual(['NAME', 'LEASE'])
  expect(titles(14)).toEqual(['NAME'])
  expect(table(columns, rows, { width: 14 })[1]).toBe('abcdefghij')
})

test('a very long name is cut beside columns that say something', () => {
  const columns = [
    { title: 'NAME', give: 1, min: 4 },
    { title: 'STATUS', spare: 1 },
  ]
  const lines = table(columns, [['n'.repeat(200), 'done']], { width: 40 })
  expect(lines).toEqual([`NAME${' '.repeat(30)}STATUS`, `${'n'.repeat(31)}…  done`])
})

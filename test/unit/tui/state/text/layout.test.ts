import { expect, it } from 'vitest'
import { type TextLayout, textLayout } from '../../../../../src/tui/state/text/layout.ts'
import { type ReadableText, START_READING } from '../../../../../src/tui/state/text/text.ts'

const NOT_WRAPPED = { ...START_READING, wraps: false }

function partsOf({ lines }: ReadableText, layout: TextLayout): string[] {
  return Array.from({ length: layout.total }, (_, at) => {
    const { line, from, to } = layout.row(at)
    return lines[line]?.slice(from, to) ?? ''
  })
}

it('a long line is broken after blanks, a word without them at the edge, and nothing is lost', () => {
  const text = { lines: ['the quick brown fox', '', 'abcdefghijklmnopqrstuvw'] }
  const layout = textLayout(text, 11, START_READING)
  expect(partsOf(text, layout)).toEqual(['the quick ', 'brown fox', '', 'abcdefghij', 'klmnopqrst', 'uvw'])
  expect([0, 1, 2].map(line => layout.rowOf(line))).toEqual([0, 2, 3])
})

it('no row of a line of wide and hostile characters is too wide', () => {
  const line = '漢字😀\u009b\u202e\u0301 x'.repeat(50)
  const text = { lines: [line] }
  for (const columns of [10, 40, 80])
    expect(partsOf(text, textLayout(text, columns, START_READING)).join('')).toBe(line)
})

it('lines that are not wrapped are one row each, but a line of thousands of characters', () => {
  const text = { lines: ['x'.repeat(1_500), 'y'.repeat(2_500)] }
  const layout = textLayout(text, 101, NOT_WRAPPED)
  expect(layout.total).toBe(1 + 25)
  expect(layout.rowOf(1)).toBe(1)
})

it('a folded element has the row of its first line, and a toggled single line is wrapped', () => {
  const lines = ['<a>', '  <b>', '  </b>', '</a>', `<c ${'x'.repeat(60)}/>`]
  const outline = {
    ends: new Map([
      [0, 3],
      [1, 2],
    ]),
    keyOf: (line: number) => `#${line}`,
  }
  const text = { lines, outline }
  const layout = textLayout(text, 46, { wraps: false, toggled: new Set(['#1', '#4']) })
  expect(partsOf(text, layout)).toEqual(['<a>', '  <b>', '</a>', `<c ${'x'.repeat(37)}`, `${'x'.repeat(23)}/>`])
  expect(layout.rowOf(2)).toBe(1)
})

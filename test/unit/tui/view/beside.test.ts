import { describe, expect, it } from 'vitest'
import { piecesOf, sameRow } from '../../../../src/tui/ink/ansi-row.ts'
import { layoutOf } from '../../../../src/tui/state/layout.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { besideRow, rowOf } from '../../../../src/tui/view/row.ts'
import { demoScene, frameText } from '../support/scenes.ts'
import { Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const left = rowOf([['›01', 'plain']], 10, 'cursor')
const right = rowOf([['failed', 'bad']], 10)

describe('two rows side by side', () => {
  it('highlight the left one only', () => {
    const pieces = piecesOf(besideRow(left, right, 6), 20, 'dark')
    expect(pieces.map(({ text, style }) => [text, style.inverse ?? false])).toEqual([
      ['›01   ', true],
      ['│', false],
      ['failed', false],
    ])
    const faint = piecesOf(besideRow({ ...left, highlight: 'faint' }, right, 6), 20, 'dark')
    expect(faint.map(({ style }) => style.color)).toEqual([undefined, undefined, 'redBright'])
  })

  it('look different if the highlight ends elsewhere', () => {
    const row = besideRow(left, right, 6)
    expect(sameRow(row, { ...row })).toBe(true)
    expect(sameRow(row, { spans: row.spans, highlight: 'cursor' })).toBe(false)
  })
})

describe('the details beside the tree', () => {
  const size = { columns: 160, rows: 40 }
  const stage = () => new Stage(worldWith({ streams: ['a'] }), { size, stream: 'a' })

  it('begin at 150 columns, in the tree alone', () => {
    const sides = [149, 150].map(columns => layoutOf({ ...stage().state, size: { columns, rows: 40 } }))
    expect(sides.map(({ side, detail }) => [side, detail > 0])).toEqual([
      [0, true],
      [60, false],
    ])
    expect(layoutOf(stage().press('t').state).side).toBe(0)
    expect(layoutOf(stage().press('1').state).side).toBe(0)
  })

  it('become wider with d, and narrower again', () => {
    const widths = [stage(), stage().press('d'), stage().press('d', 'd')].map(({ state }) => layoutOf(state).side)
    expect(widths).toEqual([64, 88, 64])
  })

  it('show all of the message without a key', () => {
    const { lists } = demoScene('stream', size).state
    const stream = { ...lists.stream, cursor: '03.00' }
    const text = frameText(frameOf(demoScene('stream', size, { lists: { ...lists, stream } })))
    expect(text).toMatch(/│─ 03\.00 SearchStart ─+\n.*│ ✗ aborted[^\n]*\n.*│ msg supplier 3 does not answer/)
  })
})

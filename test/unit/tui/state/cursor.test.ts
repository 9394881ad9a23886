import { describe, expect, it } from 'vitest'
import { Stage } from '../support/stage.ts'
import { listingOf, worldWith } from '../support/world.ts'

const NAMES = Array.from({ length: 100 }, (_, at) => `s${String(at).padStart(2, '0')}`)
const MANY = worldWith({ streams: NAMES })
/** A screen of 40 rows has 32 for the list. */
const HEIGHT = 30

const stage = (...names: readonly string[]) => new Stage(worldWith({ streams: names }))

describe('the cursor of a list', () => {
  it('moves by rows and stops at the ends', () => {
    expect(stage('a', 'b', 'c').press('k').cursor).toBe('a')
    expect(stage('a', 'b', 'c').press('j', 'down', 'j').cursor).toBe('c')
    expect(stage('a', 'b', 'c').press('G', 'up').cursor).toBe('b')
  })

  it('jumps to the ends of the list', () => {
    const there = new Stage(MANY).press('G')
    expect([there.cursor, there.list.offset]).toEqual(['s99', HEIGHT - 1])
    expect([there.press('g').cursor, there.list.offset]).toEqual(['s00', 0])
  })

  it('moves by a screen less one row, and keeps its place on the screen', () => {
    const there = new Stage(MANY).press('j', 'j', 'pagedown')
    expect([there.cursor, there.list.offset]).toEqual(['s31', 2])
    expect(there.press('pageup').cursor).toBe('s02')
  })

  it('moves down to the last row of the screen, then the list scrolls', () => {
    const there = new Stage(MANY).press(...Array(50).fill('j'))
    expect([there.cursor, there.list.offset]).toEqual(['s50', HEIGHT - 1])
    expect(there.press('k').list.offset).toBe(HEIGHT - 2)
  })

  it('follows its row when others appear and disappear', () => {
    const there = stage('b', 'd').press('j')
    there.world = worldWith({ streams: ['a', 'b', 'c', 'd'] })
    expect(there.act({ kind: 'tick' }).cursor).toBe('d')
    expect(there.press('k').cursor).toBe('c')
  })

  it('keeps its place when its row disappears', () => {
    const there = stage('a', 'b', 'c', 'd').press('j', 'j')
    there.world = worldWith({ streams: ['b', 'c', 'd'] })
    there.act({ kind: 'tick' })
    there.world = worldWith({ streams: ['b', 'd'] })
    expect(there.cursor).toBe('d')
    expect(there.act({ kind: 'tick' }).list).toMatchObject({ cursor: 'd', index: 1 })
  })

  it('moves to the last row when the rows after it are gone too', () => {
    const there = stage('a', 'b', 'c').press('G')
    there.world = worldWith({ streams: ['a'] })
    expect(there.act({ kind: 'tick' }).cursor).toBe('a')
  })

  it('waits for its row while the list is empty', () => {
    const there = stage('a', 'b').press('j')
    there.world = worldWith()
    there.act({ kind: 'tick' }).press('j', 'space', '*', 'enter', 'c')
    there.world = worldWith({ streams: ['a', 'b'] })
    expect(there.cursor).toBe('b')
  })

  it('is on the first row, whichever it is, until it is moved', () => {
    const there = stage('b')
    there.act({ kind: 'tick' })
    there.world = worldWith({ streams: ['a', 'b'] })
    expect(there.cursor).toBe('a')
  })

  it('distinguishes its moves from other changes', () => {
    const there = stage('a', 'b')
    expect(there.press('j', 'k').list.moves).toBe(2)
    expect(there.press('w', 'T').act({ kind: 'tick' }).list.moves).toBe(2)
  })

  it('stays on a screen that shrinks', () => {
    const there = new Stage(MANY).press('G').act({ kind: 'resize', size: { columns: 20, rows: 5 } })
    expect(there.cursor).toBe('s99')
    expect(there.list.offset).toBe(2)
  })
})

describe('marks', () => {
  it('are set by name, row by row, and removed again', () => {
    const there = stage('a', 'b', 'c').press('space', 'space')
    expect([...there.list.marks]).toEqual(['a', 'b'])
    expect(there.cursor).toBe('c')
    expect([...there.press('g', 'space').list.marks]).toEqual(['b'])
  })

  it('are set on all rows of the filter, with their number', () => {
    const there = stage('a1', 'a2', 'b').press('G', 'space', '/').type('a').press('enter', '*')
    expect([...there.list.marks].sort()).toEqual(['a1', 'a2', 'b'])
    expect(there.notice).toBe('marked 2 rows, 3 in all')
  })

  it('exclude rows that no longer pass the filter', () => {
    const there = stage()
    there.world = worldWith({ rows: listingOf(['a', 'b'], { faint: ['b'] }) })
    expect([...there.press('*').list.marks]).toEqual(['a'])
    expect(there.notice).toBe('marked 1 row')
  })

  it('report that not all rows are known yet', () => {
    const there = new Stage(worldWith({ streams: ['a'], isComplete: false })).press('*')
    expect(there.notice).toContain('not complete yet')
  })

  it('are all removed with u', () => {
    expect(stage('a', 'b').press('*', 'u').list.marks.size).toBe(0)
  })

  it('are not possible on screens without changes', () => {
    expect(stage('a').press('4', 'space', '*').list.marks.size).toBe(0)
  })
})

describe('the order of a list', () => {
  it('cycles through the columns and back to the default', () => {
    const there = stage('a')
    const seen = Array.from({ length: 6 }, () => there.press('s').list.sort?.by)
    expect(seen).toEqual(['status', 'failed', 'due', 'age', 'changed', undefined])
    expect(there.notice).toBe('sorted by name')
  })

  it('begins in view, wherever the cursor was', () => {
    const there = stage('a', 'b', 'c').press('G', 's')
    expect([there.cursor, there.list.offset]).toEqual(['a', 0])
    expect(there.press('G', 'S').list.offset).toBe(0)
  })

  it('is turned round', () => {
    const there = stage('a').press('s', 'S')
    expect(there.list.sort).toEqual({ by: 'status', isDescending: true })
    expect(there.press('S').list.sort?.isDescending).toBe(false)
    expect(stage('a').press('S').list.sort).toEqual({ by: 'name', isDescending: true })
  })

  it('belongs to its list', () => {
    const there = stage('a').press('s', '3', 's')
    expect([there.state.lists.streams.sort?.by, there.state.lists.leases.sort?.by]).toEqual(['status', 'name'])
  })

  it.each([
    ['1', 'A', 'age'],
    ['1', 'I', 'name'],
    ['1', 'W', 'failed'],
    ['1', 'E', 'due'],
    ['1', 'M', 'changed'],
    ['1', 'V', 'lease'],
    ['3', 'A', 'since'],
    ['3', 'V', 'holder'],
    ['4', 'W', 'will'],
    ['4', 'E', 'due'],
    ['5', 'V', 'who'],
    ['5', 'I', 'stream'],
    ['6', 'A', 'since'],
    ['6', 'E', 'claim'],
    ['6', 'M', 'seen'],
    ['6', 'W', 'state'],
  ])('has one key for each common one: on screen %s %s sorts by %s', (screen, key, by) => {
    const there = stage('a').press(screen, 's', key)
    expect(there.notice).toMatch(new RegExp(`^sorted by ${by}`))
  })

  it('is reversed by its key pressed again', () => {
    expect(stage('a').press('A', 'A').list.sort).toEqual({ by: 'age', isDescending: true })
  })
})

describe('the next match', () => {
  it('skips rows that are only context, beyond the ends too', () => {
    const there = stage().press('/').type('x').press('enter')
    there.world = worldWith({ rows: listingOf(['x1', 'y', 'x2', 'z'], { faint: ['y', 'z'] }) })
    expect(['n', 'n', 'N', 'N'].map(key => there.press(key).cursor)).toEqual(['x2', 'x1', 'x2', 'x1'])
  })

  it('reports a missing filter, or no match', () => {
    expect(stage('a').press('n').notice).toContain('no filter')
    expect(stage('a').press('/').type('x').press('enter', 'n').notice).toContain('nothing matches')
  })
})

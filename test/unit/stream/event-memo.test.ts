import { describe, expect, it } from 'vitest'
import { memoFor } from '../../../src/stream/event.ts'

interface Point {
  readonly x: number
}

describe('memoFor', () => {
  const memoOf = memoFor<Point, { length: number | undefined }>(() => ({ length: undefined }))

  it('gives an object the same memo each time', () => {
    const point = { x: 1 }
    memoOf(point).length = 7
    expect(memoOf(point).length).toBe(7)
  })

  it('keeps the memo out of copies, comparisons and JSON', () => {
    const point = { x: 1 }
    memoOf(point).length = 7
    expect(memoOf({ ...point }).length).toBeUndefined()
    expect(point).toStrictEqual({ x: 1 })
    expect(Object.keys(point)).toEqual(['x'])
    expect(JSON.stringify(point)).toBe('{"x":1}')
  })

  it('keeps the memos of two purposes apart', () => {
    const other = memoFor<Point, { length: number | undefined }>(() => ({ length: undefined }))
    const point = { x: 1 }
    memoOf(point).length = 7
    expect(other(point).length).toBeUndefined()
  })

  it('gives a frozen object an empty memo at each call', () => {
    const point = Object.freeze({ x: 1 })
    memoOf(point).length = 7
    expect(memoOf(point).length).toBeUndefined()
  })
})

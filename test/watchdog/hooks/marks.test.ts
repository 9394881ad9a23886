import { describe, expect, test } from 'vitest'
import { markOf, marksText, parseMarks, withMarks } from '../../../src/watchdog/hooks/marks.ts'

describe('marks', () => {
  test('are read back as they were written', () => {
    expect(parseMarks(marksText([10, undefined, 30]))).toEqual([10, undefined, 30])
  })

  test.each(['', 'null', '[]', '{}', '{"since":[]}', '{"since":3}', '<a/>'])('are none in %j', text => {
    expect(parseMarks(text)).toBeUndefined()
  })

  test('that are no times are not known', () => {
    expect(parseMarks('{"since":["x",1.5,7,null]}')).toEqual([undefined, undefined, 7, undefined])
  })

  test('of a shard that nobody had, or of another division, are the earliest of all', () => {
    expect(markOf([10, undefined, 30], 1, 3)).toBe(10)
    expect(markOf([10, 20, 30], 1, 3)).toBe(20)
    expect(markOf([20, 10, 30], 0, 2)).toBe(10)
    expect(markOf([undefined], 0, 1)).toBeUndefined()
  })

  test('never go back, and those of others stay', () => {
    expect(withMarks([10, 20], 2, new Map([[0, 15]]))).toEqual([15, 20])
    expect(withMarks([10, 20], 2, new Map([[1, 15]]))).toEqual([10, 20])
    expect(withMarks(undefined, 2, new Map([[1, 15]]))).toEqual([undefined, 15])
  })

  test('written again change nothing: an answer may be lost', () => {
    const news = new Map([[0, 15]])
    const once = withMarks([10, 20, 5], 2, news)
    expect(once).toEqual([15, 5])
    expect(withMarks(once, 2, news)).toEqual(once)
  })
})

import { describe, expect, test } from 'vitest'
import { markOf, marksText, parseMarks, type Watermark, withNews } from '../../../../src/watchdog/hooks/watermarks.ts'

const marks = (...since: Watermark['since']): Watermark => ({ since, told: [] })
const news = (total: number, since: [number, number][], told: string[] = []) => ({ total, since: new Map(since), told })

describe('marks', () => {
  test('are read back as they were written', () => {
    const written = { since: [10, undefined, 30], told: ['a', 'b'] }
    expect(parseMarks(marksText(written))).toEqual(written)
  })

  test.each(['', 'null', '[]', '{}', '{"since":[]}', '{"since":3}', '<a/>'])('are none in %j', text => {
    expect(parseMarks(text)).toBeUndefined()
  })

  test('that are no times are not known, and what is no id was not told', () => {
    expect(parseMarks('{"since":["x",1.5,7,null],"told":[1,"a",null]}')).toEqual({
      since: [undefined, undefined, 7, undefined],
      told: ['a'],
    })
    expect(parseMarks('{"since":[7],"told":"a"}')).toEqual(marks(7))
  })

  test('of a shard that nobody had, or of another division, are the earliest of all', () => {
    expect(markOf(marks(10, undefined, 30), 1, 3)).toBe(10)
    expect(markOf(marks(10, 20, 30), 1, 3)).toBe(20)
    expect(markOf(marks(20, 10, 30), 0, 2)).toBe(10)
    expect(markOf(marks(undefined), 0, 1)).toBeUndefined()
  })

  test('never go back, and those of others stay', () => {
    expect(withNews(marks(10, 20), news(2, [[0, 15]]))).toEqual(marks(15, 20))
    expect(withNews(marks(10, 20), news(2, [[1, 15]]))).toEqual(marks(10, 20))
    expect(withNews(undefined, news(2, [[1, 15]]))).toEqual(marks(undefined, 15))
  })

  test('written again change nothing: an answer may be lost', () => {
    const again = news(2, [[0, 15]], ['b', 'a'])
    const once = withNews({ since: [10, 20, 5], told: ['a', 'c'] }, again)
    expect(once).toEqual({ since: [15, 5], told: ['c', 'b', 'a'] })
    expect(withNews(once, again)).toEqual(once)
  })

  test('keep of what was told the latest', () => {
    const many = Array.from({ length: 600 }, (_, at) => `id-${at}`)
    expect(withNews({ since: [1], told: ['old'] }, news(1, [], many)).told).toEqual(many.slice(100))
  })
})

import { describe, expect, test } from 'vitest'
import { markOf, marksText, parseMarks, type Watermark, withNews } from '../../../../src/watchdog/hooks/watermarks.ts'

const marks = (...since: Watermark['since']): Watermark => ({ since, told: [] })
const news = (total: number, since: [number, number][], told: string[] = []) => ({ total, since: new Map(since), told })

describe('watermarks', () => {
  test('are read back as they were written', () => {
    const written = { since: [10, undefined, 30], told: ['a', 'b'] }
    expect(parseMarks(marksText(written))).toEqual(written)
  })

  test.each(['', 'null', '[]', '{}', '{"since":[]}', '{"since":3}', '<a/>'])('are invalid in %j', text => {
    expect(parseMarks(text)).toBeUndefined()
  })

  test('that are not times are unknown, and invalid ids do not count as delivered', () => {
    expect(parseMarks('{"since":["x",1.5,7,null],"told":[1,"a",null]}')).toEqual({
      since: [undefined, undefined, 7, undefined],
      told: ['a'],
    })
    expect(parseMarks('{"since":[7],"told":"a"}')).toEqual(marks(7))
  })

  test('of a shard without one, or of another number of shards, are the earliest of all', () => {
    expect(markOf(marks(10, undefined, 30), 1, 3)).toBe(10)
    expect(markOf(marks(10, 20, 30), 1, 3)).toBe(20)
    expect(markOf(marks(20, 10, 30), 0, 2)).toBe(10)
    expect(markOf(marks(undefined), 0, 1)).toBeUndefined()
  })

  test('never decrease, and those of others are kept', () => {
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

  test('keep the latest delivered ids', () => {
    const many = Array.from({ length: 600 }, (_, at) => `id-${at}`)
    expect(withNews({ since: [1], told: ['old'] }, news(1, [], many)).told).toEqual(many.slice(100))
  })
})

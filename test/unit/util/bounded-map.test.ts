import { describe, expect, test } from 'vitest'
import { BoundedMap } from '../../../src/util/bounded-map.ts'

describe('BoundedMap', () => {
  test('forgets the oldest entry beyond its limit', () => {
    const map = new BoundedMap<string, number>(2)
    map.set('a', 1).set('b', 2).set('c', 3)
    expect([...map]).toEqual([
      ['b', 2],
      ['c', 3],
    ])
  })

  test('an entry that is set again is the newest, one that is only read is not', () => {
    const map = new BoundedMap<string, number>(2)
    map.set('a', 1).set('b', 2).set('a', 3)
    map.get('b')
    map.set('c', 4)
    expect([...map.keys()]).toEqual(['a', 'c'])
    expect(map.get('a')).toBe(3)
  })

  test('a weight limit forgets as many entries as necessary, and does not count deleted or replaced ones', () => {
    const map = new BoundedMap<string, number>(10, value => value)
    map.set('a', 3).set('b', 3).set('c', 3)
    map.delete('b')
    map.set('c', 4).set('d', 3)
    expect([...map.keys()]).toEqual(['a', 'c', 'd'])
    map.set('e', 8)
    expect([...map.keys()]).toEqual(['e'])
    map.clear()
    map.set('f', 10)
    expect([...map.keys()]).toEqual(['f'])
  })

  test('a value heavier than the limit is not kept', () => {
    const map = new BoundedMap<string, number>(10, value => value)
    map.set('a', 11)
    expect(map.size).toBe(0)
    map.set('b', 10)
    expect(map.size).toBe(1)
  })
})

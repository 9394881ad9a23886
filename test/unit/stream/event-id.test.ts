import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareIds, isLinkable, isPlainId, nextForkIds, nextStepId, sortedById } from '../../../src/stream/event-id.ts'

describe('event ids', () => {
  it.each([
    [['00'], '00', '01'],
    [['00', '01'], '00', '02'],
    [['00', '01.00'], '01.00', '01.01'],
    [['00', '01.00', '01.01', '01.02.07'], '01.00', '01.02'],
    [['00', '01.99'], '01.00', '01.100'],
    [['01.9'], '01.00', '01.10'],
    [['01.00', '011.05', '1.07'], '01.00', '01.01'],
  ])('with the ids %j, the next step after %s is %s', (existing, id, next) => {
    expect(nextStepId(existing, id)).toBe(next)
  })

  it.each([
    [['00'], '00', ['01.00', '02.00']],
    [['00', '01', '07.00.00'], '00', ['08.00', '09.00']],
    [['01.00', '02.05'], '01.00', ['01.01.00', '01.02.00']],
    [['01.00', '01.01', '01.02.00'], '01.01', ['01.03.00', '01.04.00']],
    [['00', '99.00'], '00', ['100.00', '101.00']],
    [['00', '99999999999999999999.00'], '00', ['100000000000000000000.00', '100000000000000000001.00']],
  ])('with the ids %j, two forks from %s are %j', (existing, id, forks) => {
    expect(nextForkIds(existing, id, 2)).toEqual(forks)
  })

  it('successors of an id that is not digits and dots get ids in the next free thread of the root', () => {
    expect(nextStepId(['00', '03.00', 'abc'], 'abc')).toBe('04.00')
    expect(nextForkIds(['00', '03.00', 'x.01'], 'x.01', 2)).toEqual(['04.00', '05.00'])
  })

  it.each(['', 'a|b', "a'b", ' 01', '01 ', '01\n', '\u00a001'])('%j cannot be linked', id => {
    expect(isLinkable(id)).toBe(false)
  })

  it.each(['00', '01.02', 'abc', 'a b', 'ä"<&'])('%j can be linked', id => {
    expect(isLinkable(id)).toBe(true)
  })

  it('only an id of digits and dots belongs to a thread', () => {
    expect(['00', '1.2.3', '', '.', '1.', '.1', '1..2', '١', '1a'].map(isPlainId)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
      false,
    ])
  })

  it('ids are compared numerically, segment by segment; other segments sort as text after numbers', () => {
    const sorted = [
      '00',
      '1',
      '01.00',
      '01.02',
      '01.10',
      '01.10.00',
      '01.a',
      '02',
      '10',
      '99999999999999999999',
      'A',
      'a',
    ]
    expect([...sorted].reverse().sort(compareIds)).toEqual(sorted)
    expect(sortedById([...sorted].reverse(), id => id)).toEqual(sorted)
  })

  it('the comparison is a total order', () => {
    const id = fc
      .array(fc.constantFrom('0', '00', '1', '01', '10', 'a', 'b', ''), { maxLength: 3 })
      .map(s => s.join('.'))
    fc.assert(
      fc.property(id, id, id, (a, b, c) => {
        expect(Math.sign(compareIds(a, b))).toBe(-Math.sign(compareIds(b, a)) + 0)
        expect(compareIds(a, b) === 0).toBe(a === b)
        if (compareIds(a, b) <= 0 && compareIds(b, c) <= 0) expect(compareIds(a, c)).toBeLessThanOrEqual(0)
      }),
    )
  })
})

it('ids of the same form compare like their numbers', () => {
  const segment = fc.integer({ min: 0, max: 99 })
  const id = (digits: number) =>
    fc
      .array(segment, { minLength: 1, maxLength: 3 })
      .map(all => all.map(n => String(n).padStart(digits, '0')).join('.'))
  fc.assert(
    fc.property(id(2), id(2), (a, b) => {
      // A leading digit does not change the order, but lets the lengths differ.
      expect(Math.sign(compareIds(a, b))).toBe(a === b ? 0 : Math.sign(compareIds(a, `0${b}`)) || (a < b ? -1 : 1))
    }),
  )
})

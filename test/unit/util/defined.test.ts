import { expect, test } from 'vitest'
import { defined } from '../../../src/util/defined.ts'

test('defined omits exactly the undefined fields', () => {
  const fields: { a: string | undefined; b: number | undefined; c: boolean | undefined; d: null } = {
    a: undefined,
    b: 0,
    c: false,
    d: null,
  }
  expect(Object.entries(defined(fields))).toEqual([
    ['b', 0],
    ['c', false],
    ['d', null],
  ])
})

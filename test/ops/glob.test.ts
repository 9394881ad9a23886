import { expect, test } from 'vitest'
import { globOf } from '../../src/ops/glob.ts'

test('everything but a wildcard is itself', () => {
  const name = 'a-b.c+d(e)[f]{g}^h$i|j/k\\l@m#n&o~p!q%r,s=t;u\'v"w'
  expect(globOf(name).matches(name)).toBe(true)
  expect(globOf(`${name}*`).matches(`${name}-2`)).toBe(true)
  expect(globOf('a.c').matches('abc')).toBe(false)
})

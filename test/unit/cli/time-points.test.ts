import { expect, test } from 'vitest'
import { atMs, pointInTime } from '../../../src/cli/values.ts'

const NOON = new Date(2026, 2, 1, 12).getTime()
const read = (text: string) => atMs(pointInTime('--since')(text), NOON)

test.each([
  ['30m', NOON - 30 * 60_000],
  ['1h30m', NOON - 90 * 60_000],
  ['30m ago', NOON - 30 * 60_000],
  ['2026-02-28T10:00:00Z', Date.UTC(2026, 1, 28, 10)],
  ['2026-02-28T10:00:00+02:00', Date.UTC(2026, 1, 28, 8)],
  ['2026-02-28 10:00', new Date(2026, 1, 28, 10).getTime()],
  ['2026-02-28', new Date(2026, 1, 28).getTime()],
  ['11:30', new Date(2026, 2, 1, 11, 30).getTime()],
  ['11:30:15', new Date(2026, 2, 1, 11, 30, 15).getTime()],
])('%s is a time', (text, ms) => {
  expect(read(text)).toBe(ms)
})

test('a future time of day means yesterday', () => {
  expect(read('14:00')).toBe(new Date(2026, 1, 28, 14).getTime())
})

test('a bare number is refused for lack of a unit', () => {
  expect(() => read('30')).toThrow('--since: 30 has no unit: 30s, 30m, 30h or 30d')
  expect(() => read('30 ago')).toThrow('--since: 30 has no unit: 30s, 30m, 30h or 30d')
})

test.each(['', 'yesterday', '25:00', '2026-02-30', '2026-13-01', '2026-02-28 25:00', '-1h', 'ago', '14:00 ago'])(
  '%s is not a time',
  text => {
    expect(() => read(text)).toThrow('is not a time')
  },
)

import { expect, test } from 'vitest'
import { calmSpan, clock, dueText, roughSpan, span, timeText } from '../../../../src/formats/terminal/numbers.ts'

const NOON = Date.UTC(2026, 2, 1, 12)
const S = 1000
const M = 60 * S
const H = 60 * M

test('ages have two units, in whole seconds', () => {
  expect([999, 41_999, 134 * S, 3 * H + 5 * M, 52 * H, -5].map(span)).toEqual([
    '0s',
    '41s',
    '2m14s',
    '3h5m',
    '2d4h',
    '0s',
  ])
})

test('a calm duration has seconds up to ten minutes, minutes up to a day, hours up to a hundred days', () => {
  const spans = [10 * M - 1, 10 * M + 59 * S, 24 * H - 1, 52 * H + M, 100 * 24 * H - 1, 4_749 * 24 * H + 9 * H]
  expect(spans.map(calmSpan)).toEqual(['9m59s', '10m', '23h59m', '2d4h', '99d23h', '4749d'])
})

test('a rough duration has one unit', () => {
  expect([22 * S, 8 * M + 59 * S, 3 * H, 50 * H].map(roughSpan)).toEqual(['22s', '8m', '3h', '2d'])
})

test('a due time has two units, like ages: a timeout of 2 h is not one of 1 h', () => {
  expect(dueText(NOON + 2 * H - S, NOON, 'relative')).toBe('in 1h59m')
  expect(dueText(NOON - 134 * S, NOON, 'relative')).toBe('overdue 2m14s')
  expect(dueText(NOON + 22 * S, NOON, 'relative')).toBe('in 22s')
  expect(dueText(NOON, NOON, 'relative')).toBe('overdue 0s')
  expect(dueText(NOON - 3 * M, NOON, 'relative')).toBe('overdue 3m')
  expect(dueText(undefined, NOON, 'relative')).toBe('-')
})

test('clock times carry the date when it is not today', () => {
  expect(clock(NOON, NOON, 'utc')).toBe('12:00:00Z')
  expect(clock(NOON - 24 * H, NOON, 'utc')).toBe('2026-02-28 12:00:00Z')
  expect(clock(NOON, NOON, 'iso')).toBe('2026-03-01T12:00:00.000Z')
  expect(timeText(NOON, NOON + 41 * S, 'relative')).toBe('41s')
  expect(timeText(undefined, NOON, 'iso')).toBe('-')
})

test('local times are in the time zone of the machine', () => {
  const at = new Date(NOON)
  const wanted = [at.getHours(), at.getMinutes(), at.getSeconds()].map(part => String(part).padStart(2, '0')).join(':')
  expect(clock(NOON, NOON, 'local')).toBe(wanted)
})

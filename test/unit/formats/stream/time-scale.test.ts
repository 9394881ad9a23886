import fc from 'fast-check'
import { expect, it } from 'vitest'
import { columnOf, positionOf, timeAt, timeAxis, withFolds } from '../../../../src/formats/stream/time-scale.ts'

const NOON = Date.UTC(2026, 2, 1, 12)
const scale = (ms: number, columns = 50) => ({ fromMs: NOON, toMs: NOON + ms, columns })

it('the scale counts from the beginning in natural steps', () => {
  expect(timeAxis(scale(600_000), 'relative')).toBe('│0s                      │5m')
  expect(timeAxis(scale(61_000), 'relative')).toBe('│0s         │15s        │30s        │45s')
  expect(timeAxis(scale(3 * 86_400_000), 'relative')).toBe('│0s             │1d              │2d')
  expect(timeAxis(scale(25), 'relative')).toBe('│0s                 │10ms               │20ms')
})

it('the wall clock scale has ticks at round times, and dates if a step is a day or more', () => {
  const late = { fromMs: NOON + 7_000, toMs: NOON + 187_000, columns: 50 }
  expect(timeAxis(late, 'utc')).toBe(`${' '.repeat(14)}│12:01Z          │12:02Z`)
  expect(timeAxis(scale(20_000), 'utc')).toBe('│12:00:00Z  │12:00:05Z   │12:00:10Z  │12:00:15Z')
  expect(timeAxis(scale(4 * 86_400_000), 'iso')).toBe(`${' '.repeat(6)}│03-02      │03-03       │03-04      │03-05`)
})

it('a scale of zero length has one tick', () => {
  expect(timeAxis(scale(0), 'relative')).toBe('│0s')
  expect(timeAxis(scale(0), 'utc')).toBe('│12:00:00Z')
})

it('the scale never exceeds its columns, whatever the time', () => {
  fc.assert(
    fc.property(
      fc.nat(2 ** 40),
      fc.integer({ min: 1, max: 200 }),
      fc.constantFrom('relative', 'utc', 'iso', 'local'),
      (ms, columns, style) => {
        expect(timeAxis(scale(ms, columns), style).length).toBeLessThanOrEqual(columns)
        expect(columnOf(scale(ms, columns), NOON + ms)).toBe(ms === 0 ? 0 : columns - 1)
      },
    ),
  )
})

it('a folded gap takes eight columns and shows its length', () => {
  const hour = 3_600_000
  const fold = { fromMs: NOON + hour, toMs: NOON + 25 * hour }
  const folded = withFolds(scale(26 * hour, 60), [fold])
  expect(timeAxis(folded, 'relative')).toBe('│0s          │30m         ╱  1d  ╱│+0s         │+30m')
  expect([columnOf(folded, fold.fromMs), columnOf(folded, fold.toMs)]).toEqual([26, 34])
})

it('a position and its time agree, with folds or without', () => {
  const gap = fc.record({ from: fc.integer({ min: 1, max: 400 }), length: fc.integer({ min: 1, max: 400 }) })
  fc.assert(
    fc.property(fc.option(gap), fc.integer({ min: 40, max: 200 }), fc.nat(1_000), (found, columns, minute) => {
      const folds =
        found === null
          ? []
          : [{ fromMs: NOON + found.from * 60_000, toMs: NOON + (found.from + found.length) * 60_000 }]
      const folded = withFolds(scale(60_000_000, columns), folds)
      const ms = NOON + minute * 60_000
      expect(timeAt(folded, positionOf(folded, ms))).toBeCloseTo(ms, -1)
      expect(columnOf(folded, ms)).toBeLessThan(columns)
    }),
  )
})

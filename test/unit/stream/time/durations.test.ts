import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidValue } from '../../../../src/stream/errors.ts'
import {
  formatDuration,
  formatTimeSpan,
  MAX_DURATION_MS,
  parseDuration,
  parseIsoDuration,
  parseTimeSpan,
} from '../../../../src/stream/time/durations.ts'

const S = 1000
const M = 60 * S
const H = 60 * M
const D = 24 * H

describe('parseDuration', () => {
  it.each([
    ['30s', 30 * S],
    ['5m', 5 * M],
    ['1h30m', 90 * M],
    ['1h 30m', 90 * M],
    ['2d', 2 * D],
    ['1w2d', 9 * D],
    ['500ms', 500],
    ['1s500ms', 1500],
    ['1.1s', 1100],
    ['0,5h', 30 * M],
    ['0.4ms', 1],
    ['  30s ', 30 * S],
    ['PT5M', 5 * M],
    ['00:05:00', 5 * M],
    ['1.00:00:00', D],
    ['0', 0],
    ['0s', 0],
    ['10675199d', 10_675_199 * D],
    ['10675199.02:48:05.478', MAX_DURATION_MS],
  ])('reads %j', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    ['30', '30 has no unit: 30s, 30m, 30h or 30d'],
    ['1.5', '1.5 has no unit: 1.5s, 1.5m, 1.5h or 1.5d'],
    ['00', '00 has no unit: 00s, 00m, 00h or 00d'],
    ['1:30', '1:30 is ambiguous: 1h30m or 1m30s'],
    ['24:00', '24:00 is ambiguous: 24h00m or 24m00s'],
    ['24:00:00', '24:00:00 is 24 days for .NET: write 24d or 24h'],
    ['P1M', 'P1M: years and months have no fixed length, write days, as in P30D'],
    ['P1Y2D', 'P1Y2D: years and months have no fixed length, write days, as in P30D'],
    ['', 'an empty duration: write 30s, 5m, 1h30m, 2d, PT5M or 00:05:00'],
    ['-5m', '-5m: a duration cannot be negative'],
    ['-00:05:00', '-00:05:00: a duration cannot be negative'],
    ['10675200d', '10675200d is too long: at most 10675199 days'],
    ['5M', '"5M" is not a duration: write 30s, 5m, 1h30m, 2d, PT5M or 00:05:00'],
    ['30m1h', '"30m1h" is not a duration: write 30s, 5m, 1h30m, 2d, PT5M or 00:05:00'],
    ['soon', '"soon" is not a duration: write 30s, 5m, 1h30m, 2d, PT5M or 00:05:00'],
  ])('refuses %j and explains the format', (text, message) => {
    expect(() => parseDuration(text)).toThrow(new InvalidValue(message))
  })

  it('reads the output of formatTimeSpan and formatDuration back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_DURATION_MS }), ms => {
        expect(parseDuration(formatTimeSpan(ms))).toBe(ms)
        expect(parseDuration(formatDuration(ms))).toBeLessThanOrEqual(ms)
      }),
    )
  })
})

describe('parseTimeSpan', () => {
  it.each([
    ['1:30', 90 * M, false],
    ['00:00:00', 0, false],
    ['23:59:59', D - S, false],
    ['1.02:03:04', D + 2 * H + 3 * M + 4 * S, false],
    ['1.02:03', D + 2 * H + 3 * M, false],
    ['00:00:01.5', 1500, false],
    ['00:00:00.0000001', 1, false],
    ['00:00:00.1230000', 123, false],
    [' 00:05:00 ', 5 * M, false],
    ['5', 5 * D, true],
    ['0', 0, false],
    ['24:00', 24 * D, true],
    ['30:00', 30 * D, true],
    ['30:05:10', 30 * D + 5 * H + 10 * M, true],
    ['10675199', 10_675_199 * D, true],
    ['10675199.02:48:05.4775807', MAX_DURATION_MS, false],
    ['24:01', 24 * D + H, true],
  ])('reads %j as .NET does', (text, ms, asDays) => {
    expect(parseTimeSpan(text)).toEqual({ ms, negative: false, asDays })
  })

  it('distinguishes a negative span, but not a negative zero', () => {
    expect(parseTimeSpan('-00:00:01')).toEqual({ ms: S, negative: true, asDays: false })
    expect(parseTimeSpan('-1')).toEqual({ ms: D, negative: true, asDays: true })
    expect(parseTimeSpan('-00:00:00')).toEqual({ ms: 0, negative: false, asDays: false })
  })

  it.each([
    '',
    '1.24:00:00',
    '00:60:00',
    '00:00:60',
    '24:24:00',
    '24:00:60',
    '24:00:00.5',
    '00:00:00.12345678',
    '10675200',
    '10675199.02:48:05.4790000',
    '1.5',
    '1:2:3:4',
    '00:05:00x',
    'PT5M',
  ])('does not read %j', text => {
    expect(parseTimeSpan(text)).toBeUndefined()
  })
})

describe('parseIsoDuration', () => {
  it.each([
    ['PT5M', 5 * M],
    ['P1D', D],
    ['P2W', 14 * D],
    ['P1DT2H3M4S', D + 2 * H + 3 * M + 4 * S],
    ['PT1.5S', 1500],
    ['PT0,5H', 30 * M],
    ['PT0S', 0],
    ['PT36H', 36 * H],
  ])('reads %s', (text, ms) => {
    expect(parseIsoDuration(text)).toEqual({ ms, negative: false, asDays: false })
  })

  it('distinguishes a negative duration', () => {
    expect(parseIsoDuration('-PT5M')).toEqual({ ms: 5 * M, negative: true, asDays: false })
  })

  it.each(['P', 'PT', 'P1DT', 'P1Y', 'P1M', 'P1Y1D', 'PT5', '5M', 'P99999999D', 'PT5M PT5M'])(
    'does not read %s',
    text => {
      expect(parseIsoDuration(text)).toBeUndefined()
    },
  )
})

describe('formatTimeSpan', () => {
  it.each([
    [0, '00:00:00'],
    [5 * M, '00:05:00'],
    [D, '1.00:00:00'],
    [D - S, '23:59:59'],
    [36 * H + 61 * S, '1.12:01:01'],
    [1500, '00:00:01.5000000'],
    [1, '00:00:00.0010000'],
    [-5 * M, '-00:05:00'],
    [MAX_DURATION_MS, '10675199.02:48:05.4780000'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatTimeSpan(ms)).toBe(text)
  })
})

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [0.2, '1ms'],
    [350, '350ms'],
    [999, '999ms'],
    [S, '1s'],
    [41_900, '41s'],
    [M, '1m'],
    [2 * M + 14 * S, '2m14s'],
    [H, '1h'],
    [H + M + S, '1h1m'],
    [D, '1d'],
    [3 * D + 4 * H + 5 * M, '3d4h'],
    [D + 5 * M, '1d'],
    [-90 * S, '-1m30s'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })
})

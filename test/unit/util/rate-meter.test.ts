import { expect, test } from 'vitest'
import { RateMeter } from '../../../src/util/rate-meter.ts'

test('a rate is that of the last minute, and falls to nothing', () => {
  const meter = new RateMeter()
  for (let ms = 0; ms < 120_000; ms += 1_000) meter.count(ms, 3)
  expect(meter.perSecond(119_000)).toBe(3)
  expect(meter.perSecond(149_000)).toBe(1.5)
  expect(meter.perSecond(1e9)).toBe(0)
})

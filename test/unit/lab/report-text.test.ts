import { expect, test } from 'vitest'
import { noPaint } from '../../../src/formats/terminal/style.ts'
import { widthOf } from '../../../src/formats/terminal/width.ts'
import { histogramLines } from '../../../src/lab/report-text.ts'
import { histogramOf } from '../../../src/lab/samples.ts'

const SAMPLES = histogramOf([...Array.from({ length: 16 }, () => 1.5), 4, 4, 4, 4, 900])

test('each duration has a bar, the most frequent the longest', () => {
  expect(histogramLines(SAMPLES, noPaint, 30)).toEqual([
    ' ≤ 2ms  16  ██████████████████',
    ' ≤ 5ms   4  ████▌',
    '≤ 1.0s   1  █▏',
  ])
})

test('no line is wider than the terminal', () => {
  for (const width of [40, 80, 200]) {
    for (const line of histogramLines(SAMPLES, noPaint, width)) expect(widthOf(line)).toBeLessThanOrEqual(width)
  }
})

test('no measurements give no line', () => {
  expect(histogramLines(histogramOf([]), noPaint)).toEqual([])
})

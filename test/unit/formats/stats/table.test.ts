import { describe, expect, test } from 'vitest'
import {
  lengthBars,
  scaleOf,
  scaleTitle,
  shareText,
  shortLength,
  stepTable,
} from '../../../../src/formats/stats/table.ts'
import { noPaint } from '../../../../src/formats/terminal/style.ts'
import { LogHistogram } from '../../../../src/ops/stats/histogram.ts'
import { type StepStats, StepTally } from '../../../../src/ops/stats/stats.ts'
import { newEvent } from '../../../../src/stream/event.ts'

function histogramOf(...samples: readonly number[]): LogHistogram {
  const histogram = new LogHistogram()
  for (const ms of samples) histogram.add(ms)
  return histogram
}

describe('histograms', () => {
  test('have short durations on the left in columns of equal ratio, and the most frequent is highest', () => {
    const histogram = histogramOf(3, 30, 30, 30, 30, 300, 300, 3_000)
    const scale = { fromMs: 1, toMs: 10_000, columns: 4 }
    expect(lengthBars(histogram, scale)).toBe('▂█▄▂')
    expect(lengthBars(histogramOf(1, 9_999), { ...scale, columns: 8 })).toBe('█      █')
  })

  test('show a rare duration beside very many', () => {
    expect(lengthBars(histogramOf(...Array<number>(500).fill(1), 9_000), { fromMs: 1, toMs: 10_000, columns: 2 })).toBe(
      '█▁',
    )
  })

  test('share a scale over all steps, from the shortest to the longest', () => {
    const scale = scaleOf([histogramOf(350), histogramOf(), histogramOf(7_500_000)], 20)
    expect(scale).toEqual({ fromMs: 350, toMs: 7_500_000, columns: 20 })
    expect(scale && scaleTitle(scale)).toBe('350ms ───────── 2h5m')
    expect(scaleOf([histogramOf()], 20)).toBeUndefined()
  })

  test('have one column for a single duration, or if all are zero', () => {
    for (const ms of [0, 5]) {
      const scale = scaleOf([histogramOf(ms)], 20)
      expect(scale && lengthBars(histogramOf(ms), scale).trimEnd()).toBe('█')
      expect(scale && scaleTitle(scale)).toBe(ms === 0 ? '0s' : '5ms')
    }
  })
})

test.each([
  [undefined, '-'],
  [0, '0s'],
  [350, '350ms'],
  [999.6, '1.0s'],
  [1_940, '1.9s'],
  [9_949, '9.9s'],
  [9_999, '9.9s'],
  [10_000, '10s'],
  [134_000, '2m14s'],
])('a duration of %s ms is %s', (ms, text) => {
  expect(shortLength(ms)).toBe(text)
})

test.each([
  [0, '0%'],
  [0.001, '<1%'],
  [0.034, '3%'],
  [0.999, '99%'],
  [1, '100%'],
])('a share of %d is %s', (share, text) => {
  expect(shareText(share)).toBe(text)
})

describe('the table', () => {
  function steps(...names: readonly string[]): readonly StepStats[] {
    const tally = new StepTally('name', undefined)
    for (const [at, name] of names.entries()) {
      const lengths = { waitedMs: 1_500, ranMs: 40_000 * (at + 1), tookMs: 41_500 }
      tally.add('s', [
        {
          event: newEvent({ id: '01.00', name }),
          attempts: [
            { outcome: 'aborted', endedMs: 0, ...lengths },
            { outcome: 'completed', endedMs: 0, ...lengths },
          ],
          transientMs: [],
        },
      ])
    }
    return tally.steps()
  }
  const drawn = (names: readonly string[], width?: number, open = true) =>
    stepTable(steps(...names), { by: 'name', open, paint: noPaint, ...(width === undefined ? {} : { width }) })

  test('has all columns in a pipe', () => {
    expect(drawn(['Pay', ''])).toEqual([
      'STEP     EVENTS  TRIES  OPEN   FAILED  WAITED p50   p95  RAN p50    p95    p99    max  TOOK p50  p95  40s ────────────── 1m20s',
      'Pay           1      2     0  1 (50%)        1.5s  1.5s      40s    40s    40s    40s       41s  41s  █',
      'no name       1      2     0  1 (50%)        1.5s  1.5s    1m20s  1m20s  1m20s  1m20s       41s  41s                         █',
    ])
  })

  test('has no column for open events if there are none', () => {
    expect(drawn(['Pay'], undefined, false)[0]).not.toContain('OPEN')
  })

  test.each([40, 60, 80, 100, 120, 200])('fits %d columns, and keeps the most important cells', width => {
    const lines = drawn(['Pay', 'a step with a name that has no end and goes on and on'], width)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(Math.max(width, 43))
    for (const title of ['STEP', 'EVENTS', 'FAILED', 'RAN p50']) expect(lines[0]).toContain(title)
    if (width >= 60) expect(lines[0]).toContain('WAITED p50')
    if (width >= 80) expect(lines[0]).toMatch(/40s ─* *1m20s$/)
  })

  test('omits histograms if numbers need all columns', () => {
    const [step] = steps('Pay')
    if (step === undefined) throw new Error('no step')
    const huge = { ...step, events: 1e15, outcomes: { completed: 1e15, aborted: 1e15, canceled: 0, open: 1e15 } }
    expect(stepTable([huge], { by: 'name', open: true, paint: noPaint, width: 72 })[0]).not.toContain('40s')
  })

  test('shows foreign names safely', () => {
    expect(drawn(['a\u001b[2J\nb\u0085']).join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
  })
})

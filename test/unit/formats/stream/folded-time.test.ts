import { describe, expect, it } from 'vitest'
import { foldsOf, quietTimes } from '../../../../src/formats/stream/folded-time.ts'
import type { EventHistory, Period } from '../../../../src/stream/journal/phases.ts'

const HOUR = 3_600_000

/** An event with these periods, in hours. */
function event(...spans: readonly [phase: Period['phase'], from: number, to: number | undefined][]): EventHistory {
  const periods = spans.map(([phase, from, to]) => ({
    phase,
    fromMs: from * HOUR,
    toMs: to === undefined ? undefined : to * HOUR,
  }))
  return { spans: periods, ends: [], foundLate: false }
}

function folds(events: readonly EventHistory[], to: number, from = 0): [number, number][] {
  const found = foldsOf({ fromMs: from * HOUR, toMs: to * HOUR }, quietTimes(events), to * HOUR)
  return found.map(({ fromMs, toMs }) => [fromMs / HOUR, toMs / HOUR])
}

describe('a gap', () => {
  it('is folded if it is much longer than everything else', () => {
    expect(folds([event(['running', 0, 1], ['ready', 1, 24], ['running', 24, 25])], 25)).toEqual([[1, 24]])
    expect(folds([event(['running', 0, 1], ['ready', 1, 2], ['running', 2, 3])], 3)).toEqual([])
  })

  it('is folded as often as it comes', () => {
    const days = event(['running', 0, 1], ['running', 24, 25], ['running', 48, 49])
    expect(folds([days], 49)).toEqual([
      [1, 24],
      [25, 48],
    ])
  })

  it('is none while anything runs, or changes', () => {
    expect(folds([event(['running', 0, 1]), event(['running', 1, 24])], 25)).toEqual([])
    const changes = event(
      ...Array.from({ length: 23 }, (_, at) => ['ready', at + 1, at + 2] as const).map(
        each => [...each] as [Period['phase'], number, number],
      ),
    )
    expect(folds([event(['running', 0, 1]), changes], 24)).toEqual([])
  })

  it('is folded up to now if nothing runs', () => {
    expect(folds([event(['running', 0, 1], ['ready', 1, undefined])], 24)).toEqual([[1, 24]])
    expect(folds([event(['running', 0, undefined])], 24)).toEqual([])
  })

  it('is folded in the visible part only', () => {
    const day = event(['running', 0, 1], ['ready', 1, 24], ['running', 24, 25])
    expect(folds([day], 25, 23.5)).toEqual([])
    expect(folds([day], 24.5, 12)).toEqual([[12, 24]])
  })
})

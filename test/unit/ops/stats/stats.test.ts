import { describe, expect, test } from 'vitest'
import type { AttemptSpan, TriedEvent } from '../../../../src/ops/stats/attempts.ts'
import {
  endedAttempts,
  MAX_STEPS,
  type StepBy,
  type StepStats,
  StepTally,
  sortedSteps,
} from '../../../../src/ops/stats/stats.ts'
import { newEvent } from '../../../../src/stream/event.ts'
import { NOW } from '../support.ts'

function attempt(
  outcome: AttemptSpan['outcome'],
  ranMs?: number,
  endedMs = outcome === 'open' ? undefined : NOW,
): AttemptSpan {
  return { outcome, endedMs, waitedMs: ranMs, ranMs, tookMs: ranMs }
}

const tried = (name: string, ...attempts: AttemptSpan[]): TriedEvent => ({
  event: newEvent({ id: '01.00', name, topic: `t-${name}` }),
  attempts,
  transientMs: [],
})

function tallied(events: readonly TriedEvent[], by: StepBy = 'name', sinceMs?: number): readonly StepStats[] {
  const tally = new StepTally(by, sinceMs)
  tally.add('s', events)
  return tally.steps()
}

test('events of the same name are one step, its attempts by outcome', () => {
  const [step, ...others] = tallied([
    tried('A', attempt('aborted', 5), attempt('completed', 9)),
    tried('A', attempt('canceled')),
    tried('A', attempt('open')),
  ])
  expect(others).toEqual([])
  expect(step).toMatchObject({ step: 'A', events: 3, outcomes: { completed: 1, aborted: 1, canceled: 1, open: 1 } })
  expect(step && [endedAttempts(step), step.ran.count, step.waited.count]).toEqual([3, 2, 2])
  expect(step?.slowest).toEqual({ stream: 's', event: '01.00', ranMs: 9 })
})

test('steps can be separated by topic', () => {
  expect(tallied([tried('A', attempt('open')), tried('B', attempt('open'))], 'topic').map(({ step }) => step)).toEqual([
    't-A',
    't-B',
  ])
})

describe('since', () => {
  test('only attempts that ended since count, and events that have one', () => {
    const events = [
      tried('A', attempt('aborted', 5, NOW - 1), attempt('completed', 9)),
      tried('A', attempt('completed', 9, NOW - 1)),
      tried('B', attempt('open')),
      tried('C', { ...attempt('completed'), endedMs: undefined }),
    ]
    expect(tallied(events, 'name', NOW)).toMatchObject([
      { step: 'A', events: 1, outcomes: { completed: 1, aborted: 0, canceled: 0, open: 0 } },
    ])
  })
})

describe('memory is bounded', () => {
  test('beyond the maximum number of steps the others are counted together, also when they recur', () => {
    const names = Array.from({ length: MAX_STEPS + 3 }, (_, at) => `step ${at}`)
    const steps = tallied([...names, 'step 0', `step ${MAX_STEPS}`].map(name => tried(name, attempt('completed', 1))))
    expect(steps).toHaveLength(MAX_STEPS + 1)
    expect(steps[0]).toMatchObject({ step: 'step 0', events: 2, others: false })
    expect(steps.at(-1)).toMatchObject({ step: '', events: 4, others: true })
  })

  test('a very long name is cut', () => {
    expect(tallied([tried('x'.repeat(100_000), attempt('open'))])[0]?.step).toHaveLength(1_024)
  })
})

describe('the order', () => {
  const names = (order: 'count' | 'failures' | 'p95' | 'name') => {
    const many = Array.from({ length: MAX_STEPS - 3 }, (_, at) => tried(`~${at}`, attempt('open')))
    const steps = tallied([
      tried('C', attempt('completed', 100)),
      tried('A', attempt('aborted', 10), attempt('aborted', 10)),
      tried('B', attempt('completed', 1)),
      tried('B', attempt('completed', 1)),
      ...many,
      tried('beyond', ...Array.from({ length: 9 }, () => attempt('aborted', 9_999))),
    ])
    const sorted = sortedSteps(steps, order)
    expect(sorted.at(-1)?.others).toBe(true)
    return sorted.slice(0, 3).map(({ step }) => step)
  }

  test('is the largest first, equal ones by name, steps without a value last, and the others after all', () => {
    expect(names('count')).toEqual(['B', 'A', 'C'])
    expect(names('failures')).toEqual(['A', 'B', 'C'])
    expect(names('p95')).toEqual(['C', 'A', 'B'])
    expect(names('name')).toEqual(['A', 'B', 'C'])
  })
})

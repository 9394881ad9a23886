import { describe, expect, it } from 'vitest'
import { type PlanPart, planSteps, stepSequence } from '../../../../src/stream/operations/plan.ts'

const step = (name: string, needs?: readonly string[]): PlanPart => ({
  spec: { name },
  ...(needs === undefined ? {} : { needs }),
})

/** `A 0`, `B 0 after A`: name, thread and what it needs. */
function lines(parts: readonly PlanPart[]): string[] {
  const steps = planSteps(parts)
  return steps.map(({ name, thread, needs }) => {
    const names = needs.map(need => steps[need]?.name ?? '?')
    return `${name} ${thread}${names.length === 0 ? '' : ` after ${names.join(' ')}`}`
  })
}

describe('a plan', () => {
  it('is one thread in which each step needs the one before', () => {
    expect(lines([step('A'), step('B'), step('C')])).toEqual(['A 0', 'B 0 after A', 'C 0 after B'])
  })

  it('gives parallel branches threads of their own, and the part after them needs all', () => {
    const parts = [step('A'), { parallel: [[step('B')], [step('C'), step('D')]] }, step('E')]
    expect(lines(parts)).toEqual(['A 0', 'B 1 after A', 'C 2 after A', 'D 2 after C', 'E 0 after B D'])
  })

  it('nests branches to any depth', () => {
    const inner: PlanPart = { parallel: [[step('C')], [step('D')]] }
    expect(lines([{ parallel: [[step('A'), inner], [step('B')]] }, step('E')])).toEqual([
      'A 0',
      'C 1 after A',
      'D 2 after A',
      'B 3',
      'E 4 after C D B',
    ])
  })

  it('takes any graph by names, also of later steps', () => {
    const parts = [step('D', ['B', 'C']), step('A', []), step('B', ['A']), step('C', ['A'])]
    expect(lines(parts)).toEqual(['D 0 after B C', 'A 0', 'B 0 after A', 'C 0 after A'])
  })

  it.each([
    ['is none', [step('A', ['X'])], 'A needs X, which is not a step of the plan'],
    ['is two', [step('A'), step('A'), step('B', ['A'])], 'B needs A, but 2 steps have this name'],
  ])('is refused if a step needs a name that %s', (_, parts, message) => {
    expect(() => planSteps(parts)).toThrow(message)
  })
})

it('of a sequence only the first step waits as its attributes say', () => {
  const steps = stepSequence(['A', 'B'], { delay: '01:00:00', signal: 's', after: ['01.00'], key: 'k' })
  expect(steps).toEqual([
    { name: 'A', key: 'k', delay: '01:00:00', signal: 's', after: ['01.00'], thread: 0, needs: [] },
    { name: 'B', key: 'k', thread: 0, needs: [0] },
  ])
})

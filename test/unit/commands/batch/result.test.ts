import { describe, expect, it } from 'vitest'
import { problem } from '../../../../src/cli/problem.ts'
import type { Result } from '../../../../src/commands/batch/action.ts'
import { batchProblem } from '../../../../src/commands/batch/result.ts'

const failed = (stream: string, applied: 'no' | 'unknown'): Result => ({
  target: { stream, event: undefined },
  commandId: 'c',
  outcome: problem(applied === 'no' ? 'lease-held' : 'unknown', 'not done', { applied }),
})

describe('a batch without a known success', () => {
  it('says that nothing was applied only if no outcome is unknown', () => {
    expect(batchProblem({ results: [failed('a', 'no'), failed('b', 'no')] })).toMatchObject({ applied: 'no' })
    expect(batchProblem({ results: [failed('a', 'no'), failed('b', 'unknown')] })).toMatchObject({ applied: 'unknown' })
  })
})

import { expect, test } from 'vitest'
import { type MutationReport, mutationScore } from './mutation-score.ts'

const mutants = (...statuses: readonly string[]) => ({
  mutants: statuses.map((status, at) => ({
    status,
    mutatorName: 'BooleanLiteral',
    replacement: 'false',
    location: { start: { line: at + 1 } },
  })),
})

test('the score is the share of detected mutants; unreached ones count as undetected, invalid ones do not count', () => {
  const report: MutationReport = {
    files: {
      'good.ts': mutants('Killed', 'Timeout', 'CompileError', 'Ignored', 'RuntimeError'),
      'bad.ts': mutants('Killed', 'Survived', 'NoCoverage'),
      'empty.ts': mutants(),
    },
  }
  const { percent, found, tried, ignored, files } = mutationScore(report)
  expect({ percent, found, tried, ignored }).toEqual({ percent: 60, found: 3, tried: 5, ignored: 1 })
  expect(files.map(({ path, percent }) => [path, percent])).toEqual([
    ['bad.ts', 33.3],
    ['good.ts', 100],
  ])
  expect(files[0]?.survivors).toEqual(['2 BooleanLiteral -> false', '3 BooleanLiteral -> false'])
})

test('a score is never rounded up', () => {
  const statuses = [...Array<string>(849).fill('Killed'), ...Array<string>(151).fill('Survived')]
  expect(mutationScore({ files: { 'a.ts': mutants(...statuses) } }).percent).toBe(84.9)
})

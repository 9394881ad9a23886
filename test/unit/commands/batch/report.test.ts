import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openProgress } from '../../../../src/commands/batch/progress.ts'
import { progressText } from '../../../../src/commands/batch/report.ts'
import { countsText } from '../../../../src/commands/batch/result.ts'
import { fakeRuntime, newWorld, type Setting } from '../support.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

const counts = new Map([
  ['busy', 3],
  ['done', 408],
  ['changed', 1],
] as const)

test('the progress line shows the progress of a batch and its outcomes', () => {
  expect(progressText(new Map(), 1000)).toBe('0 of 1000')
  expect(progressText(counts, 1000)).toBe('412 of 1000: 408 done, 3 busy, 1 changed')
  expect(countsText(counts)).toBe('408 done, 3 busy, 1 changed')
})

function opened(setting: Setting, options = {}) {
  const { runtime, written } = fakeRuntime(newWorld(), [], setting)
  return { progress: openProgress(() => progressText(counts, 1000), options, runtime), written }
}

const LINE = '412 of 1000: 408 done, 3 busy, 1 changed'

test('on a terminal the line is redrawn in place, five times a second, and removed at the end', async () => {
  const { progress, written } = opened({ terminal: true })
  expect(written.stderr).toBe('')
  vi.advanceTimersByTime(200)
  expect(written.stderr).toMatch(new RegExp(`^\\r.*${LINE}$`))
  await progress.end()
  const ended = written.stderr
  expect(ended).toMatch(/\r[^\n]*\r[^\n]*$/)
  expect(ended.endsWith(LINE)).toBe(false)
  vi.advanceTimersByTime(1000)
  expect(written.stderr).toBe(ended)
})

test('the line is removed while other output is printed', async () => {
  const { progress, written } = opened({ terminal: true })
  vi.advanceTimersByTime(200)
  await progress.pauseFor(async () => {
    written.stderr = ''
    vi.advanceTimersByTime(1000)
    expect(written.stderr).toBe('')
  })
  vi.advanceTimersByTime(200)
  expect(written.stderr).toContain(LINE)
})

test('the message of the first Ctrl-C does not run into the line', () => {
  const interruption = new AbortController()
  const { written } = opened({ terminal: true, signal: interruption.signal })
  vi.advanceTimersByTime(200)
  interruption.abort('SIGINT')
  expect(written.stderr.endsWith(LINE)).toBe(false)
})

test.each([
  ['a pipe', {}, {}],
  ['-q', { terminal: true }, { quiet: true }],
  ['a dumb terminal', { terminal: true, env: { TERM: 'dumb' } }, {}],
])('%s gets no progress line', (_what, setting, options) => {
  const { written } = opened(setting, options)
  vi.advanceTimersByTime(1000)
  expect(written.stderr).toBe('')
})

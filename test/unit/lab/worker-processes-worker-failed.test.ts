import { expect, test } from 'vitest'
import { WorkerFailed } from '../../../src/lab/worker-processes.ts'

test('a worker fails with the code, the message and the hint of its own error', () => {
  const error = { code: 'store-unreachable', exit: 9, message: 'it does not answer', hint: 'Start it.' }
  const stderr = `a warning\n${JSON.stringify({ apiVersion: 'leasectl/v1', error })}\n`
  expect(WorkerFailed.of('worker-2', { code: 9, stderr })).toMatchObject({
    code: 'store-unreachable',
    message: 'worker-2: it does not answer',
    hint: 'Start it.',
  })
})

test.each([
  ['nothing', { code: null, stderr: '' }, 'worker-2 ended with a signal: '],
  ['words', { code: 9, stderr: 'out of memory\n' }, 'worker-2 ended with 9: out of memory'],
  ['an incomplete error', { code: 1, stderr: '{"error":{"code":7}}' }, 'worker-2 ended with 1: {"error":{"code":7}}'],
  ['a bug', { code: 1, stderr: '{"error":{"code":"unexpected","message":"oh"}}' }, /^worker-2 ended with 1: /],
])('a worker that reports %s is a bug', (_, ended, message) => {
  const error = WorkerFailed.of('worker-2', ended)
  expect(error).not.toBeInstanceOf(WorkerFailed)
  expect(error.message).toMatch(message)
})

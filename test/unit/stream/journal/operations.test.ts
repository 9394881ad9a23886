import { expect, test } from 'vitest'
import { JOURNAL_OPERATIONS } from '../../../../src/stream/journal/operations.ts'

test('every operation that leaves an entry can be named, skip among them, and a heartbeat cannot', () => {
  expect(JOURNAL_OPERATIONS).toContain('skip')
  expect(JOURNAL_OPERATIONS).not.toContain('touch')
})

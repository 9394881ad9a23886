import { expect, test } from 'vitest'
import { EXIT_CODES, exitOf } from '../../../src/cli/exit-codes.ts'

test.each([
  ['version-not-found', 'version'],
  ['no-match', 'show --must: nothing matches'],
  ['file-failed', 'file'],
  ['endpoint-unreachable', 'collector'],
])('help exit-codes describes %s', (code, word) => {
  expect(EXIT_CODES.find(entry => entry.code === exitOf(code))?.meaning).toContain(word)
})

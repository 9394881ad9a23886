import { expect, test } from 'vitest'
import { clipboardSequence } from '../../../../src/tui/terminal/terminal.ts'

test('a text is passed to the terminal as OSC 52', () => {
  expect(clipboardSequence('leasectl ls ä', false)).toBe(
    `\x1b]52;c;${Buffer.from('leasectl ls ä').toString('base64')}\x07`,
  )
})

test('inside tmux it is passed to the outer terminal too', () => {
  expect(clipboardSequence('x', true)).toBe('\x1b]52;c;eA==\x07\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\')
})

test('a text that is too long for terminals is not sent', () => {
  expect(clipboardSequence('x'.repeat(50_001), false)).toBeUndefined()
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TextField } from '../../../../src/tui/state/state.ts'
import { EMPTY_FIELD, editField, FIELD_LIMIT, fieldWith, pasteText } from '../../../../src/tui/state/text-field.ts'
import { pressOf } from '../support/stage.ts'

const FAMILY = '👨‍👩‍👧'

function after(field: TextField, ...keys: readonly string[]): TextField {
  return keys.reduce((now, key) => editField(now, pressOf(key)) ?? now, field)
}

describe('a text field', () => {
  it('inserts characters at the cursor', () => {
    expect(after(EMPTY_FIELD, 'a', 'c', 'left', 'b')).toEqual({ text: 'abc', at: 2 })
  })

  it('moves to its ends', () => {
    expect(after(fieldWith('ab'), 'home', 'x', 'end', 'y', 'ctrl-a', '1', 'ctrl-e', '2').text).toBe('1xaby2')
  })

  it('moves over and deletes whole graphemes', () => {
    const field = fieldWith(`a${FAMILY}e\u0301`)
    expect(after(field, 'left', 'left').at).toBe(1)
    expect(after(field, 'backspace').text).toBe(`a${FAMILY}`)
    expect(after(field, 'backspace', 'backspace').text).toBe('a')
    expect(after(field, 'home', 'right', 'delete').text).toBe('ae\u0301')
  })

  it('deletes to its beginning, and the word before the cursor', () => {
    expect(after(fieldWith('one two'), 'left', 'ctrl-u')).toEqual({ text: 'o', at: 0 })
    expect(after(fieldWith('one two  '), 'ctrl-w')).toEqual({ text: 'one ', at: 4 })
  })

  it('keeps the cursor out of characters that are formed by joining', () => {
    expect(after({ text: '\u0301x', at: 0 }, 'e')).toEqual({ text: 'e\u0301x', at: 2 })
  })

  it('ignores keys without a text', () => {
    for (const key of ['enter', 'tab', 'up', 'f5', 'ctrl-x'])
      expect(editField(EMPTY_FIELD, pressOf(key))).toBeUndefined()
    expect(editField(EMPTY_FIELD, { key: 'x', text: '\u001b' })).toBeUndefined()
  })

  it('makes one line of a paste, without control characters', () => {
    expect(pasteText(fieldWith('a '), 'b\r\nc\nd\te\u001b[31m\u0007').text).toBe('a b c d e[31m')
  })

  it('accepts no more than its limit, cut between characters', () => {
    const { text } = pasteText(fieldWith('x'.repeat(FIELD_LIMIT - 3)), FAMILY)
    expect(text).toBe('x'.repeat(FIELD_LIMIT - 3))
    expect(pasteText(EMPTY_FIELD, 'y'.repeat(5_000)).text).toHaveLength(FIELD_LIMIT)
  })

  it('never has its cursor inside a character, whatever the edits', () => {
    const keys = fc.constantFrom('left', 'right', 'home', 'end', 'backspace', 'delete', 'ctrl-w', 'ctrl-u')
    const step = fc.oneof(keys, fc.constantFrom('a', ' ', 'e', '\u0301', '👩', '\u200d', '🏽', '🇩', '🇪'))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        const { text, at } = after(EMPTY_FIELD, ...steps)
        const bounds = Array.from(new Intl.Segmenter().segment(text), ({ index }) => index)
        expect([...bounds, text.length]).toContain(at)
      }),
    )
  })
})

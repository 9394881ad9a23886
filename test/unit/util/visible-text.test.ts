import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { visibleName, visibleText } from '../../../src/util/visible-text.ts'

const anyText = fc.string({ unit: 'binary' })

describe('visibleName', () => {
  it.each([
    ['orders/42', 'orders/42'],
    ['Grüße/日本 1', 'Grüße/日本 1'],
    ['orders/4\u200b2', 'orders/4\\u{200b}2'],
    ['orders/\u00ad42', 'orders/\\u{ad}42'],
    ['orders/42\ufe0f', 'orders/42\\u{fe0f}'],
    ['orders/42\u{e0041}', 'orders/42\\u{e0041}'],
    ['a\u00a0b', 'a\\u{a0}b'],
    ['a\u3000b', 'a\\u{3000}b'],
    ['a\u202eb', 'a\\u{202e}b'],
    ['a\ufeffb', 'a\\u{feff}b'],
    ['a\u3164b', 'a\\u{3164}b'],
    ['a\u2800b', 'a\\u{2800}b'],
    ['orders/42 ', 'orders/42\\u{20}'],
    [' orders/42', '\\u{20}orders/42'],
    ['tab\there', 'tab␉here'],
  ])('%j is %s', (name, shown) => {
    expect(visibleName(name)).toBe(shown)
  })
})

describe('visibleText', () => {
  it.each([
    ['plain text, é and 😀', 'plain text, é and 😀'],
    ['\u001b[31mred', '␛[31mred'],
    ['a\nb\r\tc\u0000', 'a␊b␍␉c␀'],
    ['\u007f', '␡'],
    ['\u0080\u0085\u009b\u009f', '\\u{80}\\u{85}\\u{9b}\\u{9f}'],
    ['\u202a\u202e\u2066\u2069', '\\u{202a}\\u{202e}\\u{2066}\\u{2069}'],
    ['\u200e\u200f\u061c', '\\u{200e}\\u{200f}\\u{61c}'],
    ['\u2028\u2029', '\\u{2028}\\u{2029}'],
    ['\u00a0\u2027\u202f\u2065\u206a', '\u00a0\u2027\u202f\u2065\u206a'],
  ])('shows %j as %s', (text, shown) => {
    expect(visibleText(text)).toBe(shown)
  })

  it('leaves no character that controls a terminal, and drops none', () => {
    fc.assert(
      fc.property(anyText, text => {
        const shown = visibleText(text)
        expect(shown).not.toMatch(/[\p{Cc}\u2028\u2029\p{Bidi_Control}]/u)
        expect(shown.length).toBeGreaterThanOrEqual(text.length)
      }),
    )
  })
})

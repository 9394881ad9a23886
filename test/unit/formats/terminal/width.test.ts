import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { cut, widthOf } from '../../../../src/formats/terminal/width.ts'

const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('漢', '👨‍👩‍👧', '\u001b[31m', '\u009b0m', 'e\u0301', '🇩🇪', 'ᄀ', 'ᅡ', '…'),
    ),
  )
  .map(parts => parts.join(''))

describe('the width of a text', () => {
  it('equals the measure of the library, character by character', () => {
    fc.assert(
      fc.property(text, given => {
        expect(widthOf(given)).toBe(stringWidth(given))
      }),
    )
  })

  it('stays within the limit if the text is cut; a text that fits is unchanged', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 30 }), (given, width) => {
        const short = cut(given, width)
        if (stringWidth(given) <= width) expect(short).toBe(given)
        else expect(short === '' || short.endsWith('…')).toBe(true)
      }),
    )
  })
})

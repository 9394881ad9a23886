import { describe, expect, test } from 'vitest'
import { BearerTokens } from '../../../../src/inbox/serve/tokens.ts'

const ONE = 'abcdefghij0123456789._~+/-=='
const OTHER = 'ABCDEFGHIJ0123456789'

describe('bearer tokens', () => {
  const tokens = BearerTokens.read(`${ONE}\r\n\n${OTHER}\n`, 'the file')

  test.each([`Bearer ${ONE}`, `bearer ${OTHER}`, `BEARER  ${OTHER} `])('accept %s', shown => {
    expect(tokens.accept(shown)).toBe(true)
  })

  test.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    ONE,
    `Basic ${ONE}`,
    `Bearer ${ONE}x`,
    `Bearer ${ONE.slice(0, -1)}`,
    `Bearer ${ONE} ${OTHER}`,
    `Bearer ${ONE}\n${OTHER}`,
    `Bearer ${OTHER.toLowerCase()}`,
    `Bearer ${'x'.repeat(100_000)}`,
  ])('do not accept %s', shown => {
    expect(tokens.accept(shown)).toBe(false)
  })

  test.each([
    ['', /has no token/],
    [' \n\n', /has no token/],
    ['short', /5 characters/],
    ['x'.repeat(1_025), /1025 characters/],
    ['0123456789 0123456789', /a character that is none of/],
    [`"${OTHER}"`, /a character that is none of/],
  ])('of %j are refused, and not quoted', (text, why) => {
    expect(() => BearerTokens.read(text, 'the file')).toThrow(why)
    if (text.trim() !== '') expect(() => BearerTokens.read(text, 'the file')).not.toThrow(text)
  })
})

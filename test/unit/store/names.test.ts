import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkStoredName, checkStreamName, compareNames, endOfPrefix } from '../../../src/store/names.ts'
import { InvalidValue } from '../../../src/stream/errors.ts'

describe('checkStreamName', () => {
  it.each([
    'a',
    'orders/2026/42',
    'a b',
    'ü/😀',
    '%2e%2e/x',
    '.hidden',
    'a..b/c',
    '...x',
    'x'.repeat(1024),
    '.leasectl',
  ])('accepts %j', name => {
    expect(() => checkStreamName(name)).not.toThrow()
  })

  it.each([
    ['', /empty/],
    ['x'.repeat(1025), /1025 characters/],
    ['a/', /ends with "\/"/],
    ['a.', /ends with "\."/],
    ['a\u0000', /control character/],
    ['a\nb', /control character/],
    ['a\u0085b', /control character/],
    ['a\ud83d', /surrogate/],
    ['\udc00a', /surrogate/],
    ['../a', /segment/],
    ['a/../b', /segment/],
    ['./a', /segment/],
    ['a\\b', /backslash/],
    ['.leasectl/shard', /reserved/],
  ])('refuses %j with a hint', (name, message) => {
    const check = (): void => checkStreamName(name)
    expect(check).toThrow(message)
    expect(check).toThrow(InvalidValue)
    expect(check).toThrow(expect.objectContaining({ hint: expect.stringMatching(/.+/) }))
  })

  it('alone refuses the reserved names: the store keeps them', () => {
    expect(() => checkStoredName('.leasectl/shard')).not.toThrow()
    expect(() => checkStoredName('a/')).toThrow(InvalidValue)
  })
})

const names = fc.string({ unit: 'grapheme', maxLength: 6 })
const utf8 = (name: string): Buffer => Buffer.from(name)

describe('the order of names', () => {
  it('is the order of their UTF-8 bytes', () => {
    fc.assert(
      fc.property(names, names, (a, b) => {
        expect(Math.sign(compareNames(a, b))).toBe(Buffer.compare(utf8(a), utf8(b)))
      }),
    )
    expect(compareNames('\uffee', '\u{10000}')).toBeLessThan(0)
    expect(compareNames('\ud7ff', '\ue000')).toBeLessThan(0)
  })
})

describe('endOfPrefix', () => {
  it('is after every name with the prefix and before any other later name', () => {
    fc.assert(
      fc.property(names, names, (prefix, name) => {
        const end = endOfPrefix(prefix)
        const isInRange = compareNames(name, prefix) >= 0 && (end === undefined || compareNames(name, end) < 0)
        expect(isInRange).toBe(name.startsWith(prefix))
        expect(end === undefined || compareNames(prefix + name, end) < 0).toBe(true)
      }),
    )
  })

  it('skips the surrogates and the last code point', () => {
    expect(endOfPrefix('a/')).toBe('a0')
    expect(endOfPrefix('\ud7ff')).toBe('\ue000')
    expect(endOfPrefix('a\u{10ffff}')).toBe('b')
    expect(endOfPrefix('\u{10ffff}')).toBeUndefined()
    expect(endOfPrefix('')).toBeUndefined()
  })
})

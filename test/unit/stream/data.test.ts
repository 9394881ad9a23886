import { describe, expect, it, test } from 'vitest'
import {
  checkData,
  dataOf,
  inlineBytes,
  isBeside,
  MAX_DATA_BYTES,
  MAX_INLINE_BYTES,
  mediaTypeOf,
  mismatchOf,
} from '../../../src/stream/data.ts'
import { InvalidValue } from '../../../src/stream/errors.ts'
import { checkMediaType } from '../../../src/stream/media-type.ts'

const bytes = (text: string) => Buffer.from(text)

describe('data of an event', () => {
  test.each([
    ['a text', bytes('hällo\r\n'), { type: 'text/plain', text: 'hällo\r\n' }],
    ['no bytes', bytes(''), { type: 'text/plain', text: '' }],
    ['a JSON object', bytes(' {"a":[1]}'), { type: 'application/json', text: ' {"a":[1]}' }],
    ['broken JSON', bytes('{"a":'), { type: 'text/plain', text: '{"a":' }],
    ['a byte order mark', bytes('\ufeffx'), { type: 'text/plain', text: '\ufeffx' }],
    ['a control character', bytes('a\u0000'), { type: 'application/octet-stream', base64: 'YQA=' }],
    ['invalid UTF-8', Buffer.from([0xff, 0x61]), { type: 'application/octet-stream', base64: '/2E=' }],
  ])('%s stands in the document and gives the same bytes back', (_, given, expected) => {
    const data = dataOf(given)
    expect(data).toMatchObject({ ...expected, size: given.length })
    expect(isBeside(data)).toBe(false)
    expect(Buffer.from(inlineBytes(data) ?? [])).toEqual(given)
    expect(mismatchOf(data, given)).toBeUndefined()
  })

  it('stands in the document up to 4 KiB and beside it from then on', () => {
    expect(dataOf(Buffer.alloc(MAX_INLINE_BYTES, 97)).text).toHaveLength(MAX_INLINE_BYTES)
    const longer = dataOf(Buffer.alloc(MAX_INLINE_BYTES + 1, 97))
    expect(longer).toMatchObject({ size: MAX_INLINE_BYTES + 1 })
    expect([longer.text, longer.base64, longer.bytes?.length]).toEqual([undefined, undefined, MAX_INLINE_BYTES + 1])
  })

  it('is refused beyond 16 MiB', () => {
    expect(dataOf(Buffer.alloc(MAX_DATA_BYTES)).size).toBe(MAX_DATA_BYTES)
    expect(() => dataOf(Buffer.alloc(MAX_DATA_BYTES + 1))).toThrow(/at most 16 MiB/)
  })

  it('a difference in length or content is named', () => {
    const data = dataOf(bytes('abc'))
    expect(mismatchOf(data, bytes('ab'))).toBe('it has 2 bytes, not 3')
    expect(mismatchOf(data, bytes('abd'))).toMatch(/^its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}$/)
  })
})

test.each(['text/plain', 'application/vnd.a+json', 'text/csv; charset=utf-8', 'a/b;x="y z"'])(
  'the media type %s is accepted',
  type => expect(checkMediaType(type)).toBe(type),
)

test.each(['', 'text', 'text/', '/plain', 'text/plain;', 'a/b\n', 'a/b; x="\u0007"', 'text/é', `a/${'b'.repeat(200)}`])(
  'the media type %j is refused',
  type => expect(() => checkMediaType(type)).toThrow(InvalidValue),
)

test('a media type is guessed from the content', () => {
  expect(mediaTypeOf(bytes('[1,2]'))).toBe('application/json')
  expect(mediaTypeOf(bytes('12'))).toBe('text/plain')
})

describe('data that a caller builds', () => {
  const sound = { ...dataOf(bytes('abc')) }
  it('is accepted if size and hash are right', () => checkData(sound))
  test.each([
    ['another size', { ...sound, size: 4 }],
    ['another hash', { ...sound, sha256: 'a'.repeat(64) }],
    ['a hash of another form', { ...sound, sha256: 'ABC' }],
    ['a bad media type', { ...sound, type: 'nonsense' }],
    ['no content', { type: sound.type, size: 3, sha256: sound.sha256 }],
    ['a text that XML cannot hold', { ...dataOf(Buffer.from('\u0001')), base64: undefined, text: '\u0001' }],
    ['long content in the document', { ...dataOf(Buffer.alloc(5_000, 97)), bytes: undefined, text: 'a'.repeat(5_000) }],
    ['too many bytes', { ...sound, size: MAX_DATA_BYTES + 1 }],
  ])('is refused with %s', (_, data) => {
    const { ...plain } = data
    const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined))
    expect(() => checkData(given as typeof sound)).toThrow(InvalidValue)
  })
})

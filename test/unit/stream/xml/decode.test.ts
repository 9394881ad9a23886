import { describe, expect, it } from 'vitest'
import { BadDocument } from '../../../../src/stream/errors.ts'
import { MAX_READ_BYTES } from '../../../../src/stream/limits.ts'
import { decodeDocument } from '../../../../src/stream/xml/decode.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)

function utf16(text: string, order: 'le' | 'be', mark = true): Uint8Array {
  const bytes = Buffer.from(mark ? `\uFEFF${text}` : text, 'utf16le')
  return order === 'le' ? bytes : bytes.swap16()
}

function fault(bytes: Uint8Array): BadDocument {
  try {
    decodeDocument(bytes)
  } catch (error) {
    if (error instanceof BadDocument) return error
    throw error
  }
  throw new Error('it was accepted')
}

const TEXT = '<S><Event id="00" name="Größe 😀"/></S>'

describe('encodings of stream-format 7.1', () => {
  it.each([
    ['UTF-8', utf8(TEXT)],
    ['UTF-8 with mark', utf8(`\uFEFF${TEXT}`)],
    ['UTF-16 little endian', utf16(TEXT, 'le')],
    ['UTF-16 big endian', utf16(TEXT, 'be')],
  ])('reads %s without declaration', (_, bytes) => {
    expect(decodeDocument(bytes)).toBe(TEXT)
  })

  it.each([
    ['utf-8', utf8],
    ['UTF-8', utf8],
    ['utf8', utf8],
    ['utf-16', (text: string) => utf16(text, 'le')],
    ['UTF-16', (text: string) => utf16(text, 'be')],
    ['utf-16LE', (text: string) => utf16(text, 'le')],
    ['utf-16be', (text: string) => utf16(text, 'be')],
  ])('reads a declared %s', (name, encode) => {
    const text = `<?xml version='1.0' encoding = '${name}' standalone="yes" ?>${TEXT}`
    expect(decodeDocument(encode(text))).toBe(text)
  })

  it('removes one byte order mark only', () => {
    expect(decodeDocument(utf8(`\uFEFF\uFEFF${TEXT}`))).toBe(`\uFEFF${TEXT}`)
  })

  it.each([
    ['iso-8859-1', utf8],
    ['windows-1252', utf8],
    ['utf-16', utf8],
    ['utf-8', (text: string) => utf16(text, 'le')],
    ['utf-16le', (text: string) => utf16(text, 'be')],
    ['us-ascii', (text: string) => utf16(text, 'le')],
  ])('refuses a declared %s if the bytes are in another encoding', (name, encode) => {
    const error = fault(encode(`<?xml version="1.0" encoding="${name}"?><S/>`))
    expect(error.message).toContain(`names the encoding ${name}`)
    expect(error).toMatchObject({ line: 1, column: 1 })
  })

  it('accepts a declared us-ascii if all bytes are ASCII', () => {
    for (const name of ['us-ascii', 'ASCII']) {
      const text = `<?xml version="1.0" encoding="${name}"?><S a="~"/>`
      expect(decodeDocument(utf8(text))).toBe(text)
      expect(fault(utf8(text.replace('~', 'é'))).message).toContain('us-ascii'.includes(name) ? name : 'ascii')
    }
  })

  it('searches for the encoding in the declaration only', () => {
    for (const text of [
      '<?xml-s encoding="x"?><S/>',
      '<?xml version="1.0"?><?p encoding="x"?><S/>',
      '<S> encoding="x"?></S>',
    ]) {
      expect(decodeDocument(utf8(text))).toBe(text)
    }
  })
})

describe('bytes that are not text', () => {
  it.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['Latin-1', [0xe9, 0x20]],
    ['half a byte order mark', [0xff, 0x41]],
    ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ])('are refused for %s, with the position', (_, wrong) => {
    const bytes = new Uint8Array([...utf8('<S>\n€ '), ...wrong, ...utf8('</S>')])
    expect(fault(bytes)).toMatchObject({ line: 2, column: 3, code: 'bad-document' })
    expect(fault(bytes).message).toContain('not valid UTF-8')
  })

  it('are refused for a character cut off at the end', () => {
    const error = fault(utf8('<S>€').subarray(0, 5))
    expect(error).toMatchObject({ line: 1, column: 4 })
  })

  it('are refused for UTF-16 with a lone surrogate or half a unit', () => {
    expect(fault(utf16('<S>\ud800</S>', 'le')).message).toContain('not valid UTF-16LE')
    expect(fault(utf16('<S/>', 'be').subarray(0, 9)).message).toContain('not valid UTF-16BE')
  })

  it('are not read as a byte order mark unless both bytes are there', () => {
    for (const start of [
      [0xff, 0x41],
      [0xfe, 0x41],
      [0x41, 0xfe],
      [0x41, 0xff],
    ]) {
      expect(fault(new Uint8Array([...start, 0x41, 0x41])).message).toContain('not valid UTF-8')
    }
  })

  it('are named as UTF-16 without byte order mark', () => {
    for (const order of ['le', 'be'] as const) {
      expect(fault(utf16('<S/>', order, false)).message).toContain('no byte order mark')
    }
  })

  it('are refused beyond 32 MiB', () => {
    expect(decodeDocument(new Uint8Array(MAX_READ_BYTES).fill(0x20))).toHaveLength(32 * 1024 * 1024)
    expect(fault(new Uint8Array(MAX_READ_BYTES + 1).fill(0x20))).toMatchObject({
      message: expect.stringContaining('more than 33554432 bytes'),
      hint: expect.stringContaining('storage browser'),
    })
  })
})
